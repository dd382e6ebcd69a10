import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { load, perSecond, quantile, type Load } from '../../api/testing/http-load.ts'
import { signPayment } from '../../api/testing/fake-payments.ts'
import { PaidSystem } from '../../api/testing/paid-system.ts'
import type { Child } from '../../infra/local/child.ts'
import type { BenchParts, Figure } from '../figure.ts'
import { program, startServer } from './system/api.ts'

const TARGET = '/cvd/BTC'
const CONNECTIONS = 16
const CHALLENGES = 20_000
const ROUNDS = 10
const WARM = 5_000
const PAID = 100
/** As Base has them. */
const BLOCK_SECONDS = 2
const PAID_BY_BLOCKS = 30
const AMOUNT = '20000'

/** What payment costs: unpaid challenges a second beside a bare Koa route, and the time that settling adds to an answer. */
export default async function bench(parts: () => Promise<BenchParts>): Promise<readonly Figure[]> {
  const shared = await parts()
  return [...(await atOnce(shared)), ...(await byBlocks(shared))]
}

async function atOnce(parts: BenchParts): Promise<Figure[]> {
  const system = await PaidSystem.open(parts)
  try {
    const api = await start(system)
    return [...(await challenges(system, api)), ...(await latency(system, api, 'blocks at once', PAID))]
  } finally {
    await system.stop()
  }
}

async function byBlocks(parts: BenchParts): Promise<Figure[]> {
  const system = await PaidSystem.open(parts, { blockSeconds: BLOCK_SECONDS, settleSeconds: 20 })
  try {
    const api = await start(system)
    return await latency(system, api, `blocks of ${BLOCK_SECONDS} s`, PAID_BY_BLOCKS)
  } finally {
    await system.stop()
  }
}

async function start(system: PaidSystem): Promise<Child> {
  const [api] = await Promise.all([system.start('api/main.ts'), system.start('processors/payments/main.ts')])
  await system.awaitMarket(api.url, await system.payer(), [TARGET])
  return api
}

async function challenges(system: PaidSystem, api: Child): Promise<Figure[]> {
  const bodyFile = path.join(system.folder, 'body.json')
  writeFileSync(bodyFile, `[${await (await fetch(api.url + TARGET)).text()}]`)
  const bare = await startServer('bare-koa', [...program('api/testing/bare-koa.ts'), bodyFile], system.folder, {})
  try {
    const run = (url: string, count: number): Promise<Load> => {
      const asked = url === api.url ? { path: () => TARGET, status: 402 } : { path: () => '/bodies/0' }
      return load(url, { connections: CONNECTIONS, count, ...asked })
    }
    await run(api.url, WARM)
    await run(bare.url, WARM)
    // In turns, so that what else the machine does falls on both.
    const [ours, theirs]: [Load[], Load[]] = [[], []]
    for (let round = 0; round < ROUNDS; round += 1) {
      ours.push(await run(api.url, CHALLENGES / ROUNDS))
      theirs.push(await run(bare.url, CHALLENGES / ROUNDS))
    }
    const [value, baseline] = [perSecond(ours), perSecond(theirs)]
    const metric = 'unpaid challenges against bare Koa'
    return [{ metric, value, unit: '1/s', baseline, n: CHALLENGES }]
  } finally {
    await bare.stop()
    rmSync(bodyFile)
  }
}

/** One payment after the other, signed beforehand. */
async function latency(system: PaidSystem, api: Child, how: string, count: number): Promise<Figure[]> {
  const account = await system.payer(BigInt(AMOUNT) * BigInt(count))
  const before = await settleSeconds(api.url)
  const times: number[] = []
  for (let n = 0; n < count; n += 1) {
    const nonce: `0x${string}` = `0x${randomBytes(32).toString('hex')}`
    const { v2 } = await signPayment({ amount: AMOUNT, now: Math.floor(Date.now() / 1000), account, nonce })
    const started = performance.now()
    const response = await fetch(api.url + TARGET, { headers: { 'payment-signature': v2 } })
    await response.arrayBuffer()
    times.push(performance.now() - started)
    if (response.status !== 200 || !response.headers.has('payment-response'))
      throw new Error(`a payment got ${response.status}`)
  }
  const settled = (await settleSeconds(api.url)) - before
  const all = times.reduce((sum, time) => sum + time, 0)
  const figure = (metric: string, value: number, unit: string): Figure => {
    return { metric: `${metric}, ${how}`, value, unit, n: count }
  }
  return [
    figure('paid request p50', quantile(times, 0.5), 'ms'),
    figure('paid request p99', quantile(times, 0.99), 'ms'),
    figure('share of it spent settling', (settled * 1000) / all, 'of 1'),
  ]
}

/** Seconds that the API has waited for settlements so far. */
async function settleSeconds(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const sums = text.matchAll(/^mda_api_payment_settle_seconds_sum\{[^}]*\} (\S+)$/gm)
  return [...sums].reduce((sum, [, value]) => sum + Number(value), 0)
}
