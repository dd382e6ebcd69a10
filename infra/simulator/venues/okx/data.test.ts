import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { MINUTE, NOON, NOW } from '../../testing/economy.ts'
import { testVenueApi, type TestVenueApi } from '../../testing/venue-api.ts'
import { okxApi } from './api.ts'

/** The last settlement, ms. */
const EIGHT = NOON / 1000 - 4 * 3_600_000
const RATIOS = '/api/v5/rubik/stat/contracts/long-short-position-ratio-contract-top-trader'

let api: TestVenueApi

beforeAll(async () => {
  api = await testVenueApi(okxApi)
})
afterAll(() => api.close())
afterEach(() => {
  api.economy.perpChanges.clear()
  api.economy.spotChanges.clear()
  api.beat(1000)
})

async function data(path: string): Promise<Record<string, unknown>[]> {
  const { body } = await api.get(path)
  expect(body).toMatchObject({ code: '0', msg: '' })
  // The rows are what the tests below look into.
  return (body as { data: Record<string, unknown>[] }).data
}

function subscribe(...args: object[]): object[] {
  return [{ id: '7', op: 'subscribe', args }]
}

describe('the public socket', () => {
  const path = '/ws/v5/public'

  test('answers each argument by itself and tells at once what it knows', async () => {
    const socket = api.open(path, subscribe({ channel: 'tickers', instId: 'POL-USDT' }, { channel: 'nonsense' }))
    await vi.waitFor(() => expect(socket.json()).toHaveLength(3))
    expect(socket.json()).toMatchObject([
      { id: '7', event: 'subscribe', arg: { channel: 'tickers', instId: 'POL-USDT' } },
      {
        arg: { channel: 'tickers', instId: 'POL-USDT' },
        data: [{ instType: 'SPOT', last: '0.2071', vol24h: '1234.5' }],
      },
      { id: '7', event: 'error', code: '60018' },
    ])
  })

  test('speaks of a swap in contracts', async () => {
    const instId = 'PEPE-USDT-SWAP'
    const channels = ['mark-price', 'funding-rate', 'open-interest']
    const socket = api.open(path, subscribe(...channels.map((channel) => ({ channel, instId }))))
    await vi.waitFor(() => expect(socket.json()).toHaveLength(6))
    const rows = socket.json().filter((frame) => 'data' in frame)
    expect(rows).toMatchObject([
      { data: [{ markPx: '0.0000094009' }] },
      {
        data: [
          {
            fundingRate: '0.0001234500000000',
            fundingTime: String(EIGHT + 8 * 3_600_000),
            nextFundingTime: String(EIGHT + 16 * 3_600_000),
            prevFundingTime: String(EIGHT),
            premium: '0.0002000000000000',
            settState: 'settled',
          },
        ],
      },
      // A contract is ten million.
      { data: [{ oi: '2', oiCcy: '20000000' }] },
    ])
    const [, pepe] = await data('/api/v5/market/tickers?instType=SWAP')
    expect(pepe).toMatchObject({ instType: 'SWAP', last: '0.0000094', vol24h: '3', volCcy24h: '30000000' })
  })

  test('tells a change within a second and open interest every three', async () => {
    const instId = 'BTC-USDT-SWAP'
    const socket = api.open(
      path,
      subscribe(
        { channel: 'mark-price', instId },
        { channel: 'open-interest', instId },
        { channel: 'funding-rate', instId },
      ),
    )
    const heard = (channel: string): number =>
      socket.json().filter((frame) => 'data' in frame && (frame['arg'] as { channel: string }).channel === channel)
        .length
    await vi.waitFor(() => expect(socket.json()).toHaveLength(6))
    api.economy.perpChanges.set(instId, { mark: 84_100 })
    for (let second = 0; second < 6; second += 1) api.beat(1000)
    await vi.waitFor(() => expect([heard('mark-price'), heard('open-interest')]).toEqual([2, 3]))
    expect(heard('funding-rate')).toBeLessThanOrEqual(2)
  })

  test('tells liquidations of all swaps, after an old one', async () => {
    const [btc, pepe] = api.economy.perps('okx')
    if (btc === undefined || pepe === undefined) throw new Error('no market')
    const at = { size: 0.5, bankruptcyPrice: 83_000, fillPrice: 83_010, side: 'long' } as const
    api.economy.liquidated.push({ market: btc, liquidation: { ...at, time: api.economy.now - MINUTE } })
    const socket = api.open(path, subscribe({ channel: 'liquidation-orders', instType: 'SWAP' }))
    await vi.waitFor(() => expect(socket.json()).toHaveLength(2))
    expect(socket.json()[1]).toMatchObject({
      data: [{ details: [{ ts: String((api.economy.now - MINUTE) / 1000) }] }],
    })
    const short = {
      ...at,
      side: 'short',
      size: 30_000_000,
      bankruptcyPrice: 0.00001,
      time: api.economy.now + 10,
    } as const
    api.economy.liquidated.push({ market: pepe, liquidation: short })
    api.beat(1000)
    await vi.waitFor(() => expect(socket.json()).toHaveLength(3))
    expect(socket.json()[2]).toMatchObject({
      arg: { channel: 'liquidation-orders', instType: 'SWAP' },
      data: [
        {
          instId: 'PEPE-USDT-SWAP',
          instFamily: 'PEPE-USDT',
          details: [{ side: 'buy', posSide: 'short', sz: '3', bkPx: '0.00001' }],
        },
      ],
    })
  })

  test('takes what is listed and has nothing to say of it', async () => {
    const instId = '1INCH-USDT-SWAP'
    const socket = api.open(path, subscribe({ channel: 'mark-price', instId }, { channel: 'trades', instId }))
    await vi.waitFor(() => expect(socket.json()).toHaveLength(2))
    expect(socket.json()).toMatchObject([{ event: 'subscribe' }, { event: 'subscribe' }])
    expect(await data(`/api/v5/public/premium-history?instId=${instId}`)).toEqual([])
    expect((await api.get('/api/v5/market/history-trades?instId=FRESH-USDT-SWAP')).body).toMatchObject({
      code: '51001',
    })
  })

  test('knows no prices on the business path, and no swap that is gone', async () => {
    const business = api.open('/ws/v5/business', subscribe({ channel: 'mark-price', instId: 'BTC-USDT-SWAP' }))
    await vi.waitFor(() => expect(business.json()).toMatchObject([{ event: 'error', code: '60018' }]))
    const gone = api.economy.perpMarkets.splice(2, 1)
    const socket = api.open(path, subscribe({ channel: 'mark-price', instId: 'BTC-USDT-SWAP' }))
    await vi.waitFor(() => expect(socket.json()).toMatchObject([{ event: 'error', code: '60018' }]))
    api.economy.perpMarkets.splice(2, 0, ...gone)
  })
})

describe('REST', () => {
  test('shows a whole market in one call', async () => {
    expect(await data('/api/v5/market/tickers?instType=SPOT')).toHaveLength(3)
    expect(await data('/api/v5/public/mark-price?instType=SWAP')).toMatchObject([{ markPx: '84008.4' }, {}])
    expect(await data('/api/v5/public/open-interest?instType=SWAP')).toMatchObject([
      { oi: '2000000000', oiCcy: '20000000' },
      {},
    ])
    expect(await data('/api/v5/market/index-tickers?quoteCcy=USDT')).toMatchObject([
      { instId: 'BTC-USDT', idxPx: '83991.6' },
      {},
    ])
  })

  test('answers ANY with all swaps and a dated future that has funding too', async () => {
    const rows = await data('/api/v5/public/funding-rate?instId=ANY')
    expect(rows.map((row) => row['instType'])).toEqual(['SWAP', 'SWAP', 'FUTURES'])
  })

  test('pages settled rates', async () => {
    const path = '/api/v5/public/funding-rate-history?instId=BTC-USDT-SWAP'
    const [newest, older] = await data(`${path}&limit=2`)
    expect(newest).toMatchObject({ fundingTime: String(EIGHT), realizedRate: '0.0001000000000000' })
    expect(await data(`${path}&limit=1&after=${EIGHT}`)).toEqual([
      { ...older, realizedRate: '0.0001000000000000', fundingRate: '0.0001000000000000' },
    ])
    expect(await data(`${path}&before=${EIGHT - 1}`)).toHaveLength(1)
  })

  test('shows the newest premiums between two times', async () => {
    const path = '/api/v5/public/premium-history?instId=BTC-USDT-SWAP'
    const newest = await data(`${path}&limit=2`)
    expect(newest).toEqual([
      { instId: 'BTC-USDT-SWAP', premium: '0.0000590000000000', ts: String(NOON / 1000 - 1000) },
      { instId: 'BTC-USDT-SWAP', premium: '0.0000580000000000', ts: String(NOON / 1000 - 61_000) },
    ])
    const window = await data(`${path}&before=${EIGHT - 1}&after=${EIGHT + 5_400_000}&limit=100`)
    expect(window).toHaveLength(90)
    expect(window.at(-1)).toMatchObject({ ts: String(EIGHT + 59_000) })
  })

  test('shows ratios of top traders by the five minutes', async () => {
    const positions = await data(`${RATIOS}?instId=BTC-USDT-SWAP&period=5m&limit=2`)
    expect(positions).toEqual([
      [String(NOON / 1000), '1.5'],
      [String(NOON / 1000 - 300_000), '1.555'],
    ])
  })

  test('refuses the sixth question about one instrument within two seconds', async () => {
    const path = `${RATIOS}?instId=PEPE-USDT-SWAP`
    // A window may end on the way, so there are enough of them for two.
    const answers = await Promise.all(Array.from({ length: 12 }, () => api.get(path)))
    expect(answers.find(({ status }) => status === 429)?.body).toMatchObject({ code: '50011' })
  })

  test('shows candles of spot pairs, the open one unconfirmed', async () => {
    const [open, closed] = await data('/api/v5/market/candles?instId=BTC-USDT&bar=1m&limit=2')
    expect(open).toMatchObject([String(NOON / 1000), ...Array.from({ length: 7 }, () => expect.any(String)), '0'])
    expect(closed).toEqual([
      String(NOON / 1000 - 60_000),
      '84495.6',
      '84580.1',
      '84411.1',
      '84537.8',
      '12.5',
      '12.5',
      '1056722.5',
      '1',
    ])
    const range = await data(
      `/api/v5/market/candles?instId=BTC-USDT&before=${NOON / 1000 - 180_001}&after=${NOON / 1000}`,
    )
    expect(range).toHaveLength(3)
  })

  test('lists spot pairs and swaps with their contract value, and not what is gone', async () => {
    const spot = await data('/api/v5/public/instruments?instType=SPOT')
    expect(spot.find((row) => row['instId'] === 'BTC-USDT')).toMatchObject({
      baseCcy: 'BTC',
      quoteCcy: 'USDT',
      ctVal: '',
      state: 'live',
    })
    const [btc, pepe] = await data('/api/v5/public/instruments?instType=SWAP')
    expect([btc?.['ctVal'], pepe?.['ctVal']]).toEqual(['0.01', '10000000'])
    expect(await data('/api/v5/market/history-trades?instId=BTC-USDT-SWAP')).toEqual([])
    expect((await api.get('/api/v5/market/history-trades?instId=GONE-USDT-SWAP')).body).toMatchObject({
      code: '51001',
    })
    expect(api.world.now).toBeGreaterThan(NOW)
  })
})
