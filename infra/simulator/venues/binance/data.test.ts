import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { SimLiquidation } from '../../market/economy.ts'
import { MINUTE, NOON } from '../../testing/economy.ts'
import { testVenueApi, type TestVenueApi } from '../../testing/venue-api.ts'
import { binanceApi, largestPerSecond } from './api.ts'

const SECOND = 1_000_000
let api: TestVenueApi

beforeAll(async () => {
  api = await testVenueApi(binanceApi)
})
afterAll(() => api.close())

type Row = Readonly<Record<string, unknown>>

async function answer(path: string): Promise<Row> {
  const { status, body } = await api.get(path)
  expect(status).toBe(200)
  return body as Row
}

async function candleRows(path: string): Promise<unknown[][]> {
  const { status, body } = await api.get(path)
  expect(status).toBe(200)
  return body as unknown[][]
}

async function rows(path: string): Promise<Row[]> {
  const { status, body } = await api.get(path)
  expect(status).toBe(200)
  return body as Row[]
}

describe('the market route', () => {
  test('says all marks with eight decimals, at full seconds', async () => {
    const socket = api.open('/market/stream?streams=!markPrice@arr@1s')
    await vi.waitFor(() => {
      api.beat(1000)
      expect(socket.json().length).toBeGreaterThanOrEqual(1)
    })
    const [whole] = socket.json()
    const marks = whole?.['data'] as Row[] | undefined
    expect(marks).toHaveLength(2)
    expect(marks?.[1]).toMatchObject({
      e: 'markPriceUpdate',
      s: '1000PEPEUSDT',
      p: '0.00940094',
      i: '0.00939906',
      r: '0.00012345',
      T: (NOON + 240 * MINUTE) / 1000,
    })
    expect(Number(marks?.[1]?.['E']) % 1000).toBe(0)
  })

  test('pushes of each second’s liquidations the largest, when the second is over', async () => {
    const socket = api.open('/market/ws/!forceOrder@arr', [{ method: 'LIST_SUBSCRIPTIONS', id: 1 }])
    await vi.waitFor(() => expect(socket.json()).toHaveLength(1))
    api.beat(1000)
    const [market] = api.economy.perps('binance')
    if (market === undefined) throw new Error('no market')
    const time = api.economy.now
    const prices = { bankruptcyPrice: 83_930.7, fillPrice: 83_598.5 }
    for (const size of [0.1, 0.3, 0.2])
      api.economy.liquidated.push({ market, liquidation: { time, side: 'long', size, ...prices } })
    api.beat(250)
    api.beat(1000)
    await vi.waitFor(() => expect(socket.json()).toHaveLength(2))
    const second = Math.floor(time / SECOND)
    expect(socket.json()[1]).toEqual({
      e: 'forceOrder',
      E: (second + 1) * 1000,
      o: {
        s: 'BTCUSDT',
        S: 'SELL',
        o: 'LIMIT',
        f: 'IOC',
        q: '0.300',
        p: '83930.70',
        ap: '83598.50',
        X: 'FILLED',
        l: '0.300',
        z: '0.300',
        T: Math.floor(time / 1000),
        ps: 'BTCUSDT',
        st: 1,
      },
    })
    api.beat(1000)
    api.beat(1000)
    expect(socket.json()).toHaveLength(2)
  })

  test('says nothing of this on the public route', async () => {
    const socket = api.open('/public/ws/!markPrice@arr@1s', [{ method: 'LIST_SUBSCRIPTIONS', id: 1 }])
    await vi.waitFor(() => expect(socket.json()).toHaveLength(1))
    api.beat(3000)
    api.open('/market/ws/!markPrice@arr@1s')
    expect(socket.json()).toHaveLength(1)
  })
})

test('one liquidation a second is the one of the largest worth', () => {
  const one = (time: number, size: number, fillPrice: number): SimLiquidation => {
    return { time, side: 'short', size, bankruptcyPrice: fillPrice, fillPrice }
  }
  const all = [one(NOON, 2, 10), one(NOON + 1, 1, 30), one(NOON + SECOND - 1, 1, 29), one(NOON + SECOND, 1, 1)]
  expect(largestPerSecond(all)).toEqual([all[1], all[3]])
})

describe('REST', () => {
  test('premium index: one by name, all without', async () => {
    expect(await answer('/fapi/v1/premiumIndex?symbol=BTCUSDT')).toMatchObject({
      symbol: 'BTCUSDT',
      markPrice: '84008.40000000',
      lastFundingRate: '0.00012345',
      interestRate: '0.00010000',
    })
    expect((await rows('/fapi/v1/premiumIndex')).map(({ symbol }) => symbol)).toEqual(['BTCUSDT', '1000PEPEUSDT'])
  })

  test('settled rates of one symbol: ascending, the newest where no time is asked for', async () => {
    const all = await rows('/fapi/v1/fundingRate?symbol=BTCUSDT&limit=3')
    const hour = (row: Row): number => Math.round(Number(row['fundingTime']) / 3_600_000)
    expect(all.map((row) => hour(row) % 24)).toEqual([16, 0, 8])
    expect(all.map(({ fundingRate }) => fundingRate)).toEqual(['0.00010000', '0.00010000', '0.00010000'])
    const start = Number(all[1]?.['fundingTime'])
    const [first] = await rows(`/fapi/v1/fundingRate?symbol=BTCUSDT&startTime=${start}&limit=1`)
    expect(first).toEqual(all[1])
    const later = await rows(`/fapi/v1/fundingRate?symbol=BTCUSDT&startTime=${start + 1}&limit=1`)
    expect(later).toEqual([all[2]])
  })

  test('settled rates of the whole market come page by page, none twice and none lost', async () => {
    const end = Math.floor(api.world.nowMs)
    const start = end - 5 * 86_400_000
    const whole = await rows(`/fapi/v1/fundingRate?startTime=${start}&endTime=${end}&limit=1000`)
    expect(whole).toHaveLength(15 + 30)
    const paged = new Map<string, Row>()
    let from = start
    for (let page = 0; page < 100; page += 1) {
      const found = await rows(`/fapi/v1/fundingRate?startTime=${from}&endTime=${end}&limit=7`)
      for (const row of found) paged.set(`${String(row['symbol'])} ${String(row['fundingTime'])}`, row)
      if (found.length < 7) break
      from = Number(found.at(-1)?.['fundingTime'])
    }
    expect([...paged.values()]).toEqual(whole)
  })

  test('candles of the premium index end with the one that is open', async () => {
    const candles = await candleRows('/fapi/v1/premiumIndexKlines?symbol=BTCUSDT&interval=1m&limit=3')
    const open = Math.floor(api.world.nowMs / 60_000) * 60_000
    expect(candles.map(([start]) => start)).toContain(open)
    const [first] = candles
    expect(first).toHaveLength(12)
  })

  test('open interest in the symbol’s units, and its past with the value at the mark', async () => {
    expect(await answer('/fapi/v1/openInterest?symbol=1000PEPEUSDT')).toMatchObject({ openInterest: '20000' })
    const past = await rows('/futures/data/openInterestHist?symbol=BTCUSDT&period=5m&limit=2')
    expect(past).toHaveLength(2)
    expect(past[0]).toMatchObject({
      symbol: 'BTCUSDT',
      sumOpenInterest: expect.stringMatching(/^\d+\.\d{8}$/) as string,
    })
    expect(Number(past[0]?.['sumOpenInterestValue']) / Number(past[0]?.['sumOpenInterest'])).toBeGreaterThan(80_000)
  })

  test('top traders: shares of positions', async () => {
    const [position] = await rows('/futures/data/topLongShortPositionRatio?symbol=BTCUSDT&period=5m&limit=1')
    expect(Number(position?.['longAccount']) + Number(position?.['shortAccount'])).toBeCloseTo(1, 9)
    expect(Number(position?.['longShortRatio'])).toBeGreaterThanOrEqual(1.5)
  })

  test.each([
    ['/fapi/v1/openInterest', { code: -1102 }],
    ['/fapi/v1/openInterest?symbol=NOUSDT', { code: -1121, msg: 'Invalid symbol.' }],
    ['/fapi/v1/premiumIndex?symbol=NOUSDT', { code: -1121 }],
    ['/fapi/v1/premiumIndexKlines?symbol=BTCUSDT&interval=7m', { code: -1120 }],
    ['/fapi/v1/premiumIndexKlines?symbol=BTCUSDT&interval=1m&limit=1501', { code: -1130 }],
    ['/fapi/v1/fundingRate?limit=1001', { code: -1130 }],
    ['/fapi/v1/fundingRate?startTime=x', { code: -1100 }],
    ['/futures/data/openInterestHist?symbol=BTCUSDT&period=1m', { code: -1130 }],
    ['/futures/data/openInterestHist?symbol=BTCUSDT&period=5m&startTime=1', { code: -1130 }],
  ])('%s is refused', async (path, body) => {
    expect(await api.get(path)).toMatchObject({ status: 400, body })
  })

  test('what is listed without anything being said of it has no rows', async () => {
    expect(await rows('/fapi/v1/premiumIndexKlines?symbol=1INCHUSDT&interval=1m')).toEqual([])
    expect(await rows('/fapi/v1/klines?symbol=1INCHUSDT&interval=1m')).toEqual([])
    expect(await api.get('/fapi/v1/klines?symbol=MATICUSDT&interval=1m')).toMatchObject({ status: 400 })
  })
})

test('statistics and funding calls are counted by themselves', async () => {
  const own = await testVenueApi(binanceApi)
  vi.useFakeTimers({ toFake: ['Date'] }) // the five minutes of the limit do not end among the calls
  try {
    const calls = Array.from({ length: 501 }, () => own.get('/fapi/v1/fundingInfo'))
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 429)).toHaveLength(1)
  } finally {
    vi.useRealTimers()
  }
  expect(await own.get('/fapi/v1/premiumIndex?symbol=BTCUSDT')).toMatchObject({ status: 200 })
  await own.close()
})
