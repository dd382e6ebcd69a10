import { describe, expect, it } from 'vitest'
import { HandMembership } from './testing/task.ts'
import { Watch } from './watch.ts'

const INPUT = 'cvd market.trades-3'

/** What the watch says after it has looked at a place that does not move, at these times. */
function after(...times: readonly number[]): string | undefined {
  const watch = new Watch(6_000, [], 0)
  for (const time of times) watch.at(INPUT, 5, 9, time)
  return watch.check([], times.at(-1) ?? 0)?.code
}

const everySecond = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => (from + index) * 1_000)

describe('an input that stands still while its log goes on', () => {
  it('ends the process after half a minute', () => {
    expect(after(...everySecond(0, 30))).toBeUndefined()
    expect(after(...everySecond(0, 31))).toBe('stuck')
  })

  it('is not counted while the process itself was frozen', () => {
    expect(after(0, 46_000)).toBeUndefined()
    expect(after(...everySecond(0, 20), ...everySecond(66, 90))).toBeUndefined()
    expect(after(...everySecond(0, 20), ...everySecond(66, 97))).toBe('stuck')
  })
})

it('does not count as standing still that an input is at its end', () => {
  const watch = new Watch(6_000, [], 0)
  for (const time of everySecond(0, 60)) watch.at(INPUT, 9, 9, time)
  for (const time of everySecond(61, 90)) watch.at(INPUT, 9, 12, time)
  expect(watch.check([], 90_000)).toBeUndefined()
  watch.at(INPUT, 9, 12, 91_000)
  expect(watch.check([], 91_000)?.code).toBe('stuck')
})

describe('an input that cannot be read', () => {
  /** A watch that has seen it missing at these times, and when it said that it is to be told. */
  function missingAt(...times: readonly number[]): { watch: Watch; told: number[] } {
    const watch = new Watch(6_000, [], 0)
    return { watch, told: times.filter((time) => watch.isMissing(INPUT, time)) }
  }

  it('is told once after 15 s, and is well again as soon as it was read', () => {
    const { watch, told } = missingAt(...everySecond(0, 30))
    expect([told, watch.isWell([], 30_000)]).toEqual([[15_000], false])
    watch.found(INPUT)
    expect(watch.isWell([], 30_000)).toBe(true)
  })

  it('is not counted while nobody looked at it', () => {
    const { watch, told } = missingAt(...everySecond(0, 10), ...everySecond(21, 35))
    expect([told, watch.isWell([], 35_000)]).toEqual([[], true])
  })

  it('is no more of this host’s once it has not been looked at for 10 s', () => {
    const { watch } = missingAt(...everySecond(0, 20))
    expect([watch.isWell([], 30_000), watch.isWell([], 30_001)]).toEqual([false, true])
  })
})

describe('a log that cannot be used', () => {
  const none = { failingMs: () => 0 }

  it('is told of at the first failure in a row, is not well after 15 s and ends the process after two minutes', () => {
    const watch = new Watch(6_000, [], 0)
    watch.fetched('cvd', 50_000)
    expect([watch.isFirstFailure('cvd'), watch.isFirstFailure('cvd')]).toEqual([true, false])
    expect([watch.isWell([], 64_999), watch.isWell([], 65_000)]).toEqual([true, false])
    expect(watch.check([none], 170_000)).toBeUndefined()
    expect(watch.check([none], 170_001)).toMatchObject({ exitCode: 6, code: 'log-unusable' })
    watch.fetched('cvd', 170_002)
    expect([watch.isWell([], 170_002), watch.isFirstFailure('cvd')]).toEqual([true, true])
  })

  it('is counted since the process began where no fetch ever came back', () => {
    const watch = new Watch(6_000, [], 1_000)
    watch.isFirstFailure('cvd')
    expect([watch.isWell([], 15_999), watch.isWell([], 16_000)]).toEqual([true, false])
  })

  it('is so for the reader or the partition that fails longest', () => {
    const failing = { failingMs: () => 120_001 }
    for (const owners of [
      [failing, none],
      [none, failing],
    ])
      expect(new Watch(6_000, [], 0).check(owners, 0)?.code).toBe('log-unusable')
    const watch = new Watch(6_000, [], 0)
    for (const reader of ['cvd', 'prices', 'alerts']) watch.fetched(reader, reader === 'prices' ? 0 : 100_000)
    for (const reader of ['cvd', 'prices', 'alerts']) watch.isFirstFailure(reader)
    expect(watch.check([none], 120_001)?.code).toBe('log-unusable')
  })
})

it('ends the process where a membership is silent for its session and five seconds more', () => {
  const [silent, heard] = [0, 9_000].map((lastSeen) => Object.assign(new HandMembership(), { lastSeen }))
  const watch = new Watch(
    6_000,
    [silent, heard].flatMap((each) => each ?? []),
    0,
  )
  expect(watch.check([], 11_000)).toBeUndefined()
  expect(watch.check([], 11_001)).toMatchObject({ exitCode: 5, code: 'membership-silent' })
})
