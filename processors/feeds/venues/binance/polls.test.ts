import { describe, expect, it } from 'vitest'
import { SETTLEMENT_MS } from '../fact-fields.ts'
import { polls } from './polls.ts'
import { binance } from './venue.ts'
import { minute, now, poll, refused, rowsOf } from './testing/polls.ts'

describe('Binance premium index', () => {
  const row = {
    symbol: 'BTCUSDT',
    markPrice: '11793.63104562',
    indexPrice: '11781.80495970',
    estimatedSettlePrice: '11781.16138815',
    lastFundingRate: '0.00038246',
    interestRate: '0.00010000',
    nextFundingTime: 1597392000000,
    time: 1597370495002,
  }

  it('says of the whole market what the stream says', () => {
    const time = 1597370495002000
    expect(
      rowsOf('premium-index', [row, { ...row, symbol: 'BTCUSDT_200925' }, { ...row, lastFundingRate: 1 }]),
    ).toEqual([
      {
        kind: 'derivative',
        symbol: 'BTCUSDT',
        mark: { mark: '11793.63104562', index: '11781.80495970', time },
        rate: { rate: '0.00038246', next: 1597392000000000, time },
      },
      refused,
    ])
  })

  it('tells the interest of a day', () => {
    expect(rowsOf('interest', [row, { ...row, interestRate: '0' }, { ...row, interestRate: '' }])).toEqual([
      { kind: 'terms', symbol: 'BTCUSDT', interestDaily: 0.0003 },
      { kind: 'terms', symbol: 'BTCUSDT', interestDaily: 0 },
    ])
    expect(rowsOf('interest', [{ ...row, interestRate: 0.0001 }, {}])).toEqual([refused, refused])
  })

  it.each(['premium-index', 'interest', 'settlements', 'funding-info', 'candles', 'top-positions', 'spot-tickers'])(
    '(%s) that is refused as a whole says why',
    (name) => {
      expect(rowsOf(name, { code: -1003, msg: 'Too many requests' })).toEqual({ kind: 'limited' })
      expect(rowsOf(name, { code: -1121, msg: 'Invalid symbol.' })).toMatchObject({ kind: 'error', code: '-1121' })
      expect(rowsOf(name, '<html>')).toMatchObject({ kind: 'error', code: 'bad-body' })
    },
  )
})

describe('Binance funding terms', () => {
  const row = {
    symbol: 'BLZUSDT',
    adjustedFundingRateCap: '0.02500000',
    adjustedFundingRateFloor: '-0.02500000',
    fundingIntervalHours: 4,
    disclaimer: false,
  }

  it('are interval, cap and floor; of a flat cap no margin is told', () => {
    expect(rowsOf('funding-info', [row])).toEqual([
      { kind: 'terms', symbol: 'BLZUSDT', intervalHours: 4, cap: 0.025, floor: -0.025 },
      { kind: 'other_terms', named: new Set(['BLZUSDT']), intervalHours: 8 },
    ])
  })

  it('are 8 h of markets without a row, but not of one whose row cannot be read, or may be among such', () => {
    const others = (named: string[]): object => ({ kind: 'other_terms', named: new Set(named), intervalHours: 8 })
    expect(rowsOf('funding-info', [])).toEqual([others([])])
    expect(rowsOf('funding-info', [{ ...row, fundingIntervalHours: '4' }])).toEqual([refused, others(['BLZUSDT'])])
    expect(rowsOf('funding-info', [{ ...row, symbol: '' }])).toEqual([refused])
  })

  it.each([
    ['0.00300000', 0.004, 125],
    ['0.00375000', 0.005, 100],
    ['0.00487500', 0.0065, 75],
    ['0.00750000', 0.01, 50],
  ])('of the cap %s have a first tier of %f and a leverage of %d', (cap, rate, maxLeverage) => {
    const terms = { ...row, adjustedFundingRateCap: cap, adjustedFundingRateFloor: `-${cap}` }
    expect(rowsOf('funding-info', [terms])).toMatchObject([
      { maxLeverage, tiers: [{ upTo: null, rate, deduction: 0 }] },
      { kind: 'other_terms' },
    ])
  })

  it.each([
    { fundingIntervalHours: 0 },
    { fundingIntervalHours: '8' },
    { fundingIntervalHours: 48 },
    { adjustedFundingRateCap: 0.02 },
    { adjustedFundingRateCap: '-0.03' },
    { adjustedFundingRateFloor: '' },
    { symbol: undefined },
  ])('are refused with %o', (change) => {
    expect(rowsOf('funding-info', [{ ...row, ...change }, null])).toEqual([refused, refused])
  })
})

describe('Binance settlements', () => {
  const row = { symbol: 'BTCUSDT', fundingTime: 1786780800002, fundingRate: '-0.00006523', markPrice: '63050.01692754' }

  it('are read with the mark where there is one', () => {
    const fact = { kind: 'settlement', symbol: 'BTCUSDT', rate: '-0.00006523', time: 1786780800002000 }
    expect(rowsOf('settlements', [row, { ...row, markPrice: undefined }, { ...row, markPrice: '' }])).toEqual([
      { ...fact, mark: '63050.01692754' },
      { ...fact, mark: null },
      { ...fact, mark: null },
    ])
    expect(
      rowsOf('settlements', [
        { ...row, symbol: 'BTCUSDC' },
        { ...row, fundingRate: 0 },
      ]),
    ).toEqual([refused])
  })

  it('are asked for of the whole market: of two hours each minute, of a day each hour', () => {
    const path = (since: number) => `/fapi/v1/fundingRate?startTime=${since}&limit=1000`
    expect(poll('settlements').call('all', now).path).toBe(path(now - 7_200_000))
    expect(poll('settlements-day').call('all', now).path).toBe(path(now - 93_600_000))
  })

  it('of the past are read once, in windows without a hole, of 100 intervals of 8 hours and more', () => {
    const windows = polls.filter(({ name }) => name.startsWith('settlements-past'))
    expect(windows.map(({ everyMs, scope }) => [everyMs, scope.of])).toEqual(windows.map(() => ['once', 'whole']))
    const bounds = windows.map((one) => {
      const query = new URL(one.call('all', now).path, 'http://venue').searchParams
      return { start: Number(query.get('startTime')), end: Number(query.get('endTime') ?? now) }
    })
    expect(bounds.slice(1).map(({ end }) => end + 1)).toEqual(bounds.slice(0, -1).map(({ start }) => start))
    expect(now - (bounds.at(-1)?.start ?? now)).toBeGreaterThan(100 * SETTLEMENT_MS)
  })

  it('go on where a full page ends, and never ask for the same page twice', () => {
    const page = (last: number): object[] => [...Array.from({ length: 999 }, () => row), { ...row, fundingTime: last }]
    const nextOf = (rows: object[]): unknown => poll('settlements').parse('all', rows, now)
    expect(nextOf(page(1786809600000))).toMatchObject({
      next: { path: '/fapi/v1/fundingRate?startTime=1786809600000&limit=1000' },
    })
    expect(nextOf(page(row.fundingTime))).toMatchObject({
      next: { path: `/fapi/v1/fundingRate?startTime=${row.fundingTime + 1}&limit=1000` },
    })
    const past = poll('settlements-past-3').parse('all', page(1786809600000), now)
    expect(past).toMatchObject({ next: { path: expect.stringMatching(/startTime=1786809600000&endTime=\d+&/) } })
    expect(nextOf(page(1786809600000).slice(1))).not.toHaveProperty('next')
  })
})

describe('Binance minutes', () => {
  const premium = [minute, '-0.00042931', '-0.00023641', '-0.00059406', '-0.00043659', '0', minute + 59_999, '0', 12]
  const candle = [
    minute,
    '63043.4',
    '63083',
    '63011.6',
    '63026.3',
    '8',
    minute + 59_999,
    '504210',
    16911,
    '3',
    '1',
    '0',
  ]
  const later = (row: readonly unknown[], ms: number): unknown[] => [
    minute + ms,
    ...row.slice(1, 6),
    minute + ms + 59_999,
    ...row.slice(7),
  ]

  const changed = (row: readonly unknown[], at: number, value: unknown): unknown[] => row.with(at, value)

  it('of the premium index are their close, once they are over', () => {
    expect(rowsOf('premium', [premium, later(premium, 60_000)])).toEqual([
      { kind: 'derivative', symbol: 'BTCUSDT', premium: { premium: '-0.00043659', time: minute * 1000 } },
    ])
    expect(rowsOf('premium', [premium], 'BTCUSDT', minute + 59_999)).toEqual([])
    expect(rowsOf('premium', [premium], 'BTCUSDT', minute + 60_000)).toHaveLength(1)
  })

  it('since the last settlement fit into one call', () => {
    const start = minute - (minute % SETTLEMENT_MS)
    const asked = (at: number) => poll('premium-past').call('BTCUSDT', at)
    const path = `/fapi/v1/premiumIndexKlines?symbol=BTCUSDT&interval=1m&startTime=${start}&limit=`
    expect(asked(start)).toEqual({ path: `${path}1`, cost: 1 })
    expect(asked(start + 98 * 60_000)).toEqual({ path: `${path}99`, cost: 1 })
    expect(asked(start + 99 * 60_000)).toEqual({ path: `${path}100`, cost: 2 })
    expect(asked(start + SETTLEMENT_MS - 1)).toEqual({ path: `${path}480`, cost: 2 })
  })

  it('of trades have what takers bought', () => {
    expect(rowsOf('candles', [candle, later(candle, 60_000)])).toEqual([
      {
        kind: 'candle',
        symbol: 'BTCUSDT',
        minute: minute * 1000,
        open: '63043.4',
        high: '63083',
        low: '63011.6',
        close: '63026.3',
        volume: '8',
        takerBuy: '3',
        trades: 16911,
      },
    ])
  })

  it.each([
    ['five minutes long', [minute, ...candle.slice(1, 6), minute + 299_999, ...candle.slice(7)]],
    ['not of a full minute', later(candle, -1)],
    ['without a price', changed(candle, 4, '0')],
    ['with a price as number', changed(candle, 4, 63026.3)],
    ['without a volume', changed(candle, 5, '')],
    ['without a count', changed(candle, 8, null)],
    ['without takers', changed(candle, 9, undefined)],
    ['cut off', candle.slice(0, 6)],
    ['an object', { t: minute }],
  ])('that are %s are refused', (_, row) => {
    expect(rowsOf('candles', [row, candle])).toEqual([refused, expect.objectContaining({ kind: 'candle' })])
  })
})

describe('the budget of the futures host', () => {
  const { budgets } = binance
  const inFiveMinutes = (budgets.rest?.capacity ?? 0) + 300 * (budgets.rest?.refillPerSecond ?? 0)
  const costOf = (name: string): number => poll(name).call('BTCUSDT', now).cost

  it('keeps the limits that are counted in calls by what those calls cost', () => {
    expect(inFiveMinutes / costOf('settlements')).toBeLessThanOrEqual(500)
    expect(inFiveMinutes / costOf('funding-info')).toBeLessThanOrEqual(500)
    expect(inFiveMinutes / costOf('top-positions')).toBeLessThanOrEqual(1000)
  })

  it('leaves 1,000 a minute to the repair of trades, with 600 markets and 20 wanted', () => {
    const counts = { whole: 1, catalogue: 600, wanted: 20 }
    const perMinute = polls
      .filter(({ host, everyMs }) => host === 'rest' && everyMs !== 'once')
      .map((one) => (costOf(one.name) * counts[one.scope.of] * 60_000) / Number(one.everyMs))
      .reduce((sum, cost) => sum + cost, 0)
    expect(perMinute + 1000).toBeLessThanOrEqual((budgets.rest?.refillPerSecond ?? 0) * 60)
  })

  it('has no two polls or streams of one name', () => {
    for (const list of [polls, binance.streams]) {
      const names = list.map(({ name }) => name)
      expect(new Set(names).size).toBe(names.length)
    }
  })
})
