import { randomUUID } from 'node:crypto'
import { load, perSecond, quantile, type Load } from '../../api/testing/http-load.ts'
import { signedNow } from '../../api/testing/paid-calls.ts'
import { PaidSystem } from '../../api/testing/paid-system.ts'
import type { Child } from '../../infra/local/child.ts'
import type { BenchParts, Figure } from '../figure.ts'
import { answered } from './system/api.ts'

const TARGET = '/cvd/BTC'
const CONNECTIONS = 16
const ROUNDS = 20
const REQUESTS = 10_000
const WARM = 2_000
/** More than all of them cost. */
const USDC = 500
const FREE_ENOUGH = '1000000000'
const ARRIVES_WITHIN_MS = 120_000

/** What charging credit costs: a question with an API key beside the same one for nothing, at one API instance, in turns. */
export default async function bench(parts: () => Promise<BenchParts>): Promise<readonly Figure[]> {
  const system = await PaidSystem.open(await parts())
  try {
    const [api] = await Promise.all([
      system.start('api/main.ts', { FREE_REQUESTS_PER_DAY: FREE_ENOUGH, KEY_RATE_PER_SECOND: '0' }),
      system.start('processors/payments/main.ts'),
    ])
    await answered(api.url + TARGET, ARRIVES_WITHIN_MS)
    return await compare(api, await buyKey(system, api))
  } finally {
    await system.stop()
  }
}

async function buyKey(system: PaidSystem, { url }: Child): Promise<string> {
  const amount = USDC * 1e6
  const account = await system.payer(BigInt(amount))
  const { v2 } = await signedNow(account, { amount: String(amount) })
  const headers = { 'content-type': 'application/json', 'payment-signature': v2, 'idempotency-key': randomUUID() }
  const body = JSON.stringify({ amount_usdc: USDC })
  const bought = await fetch(`${url}/credit`, { method: 'POST', headers, body })
  const { api_key: token } = (await bought.json()) as { readonly api_key?: string }
  if (token === undefined) throw new Error(`credit cannot be bought: ${bought.status}`)
  const first = await fetch(url + TARGET, { headers: { 'x-api-key': token } })
  if (!first.headers.has('credit-charged')) throw new Error(`a question is not charged: ${first.status}`)
  return token
}

async function compare({ url }: Child, token: string): Promise<Figure[]> {
  const asked = { connections: CONNECTIONS, path: () => TARGET }
  const charged = (count: number): Promise<Load> => load(url, { ...asked, count, headers: { 'X-API-Key': token } })
  const free = (count: number): Promise<Load> => load(url, { ...asked, count })
  await charged(WARM)
  await free(WARM)
  // In turns, so that what else the machine does falls on both.
  const [ours, theirs]: [Load[], Load[]] = [[], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(await charged(REQUESTS / ROUNDS))
    theirs.push(await free(REQUESTS / ROUNDS))
  }
  const figure = (metric: string, unit: string, of: (loads: readonly Load[]) => number): Figure => {
    const [value, baseline] = [of(ours), of(theirs)]
    return { metric, value, unit, baseline, n: REQUESTS }
  }
  return [
    figure('questions charged to credit against free ones', '1/s', perSecond),
    figure('p50 of one charged to credit', 'ms', (loads) => latency(loads, 0.5)),
    figure('p99 of one charged to credit', 'ms', (loads) => latency(loads, 0.99)),
  ]
}

function latency(loads: readonly Load[], p: number): number {
  return quantile(
    loads.flatMap(({ latenciesMs }) => latenciesMs),
    p,
  )
}
