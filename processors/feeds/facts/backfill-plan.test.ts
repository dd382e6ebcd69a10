import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BackfillPlan, type CoveredPast } from './backfill-plan.ts'

const HOUR = 3_600_000_000
/** 20 minutes after a full hour, milliseconds. */
const NOW = Date.UTC(2026, 10, 21, 12, 20)
const END = Date.UTC(2026, 10, 21, 12) * 1_000
const symbols = new Set(['A', 'B'])
/** Both clocks. */
const at = (ms: number) => [ms, ms] as const
const nothing = (): undefined => undefined

function planOf(days: number, pageSize: number): BackfillPlan {
  return new BackfillPlan({ seconds: 3_600, days, pageSize, least: 1 })
}

describe('the plan of the past', () => {
  it('asks what is newest first, of all symbols in turn, and for nothing twice', () => {
    const plan = planOf(2, 20)
    plan.want(symbols, nothing)
    const asked: string[] = []
    for (let page = plan.next(...at(NOW)); page !== undefined; page = plan.next(...at(NOW))) {
      asked.push(`${page.symbol} ${(END - page.from) / HOUR} ${(END - page.to) / HOUR}`)
      plan.written(page, 20, page.to - HOUR, ...at(NOW))
    }
    expect(asked).toEqual(['A 20 0', 'B 20 0', 'A 40 20', 'B 40 20', 'A 48 40', 'B 48 40'])
    expect(plan.progress(...at(NOW))).toEqual({ wanted: 96, missing: 0 })
  })

  it('goes on with each hour that has passed, once the venue has its candle', () => {
    const plan = planOf(1, 100)
    plan.want(new Set(['A']), () => ({ from: END - 24 * HOUR, to: END, rows: 24 }))
    expect(plan.next(...at(NOW + 40 * 60_000 + 9_999))).toBeUndefined()
    expect(plan.next(...at(NOW + 40 * 60_000 + 10_000))).toEqual({ symbol: 'A', from: END, to: END + HOUR })
  })

  it('asks again a minute later for what the venue is late with, until it is known to leave it out', () => {
    const plan = planOf(1, 100)
    plan.want(new Set(['A']), () => ({ from: END - 24 * HOUR, to: END - 2 * HOUR, rows: 22 }))
    const page = { symbol: 'A', from: END - 2 * HOUR, to: END }
    const soon = END / 1_000 + 10_000
    expect(plan.next(...at(soon))).toEqual(page)
    expect(plan.written(page, 1, END - 2 * HOUR, ...at(soon))).toMatchObject({ to: END - HOUR, rows: 23 })
    expect(plan.next(...at(soon + 59_999))).toBeUndefined()
    const rest = { symbol: 'A', from: END - HOUR, to: END }
    expect(plan.next(...at(soon + 60_000))).toEqual(rest)
    expect(plan.written(rest, 0, -Infinity, ...at(soon + 60_000))).toMatchObject({ to: END - HOUR, rows: 23 })
    expect(plan.next(...at(soon + 600_000))).toEqual(rest)
    expect(plan.written(rest, 0, -Infinity, ...at(soon + 600_000))).toMatchObject({ to: END, rows: 23 })
    expect(plan.next(...at(soon + 600_000))).toBeUndefined()
  })

  it('goes on further back where somebody ordered it, of that symbol alone, and to no less than usual', () => {
    const plan = planOf(1, 100)
    const covered = { from: END - 24 * HOUR, to: END, rows: 24 }
    const since = (symbol: string): number | undefined => (symbol === 'A' ? END - 50 * HOUR - 1 : undefined)
    plan.want(symbols, () => covered, since)
    expect(plan.progress(...at(NOW))).toEqual({ wanted: 75, missing: 27 })
    expect(plan.next(...at(NOW))).toEqual({ symbol: 'A', from: END - 51 * HOUR, to: END - 24 * HOUR })
    plan.want(symbols, nothing, () => END - HOUR)
    expect(plan.next(...at(NOW))).toBeUndefined()
  })

  it('asks for minutes that have passed when there is an hour of them', () => {
    const plan = new BackfillPlan({ seconds: 60, days: 1, pageSize: 300, least: 60 })
    const to = (NOW - 3_000_000) * 1_000
    plan.want(new Set(['A']), () => ({ from: 0, to, rows: 9 }))
    expect(plan.next(...at(NOW))).toBeUndefined()
    expect(plan.progress(...at(NOW)).missing).toBe(0)
    const later = NOW + 620_000
    expect(plan.progress(...at(later)).missing).toBe(60)
    expect(plan.next(...at(later))).toEqual({ symbol: 'A', from: to, to: to + 3_600_000_000 })
  })

  it('begins anew where what it knows ended before all that is wanted', () => {
    const plan = planOf(1, 100)
    plan.want(new Set(['A']), () => ({ from: 0, to: END - 25 * HOUR, rows: 9 }))
    const page = plan.next(...at(NOW))
    expect(page).toEqual({ symbol: 'A', from: END - 24 * HOUR, to: END })
    expect(page && plan.written(page, 24, page.to - HOUR, ...at(NOW))).toEqual({
      from: END - 24 * HOUR,
      to: END,
      rows: 24,
    })
  })

  it('leaves a symbol that the venue refuses alone for an hour, and the others not', () => {
    const plan = planOf(1, 100)
    plan.want(symbols, nothing)
    plan.refused({ symbol: 'A', from: 0, to: 0 }, NOW)
    expect(plan.next(...at(NOW))?.symbol).toBe('B')
    plan.want(new Set(['A']), nothing)
    expect(plan.next(...at(NOW))).toBeUndefined()
    expect(plan.progress(...at(NOW))).toEqual({ wanted: 0, missing: 0 })
    expect(plan.next(...at(NOW + 3_600_000))?.symbol).toBe('A')
    expect(plan.progress(...at(NOW + 3_600_000))).toEqual({ wanted: 24, missing: 24 })
  })

  it('waits as long where the clock is put back or ahead meanwhile', () => {
    for (const moved of [-7_200_000, 7_200_000]) {
      const plan = planOf(1, 100)
      plan.want(symbols, nothing)
      plan.refused({ symbol: 'A', from: 0, to: 0 }, 5)
      const page = plan.next(NOW, 5)
      expect(page && plan.written(page, 0, -Infinity, page.to / 1_000, 5)).toMatchObject({ rows: 0 })
      expect(plan.next(NOW + moved, 60_004)).toBeUndefined()
      expect(plan.next(NOW + moved, 60_005)?.symbol).toBe('B')
      expect(plan.next(NOW + moved, 3_600_005)?.symbol).toBe('A')
    }
  })

  it('covers all of it once, whenever it is ended and begun again', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 300 })), { maxLength: 8 }),
        (days, pageSize, runs) => {
          const known = new Map<string, CoveredPast>()
          const seen = new Map<string, number>()
          let now = NOW
          // The last run has no end before all is there.
          for (const [pages, minutes] of [...runs, [Infinity, 0] as const]) {
            const plan = planOf(days, pageSize)
            plan.want(symbols, (symbol) => known.get(symbol))
            for (
              let count = 0, page = plan.next(...at(now));
              page !== undefined && count < pages;
              count++, page = plan.next(...at(now))
            ) {
              expect(page.to - page.from).toBeLessThanOrEqual(pageSize * HOUR)
              for (let at = page.from; at < page.to; at += HOUR) {
                const key = `${page.symbol} ${at}`
                seen.set(key, (seen.get(key) ?? 0) + 1)
              }
              const covered = plan.written(page, (page.to - page.from) / HOUR, page.to - HOUR, ...at(NOW))
              if (covered !== undefined) known.set(page.symbol, covered)
            }
            now += minutes * 60_000
          }
          const end = Math.floor((now * 1_000 - 10_000_000) / HOUR) * HOUR
          for (const symbol of symbols)
            for (let at = end - days * 24 * HOUR; at < end; at += HOUR) expect(seen.get(`${symbol} ${at}`)).toBe(1)
        },
      ),
    )
  })
})
