import { afterEach, describe, expect, it } from 'vitest'
import { isOf, valuesAt } from '../testing/fields.ts'
import { cvdSignals, endpoints, fundingSignals, sentimentBounds } from '../testing/specification.ts'
import { routes } from '../routes.ts'
import { fillAsset } from '../testing/market-facts.ts'
import {
  flow,
  listAsset,
  NOW,
  startHarness,
  streamAsset,
  type Harness,
  type HarnessOptions,
} from '../testing/harness.ts'

let api: Harness
const running: Harness[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((harness) => harness.stop()))
})

async function start(options: HarnessOptions = {}): Promise<Harness> {
  api = await startHarness(options)
  running.push(api)
  return api
}

async function answer(path: string): Promise<Record<string, unknown>> {
  const { status, body } = await api.get(path)
  expect([status, path]).toEqual([200, path])
  return body
}

describe.each(endpoints.map((endpoint) => [endpoint.path, endpoint] as const))('%s', (path, endpoint) => {
  it('has the price and the time to live of the specification', () => {
    const row = routes.find((route) => route.path === path)
    expect([row?.method, row?.priceUsdc, row?.ttlMs]).toEqual(['GET', endpoint.priceUsdc, endpoint.ttlMs])
  })

  it('gives each field with its type', async () => {
    await start()
    api.database.flows.push(flow({ buy: 3, sell: 1 }))
    const body = await answer(endpoint.ask)
    for (const [field, type] of Object.entries(endpoint.fields)) {
      const values = valuesAt(body, field)
      expect([field, values.length > 0]).toEqual([field, true])
      expect([field, type, values.filter((value) => !isOf(type, value))]).toEqual([field, type, []])
    }
  })

  it('gives exactly the keys of its objects', async () => {
    await start()
    const body = await answer(endpoint.ask)
    for (const [field, keys] of Object.entries(endpoint.keys ?? {}))
      expect([field, Object.keys(Object(valuesAt(body, field)[0]) as object)]).toEqual([field, keys])
  })

  it.each(endpoint.refused)('refuses %s with %s', async (target, expected) => {
    const { status, body } = await (await start()).get(target)
    expect(`${status} ${String(body['error'])}`).toBe(expected)
    expect(Object.keys(body)).toEqual(expect.arrayContaining(['error', 'message', 'request_id']))
  })

  it.each(endpoint.taken)('takes %s', async (target, expected) => {
    await start()
    expect(await answer(target)).toMatchObject(expected)
  })

  it('may be kept by who asked for its time to live', async () => {
    await start()
    const { headers } = await api.get(endpoint.ask)
    expect(headers.get('cache-control')).toContain(`max-age=${endpoint.ttlMs / 1000}`)
  })

  it.runIf(endpoint.range === true)('is kept here for its time to live, not a moment longer', async () => {
    await start()
    expect(cachedOf(await answer(endpoint.ask))).toBe(false)
    api.advance(endpoint.ttlMs - 1)
    expect(cachedOf(await answer(endpoint.ask))).toBe(true)
    api.advance(1)
    expect(cachedOf(await answer(endpoint.ask))).toBe(false)
  })

  it.runIf(endpoint.range !== true)('is of now, whenever it is asked for', async () => {
    await start()
    for (const _ of [1, 2]) expect(cachedOf(await answer(endpoint.ask))).toBe(false)
  })
})

function cachedOf(body: Record<string, unknown>): unknown {
  return valuesAt(body, 'meta' in body ? 'meta.cached' : 'cached')[0]
}

describe('the CVD signal', () => {
  it.each(cvdSignals)('of %f and %f is %s', async (buy, sell, signal) => {
    await start()
    const before = flow({ bucket: NOW - 7_200_000_000 })
    api.database.flows = buy + sell === 0 ? [before] : [before, flow({ buy, sell })]
    expect(await answer('/cvd/BTC')).toMatchObject({ signal })
  })
})

describe('the funding signal', () => {
  it.each(fundingSignals)('of %s is %s', async (rate, signal, label) => {
    await start()
    const [funding] = api.database.market.funding
    if (funding === undefined) throw new Error('the harness has funding')
    const exchanges = funding.exchanges.map((view) => ({ ...view, rate, predicted: rate }))
    api.database.market.funding = [{ ...funding, exchanges }]
    expect(await answer('/funding-rate/BTCUSDT')).toMatchObject({ signal, signal_label: label })
    expect(await answer('/futures/predicted-funding/BTC')).toMatchObject({ signal })
  })
})

describe('the sentiment', () => {
  it.each(sentimentBounds)('of %f is %s', async (ls_ratio, sentiment) => {
    await start()
    api.database.market.ratios = api.database.market.ratios.map((row) => ({ ...row, ls_ratio }))
    expect(await answer('/futures/long-short/BTC')).toMatchObject({ aggregate: { avg_ls_ratio: ls_ratio, sentiment } })
  })
})

describe('the cascade risk', () => {
  it.each([
    [10, 100, 'medium'],
    [10.01, 10.01, 'high'],
    [0, 5, 'medium'],
    [0, 4.99, 'low'],
    [0, 0, 'low'],
  ])('of %f %% within 5 %% and %f %% within 10 %% is %s', async (at_risk_5_pct, at_risk_10_pct, risk) => {
    await start()
    api.database.market.risks = api.database.market.risks.map((row) => ({ ...row, at_risk_5_pct, at_risk_10_pct }))
    const body = await answer('/liquidation/heatmap/BTC')
    expect(body).toMatchObject({ cascade_risk: risk, risk_summary: { cascade_risk: risk } })
  })
})

describe('the basis', () => {
  it.each([
    [100, 'contango'],
    [100.001, 'contango'],
    [99.999, 'backwardation'],
  ])('of a perpetual at %f over spot at 100 is %s', async (mark, direction) => {
    await start()
    const [funding] = api.database.market.funding
    if (funding === undefined) throw new Error('the harness has funding')
    api.database.market.funding = [{ ...funding, exchanges: funding.exchanges.map((view) => ({ ...view, mark })) }]
    expect(await answer('/futures/basis/BTC')).toMatchObject({ exchanges: { okx: { direction } } })
  })
})

describe('a symbol that nobody streams yet', () => {
  it.each(['/cvd/WIF', '/liquidation/heatmap/WIF', '/futures/long-short/WIF'])('warms up: %s', async (target) => {
    await start()
    listAsset(api.database, 'wif')
    fillAsset(api.database.market, 'wif', { now: NOW, price: 3 })
    const { status, headers, body } = await api.get(target)
    expect([status, headers.get('retry-after')]).toEqual([202, '10'])
    expect(body).toMatchObject({ symbol: 'WIF', status: 'warming_up', message: expect.any(String) as string })
    expect(api.wanted).toEqual(['wif'])
  })

  it('is answered at once by what runs for all', async () => {
    await start()
    listAsset(api.database, 'wif')
    fillAsset(api.database.market, 'wif', { now: NOW, price: 3 })
    for (const target of ['/price/WIF', '/funding-rate/WIF', '/futures/basis/WIF', '/liquidation/recent?symbol=WIF'])
      await answer(target)
    expect(api.wanted).toEqual([])
  })

  it('is answered once it is warm', async () => {
    await start()
    listAsset(api.database, 'wif')
    fillAsset(api.database.market, 'wif', { now: NOW, price: 3 })
    expect((await api.get('/liquidation/heatmap/WIF')).status).toBe(202)
    streamAsset(api.database, 'wif', NOW)
    api.advance(10_000)
    expect((await api.get('/liquidation/heatmap/WIF')).status).toBe(200)
  })
})
