import { expect, it } from 'vitest'
import { keepNewest } from './newest.ts'

/** A set that counts how often it is walked. */
class Walked extends Set<number> {
  walks = 0

  override keys(): SetIterator<number> {
    this.walks += 1
    return super.keys()
  }
}

it('keeps the newest, so many at most', () => {
  const known = new Set(['a', 'b', 'c'])
  keepNewest(known, 3)
  expect([...known]).toEqual(['a', 'b', 'c'])
  keepNewest(known, 2)
  expect([...known]).toEqual(['b', 'c'])
})

it('looks for the oldest once for many that are added: it steps over all that were deleted before', () => {
  const known = new Walked()
  let most = 0
  for (let n = 0; n < 48_000; n++) {
    known.add(n)
    keepNewest(known, 16_000)
    most = Math.max(most, known.size)
  }
  expect(known.walks).toBe(32)
  expect(most).toBe(16_000)
  expect(known.has(47_999 - 15_000)).toBe(true)
})
