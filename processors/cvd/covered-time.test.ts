import { describe, expect, it } from 'vitest'
import { coveredShare, CoveredTime, HOLES_MAX, isCovered, type Covered } from './covered-time.ts'
import { gap, SECOND, T0 } from './testing/records.ts'

const MINUTE = 60 * SECOND
const hour = { from: T0, to: T0 + 60 * MINUTE }
const at = (minutes: number): number => T0 + minutes * MINUTE
const stretch = (from: number, to: number) => ({ from: at(from), to: at(to) })

/** Times in minutes of the hour. */
function instrument(since: number, holes: readonly [number, number][] = [], unsubscribed = holes.slice(0, 0)): Covered {
  const all = (given: readonly (readonly [number, number])[]) => given.map(([from, to]) => stretch(from, to))
  return { since: at(since), holes: all(holes), unsubscribed: all(unsubscribed) }
}

describe('the covered share of an hour', () => {
  it.each<[string, Covered[], number]>([
    ['is none without an instrument', [], 0],
    ['is all where one has traded since before', [instrument(-5)], 1],
    ['counts from the first trade', [instrument(45)], 0.25],
    ['is the mean of the instruments', [instrument(45), instrument(-1)], 0.625],
    ['leaves out what had not traded by its end', [instrument(45), instrument(60)], 0.25],
    ['is less by what is missing', [instrument(0, [[15, 30]])], 0.75],
    [
      'counts overlapping holes once, in any order',
      [
        instrument(0, [
          [20, 40],
          [10, 30],
          [25, 28],
        ]),
      ],
      0.5,
    ],
    [
      'cuts holes at its bounds',
      [
        instrument(-90, [
          [-60, 6],
          [54, 90],
        ]),
      ],
      0.8,
    ],
    ['does not count a hole before the first trade twice', [instrument(30, [[0, 45]])], 0.25],
    ['is less by the time in which nobody was subscribed', [instrument(-90, [], [[-60, 15]])], 0.75],
    ['leaves out who was not subscribed all the time', [instrument(-90, [], [[-60, 60]]), instrument(30)], 0.5],
    ['is none where nobody was subscribed to any', [instrument(-90, [], [[-60, Infinity]])], 0],
  ])('%s', (_, instruments, expected) => {
    expect(coveredShare(instruments, hour)).toBe(expected)
    expect(isCovered(instruments, hour)).toBe(instruments.length === 0 || expected === 1)
  })

  it('is not told of a time before all trades', () => {
    expect(isCovered([instrument(60)], hour)).toBe(true)
  })
})

describe('the covered time of an instrument', () => {
  it('begins with the earliest trade, though it comes later', () => {
    const covered = new CoveredTime()
    covered.trade(at(30))
    covered.trade(at(15))
    expect(coveredShare([covered], hour)).toBe(0.75)
  })

  it('has each gap as it was told last', () => {
    const covered = new CoveredTime()
    covered.trade(at(0))
    const [from_time, to_time] = [at(15), at(30)]
    covered.gap(gap({ from_time, to_time, state: 'opened' }).value)
    covered.gap(gap({ from_time, to_time, gap_id: 7 }).value)
    covered.gap(gap({ from_time, to_time, state: 'filled' }).value)
    expect(covered.holes).toEqual([stretch(15, 30)])
    covered.gap(gap({ from_time, to_time, gap_id: 7, state: 'filled' }).value)
    expect(covered.holes).toEqual([])
  })

  it('ends with the subscription, once, and goes on with the next trade', () => {
    const covered = new CoveredTime()
    covered.trade(at(0))
    for (const minute of [15, 16]) covered.ended(at(minute))
    covered.trade(at(14))
    expect(coveredShare([covered], hour)).toBe(0.25)
    covered.trade(at(45))
    expect(covered.unsubscribed).toEqual([stretch(15, 45)])
  })

  it(`forgets the oldest of more than ${HOLES_MAX} holes, and those that no period reaches`, () => {
    const covered = new CoveredTime()
    covered.trade(at(0))
    for (let n = 0; n <= HOLES_MAX; n++) covered.gap(gap({ from_time: at(n), to_time: at(n + 0.5), gap_id: n }).value)
    expect(covered.holes).toHaveLength(HOLES_MAX)
    expect(covered.holes[0]).toEqual(stretch(1, 1.5))
    covered.ended(at(HOLES_MAX))
    covered.trade(at(HOLES_MAX + 1))
    covered.forget(at(8 * 1440 + 2 * HOLES_MAX))
    expect([covered.holes, covered.unsubscribed]).toEqual([[], []])
  })
})
