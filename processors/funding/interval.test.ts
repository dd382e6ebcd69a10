import { describe, expect, it } from 'vitest'
import { forgetSettled, nextOf, record, startOf } from './interval.ts'
import { assetOf, emptyState, MINUTE, perpOf, type KnownPerp } from './state.ts'
import { binance } from './testing/records.ts'

/** A bound of intervals of 8 h, minutes. */
const BOUND = 480 * 61_000
const terms = { intervalHours: 8, cap: null, floor: null, interestDaily: null }

/** A perpetual of 8 h; `announced`, `seen`: its next and its last settlement, minutes from the bound. */
function perpAt(announced: number | null, seen: number | null): KnownPerp {
  const at = (minutes: number): number => (BOUND + minutes) * MINUTE
  const perp = perpOf(assetOf(emptyState(), 'btc'), binance, 'binance')
  return {
    ...perp,
    terms,
    rate: announced === null ? null : { rate: 0, next: at(announced), time: 0 },
    settled: seen === null ? null : { rate: 0, time: at(seen) },
  }
}

describe('the last settlement', () => {
  it.each<[string, number | null, number | null, number, number | null]>([
    ['is not known of nothing', null, null, 10, null],
    ['is an interval before the one that is announced', 480, null, 10, 0],
    ['is the announced one from its minute on', 480, null, 480, 480],
    ['is the last bound since the one that was announced', 0, null, 970, 960],
    ['is the last bound since the one that was seen', null, -960, 10, 0],
    ['is the one that was seen, though time has not come to it', null, 5, 0, 5],
    ['is the one that was seen within the announced interval', 480, 60, 70, 60],
    ['is no earlier one that was seen', 480, -100, 10, 0],
    ['is not yet the announced one that was seen before its time', 480, 480, 479, 0],
    ['is of the nearest minute', 480 - 1e-4, -960 - 1e-4, 10, 0],
    ['is of the nearest minute where it was seen', null, -1e-4, 10, 0],
  ])('%s', (_, announced, seen, now, start) => {
    const found = startOf(perpAt(announced, seen), (BOUND + now) * MINUTE)
    expect(found).toBe(start === null ? null : BOUND + start)
  })

  it('is followed by the announced one, or the one an interval later once that has passed', () => {
    const perp = perpAt(480, null)
    const next = (start: number | null, now: number): number | null => {
      const at = nextOf(perp, start === null ? null : BOUND + start, (BOUND + now) * MINUTE)
      return at === null ? null : at / MINUTE - BOUND
    }
    expect([next(0, 479), next(480, 480), next(null, 480)]).toEqual([480, 960, null])
  })
})

describe('closes of the premium', () => {
  it('are kept for a day where no settlement is known', () => {
    const perp = perpAt(null, null)
    for (const minute of [BOUND - 1_441, BOUND - 1_440, BOUND]) perp.minutes.set(minute, 0)
    perp.premium = { premium: 0, minute: BOUND }
    forgetSettled(perp, null)
    expect([...perp.minutes.keys()]).toEqual([BOUND - 1_440, BOUND])
  })

  it('say nothing new when they come again', () => {
    const { minutes } = perpAt(null, null)
    expect([record(minutes, 1, 0.1), record(minutes, 1, 0.1), record(minutes, 1, 0.2)]).toEqual([true, false, true])
  })
})
