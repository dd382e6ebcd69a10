import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Route } from '../../../api/request/route.ts'
import { routes } from '../../../api/routes.ts'
import { PaidSystem } from '../../../api/testing/paid-system.ts'
import { payer } from '../../../infra/local/chain/accounts.ts'
import { atomicUnits } from '../../../processors/payments/wire/offer.ts'

const START_MS = 300_000
const WARM_MS = 240_000
const PAY_MS = 300_000

const isInstalled = existsSync(fileURLToPath(new URL('node_modules/x402-fetch', import.meta.url)))
if (!isInstalled) console.log('skipped: npm install --prefix scripts/clients/x402-v1 --ignore-scripts')

interface Paid {
  readonly status: number
  readonly body: string
  readonly receipt: { readonly success: boolean; readonly transaction: `0x${string}`; readonly network: string } | null
}

interface Request {
  readonly url: string
  readonly init?: { readonly method: string; readonly headers: Record<string, string>; readonly body: string }
}

/** The unmodified client, in a process of its own. */
async function payAll(requests: readonly Request[]): Promise<Paid[]> {
  const program = fileURLToPath(new URL('pay.mjs', import.meta.url))
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'pipe'], timeout: PAY_MS })
  child.stdin.end(JSON.stringify({ key: payer.key, requests }))
  const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  if (said === '') throw new Error(complaint)
  return JSON.parse(said) as Paid[]
}

let system: PaidSystem
let base: string

const api = (path: string): string => base + path
const post = (path: string, body: object): Request => ({
  url: api(path),
  init: {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify(body),
  },
})
const about = { symbol: 'BTC', webhook_url: 'https://localhost:4443/' }
/** What is created where; none of them rings. */
const alerts = {
  '/price-alert': { ...about, condition: 'above', target_price: 1e9 },
  '/liquidation/alert': { ...about, condition: 'cascade_risk', threshold_pct: 99, min_value_usd: 1e12 },
  '/alerts': { ...about, when: { metric: 'price', operator: 'above', value: 1e9 } },
}

/** A request for every priced route that reads; those that create alerts are asked one by one below. */
function reading(): Request[] {
  return priced('GET').map(({ path, input }) => ({
    url: api(path.replace(':symbol', 'BTC').replace(':id', 'bitcoin')) + ('symbols' in input ? '?symbols=BTC' : ''),
  }))
}

const priced = (method: string): Route[] => routes.filter((route) => route.method === method && route.priceUsdc > 0)
const priceOf = (list: readonly Route[]): bigint =>
  list.reduce((sum, { priceUsdc }) => sum + BigInt(atomicUnits(priceUsdc)), 0n)

describe.skipIf(!isInstalled)('the legacy client of x402 v1', () => {
  beforeAll(async () => {
    system = await PaidSystem.open(inject('parts'))
    base = (await system.startAll()).first.url
  }, START_MS)
  afterAll(() => system?.stop(), START_MS)

  it('pays every priced route that reads, each exactly its price', { timeout: PAY_MS }, async () => {
    const before = await system.balance()
    const paid = new Map<string, Paid>()
    // What is not warm yet is answered free of charge: the money below says so.
    const payRest = async (): Promise<string[]> => {
      const rest = reading().filter(({ url }) => paid.get(url)?.status !== 200)
      const answers = await payAll(rest)
      rest.forEach(({ url }, index) => answers[index] !== undefined && paid.set(url, answers[index]))
      return [...paid].filter(([, { status }]) => status !== 200).map(([url, { body }]) => `${url} ${body}`)
    }
    await expect.poll(payRest, { timeout: WARM_MS, interval: 2_000 }).toEqual([])
    const told = [...paid.values()].map(({ receipt }) => [receipt?.success, receipt?.network])
    expect(told).toEqual(priced('GET').map(() => [true, 'base-sepolia']))
    expect((await system.balance()) - before).toBe(priceOf(priced('GET')))
  })

  it('pays for alerts, for their extension and for credit', { timeout: PAY_MS }, async () => {
    const before = await system.balance()
    const kinds = Object.entries(alerts)
    const made = await payAll(kinds.map(([path, body]) => post(path, body)))
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201])
    const extend = ({ body }: Paid, index: number): Request => {
      const { alert_id: id, manage_token: owner } = JSON.parse(body) as { alert_id: string; manage_token: string }
      const request = post(`${kinds[index]?.[0]}/${id}/extend`, { add_hours: 2 })
      const authorization = `Bearer ${owner}`
      return {
        url: request.url,
        init: {
          method: 'POST',
          body: '{"add_hours":2}',
          headers: { 'content-type': 'application/json', authorization },
        },
      }
    }
    const extended = await payAll(made.map(extend))
    expect(extended.map(({ status }) => status)).toEqual([200, 200, 200])
    const [bought] = await payAll([post('/credit', {})])
    expect([bought?.status, JSON.parse(bought?.body ?? '')]).toEqual([
      201,
      expect.objectContaining({ balance_usdc: 1 }),
    ])
    expect((await system.balance()) - before).toBe(priceOf(priced('POST')))
  })
})
