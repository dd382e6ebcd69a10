import { describe, expect, it } from 'vitest'
import { TtlCache } from './cache.ts'

function setUp(keysMax = 10): { cache: TtlCache<number>; at: (time: number) => void; loads: number[] } {
  let now = 0
  const loads: number[] = []
  const cache = new TtlCache<number>({ keysMax, clock: () => now })
  return {
    cache,
    loads,
    at: (time) => {
      now = time
    },
  }
}

describe('cache', () => {
  it('keeps a value for its time to live, not a moment longer', async () => {
    const { cache, at } = setUp()
    expect(await cache.get('a', 100, async () => 1)).toEqual({ value: 1, cached: false, freshForMs: 100 })
    at(99)
    expect(await cache.get('a', 100, async () => 2)).toEqual({ value: 1, cached: true, freshForMs: 1 })
    at(100)
    expect(await cache.get('a', 100, async () => 2)).toMatchObject({ value: 2, cached: false })
  })

  it('loads a key once however many ask, though the load outlasts its time to live', async () => {
    const { cache, at, loads } = setUp()
    const { promise, resolve } = Promise.withResolvers<number>()
    const load = (): Promise<number> => {
      loads.push(1)
      return promise
    }
    const hits = [cache.get('a', 10, load), cache.get('a', 10, load)]
    at(50)
    hits.push(cache.get('a', 10, load))
    resolve(7)
    expect(await Promise.all(hits)).toEqual(
      Array.from({ length: 3 }, () => ({ value: 7, cached: false, freshForMs: 0 })),
    )
    expect(loads).toHaveLength(1)
  })

  it('gives a failure to all who waited and forgets it', async () => {
    const { cache } = setUp()
    const { promise, reject } = Promise.withResolvers<number>()
    const both = [cache.get('a', 10, () => promise), cache.get('a', 10, () => promise)]
    reject(new Error('down'))
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await cache.get('a', 10, async () => 3)).toMatchObject({ value: 3, cached: false })
  })

  it('drops the key that was asked for longest ago', async () => {
    const { cache } = setUp(2)
    const put = (key: string): Promise<unknown> => cache.get(key, 100, async () => 1)
    for (const key of ['a', 'b', 'a', 'c']) await put(key)
    expect(cache.size).toBe(2)
    expect(await cache.get('a', 100, async () => 2)).toMatchObject({ cached: true })
    expect(await cache.get('b', 100, async () => 2)).toMatchObject({ cached: false })
  })
})
