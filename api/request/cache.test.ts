import { describe, expect, it, onTestFinished } from 'vitest'
import { TtlCache } from './cache.ts'
import { NOW, startHarness } from '../testing/harness.ts'

function setUp(keysMax = 10): { cache: TtlCache; at: (time: number) => void; loads: number[] } {
  let now = 0
  const loads: number[] = []
  const cache = new TtlCache({ keysMax, clock: () => now })
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

  it('drops a key that was not asked for lately', async () => {
    const { cache } = setUp(2)
    const put = (key: string): Promise<unknown> => cache.get(key, 100, async () => 1)
    for (const key of ['a', 'b', 'a', 'c']) await put(key)
    expect(cache.size).toBe(2)
    expect(await cache.get('a', 100, async () => 2)).toMatchObject({ cached: true })
    expect(await cache.get('b', 100, async () => 2)).toMatchObject({ cached: false })
  })

  it('loads a key once also where all others were asked for lately', async () => {
    const { cache, loads } = setUp(2)
    const load = async (): Promise<number> => loads.push(1)
    for (const key of ['a', 'b', 'a', 'b']) await cache.get(key, 100, load)
    const hits = await Promise.all([cache.get('c', 100, load), cache.get('c', 100, load)])
    expect([cache.size, loads.length, hits.map(({ value }) => value)]).toEqual([2, 3, [3, 3]])
  })

  it('lets go of what is loading for want of room, and hears no more of it', async () => {
    const cache = new TtlCache({ keysMax: 1, clock: () => 0, weigh: (text) => String(text).length })
    const [slow, failing] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    const late = [cache.get('a', 100, () => failing.promise), cache.get('b', 100, () => slow.promise)]
    const fresh = cache.get('a', 100, async () => 'x')
    expect(cache.size).toBe(1)
    slow.resolve('xxxx')
    failing.reject(new Error('down'))
    await Promise.allSettled([...late, fresh])
    expect([cache.weight, cache.peek('a')?.value, cache.peek('b')]).toEqual([1, 'x', undefined])
  })

  it('forgets what is over when it adds, a second apart', async () => {
    const { cache, at } = setUp()
    const put = (key: string): Promise<unknown> => cache.get(key, 100, async () => 1)
    void cache.get('loading', 100, () => new Promise(() => undefined))
    await put('a')
    at(999)
    await put('b')
    expect(cache.size).toBe(3)
    at(1_000)
    await put('c')
    expect([cache.size, cache.peek('b') === undefined]).toEqual([3, false])
  })

  it('drops what is too heavy together, each weighed once', async () => {
    const cache = new TtlCache({ keysMax: 10, clock: () => 0, weightMax: 10, weigh: (text) => String(text).length })
    const put = (key: string, length: number): Promise<unknown> => cache.get(key, 100, async () => 'x'.repeat(length))
    for (const key of ['a', 'b', 'c']) await put(key, 4)
    expect([cache.size, cache.weight]).toEqual([2, 8])
    expect(cache.peek('a')).toBeUndefined()
    await put('d', 11)
    expect([cache.size, cache.weight]).toEqual([0, 0])
  })

  it('gives what is there without a load, and nothing else', async () => {
    const { cache, at } = setUp()
    expect(cache.peek('a')).toBeUndefined()
    const loading = cache.get('a', 100, async () => 1)
    expect(cache.peek('a')).toBeUndefined()
    await loading
    expect(cache.peek('a')).toEqual({ value: 1, cached: true, freshForMs: 100 })
    at(100)
    expect(cache.peek('a')).toBeUndefined()
  })

  it('weighs what replaces an old value in its place', async () => {
    let now = 0
    const cache = new TtlCache({ keysMax: 10, clock: () => now, weightMax: 10, weigh: (text) => String(text).length })
    await cache.get('a', 100, async () => 'xxxx')
    now = 100
    await cache.get('a', 100, async () => 'xx')
    expect([cache.size, cache.weight]).toEqual([1, 2])
  })
})

it('gives an answer no longer where the wall clock is put back by an hour', async () => {
  let [time, off] = [NOW / 1_000, 0]
  const api = await startHarness({ now: () => time + off, steady: () => time })
  onTestFinished(() => api.stop())
  const ohlcv = '/ohlcv/BTC?interval=1m&limit=1&exchange=all'
  expect(await api.body(ohlcv)).toMatchObject({ cached: false })
  expect(await api.body(ohlcv)).toMatchObject({ cached: true })
  off = -3_600_000
  time += 6_000
  expect(await api.body(ohlcv)).toMatchObject({ cached: false })
})
