import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { hostClock } from '../../infra/clock.ts'
import { listen } from '../../infra/http/ops.ts'
import { receiverCertificate } from '../../infra/local/receiver/certificate.ts'
import { Caller, systemResolver } from '../../processors/webhooks/agent.ts'
import { createSender, type Send } from '../../processors/webhooks/deliver.ts'
import { payloadOf } from '../../processors/webhooks/payload.ts'
import { signatureHeaders, signingKeys } from '../../processors/webhooks/signature.ts'
import { secrets, triggerTo } from '../../processors/webhooks/testing/world.ts'
import type { Bench, Figure } from '../figure.ts'
import { costOf, type Cost } from './system/cost.ts'

const DELIVERIES = 5_000
/** Until the code is compiled for speed: a dispatcher runs for days. */
const WARM_UP = 5_000
/** Under way at once, as to one good receiver. */
const AT_ONCE = 16
const ROUNDS = 3
const ALERT = 'alert_btc_1786060800_1'

/** Of a price that five venues say. */
const sources = ['binance', 'bybit', 'okx', 'coinbase', 'kraken'].map((exchange) => {
  return { exchange, price: 70_001.5, open_interest_usd: null, time: 1_786_060_800_000_000 }
})

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
    const steps = measured(caller, port)
    for (const step of Object.values(steps())) await repeat(WARM_UP, step)
    return await figures(steps)
  } finally {
    caller.close()
    await receiver.terminate()
    rmSync(folder, { recursive: true, force: true })
  }
}

export default bench

type Step = (n: number) => Promise<void>
type Steps = Readonly<Record<'bare' | 'first' | 'again', Step>>

/** `first`: each delivery of an alert that never rang before; `again`: of alerts that did. */
function measured(caller: Caller, port: number): () => Steps {
  const url = new URL(`https://localhost:${port}/hook`)
  const triggers = Array.from({ length: DELIVERIES }, (_, n) =>
    triggerTo(url.href, { alert_id: `${ALERT}${n}`, sources }),
  )
  const { signal } = new AbortController()
  const onSent = (): void => undefined
  const deliver = (send: Send): Step => {
    return async (n) => {
      const trigger = triggers[n % DELIVERIES]
      const result = trigger === undefined ? undefined : await send(trigger, 1, onSent)
      if (result?.is !== 'delivered') throw new Error(`a delivery failed: ${String(result?.error)}`)
    }
  }
  const newSender = (): Send => {
    const now = (): number => hostClock.now()
    return createSender({ secrets, mode: 'live', reach: 'loopback', resolve: systemResolver(), caller, now })
  }
  const again = deliver(newSender())
  const [trigger] = triggers
  const body = trigger === undefined ? Buffer.alloc(0) : payloadOf(trigger, 'live')
  const keys = signingKeys(`whsec_${'A'.repeat(44)}`)
  const signed = signatureHeaders({ keys, triggerId: ALERT, body, at: 1 })
  const headers = { 'content-type': 'application/json', 'user-agent': 'market-data-alerts/1', ...signed }
  const bare = async (): Promise<void> => {
    const { status } = await caller.post({ url, address: '127.0.0.1', headers, body, signal, onSent })
    if (status !== 204) throw new Error(`a bare POST was answered with ${status}`)
  }
  return () => ({ bare, first: deliver(newSender()), again })
}

/** Each round measures all, so that a busy machine disturbs all; the best of each counts. */
async function figures(steps: () => Steps): Promise<Figure[]> {
  const best = new Map<keyof Steps, Cost>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, step] of Object.entries(steps()) as [keyof Steps, Step][]) {
      const { seconds, cpu } = await costOf(() => repeat(DELIVERIES, step))
      const known = best.get(name) ?? { seconds: Infinity, cpu: Infinity }
      best.set(name, { seconds: Math.min(known.seconds, seconds), cpu: Math.min(known.cpu, cpu) })
    }
  }
  const rate = (name: keyof Steps): number => DELIVERIES / (best.get(name)?.seconds ?? NaN)
  const us = (name: keyof Steps): number => ((best.get(name)?.cpu ?? NaN) * 1e6) / DELIVERIES
  return [
    figure('signed deliveries, against bare POSTs', 'deliveries/s', rate('again'), rate('bare')),
    figure('the same, first ones of their alerts', 'deliveries/s', rate('first'), rate('bare')),
    figure('CPU of a signed delivery, both ends', 'us', us('again'), us('bare')),
    figure('the same, first ones of their alerts', 'us', us('first'), us('bare')),
  ]
}

function figure(metric: string, unit: string, value: number, baseline: number): Figure {
  return { metric, value, unit, baseline, n: DELIVERIES }
}

/** `count` steps, `AT_ONCE` of them under way. */
async function repeat(count: number, step: Step): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await step(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** The receiver's thread: takes each request and says 204. */
async function serve({ cert, key }: { cert: string; key: string }): Promise<void> {
  const server = createServer({ cert, key }, (request, response) => {
    request.resume().once('end', () => response.writeHead(204).end())
  })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin - threads have no origin
  parentPort?.postMessage(await listen(server, '127.0.0.1', 0))
}

if (!isMainThread) await serve(workerData as { cert: string; key: string })
