import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FUNDING_STALE, INTEREST_STALE } from '../views/perpetuals.ts'
import { bucketOf, priceDigits, secondsOf, lineOf, totalOf, type CvdPoint } from './web/chart-series.ts'
import * as words from './web/alert-words.ts'
import * as format from './web/format.ts'
import { Freshness } from './web/freshness.ts'
import { rungsOf } from './web/levels.ts'
import { agedOf, runningOf, STALE_MS, type Cvd } from './web/market-figures.ts'
import { matchesOf } from './web/matches.ts'
import { compare } from './web/order.ts'
import { inOrder, stateOf, type Gap } from './web/stream-states.ts'

it('shows five digits of a price on an axis, however small it is', () => {
  expect([60_000, 45, 0.5, 0.052, 5.2e-7, 1.2e-9, 0].map(priceDigits)).toEqual([1, 2, 4, 6, 11, 13, 8])
})

describe('numbers as people read them', () => {
  it.each<[string, string]>([
    [format.price(84_085.04), '84,085.0'],
    [format.price(178.084), '178.08'],
    [format.price(2.20971), '2.2097'],
    [format.price(0.000011339), '0.00001134'],
    [format.price(null), '–'],
    [format.compact(1_234_567), '1.23M'],
    [format.compact(-999), '−999'],
    [format.compact(0), '0'],
    [format.compact(0.01234), '0.0123'],
    [format.signed(1_500), '+1.50K'],
    [format.signed(-1_500), '−1.50K'],
    [format.signed(0), '0'],
    [format.percent(0.000535, 4), '+0.0535 %'],
    [format.inPercent(-0.00001, 2), '0.00 %'],
    [format.duration(3_723_000), '1 h 2 min'],
    [format.age(59_999), '59 s'],
    [format.latency(0.4), '0.4 ms'],
    [format.latency(2_500), '2.50 s'],
    [format.clock(1_767_323_045_000), '03:04:05'],
    [format.moment(1_767_323_045_000), '2026-01-02 03:04'],
  ])('%s is %s', (text, wanted) => {
    expect(text).toBe(wanted)
  })

  it.each([
    [0.1167, 3_600_000, '7 min'],
    [0.0007, 168 * 3_600_000, '7 min'],
    [0.979, 3_600_000, '58 min'],
    [0.98, 3_600_000, undefined],
    [1, 3_600_000, undefined],
    [0, 3_600_000, '0 s'],
    [undefined, 3_600_000, undefined],
  ])('say how long a share of %s of %d ms is where it is not all: %s', (share, periodMs, part) => {
    expect(format.coveredPart(share, periodMs)).toBe(part)
  })

  it('show the side in the sign, so that colour is not needed', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e12, max: 1e12, noNaN: true }), (value) => {
        const signs = { buy: '+', sell: '−', '': '' }
        expect(format.signed(value).startsWith(signs[format.side(value)])).toBe(true)
        const percents = format.inPercent(value, 2)
        expect(format.sideOf(percents)).toBe(percents === '0.00 %' ? '' : format.side(value))
      }),
    )
    expect(format.sideOf(format.inPercent(-0.004, 2))).toBe('')
  })
})

describe('the line of a venue’s volume delta', () => {
  const deltas = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 1, maxLength: 40 })

  /** Points of so many deltas each, behind some that are not shown. */
  function pointsOf(flow: readonly number[], width: number, before: number): CvdPoint[] {
    let cvd = before
    return Array.from({ length: Math.ceil(flow.length / width) }, (_, at) => {
      const delta = flow.slice(at * width, (at + 1) * width).reduce((sum, one) => sum + one, 0)
      cvd += delta
      return { time: String(at), exchanges: { okx: { delta, cvd } } }
    })
  }

  it('ends at the same figure, whatever the width of a point: with what the first one brought', () => {
    fc.assert(
      fc.property(deltas, fc.integer({ min: 1, max: 50 }), fc.integer(), (flow, width, before) => {
        const total = flow.reduce((sum, one) => sum + one, 0)
        expect(lineOf(pointsOf(flow, width, before), 'okx').at(-1)).toBe(total)
      }),
    )
  })

  it('has a figure for each point, and stays where nothing is told', () => {
    const [first, second] = pointsOf([5, -2], 1, 100)
    const points = [first, second, { time: '2', exchanges: {} }].filter((point) => point !== undefined)
    expect(lineOf(points, 'okx')).toEqual([5, 3, 3])
    expect([lineOf(points, 'bybit'), lineOf([], 'okx')]).toEqual([[0, 0, 0], []])
  })
})

describe('the age of figures', () => {
  const at = Date.parse('2026-01-02T03:04:05Z')

  it('is told where a refresh failed, until one comes', () => {
    const fresh = new Freshness()
    fresh.failed('', 'never seen')
    expect(fresh.words(at)).toBeUndefined()
    fresh.answered('', at)
    expect(fresh.words(at + 60_000)).toBeUndefined()
    fresh.failed('', 'No answer within 10 s.')
    expect(fresh.words(at + 34_000)).toBe('As of 03:04:05 UTC, 34 s ago: not refreshed. No answer within 10 s.')
    fresh.answered('', at + 40_000)
    expect(fresh.words(at + 41_000)).toBeUndefined()
  })

  it('is told where the answer itself is old', () => {
    const fresh = new Freshness()
    fresh.answered('', at, true)
    expect(fresh.words(at + 120_000)).toBe('As of 03:04:05 UTC, 2 min ago: nothing newer has come')
  })

  it('is that of the oldest part, and names the parts that are old', () => {
    const fresh = new Freshness()
    for (const [n, part] of ['A', 'B', 'C', 'D', 'E'].entries()) fresh.answered(part, at + (5 - n) * 1_000)
    fresh.failed('B', 'Why.')
    expect(fresh.words(at + 14_000)).toBe('B. As of 03:04:09 UTC, 10 s ago: not refreshed. Why.')
    for (const part of ['C', 'D', 'E']) fresh.failed(part, 'Why.')
    expect(fresh.words(at + 14_000)).toBe('E, D, C, B. As of 03:04:06 UTC, 13 s ago: not refreshed. Why.')
  })
})

describe('liquidation levels', () => {
  it('are rungs from the highest price down, shorts above it and longs below', () => {
    const levels = [
      { price: 100.9, long_usd: 7, short_usd: 10 },
      { price: 101.2, long_usd: 0, short_usd: 30 },
      { price: 98, long_usd: 20, short_usd: 9 },
      { price: 150, long_usd: 1, short_usd: 1 },
    ]
    expect(rungsOf(levels, 100).map(({ side, usd, share }) => [side, usd, share])).toEqual([
      ['short', 30, 1],
      ['short', 10, 1 / 3],
      ['long', 20, 2 / 3],
    ])
    expect(rungsOf([], 100)).toEqual([])
  })
})

describe('the state of a stream', () => {
  const gap = (given: Partial<Gap>): Gap => ({
    key: 'k',
    instrument: 'okx:perp:BTC-USDT-SWAP',
    symbol: 'BTC',
    venue: 'okx',
    state: 'filled',
    reason: 'missing_ids',
    from: 900,
    to: 1_000,
    time: 1_000,
    missing: 0,
    ...given,
  })
  const about = { symbol: 'BTC', venue: 'okx', since: 500 }

  it.each<[string, string, Gap[], string]>([
    ['nothing is missing', 'live', [], 'LIVE'],
    ['a gap was filled', 'live', [gap({})], 'BACKFILLED'],
    ['the gap is older than the period', 'live', [gap({ from: 1, to: 499 })], 'LIVE'],
    ['the gap is of another symbol', 'live', [gap({ symbol: 'ETH' })], 'LIVE'],
    ['a gap is open beside a filled one', 'live', [gap({}), gap({ state: 'opened' })], 'GAP'],
    ['the API says that trades are missing', 'gap', [], 'GAP'],
    ['it is not heard', 'stale', [gap({})], 'STALE'],
    ['the venue refuses us', 'unavailable', [], 'UNAVAILABLE'],
    ['the venue has no such market', 'unlisted', [], 'UNLISTED'],
  ])('where %s (%s)', (_where, status, gaps, state) => {
    expect(stateOf({ okx: status }, gaps, about)).toBe(state)
  })

  it('is that of the symbol where nothing is known by venue', () => {
    expect([stateOf('warming_up', [gap({})], about), stateOf(null, [gap({})], about)]).toEqual([
      'WARMING UP',
      'NOT READ',
    ])
  })

  it('lists open gaps first, then those of the last 24 h, the newest first', () => {
    const now = 86_400_000 + 2_000
    const gaps = [
      gap({ key: 'old', from: 1, to: 2_000 }),
      gap({ key: 'new', from: 9, to: 2_000 }),
      gap({ key: 'over', from: 1, to: 1_999 }),
      gap({ key: 'open', from: 0, to: 1, state: 'opened' }),
    ]
    expect(inOrder(gaps, now).map(({ key }) => key)).toEqual(['open', 'new', 'old'])
  })
})

describe('a rule in words', () => {
  it.each<[string, number | string]>([
    ['5,000,000', 5_000_000],
    ['5M', 5_000_000],
    ['64.1k', 64_100],
    [' −0.01 ', -0.01],
    ['1e-3', 0.001],
    ['.5', 0.5],
    ['-2b', -2e9],
    ['five', 'five'],
    ['5 USD', '5 USD'],
    ['', ''],
    ['1,500', 1_500],
    ['-12,345,678.5', -12_345_678.5],
    ['100,000.25', 100_000.25],
    ['1,500k', 1_500_000],
    ['0,5', '0,5'],
    ['0,250', '0,250'],
    ['1,5', '1,5'],
    ['−0,01', '−0,01'],
    ['1.000,5', '1.000,5'],
    ['100.000,00', '100.000,00'],
    ['1,234,56', '1,234,56'],
    ['1234,567', '1234,567'],
    ['1,000,', '1,000,'],
    [',5', ',5'],
  ])('takes %o for %o', (text, number) => {
    expect(words.numberOf(text)).toBe(number)
  })

  it.each<[string, string | undefined]>([
    ['5,000,000', '5000000'],
    ['-1.5M', '-1500000'],
    ['−0.01', '-0.01'],
    ['.5', '0.5'],
    ['4e-7', '0.0000004'],
    ['123456789012345', '123456789012345'],
    ['0,5', undefined],
    ['5 USD', undefined],
    ['', undefined],
  ])('writes %o as %o in an address', (text, digits) => {
    expect(words.digitsOf(text)).toBe(digits)
  })

  const leaf = { metric: 'cvd', operator: 'above', value: 1 }

  it('knows the conditions of a rule from left to right, joined or alone', () => {
    const [first, second, third] = [1, 2, 3].map((value) => ({ ...leaf, value }))
    if (first === undefined || second === undefined || third === undefined) throw new Error('three conditions')
    const rule = { any: [first, { all: [second, third] }] }
    expect(words.leavesOf(rule)).toEqual([first, second, third])
    expect(words.partsOf(rule)).toEqual({ joint: 'any', parts: rule.any })
    expect(words.partsOf(first)).toEqual({ joint: 'all', parts: [first] })
  })

  it.each([
    ['above', 'is above'],
    ['crosses_below', 'crosses below'],
    ['becomes', 'becomes'],
  ])('%s is said as: %s', (operator, said) => {
    expect(words.operatorWords(operator)).toBe(said)
  })

  const coverage = {
    from: '2026-01-01T00:00:00.000Z',
    to: '2026-01-08T00:00:00.000Z',
    days: 7,
    complete: true,
    stopped_by: null,
    gap_count: 0,
    gap_seconds: 0,
    gaps: [],
    own_from: '2026-01-01T00:00:01.000Z',
  }
  const everywhere = { exchange: null, window: null }
  const trial = { trigger_count: 14, triggers_per_day: 2, triggers: [], figures: [], no_past: [], coverage }

  it.each<[words.Trial, string]>([
    [trial, 'Would have rung 14 times in the last 7 days, 2.0 a day.'],
    [{ ...trial, trigger_count: 0 }, 'Would not have rung in the last 7 days.'],
    [
      {
        ...trial,
        trigger_count: 1,
        triggers_per_day: null,
        coverage: { ...coverage, from: '2026-01-07T23:17:00.000Z', complete: false, gap_seconds: 90 },
      },
      'Would have rung 1 time in the 43 min 0 s that are known. For 1 min 30 s of them nothing was told.',
    ],
    [
      { ...trial, coverage: { ...coverage, own_from: '2026-01-06T02:00:00.000Z' } },
      'Would have rung 14 times in the last 7 days, 2.0 a day. What was before 2026-01-06 02:00 is told by the venues’ past.',
    ],
    [
      { ...trial, no_past: [{ metric: 'liquidation_risk_pct', why: 'no venue tells its past', ...everywhere }] },
      'Would have rung 14 times in the last 7 days, 2.0 a day. Only our own log is looked at: of Liquidation risk, % no venue tells its past.',
    ],
    [
      { ...trial, coverage: { ...coverage, stopped_by: 'rows' } },
      'Would have rung 14 times in the last 7 days, 2.0 a day. There was too much to look at: the newest part is left out.',
    ],
  ])('a trial is told as it was (%#)', (given, said) => {
    expect(words.trialWords(given)).toBe(said)
  })

  it('a trial of several symbols says how often each rang', () => {
    const by = [
      { symbol: 'BTC', trigger_count: 10, triggers_per_day: 1, records: 9, coverage },
      { symbol: 'NEW', trigger_count: 0, triggers_per_day: null, records: 0, coverage: null },
    ]
    expect(words.severalWords({ trigger_count: 10, by_symbol: by })).toBe('All of them: 10 (BTC 10, NEW not known).')
  })

  it('is about one symbol, several or all, where the API takes them', () => {
    const several = { properties: { symbols: {} } }
    expect(words.symbolFieldsOf(' BTC ', several)).toEqual({ symbol: 'BTC' })
    expect(words.symbolFieldsOf('BTC, eth  SOL', several)).toEqual({ symbols: ['BTC', 'eth', 'SOL'] })
    expect(words.symbolFieldsOf('All', several)).toEqual({ symbols: 'all' })
    expect(words.symbolFieldsOf('BTC, ETH', {})).toEqual({ symbol: 'BTC, ETH' })
  })

  it('a fault names what is possible, once', () => {
    expect(words.faultWords('window must be one of 1m, 5m.', ['1m', '5m'])).toBe('window must be one of 1m, 5m.')
    expect(words.faultWords('No.', ['a', 'b'])).toBe('No. Possible: a, b.')
  })
})

describe('the search for a symbol', () => {
  const symbols = ['AAVE', 'BTC', 'WBTC', 'BTCDOM', 'ETH', 'STETH']

  it('offers what begins with the text first, the shortest of it at the top', () => {
    expect(matchesOf(symbols, ' btc')).toEqual(['BTC', 'BTCDOM', 'WBTC'])
    expect(matchesOf(symbols, 'eth')).toEqual(['ETH', 'STETH'])
    expect(matchesOf(symbols, '')).toEqual([])
    expect(matchesOf(symbols, 'nope')).toEqual([])
  })
})

describe('the order of a table', () => {
  it('puts last what is not said, either way', () => {
    const values = [3, null, 1, undefined, 2]
    const said = (isFalling: boolean): unknown[] =>
      values.toSorted((a, b) => compare(a, b, isFalling)).filter((value) => value !== null && value !== undefined)
    expect(said(true)).toEqual([3, 2, 1])
    expect(said(false)).toEqual([1, 2, 3])
    for (const isFalling of [true, false]) {
      const order = [null, 1].toSorted((a, b) => compare(a, b, isFalling))
      expect(order).toEqual([1, null])
    }
  })
})

describe('buckets of the chart', () => {
  it('begin as the API’s do, weeks with Monday', () => {
    const at = '2026-01-01T03:04:05.000Z' // a Thursday
    expect(bucketOf(at, '1w')).toBe(secondsOf('2025-12-29T00:00:00Z'))
    expect(bucketOf(at, '4h')).toBe(secondsOf('2026-01-01T00:00:00Z'))
    expect(bucketOf(at, '3m')).toBe(secondsOf('2026-01-01T03:03:00Z'))
  })

  it('have the sum over all venues since the first that is shown, that one too', () => {
    expect(
      totalOf([
        { cvd: 12, delta: 2 },
        { cvd: 9, delta: -3 },
      ]),
    ).toEqual([2, -1])
  })
})

describe('figures of a market', () => {
  const NOW = 1_800_000_000_000
  const rate = (exchange: string, said: number | null, old: number): object => ({
    exchange,
    rate: said,
    interval_hours: 8,
    time: NOW - old,
  })
  const funding = (...exchanges: readonly object[]): never => ({ exchanges }) as never
  const risk = (old: number): never =>
    ({ open_interest_usd: 5e9, cascade_risk: 'high', cascade_risk_reason: 'much', time: NOW - old }) as never

  it('are of now for as long as the API says', () => {
    expect([FUNDING_STALE, INTEREST_STALE]).toEqual([STALE_MS * 1_000, STALE_MS * 1_000])
  })

  it('have the rate of the first venue that is heard', () => {
    const heard = funding(rate('binance', 9, STALE_MS + 1), rate('bybit', null, 0), rate('okx', -0.0001, STALE_MS))
    expect(runningOf(heard, NOW)?.exchange).toBe('okx')
    expect(agedOf({ funding: heard }, NOW).funding).toEqual({
      text: '−0.0100 %',
      classes: 'num',
      title: 'okx, every 8 h',
    })
    expect(agedOf({ funding: heard }, NOW + 1).funding).toMatchObject({ text: format.DASH, title: '' })
    expect(runningOf(funding({ ...rate('okx', 1, 0), time: null }), NOW)).toBeUndefined()
  })

  const cvd = (share: number): Cvd => {
    const [usd, whole] = [-1_500, { usd: 0, share: 1 }]
    return {
      time: NOW,
      fresh_until: NOW + 30_000,
      periods: { '1h': { usd, share }, '4h': whole, '24h': whole, '7d': whole },
    }
  }

  it.each([
    [1, 30_000, '−1.50K', 'num sell', ''],
    [1, 30_001, '−1.50K', 'num weak', '30 s old'],
    [0.5, 0, '−1.50K in 30 min', 'num weak', ''],
    [0.5, 90_000, '−1.50K in 30 min', 'num weak', '1 min old'],
  ])('have a volume delta of a share of %d, %d ms old, as %s (%s, %s)', (share, old, text, classes, title) => {
    expect(agedOf({ cvd: cvd(share) }, NOW + old)['cvd-1h']).toEqual({ text, classes, title })
    expect(agedOf({ cvd: cvd(share) }, NOW)['cvd-4h']).toEqual({ text: '0', classes: 'num ', title: '' })
  })

  it('have a dash for a volume delta that was never told', () => {
    expect(agedOf({}, NOW)['cvd-7d']).toEqual({ text: format.DASH, classes: 'num', title: '' })
  })

  it('are weak and say their age where open interest and risk are of a time ago', () => {
    const fresh = agedOf({ risk: risk(STALE_MS) }, NOW)
    expect([fresh.interest, fresh.risk]).toEqual([
      { text: '5.00B', classes: 'num', title: '' },
      { text: 'high', classes: 'num risk-high', title: 'much' },
    ])
    const old = agedOf({ risk: risk(6 * 3_600_000) }, NOW)
    expect([old.interest, old.risk]).toEqual([
      { text: '5.00B', classes: 'num weak', title: '6 h old' },
      { text: 'high', classes: 'num weak', title: '6 h old' },
    ])
    expect(agedOf({}, NOW).risk).toEqual({ text: format.DASH, classes: 'num risk-none', title: '' })
  })
})
