import { afterEach, describe, expect, it } from 'vitest'
import { dataReply } from './reply.ts'
import { listAsset, NOW, startHarness, streamAsset, type Harness, type HarnessOptions } from '../testing/harness.ts'

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
  it.each(['/cvd/history/btcusdt', '/ohlcv/BTC?interval=5m', '/ohlcv/BTC/'])(
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
    const statuses = [await api.get('/ohlcv/BTC'), await api.get('/ohlcv/BTC'), await api.get('/ohlcv/BTC')]
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 429])
  })

  it('keeps its symbol wanted', async () => {
    const api = await start()
    listAsset(api.database, 'wif')
    await api.get('/ohlcv/WIF')
    streamAsset(api.database, 'wif', NOW)
    api.advance(6 * 60_000)
    expect((await api.get('/ohlcv/WIF')).status).toBe(200)
    const before = api.wanted.length
    expect((await api.get('/ohlcv/WIF')).body).toMatchObject({ cached: true })
    expect(api.wanted).toHaveLength(before)
    expect(before).toBe(2)
  })

  it('is a bad question again', async () => {
    const api = await start()
    for (const _ of [1, 2]) expect((await api.get('/ohlcv/BTC?interval=x')).status).toBe(400)
    for (const _ of [1, 2]) expect((await api.get('/ohlcv/BTC', { method: 'POST' })).status).toBe(405)
    expect((await api.get('/ohlcv/BTC')).status).toBe(200)
    expect((await api.get('/ohlcv/BTC', { method: 'POST' })).status).toBe(405)
    expect((await api.get('/ohlcv/BTC', { method: 'HEAD' })).body['text']).toBe('')
  })

  it('on a tape is answered from the tape’s clock', async () => {
    const api = await start({ mode: 'tape' })
    const first = await api.get('/ohlcv/BTC')
    api.hang(3_000)
    const again = await api.get('/ohlcv/BTC')
    expect([again.body['cached'], again.body['age_ms']]).toEqual([true, first.body['age_ms']])
  })
})

describe('a data answer', () => {
  const view = { asOf: 1_000_000, freshUntil: 2_000_000 }
  it.each([
    ['an object', { ...view, body: { a: 1 } }],
    ['the text of one', { ...view, body: '{"a":1}' }],
  ])('made of %s is whole JSON with its age at any clock', (_, made) => {
    const at = (clock: number): unknown =>
      JSON.parse(dataReply(made, { clock, timestamp: 't', cached: true, freshForMs: 1 }).body)
    const fields = (age_ms: number, stale: boolean): object => {
      return { a: 1, as_of: '1970-01-01T00:00:01.000Z', age_ms, stale, timestamp: 't', cached: true }
    }
    expect(at(2_000_000)).toEqual(fields(1000, false))
    expect(at(2_000_001)).toEqual(fields(1000, true))
    expect(at(0)).toEqual(fields(0, false))
  })
})
