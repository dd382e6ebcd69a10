import { describe, expect, it } from 'vitest'
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
