import { describe, expect, it } from 'vitest'
import type { Mark, Micros } from '../../schemas/records.ts'
import { isRareMark, noTime, PartitionClock } from './partition-clock.ts'

const SECOND: Micros = 1_000_000
const MINUTE = 60 * SECOND
const NOW: Micros = 1_760_000_000 * SECOND
const IN = 'market.tickers'

/** A feed's mark at a distance from NOW; `told`: what it says of the venues' time, at a distance as well. */
function feedMark(after: Micros, told: Micros | null = null): Mark {
  const venue_time = told === null ? null : NOW + told
  return { writer: 'feeds', run: NOW, time: NOW + after, venues: [], changes: [], venue_time, positions: [] }
}

function clockAt(...marks: readonly Mark[]): PartitionClock {
  const clock = new PartitionClock(noTime)
  for (const mark of marks) clock.follow(IN, mark)
  return clock
}

describe('partition time', () => {
  it('follows a first mark, and then the largest', () => {
    const clock = clockAt(feedMark(0), feedMark(SECOND), feedMark(-MINUTE))
    expect(clock.time).toBe(NOW + SECOND)
  })

  it.each([
    { why: 'a feed whose clock is right', after: SECOND, told: 0, follows: true },
    { why: 'a clock that is just right enough', after: 5 * SECOND, told: 0, follows: true },
    { why: 'a clock more than 5 s ahead of the venues', after: 5 * SECOND + 1, told: 0, follows: false },
    { why: 'a clock 55 minutes ahead of the venues', after: 55 * MINUTE, told: 0, follows: false },
    { why: 'an outage of an hour that the venues confirm', after: 60 * MINUTE, told: 60 * MINUTE, follows: true },
    { why: 'a clock that is behind the venues', after: -MINUTE, told: 0, follows: true },
    { why: 'a start a minute later that tells nothing', after: MINUTE, told: null, follows: true },
    { why: 'a jump that nothing tells of', after: MINUTE + 1, told: null, follows: false },
  ])('$why: $follows', ({ after, told, follows }) => {
    const clock = clockAt(feedMark(0, 0))
    expect(clock.follow(IN, feedMark(after, told))).toBe(follows)
    expect(clock.time).toBe(NOW + (follows ? Math.max(0, after) : 0))
  })

  it('does not follow even a first mark that its own venues contradict', () => {
    expect(clockAt(feedMark(55 * MINUTE, 0)).time).toBe(0)
  })

  it('follows a jump that tells nothing once the next mark is as far', () => {
    const clock = clockAt(feedMark(0), feedMark(60 * MINUTE))
    expect(clock.time).toBe(NOW)
    expect(clock.follow(IN, feedMark(60 * MINUTE + SECOND))).toBe(true)
    expect(clock.time).toBe(NOW + 60 * MINUTE + SECOND)
  })

  it.each([
    { why: 'about as far', jumps: [60 * MINUTE], after: 60 * MINUTE - 5 * SECOND, follows: true },
    { why: 'less far', jumps: [60 * MINUTE], after: 60 * MINUTE - 5 * SECOND - 1, follows: false },
    { why: 'as far as the one before', jumps: [60 * MINUTE, 30 * MINUTE], after: 30 * MINUTE, follows: true },
  ])('after a jump that tells nothing, a mark that is $why: $follows', ({ jumps, after, follows }) => {
    const clock = clockAt(feedMark(0), ...jumps.map((jump) => feedMark(jump)))
    expect(clock.follow(IN, feedMark(after))).toBe(follows)
  })

  it('counts the next mark that tells nothing from the largest, though others came behind it', () => {
    for (const told of [0, null]) {
      const clock = clockAt(feedMark(0, 0), feedMark(-10 * MINUTE, told))
      expect(clock.follow(IN, feedMark(MINUTE))).toBe(true)
    }
  })

  it('follows a mark that the venues confirm also behind a jump that tells nothing', () => {
    expect(clockAt(feedMark(0), feedMark(60 * MINUTE)).follow(IN, feedMark(SECOND, SECOND))).toBe(true)
  })

  it('forgets a jump that tells nothing when the next mark is not as far', () => {
    const clock = clockAt(feedMark(0))
    for (let second = 1; second < 100; second++) {
      expect(clock.follow(IN, feedMark(55 * MINUTE + second * SECOND))).toBe(false)
      expect(clock.follow(IN, feedMark(second * SECOND))).toBe(true)
    }
    expect(clock.time).toBe(NOW + 99 * SECOND)
  })

  it('follows processors, who have judged where they read', () => {
    const clock = new PartitionClock(noTime)
    expect(clock.follow('alerts.inputs', feedMark(0))).toBe(true)
    expect(clock.follow('alerts.inputs', feedMark(60 * MINUTE))).toBe(true)
  })

  it('judges the marks of a topic by that topic alone, in whatever order topics are read', () => {
    const clock = new PartitionClock(noTime)
    clock.follow('derived.flow', feedMark(60 * MINUTE))
    expect(clock.follow('market.candles', feedMark(0))).toBe(true)
    expect(clock.follow('market.candles', feedMark(2 * MINUTE))).toBe(false)
  })

  it('goes on from what was saved, a mark that waits included', () => {
    const clock = new PartitionClock(clockAt(feedMark(0), feedMark(60 * MINUTE)).save())
    expect(clock.time).toBe(NOW)
    expect(clock.follow(IN, feedMark(60 * MINUTE))).toBe(true)
  })
})

it.each([
  [9, 10, true],
  [10, 19, false],
  [19, 45, true],
])('a mark that moves time from %i s to %i s is for topics of few records: %s', (before, time, isRare) => {
  expect(isRareMark(before * SECOND, time * SECOND)).toBe(isRare)
})
