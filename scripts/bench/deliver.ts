import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { hostClock } from '../../infra/clock.ts'
import { listen } from '../../infra/http/ops.ts'
import { receiverCertificate } from '../../infra/local/receiver/certificate.ts'
import { sealUrl, type ServiceSecrets } from '../../processors/alerts/secrets.ts'
import { Caller } from '../../processors/webhooks/agent.ts'
import { createSender } from '../../processors/webhooks/deliver.ts'
import { payloadOf } from '../../processors/webhooks/payload.ts'
import { systemResolver } from '../../processors/webhooks/resolve.ts'
import type { Trigger } from '../../schemas/alerts.ts'
import type { Bench, Figure } from '../figure.ts'

const DELIVERIES = 4_000
const WARM_UP = 500
/** Under way at once, as to one good receiver. */
const AT_ONCE = 16
const ROUNDS = 3
const ALERT = 'alert_btc_1786060800_1'

const secrets: ServiceSecrets = { newest: 1, byVersion: new Map([[1, 'the-secret-of-a-bench-that-is-long-enough']]) }

/**
 * Signed deliveries through the dispatcher's sending path (open the sealed URL, derive the secret, serialise, sign,
 * resolve, check, dial, read the answer) against bare POSTs of the same bytes with the same client. The receiver has a
 * thread of its own.
 */
const bench: Bench = async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-deliver-'))
  const { cert, key, caPem } = await receiverCertificate(folder, new Date())
  const receiver = new Worker(new URL(import.meta.url), { workerData: { cert, key } })
  const caller = new Caller(caPem)
  try {
    const port = await new Promise<number>((resolve, reject) => receiver.once('message', resolve).once('error', reject))
    const { signed, bare } = measured(caller, port)
    await repeat(WARM_UP, signed)
    await repeat(WARM_UP, bare)
    return await figures(signed, bare)
  } finally {
    caller.close()
    await receiver.terminate()
    rmSync(folder, { recursive: true, force: true })
  }
}

export default bench

type Step = (n: number) => Promise<void>

function measured(caller: Caller, port: number): { signed: Step; bare: Step } {
  const url = new URL(`https://localhost:${port}/hook`)
  const trigger = triggerTo(url)
  const body = payloadOf(trigger, 'live')
  const headers = { 'content-type': 'application/json' }
  const { signal } = new AbortController()
  const onSent = (): void => undefined
  const send = createSender({
    secrets,
    mode: 'live',
    reach: 'loopback',
    resolve: systemResolver(),
    caller,
    now: () => hostClock.now(),
  })
  return {
    async signed(n) {
      const result = await send({ ...trigger, trigger_id: `${ALERT}_${n}` }, 1, onSent)
      if (result.is !== 'delivered') throw new Error(`a delivery failed: ${result.error}`)
    },
    async bare() {
      const { status } = await caller.post({ url, address: '127.0.0.1', headers, body, signal, onSent })
      if (status !== 204) throw new Error(`a bare POST was answered with ${status}`)
    },
  }
}

/** Each round measures both, so that a busy machine disturbs both; the best of each counts. */
async function figures(signed: Step, bare: Step): Promise<Figure[]> {
  const best = { signed: { seconds: Infinity, cpu: Infinity }, bare: { seconds: Infinity, cpu: Infinity } }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, step] of [['bare', bare] as const, ['signed', signed] as const]) {
      const { seconds, cpu } = await costOf(() => repeat(DELIVERIES, step))
      best[name] = { seconds: Math.min(best[name].seconds, seconds), cpu: Math.min(best[name].cpu, cpu) }
    }
  }
  const rate = (seconds: number): number => DELIVERIES / seconds
  const us = (cpu: number): number => (cpu * 1e6) / DELIVERIES
  return [
    figure('signed deliveries, against bare POSTs', 'deliveries/s', rate(best.signed.seconds), rate(best.bare.seconds)),
    figure('CPU of both ends of a signed delivery', 'us', us(best.signed.cpu), us(best.bare.cpu)),
  ]
}

function figure(metric: string, unit: string, value: number, baseline: number): Figure {
  return { bench: 'deliver', metric, value, unit, baseline, ratio: value / baseline, n: DELIVERIES }
}

async function costOf(work: () => Promise<void>): Promise<{ seconds: number; cpu: number }> {
  const before = process.cpuUsage()
  const startedAt = performance.now()
  await work()
  const { user, system } = process.cpuUsage(before)
  return { seconds: (performance.now() - startedAt) / 1_000, cpu: (user + system) / 1e6 }
}

/** `count` steps, `AT_ONCE` of them under way. */
async function repeat(count: number, step: Step): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await step(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

function triggerTo(url: URL): Trigger {
  const source = { price: 70_001.5, open_interest_usd: null, time: 1_786_060_800_000_000 }
  return {
    trigger_id: `${ALERT}_1`,
    alert_id: ALERT,
    kind: 'price',
    asset: 'btc',
    symbol: 'BTC',
    receiver: url.host,
    webhook: sealUrl(secrets, 1, ALERT, url.href),
    key_version: 1,
    severity: 'medium',
    test: false,
    current_price: 70_001.5,
    target_price: 70_000,
    condition: 'above',
    condition_met: 'BTC rose above 70000 USD: it is 70001.5 USD',
    oi_at_risk_usd: null,
    oi_at_risk_pct: null,
    cascade_risk: null,
    threshold_pct: null,
    sources: ['binance', 'bybit', 'okx', 'coinbase', 'kraken'].map((exchange) => ({ exchange, ...source })),
    quality: 'good',
    late: false,
    trigger_count: 1,
    record: 'rec_YWxlcnRzLmlucHV0cy8wLzA',
    time: 1_786_060_800_000_000,
    v: 1,
  }
}

/** The receiver's thread: takes each request and says 204. */
async function serve({ cert, key }: { cert: string; key: string }): Promise<void> {
  const server = createServer({ cert, key }, (request, response) => {
    request.resume().once('end', () => response.writeHead(204).end())
  })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin - a thread's port has no origin
  parentPort?.postMessage(await listen(server, '127.0.0.1', 0))
}

if (!isMainThread) await serve(workerData as { cert: string; key: string })
