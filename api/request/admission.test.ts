import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, asPages, foreignPost, guarded } from '../../infra/http/testing/pages.ts'
import { allowedHostsOf } from './admission.ts'
import { fakePayments } from '../testing/fake-payments.ts'
import { startHarness, type Harness } from '../testing/harness.ts'

const alert = JSON.stringify({
  symbol: 'BTC',
  condition: 'above',
  target_price: 1000,
  webhook_url: 'https://hooks.example.com/x',
})
const create = { method: 'POST', body: alert } as const

describe('an API that is this machine’s alone', () => {
  let api: Harness
  beforeAll(async () => {
    api = await startHarness({ allowedHosts: ['api.example.com'] })
  })
  afterAll(() => api.stop())

  it.each(['/cvd/BTC', '/price-alert', '/healthz', '/nowhere'])('keeps pages of other sites off %s', async (path) => {
    expect(await asPages(api.url + path, alert)).toEqual(guarded)
    expect(api.alerts.commands).toEqual([])
  })

  it('says in the refusal what to do instead, in the form of every error', async () => {
    const rebound = await ask(`${api.url}/price-alert`, { host: 'evil.example' })
    expect(JSON.parse(rebound.text)).toMatchObject({
      error: 'wrong_host',
      message: expect.stringContaining('API_NAMES') as string,
      request_id: expect.any(String) as string,
    })
  })

  it('answers programs, people who follow a link, and everyone by its public name', async () => {
    const at = (path: string): string => api.url + path
    expect((await ask(at('/cvd/BTC'), {})).status).toBe(200)
    const visit = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    expect((await ask(at('/docs'), visit)).status).toBe(200)
    const named = { ...foreignPost, 'content-type': 'application/json', host: 'api.example.com' }
    expect((await ask(at('/price-alert'), named, create)).status).toBe(201)
  })
})

describe('an API that sells on this machine', () => {
  it('lets any page read and ask beforehand, and only pages of this machine pay', async () => {
    const payments = await fakePayments()
    const api = await startHarness({ payments })
    try {
      const page = { origin: 'https://shop.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }
      expect((await ask(`${api.url}/cvd/BTC`, page)).status).toBe(402)
      expect((await ask(`${api.url}/cvd/BTC`, page, { method: 'OPTIONS' })).status).toBe(204)
      for (const origin of [page.origin, 'null'])
        expect((await ask(`${api.url}/price-alert`, { ...page, origin }, create)).status).toBe(403)
      const own = { ...page, origin: 'http://localhost:5173', 'content-type': 'application/json' }
      expect((await ask(`${api.url}/price-alert`, own, create)).status).toBe(402)
      expect((await ask(`${api.url}/cvd/BTC`, { host: 'evil.example' })).status).toBe(421)
    } finally {
      await api.stop()
      await payments.stop()
    }
  })
})

describe('the names that an API goes by', () => {
  const here = { host: '127.0.0.1', names: [], publicUrl: '', trustProxy: false }
  it.each([
    ['its own alone', here, []],
    ['that of its public address', { ...here, publicUrl: 'https://api.example.com/base' }, ['api.example.com']],
    ['those it is given', { ...here, names: ['API.example.com', 'b.example:8443'] }, ['api.example.com', 'b.example']],
    ['any behind a proxy of ours', { ...here, trustProxy: true }, 'any'],
    ['any where it is reached from elsewhere', { ...here, host: '0.0.0.0' }, 'any'],
  ])('are %s', (_what, address, allowedHosts) => {
    expect(allowedHostsOf(address)).toEqual(allowedHosts)
  })
})
