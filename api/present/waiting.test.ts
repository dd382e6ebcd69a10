import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { flow, listAsset, NOW, startHarness, streamAsset, type Harness } from '../testing/harness.ts'

const HOUR_MS = 3_600_000

let api: Harness
beforeEach(async () => {
  api = await startHarness()
})
afterEach(() => api.stop())

/** The feeds answered: all four venues stream it from now on. */
function acknowledge(asset: string): void {
  streamAsset(api.database, asset, NOW)
  api.database.flows.push(flow({ asset, bucket: NOW }))
}

describe('a symbol that nobody streams', () => {
  beforeEach(() => listAsset(api.database, 'wif'))

  it('is asked for once and warms up', async () => {
    const { status, headers, body } = await api.get('/cvd/wif')
    expect([status, headers.get('retry-after'), headers.get('cache-control')]).toEqual([202, '10', 'no-store'])
    expect(body).toMatchObject({ symbol: 'WIF', status: 'warming_up', cached: false })
    await api.get('/ohlcv/WIF')
    await api.get('/cvd/history/WIFUSDT')
    expect(api.wanted).toEqual(['wif'])
  })

  it('is answered 10 s later', async () => {
    await api.get('/cvd/WIF')
    acknowledge('wif')
    api.advance(9_999)
    expect((await api.get('/cvd/WIF')).status).toBe(202)
    api.advance(1)
    expect((await api.get('/cvd/WIF')).body).toMatchObject({ symbol: 'WIF', buy_volume: 1 })
  })

  it('has nothing to say when no venue answers for 30 s', async () => {
    await api.get('/cvd/WIF')
    api.advance(29_999)
    expect((await api.get('/cvd/WIF')).status).toBe(202)
    api.advance(1)
    const { status, headers, body } = await api.get('/cvd/WIF')
    expect([status, body['error'], headers.get('retry-after')]).toEqual([503, 'data_unavailable', '10'])
  })

  it('stays wanted while it is asked for, written at most every 5 minutes', async () => {
    await api.get('/cvd/WIF')
    acknowledge('wif')
    api.advance(299_999)
    await api.get('/cvd/WIF')
    expect(api.wanted).toHaveLength(1)
    api.advance(1)
    await api.get('/cvd/WIF')
    await expect.poll(() => api.wanted).toHaveLength(2)
  })

  it('is asked for anew after its want has lapsed', async () => {
    await api.get('/cvd/WIF')
    acknowledge('wif')
    api.advance(10_000)
    expect((await api.get('/cvd/WIF')).status).toBe(200)
    api.database.subscriptions = api.database.subscriptions.filter((row) => row.asset !== 'wif')
    api.advance(24 * HOUR_MS)
    expect((await api.get('/cvd/WIF')).status).toBe(202)
    expect(api.wanted).toEqual(['wif', 'wif'])
  })

  it('is answered while its feed restarts', async () => {
    await api.get('/cvd/WIF')
    acknowledge('wif')
    api.advance(10_000)
    await api.get('/cvd/WIF')
    api.database.subscriptions = []
    api.advance(31_000)
    const { status, body } = await api.get('/cvd/WIF')
    expect([status, body['stale']]).toEqual([200, true])
  })

  it('cannot be had while the log cannot be written, and is asked for again', async () => {
    await api.stop()
    let broken = true
    api = await startHarness({
      write: async () => {
        if (broken) throw new Error('no broker')
      },
    })
    listAsset(api.database, 'wif')
    const { status, body } = await api.get('/cvd/WIF')
    expect([status, body['error']]).toEqual([503, 'data_unavailable'])
    broken = false
    expect((await api.get('/cvd/WIF')).status).toBe(202)
    expect(api.wanted).toEqual(['wif'])
  })
})

describe('waiting symbols', () => {
  const assets = Array.from({ length: 22 }, (_, index) => `coin${index}`)
  beforeEach(async () => {
    assets.forEach((asset) => listAsset(api.database, asset))
    for (const asset of assets.slice(0, 20)) await api.get(`/cvd/${asset}`)
  })

  it('are 20 per caller at most', async () => {
    expect(api.wanted).toHaveLength(20)
    const { status, headers, body } = await api.get('/cvd/coin20')
    expect([status, body['error'], headers.get('retry-after')]).toEqual([429, 'rate_limited', '10'])
    expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual(['20', '0'])
    expect(api.wanted).toHaveLength(20)
  })

  it('may be asked for again while they wait', async () => {
    expect((await api.get('/cvd/coin3')).status).toBe(202)
  })

  it('give their place free when they are ready', async () => {
    acknowledge('coin7')
    api.advance(10_000)
    expect((await api.get('/cvd/coin7')).status).toBe(200)
    expect((await api.get('/cvd/coin20')).status).toBe(202)
    expect((await api.get('/cvd/coin21')).status).toBe(429)
  })

  it('give their place free after 30 s', async () => {
    api.advance(29_999)
    expect((await api.get('/cvd/coin20')).status).toBe(429)
    api.advance(1)
    expect((await api.get('/cvd/coin20')).status).toBe(202)
  })
})
