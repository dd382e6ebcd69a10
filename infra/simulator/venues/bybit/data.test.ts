import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { NOON } from '../../testing/economy.ts'
import { testVenueApi, type TestVenueApi } from '../../testing/venue-api.ts'
import { bybitApi } from './api.ts'

/** The last settlement, ms. */
const EIGHT = NOON / 1000 - 4 * 3_600_000

let api: TestVenueApi

beforeAll(async () => {
  api = await testVenueApi(bybitApi)
})
afterAll(() => api.close())
afterEach(() => {
  api.economy.perpChanges.clear()
  api.economy.spotChanges.clear()
  api.beat(1000)
})

async function result(path: string): Promise<{ retCode: number; retMsg: string; result: Record<string, unknown> }> {
  const { status, body } = await api.get(path)
  expect(status).toBe(200)
  // The shape is what the tests below look into.
  return body as { retCode: number; retMsg: string; result: Record<string, unknown> }
}

async function rows(path: string): Promise<Record<string, unknown>[]> {
  const answer = await result(path)
  expect(answer).toMatchObject({ retCode: 0, retMsg: 'OK' })
  return answer.result['list'] as Record<string, unknown>[]
}

describe('the socket of perpetuals', () => {
  const linear = '/v5/public/linear'

  test('tells a ticker whole at first and then only what has changed', async () => {
    const socket = api.open(linear, [{ op: 'subscribe', args: ['tickers.BTCUSDT', 'tickers.1000PEPEUSDT'] }])
    await vi.waitFor(() => expect(socket.json()).toHaveLength(3))
    const [, btc, pepe] = socket.json()
    expect(btc).toMatchObject({
      topic: 'tickers.BTCUSDT',
      type: 'snapshot',
      data: { lastPrice: '84000.00', fundingRate: '0.00012345', openInterest: '40000000.000' },
    })
    expect(btc).toMatchObject({ data: { singleOpenInterest: '20000000.000', fundingIntervalHour: '8' } })
    // In units of 1000: the price of as many, and a thousandth of the size.
    expect(pepe).toMatchObject({ data: { lastPrice: '0.0094000', singleOpenInterest: '20000' } })
    api.economy.perpChanges.set('BTCUSDT', { last: 84_001.5 })
    api.beat(1000)
    await vi.waitFor(() => expect(socket.json()).toHaveLength(4))
    expect(socket.json()[3]).toMatchObject({
      topic: 'tickers.BTCUSDT',
      type: 'delta',
      data: { symbol: 'BTCUSDT', lastPrice: '84001.50', bid1Price: '84001.49' },
    })
    expect(Object.keys(socket.json()[3]?.['data'] ?? {})).not.toContain('fundingRate')
  })

  test('says nothing while nothing changes', async () => {
    const socket = api.open(linear, [{ op: 'subscribe', args: ['tickers.BTCUSDT'] }])
    await vi.waitFor(() => expect(socket.json()).toHaveLength(2))
    api.beat(1000)
    api.beat(1000)
    socket.send('{"op":"ping"}')
    await vi.waitFor(() => expect(socket.json().at(-1)).toMatchObject({ op: 'ping' }))
    expect(socket.json()).toHaveLength(3)
  })

  test('batches liquidations, with the side of the position and the bankruptcy price', async () => {
    const socket = api.open(linear, [{ op: 'subscribe', args: ['allLiquidation.1000PEPEUSDT'] }])
    await vi.waitFor(() => expect(socket.json()).toHaveLength(1))
    api.beat(500)
    const market = api.economy.perps('bybit')[1]
    if (market === undefined) throw new Error('no market')
    const at = { time: api.economy.now + 1000, bankruptcyPrice: 0.0000091, fillPrice: 0.0000092 }
    api.economy.liquidated.push({ market, liquidation: { ...at, side: 'long', size: 5_000_000 } })
    api.economy.liquidated.push({ market, liquidation: { ...at, side: 'short', size: 7_000 } })
    api.beat(500)
    api.beat(500)
    await vi.waitFor(() => expect(socket.json()).toHaveLength(2))
    const time = Math.floor(at.time / 1000)
    expect(socket.json()[1]).toMatchObject({
      topic: 'allLiquidation.1000PEPEUSDT',
      type: 'snapshot',
      data: [
        { T: time, s: '1000PEPEUSDT', S: 'Buy', v: '5000', p: '0.0091000' },
        { T: time, s: '1000PEPEUSDT', S: 'Sell', v: '7', p: '0.0091000' },
      ],
    })
  })

  test('does not know what is no longer listed', async () => {
    const delisted = api.economy.perpMarkets.splice(1, 1)
    const socket = api.open(linear, [{ op: 'subscribe', args: ['tickers.1000PEPEUSDT'], req_id: 'a' }])
    await vi.waitFor(() => expect(socket.json()).toHaveLength(1))
    expect(socket.json()[0]).toMatchObject({ success: false, req_id: 'a' })
    expect(await rows('/v5/market/tickers?category=linear')).toHaveLength(1)
    api.economy.perpMarkets.splice(1, 0, ...delisted)
  })
})

test('takes what is listed and has nothing to say of it', async () => {
  const args = ['tickers.1INCHUSDT', 'allLiquidation.1INCHUSDT', 'publicTrade.1INCHUSDT']
  const socket = api.open('/v5/public/linear', [{ op: 'subscribe', args }])
  await vi.waitFor(() => expect(socket.json()).toMatchObject([{ success: true }]))
  expect(await rows('/v5/market/funding/history?category=linear&symbol=1INCHUSDT')).toEqual([])
  expect(await rows('/v5/market/recent-trade?category=linear&symbol=1INCHUSDT')).toEqual([])
  expect(await result('/v5/market/kline?category=linear&symbol=TONUSDT&interval=1')).toMatchObject({ retCode: 10001 })
})

describe('the socket of spot', () => {
  const spot = '/v5/public/spot'

  test('tells whole tickers, in other words than that of perpetuals', async () => {
    const socket = api.open(spot, [{ op: 'subscribe', args: ['tickers.POLUSDT'] }])
    await vi.waitFor(() => expect(socket.json()).toHaveLength(2))
    expect(socket.json()[0]).toMatchObject({ success: true, ret_msg: 'subscribe', op: 'subscribe' })
    expect(Object.keys(socket.json()[0] ?? {})).toEqual(['success', 'ret_msg', 'conn_id', 'op'])
    api.economy.spotChanges.set('POLUSDT', { last: 0.2072 })
    api.beat(1000)
    await vi.waitFor(() => expect(socket.json()).toHaveLength(3))
    expect(socket.json()[2]).toMatchObject({ type: 'snapshot', data: { symbol: 'POLUSDT', lastPrice: '0.2072' } })
    expect(socket.json()[2]?.['data']).not.toHaveProperty('bid1Price')
  })

  test('takes no more than ten topics in one request', async () => {
    const socket = api.open(spot, [{ op: 'subscribe', args: Array.from({ length: 11 }, () => 'tickers.BTCUSDT') }])
    await vi.waitFor(() => expect(socket.json()).toHaveLength(1))
    expect(socket.json()[0]).toMatchObject({ success: false, ret_msg: 'args size >10' })
  })
})

describe('REST', () => {
  test('shows open interest of both sides and of one', async () => {
    const [btc] = await rows('/v5/market/tickers?category=linear&symbol=BTCUSDT')
    expect(btc).toMatchObject({ openInterest: '40000000.000', singleOpenInterest: '20000000.000' })
    expect(await result('/v5/market/tickers?category=linear&symbol=NOPE')).toMatchObject({ retCode: 10001 })
  })

  test('shows bid and ask of spot', async () => {
    const [btc] = await rows('/v5/market/tickers?category=spot&symbol=BTCUSDT')
    expect(btc).toMatchObject({
      lastPrice: '84000',
      bid1Price: '83991.6',
      ask1Price: '84008.4',
      price24hPcnt: '0.0204',
    })
  })

  test('pages settled rates by their end, and refuses a start alone', async () => {
    const path = '/v5/market/funding/history?category=linear&symbol=BTCUSDT'
    const newest = await rows(`${path}&limit=2`)
    expect(newest.map((row) => row['fundingRateTimestamp'])).toEqual([String(EIGHT), String(EIGHT - 8 * 3_600_000)])
    const older = await rows(`${path}&limit=1&endTime=${EIGHT - 1}`)
    expect(older).toMatchObject([{ fundingRateTimestamp: String(EIGHT - 8 * 3_600_000) }])
    expect(await result(`${path}&startTime=1`)).toMatchObject({ retCode: 10001 })
  })

  test('shows premiums by the minute, newest first, the open one among them', async () => {
    const range = `category=linear&symbol=BTCUSDT&interval=1&start=${NOON / 1000 - 180_000}&end=${NOON / 1000}`
    const premium = await rows(`/v5/market/premium-index-price-kline?${range}`)
    expect(premium.map((row) => [row[0], row[4]])).toEqual([
      [String(NOON / 1000), '0.00005900'],
      [String(NOON / 1000 - 60_000), '0.00005900'],
      [String(NOON / 1000 - 120_000), '0.00005800'],
      [String(NOON / 1000 - 180_000), '0.00005700'],
    ])
    expect(premium[1]).toEqual([expect.any(String), '0.00005800', '0.00005900', '0.00005800', '0.00005900'])
    expect(await rows(`/v5/market/premium-index-price-kline?${range}&limit=1`)).toHaveLength(1)
  })

  test('shows spot candles with the open one', async () => {
    const list = await rows('/v5/market/kline?category=spot&symbol=BTCUSDT&interval=1&limit=2')
    expect(list[0]?.[0]).toBe(String(NOON / 1000))
    expect(list[1]).toEqual([
      String(NOON / 1000 - 60_000),
      '84495.6',
      '84580.1',
      '84411.1',
      '84537.8',
      '12.5',
      '1056722.5',
    ])
  })

  test('shows margin tiers with deductions that leave no step', async () => {
    const list = await rows('/v5/market/risk-limit?category=linear&symbol=BTCUSDT')
    expect(list.map((row) => [row['riskLimitValue'], row['maintenanceMargin'], row['mmDeduction']])).toEqual([
      ['2000000', '0.005', ''],
      ['10000000', '0.01', '10000'],
      ['100000000', '0.025', '160000'],
    ])
  })

  test('lists terms of perpetuals, and spot pairs with what a reader has to leave out', async () => {
    const [, pepe] = await rows('/v5/market/instruments-info?category=linear')
    expect(pepe).toMatchObject({ symbol: '1000PEPEUSDT', fundingInterval: 240, upperFundingRate: '0.005' })
    expect(pepe).toMatchObject({ lowerFundingRate: '-0.005', leverageFilter: { maxLeverage: '100.00' } })
    const spot = await rows('/v5/market/instruments-info?category=spot')
    expect(spot.map((row) => row['symbol'])).toEqual(expect.arrayContaining(['BTCUSDT', 'TSLAXUSDT', 'ETHBTC']))
  })
})
