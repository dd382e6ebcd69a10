import { afterEach, describe, expect, it } from 'vitest'
import { TtlCache } from './cache.ts'
import { keptOf, textOf, type Kept } from './kept.ts'
import { Recall } from './recall.ts'
import { routes } from './routes.ts'
import { listAsset, NOW, startHarness, streamAsset, type Harness, type HarnessOptions } from './testing/harness.ts'

const running: Harness[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((harness) => harness.stop()))
})

async function start(options: HarnessOptions = {}): Promise<Harness> {
  const api = await startHarness(options)
  running.push(api)
  return api
}

describe('a question asked again', () => {
  it.each(['/cvd/BTC', '/futures/basis/btcusdt', '/funding-rate/extreme?threshold=0.02', '/price/BTC/'])(
    '%s gets the same answer, but for what each answer says of itself',
    async (target) => {
      const api = await start()
      const first = await api.get(target)
      const queries = api.database.asked.length
      api.hang(700)
      const again = await api.get(target)
      expect(api.database.asked).toHaveLength(queries)
      expect(Object.keys(again.body)).toEqual(Object.keys(first.body))
      expect(again.body).toMatchObject({ cached: true, as_of: first.body['as_of'] })
      expect(Number(again.body['age_ms']) - Number(first.body['age_ms'])).toBe(700)
      expect(Date.parse(String(again.body['timestamp'])) - Date.parse(String(first.body['timestamp']))).toBe(700)
      const told = (headers: Headers): string[] => [...headers.keys()].filter((name) => name !== 'date')
      expect(told(again.headers)).toEqual(told(first.headers))
    },
  )

  it('counts against the caller’s rate', async () => {
    const api = await start({ limit: { perSecond: 1, burst: 2 } })
    const statuses = [await api.get('/cvd/BTC'), await api.get('/cvd/BTC'), await api.get('/cvd/BTC')]
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 429])
  })

  it('becomes stale while it is kept', async () => {
    const api = await start()
    const first = await api.get('/futures/basis/BTC')
    api.hang(20_000)
    const again = await api.get('/futures/basis/BTC')
    expect([first.body['stale'], again.body['stale'], again.body['cached']]).toEqual([false, true, true])
    expect(Number(again.body['spot_age_ms'])).toBe(Number(first.body['spot_age_ms']) + 20_000)
  })

  it('keeps its symbol wanted', async () => {
    const api = await start()
    listAsset(api.database, 'wif')
    await api.get('/cvd/WIF')
    streamAsset(api.database, 'wif', NOW)
    api.advance(6 * 60_000)
    expect((await api.get('/cvd/WIF')).status).toBe(200)
    const before = api.wanted.length
    expect((await api.get('/cvd/WIF')).body).toMatchObject({ cached: true })
    expect(api.wanted).toHaveLength(before)
    expect(before).toBe(2)
  })

  it('is a bad question again', async () => {
    const api = await start()
    for (const _ of [1, 2]) expect((await api.get('/cvd/BTC?period=x')).status).toBe(400)
    for (const _ of [1, 2]) expect((await api.get('/cvd/BTC', { method: 'POST' })).status).toBe(405)
    expect((await api.get('/cvd/BTC')).status).toBe(200)
    expect((await api.get('/cvd/BTC', { method: 'POST' })).status).toBe(405)
    expect((await api.get('/cvd/BTC', { method: 'HEAD' })).body['text']).toBe('')
  })

  it('on a tape is answered from the tape’s clock', async () => {
    const api = await start({ mode: 'tape' })
    const first = await api.get('/cvd/BTC')
    api.hang(3_000)
    const again = await api.get('/cvd/BTC')
    expect([again.body['cached'], again.body['age_ms']]).toEqual([true, first.body['age_ms']])
  })
})

describe('what is remembered', () => {
  it('is bounded, holds no answers and forgets what is gone', async () => {
    let now = 0
    const answers = new TtlCache<Kept>({ keysMax: 1, clock: () => now })
    const recall = new Recall(answers)
    const [row] = routes
    if (row === undefined) throw new Error('there are routes')
    const kept = keptOf('{"a":1', '}', { asOf: 0, freshUntil: 5 })
    await answers.get('k', 10, async () => kept)
    recall.put('x'.repeat(257), { row, key: 'k' })
    expect(recall.size).toBe(0)
    for (let n = 0; n < 5_000; n++) recall.put(`/${n}`, { row, key: 'k' })
    expect(recall.size).toBe(4_000)
    expect([recall.find('/0'), recall.find('/4999')?.hit.value]).toEqual([undefined, kept])
    now = 10
    expect(recall.find('/4999')).toBeUndefined()
    expect(recall.size).toBe(3_999)
  })
})

describe('a kept answer', () => {
  it.each([
    ['}', '{"a":1'],
    ['}}', '{"b":{"a":1'],
  ] as const)('that ends in %s is whole JSON at any clock', (close, text) => {
    const perAnswer = (clock: number): object => ({ left: clock })
    const kept = keptOf(text, close, { asOf: 1_000_000, freshUntil: 2_000_000, perAnswer })
    const at = (clock: number): unknown => JSON.parse(textOf(kept, clock, { timestamp: 't', cached: true }))
    const fields = (clock: number, age_ms: number, stale: boolean): object => {
      const inner = {
        a: 1,
        as_of: '1970-01-01T00:00:01.000Z',
        left: clock,
        age_ms,
        stale,
        timestamp: 't',
        cached: true,
      }
      return close === '}' ? inner : { b: inner }
    }
    expect(at(2_000_000)).toEqual(fields(2_000_000, 1000, false))
    expect(at(2_000_001)).toEqual(fields(2_000_001, 1000, true))
    expect(at(0)).toEqual(fields(0, 0, false))
  })
})
