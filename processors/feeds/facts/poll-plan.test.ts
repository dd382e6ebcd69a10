import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PollPlan, type CallEnd, type Settlements } from './poll-plan.ts'
import type { Poll } from '../venues/venue.ts'

const start = 1_790_000_040_000
const answered: CallEnd = { kind: 'answered' }

function pollOf(over: Partial<Poll>): Poll {
  return {
    name: 'test',
    host: 'rest',
    topic: 'market.funding',
    scope: { of: 'catalogue', market: 'perp' },
    everyMs: 60_000,
    call: (symbol) => ({ path: symbol, cost: 1 }),
    parse: () => ({ kind: 'rows', rows: [] }),
    ...over,
  }
}

function symbols(count: number): Set<string> {
  return new Set(Array.from({ length: count }, (_, index) => `S${index}`))
}

/** Runs a plan on a clock of its own whose calls end at once; returns the times of all calls, ms since the start. */
function run(plan: PollPlan, untilMs: number, end: (symbol: string, at: number) => CallEnd = () => answered) {
  const calls: { symbol: string; at: number }[] = []
  for (let at = 0; at < untilMs; at += 50) {
    for (let symbol = plan.next(start + at); symbol !== undefined; symbol = plan.next(start + at)) {
      calls.push({ symbol, at })
      plan.ended(symbol, end(symbol, at), start + at)
    }
  }
  return calls
}

describe('a poll’s plan', () => {
  it('asks each subject once a period, spread evenly: no second is more than twice as busy as the mean', () => {
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 700 }), fc.integer({ min: 0, max: 40 }), (count, number) => {
        const plan = new PollPlan(pollOf({}), number)
        plan.want(symbols(count), start)
        const calls = run(plan, 300_000).filter(({ at }) => at >= 120_000)
        const bySymbol = Map.groupBy(calls, ({ symbol }) => symbol)
        expect(bySymbol.size).toBe(count)
        for (const own of bySymbol.values()) expect([2, 3, 4]).toContain(own.length)
        const perSecond = Map.groupBy(calls, ({ at }) => Math.floor(at / 1_000))
        const most = Math.max(...[...perSecond.values()].map(({ length }) => length))
        expect(most).toBeLessThanOrEqual(Math.ceil((count / 60) * 2) + 1)
      }),
      { numRuns: 15 },
    )
  })

  it('goes on within a period when the clock is set back, and asks for no settlement before it', () => {
    const hours = 7_200_000
    const minutes = new PollPlan(pollOf({ afterMinuteMs: 2_000 }), 0)
    minutes.want(symbols(20), start + hours)
    expect(minutes.next(start + hours + 61_000)).toBeDefined()
    expect(new Set(run(minutes, 62_000).map(({ symbol }) => symbol)).size).toBeGreaterThanOrEqual(19)
    const at = (start + 3_600_000) * 1_000
    const settlements: Settlements = { next: () => at, has: () => false }
    const settled = new PollPlan(pollOf({ when: 'settlement' }), 0, settlements)
    settled.want(new Set(['a']), start + hours)
    expect(settled.next(start + hours)).toBeUndefined()
    const [first] = run(settled, 3_700_000)
    expect(first?.at).toBeGreaterThan(3_600_000)
    expect(first?.at).toBeLessThan(3_640_000)
  })

  it('asks for a whole market at once, then each period', () => {
    const plan = new PollPlan(pollOf({ everyMs: 10_000 }), 3)
    plan.want(new Set(['linear']), start)
    const times = run(plan, 60_000).map(({ at }) => at)
    expect(times[0]).toBe(0)
    expect(times.length).toBeGreaterThanOrEqual(5)
    expect(times.length).toBeLessThanOrEqual(7)
    for (const [index, at] of times.slice(1).entries()) expect(at - (times[index] ?? 0)).toBeGreaterThanOrEqual(5_000)
  })

  it('asks for minute data behind the full minute', () => {
    const plan = new PollPlan(pollOf({ afterMinuteMs: 5_000 }), 0)
    plan.want(symbols(8), start)
    const seconds = run(plan, 180_000).map(({ at }) => ((start + at) % 60_000) / 1_000)
    expect(seconds.length).toBe(24)
    expect(Math.min(...seconds)).toBeGreaterThanOrEqual(5)
    expect(Math.max(...seconds)).toBeLessThanOrEqual(8)
  })

  it('takes new subjects on within their first half minute and lets go of others', () => {
    const plan = new PollPlan(pollOf({ everyMs: 3_600_000 }), 0)
    plan.want(symbols(100), start)
    expect(run(plan, 30_000)).toHaveLength(100)
    plan.want(new Set(['S1', 'new', 'newer']), start + 30_000)
    expect(plan.size).toBe(3)
    const [first, second] = [plan.next(start + 61_000), plan.next(start + 61_000)]
    expect(new Set([first, second])).toEqual(new Set(['new', 'newer']))
  })

  it('tries again what failed, a few times, and waits for the next period then', () => {
    const plan = new PollPlan(pollOf({ everyMs: 600_000, scope: { of: 'whole', symbol: 'a', market: 'perp' } }), 0)
    plan.want(new Set(['a']), start)
    const times = run(plan, 300_000, () => ({ kind: 'failed' })).map(({ at }) => at)
    expect(times.slice(0, 4)).toEqual([0, 2_000, 6_000, 14_000])
    expect(times.length).toBeLessThanOrEqual(8)
  })

  it('tries again each minute, of a period that is longer, what still fails then', () => {
    const plan = new PollPlan(pollOf({ everyMs: 3_600_000, scope: { of: 'whole', symbol: 'a', market: 'perp' } }), 8)
    plan.want(new Set(['a']), start)
    const end = (_symbol: string, at: number): CallEnd => (at < 190_000 ? { kind: 'failed' } : answered)
    const times = run(plan, 1_800_000, end).map(({ at }) => at)
    expect(times).toEqual([0, 2_000, 6_000, 14_000, 74_000, 134_000, 194_000])
  })

  it('waits as long as the venue asks', () => {
    const plan = new PollPlan(pollOf({ everyMs: 1_000 }), 0)
    plan.want(new Set(['a']), start)
    const calls = run(plan, 60_000, (_symbol, at) => (at < 1_000 ? { kind: 'wait', waitMs: 50_000 } : answered))
    expect(calls[1]?.at).toBe(50_000)
  })

  it('reads the past once per subject, again only after a failure, and not for ever', () => {
    const plan = new PollPlan(pollOf({ everyMs: 'once' }), 0)
    plan.want(symbols(3), start)
    const calls = run(plan, 3_600_000, (symbol) => {
      if (symbol === 'S1') return { kind: 'failed' }
      return symbol === 'S2' ? { kind: 'refused' } : answered
    })
    const counts = Object.fromEntries([...Map.groupBy(calls, (call) => call.symbol)].map(([s, c]) => [s, c.length]))
    expect(counts).toEqual({ S0: 1, S1: 8, S2: 1 })
    expect(plan.givenUp).toBe(2)
    plan.want(new Set([...symbols(3), 'new']), start + 3_600_000)
    expect(plan.next(start + 3_600_000)).toBe('new')
  })
})

describe('a settlement poll’s plan', () => {
  const poll = pollOf({ when: 'settlement' })
  const at = (start + 60_000) * 1_000

  /** A venue that settles at `at` and publishes it `publishedMs` after the start of the run. */
  function venue(publishedMs: number) {
    const clock = { ms: 0 }
    const known = new Set<string>()
    const settlements: Settlements = {
      next: (symbol) => (known.has(symbol) ? at + 8 * 3_600_000_000 : at),
      has: (symbol, time) => time === at && known.has(symbol),
    }
    const end = (symbol: string, ms: number): CallEnd => {
      clock.ms = ms
      if (ms >= publishedMs) known.add(symbol)
      return answered
    }
    return { settlements, end }
  }

  it('asks after the settlement, spread, once where the rate is there', () => {
    const { settlements, end } = venue(0)
    const plan = new PollPlan(poll, 0, settlements)
    plan.want(symbols(50), start)
    const calls = run(plan, 600_000, end)
    expect(calls).toHaveLength(50)
    expect(Math.min(...calls.map((call) => call.at))).toBeGreaterThanOrEqual(65_000)
    expect(Math.max(...calls.map((call) => call.at))).toBeLessThanOrEqual(90_100)
  })

  it('asks again until the rate is there', () => {
    const { settlements, end } = venue(100_000)
    const plan = new PollPlan(poll, 0, settlements)
    plan.want(new Set(['a']), start)
    expect(run(plan, 600_000, end).map((call) => call.at)).toEqual([65_000, 69_000, 77_000, 93_000, 125_000])
    expect(plan.givenUp).toBe(0)
  })

  it('gives a rate up that never comes, and does not begin again with it', () => {
    const { settlements, end } = venue(Infinity)
    const plan = new PollPlan(poll, 0, settlements)
    plan.want(new Set(['a']), start)
    expect(run(plan, 3_600_000, end)).toHaveLength(8)
    expect(plan.givenUp).toBe(1)
  })
})
