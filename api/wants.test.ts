import { afterEach, describe, expect, it } from 'vitest'
import { flow, listAsset, NOW, startHarness, streamAsset, type Harness } from './testing/harness.ts'
import { readiness, type StreamFacts } from './wants.ts'

const all = new Set(['binance', 'okx'])
const some = new Set(['okx'])
const none = new Set<string>()

const quiet: StreamFacts = {
  listed: all,
  acknowledged: none,
  meant: false,
  askedAge: undefined,
  acknowledgedAge: undefined,
  firstTradeAge: undefined,
}

describe('readiness', () => {
  it.each<[string, Partial<StreamFacts>, string]>([
    ['nobody streams it', {}, 'unwanted'],
    ['it was streamed once and lapsed', { firstTradeAge: 1e9 }, 'unwanted'],
    ['meant to be streamed, but nothing ever came', { meant: true }, 'unwanted'],
    ['meant and with data, its feed gone', { meant: true, firstTradeAge: 10_000 }, 'ready'],
    ['meant, data too young', { meant: true, firstTradeAge: 9_999 }, 'warming'],
    ['streamed by others for 10 s', { acknowledged: all, acknowledgedAge: 10_000 }, 'ready'],
    ['streamed by others for less', { acknowledged: all, acknowledgedAge: 9_999 }, 'warming'],
    ['a feed that restarts has old data', { acknowledged: some, acknowledgedAge: 0, firstTradeAge: 10_000 }, 'ready'],
    ['just asked for', { askedAge: 0 }, 'warming'],
    ['asked for, old data do not count', { askedAge: 5_000, acknowledged: all, firstTradeAge: 1e9 }, 'warming'],
    ['all acknowledged after 10 s', { askedAge: 10_000, acknowledged: all }, 'ready'],
    ['all acknowledged before 10 s', { askedAge: 9_999, acknowledged: all }, 'warming'],
    ['one missing after 10 s', { askedAge: 10_000, acknowledged: some }, 'warming'],
    ['one missing just before 30 s', { askedAge: 29_999, acknowledged: some }, 'warming'],
    ['one missing after 30 s', { askedAge: 30_000, acknowledged: some }, 'ready'],
    ['none after 30 s', { askedAge: 30_000 }, 'unavailable'],
    ['none after 30 s, but data', { askedAge: 30_000, firstTradeAge: 1e6 }, 'ready'],
    ['no list yet, after 10 s', { askedAge: 10_000, listed: none, acknowledged: some }, 'warming'],
  ])('%s', (_, facts, expected) => {
    expect(readiness({ ...quiet, ...facts })).toBe(expected)
  })
})

describe('a request that only looks', () => {
  const HOUR_MS = 3_600_000
  const looks = { headers: { 'x-looks-only': '1' } }
  let api: Harness
  afterEach(() => api.stop())

  async function start(mayLook: boolean): Promise<void> {
    api = await startHarness({ mayLook })
    listAsset(api.database, 'wif')
  }

  function stream(): void {
    streamAsset(api.database, 'wif', NOW - HOUR_MS * 1000)
    api.database.flows.push(flow({ asset: 'wif', bucket: NOW - HOUR_MS * 1000 }))
  }

  it('does not keep a symbol wanted, however often it is made', async () => {
    await start(true)
    stream()
    for (let times = 0; times < 5; times += 1) {
      expect((await api.get('/cvd/WIF', looks)).status).toBe(200)
      expect((await api.get('/ohlcv/WIF', looks)).status).toBe(200)
      api.advance(6 * HOUR_MS)
    }
    expect(api.wanted).toEqual([])
    await api.get('/cvd/WIF')
    await expect.poll(() => api.wanted).toEqual(['wif'])
  })

  it('asks for no symbol, and says what there is of one whose feed is away', async () => {
    await start(true)
    expect((await api.get('/cvd/WIF', looks)).status).toBe(503)
    stream()
    api.database.subscriptions = []
    const { status, body } = await api.get('/cvd/WIF', looks)
    expect([status, body['stale'], api.wanted]).toEqual([200, true, []])
  })

  it('is heard of a symbol that somebody else has asked for', async () => {
    await start(true)
    await api.get('/cvd/WIF')
    expect((await api.get('/cvd/WIF', looks)).status).toBe(202)
    stream()
    api.advance(10_000)
    expect((await api.get('/cvd/WIF', looks)).status).toBe(200)
    expect(api.wanted).toEqual(['wif'])
  })

  it('is as any other where nobody may only look', async () => {
    await start(false)
    expect((await api.get('/cvd/WIF', looks)).status).toBe(202)
    expect(api.wanted).toEqual(['wif'])
  })
})
