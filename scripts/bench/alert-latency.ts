import { setTimeout as delay } from 'node:timers/promises'
import { quantile } from '../../api/testing/http-load.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import { urlOf, type RunFile } from '../../infra/local/run-file.ts'
import { openBooks } from '../accounts/books.ts'
import { Ledger } from '../accounts/source-ledger.ts'
import { startReceiver, type Receiver } from '../chaos/alerts/receiver.ts'
import type { Bench, Figure } from '../figure.ts'
import { startOwnSystem, withoutPast } from '../own-system.ts'
import {
  hopsOf,
  ofMetric,
  tailAlerts,
  type FigureHop,
  type FigureRing,
  type Hop,
  type Seen,
} from './latency/alert-hops.ts'
import { percentiles } from './system/cost.ts'

const WARM_UP_MS = 20_000
/** `BENCH_SECONDS`. */
const MEASURE_MS = Number(process.env['BENCH_SECONDS'] ?? 40) * 1_000
/** `BENCH_ALERT_EVERY_MS`. Below the API's limit of free requests; 5,000: each figure rings one rule, by itself. */
const CREATE_EVERY_MS = Number(process.env['BENCH_ALERT_EVERY_MS'] ?? 150)
const ANSWER_MS = 10_000
/** More refusals than one in this many end the bench. */
const REFUSED_ONE_IN_MIN = 10
/** Deliveries that are still on their way at the end. */
const DRAIN_MS = 5_000
const symbols = ['BTC', 'ETH', 'SOL', 'XRP', 'BNB', 'DOGE']

/**
 * End to end on a demo of its own, which reads no past: from the venue's frame to the first byte of the webhook at its receiver, and the hops
 * on the way. A market's tickers are written once a second: a frame between waits for that, which is shown by itself. Alerts are created all the time; each rings at
 * the first price after its creation, every other one is a rule and rings at the first figure of CVD: all that wait for it
 * at once, so that the first ring of a record is told beside all of them. What is seen in a topic
 * is seen by a reader of ours beside the parts: each of these moments is late by that reader's own fetch.
 */
const bench: Bench = async () => {
  const system = await startOwnSystem(['--rate', '300'], withoutPast)
  try {
    await delay(WARM_UP_MS)
    return await measure(system.run())
  } finally {
    await system.dispose()
  }
}

export default bench

async function measure(run: RunFile): Promise<Figure[]> {
  const books = await openBooks(run, new Ledger(urlOf(run, 'simulator')))
  const log = await connectLog({ brokers: [urlOf(run, 'broker')], namespace: '', clientId: 'bench' })
  const receiver = await startReceiver(run.data)
  try {
    const ending = new AbortController()
    const tails = tailAlerts(() => log.reader(), books, ending.signal)
    await createAll(urlOf(run, 'api'), receiver)
    await delay(DRAIN_MS)
    ending.abort()
    return figuresOf(await tails, receiver)
  } finally {
    await receiver.close()
    await log.close()
    await books.close()
  }
}

async function createAll(api: string, receiver: Receiver): Promise<void> {
  const end = performance.now() + MEASURE_MS
  const open: Promise<void>[] = []
  const refused: string[] = []
  for (let index = 0; performance.now() < end; index++) {
    const symbol = symbols[Math.floor(index / 2) % symbols.length] ?? 'BTC'
    open.push(create(api, index % 2 === 0 ? priceOf(symbol) : ruleOf(symbol), receiver, refused))
    await delay(CREATE_EVERY_MS)
  }
  await Promise.all(open)
  // One or the other may be refused on a busy machine; a bench of refusals measures nothing.
  if (refused.length * REFUSED_ONE_IN_MIN > open.length)
    throw new Error(`${refused.length} of ${open.length} creations were refused, for example: ${refused[0]}`)
}

interface Asked {
  readonly path: string
  readonly terms: object
}

function priceOf(symbol: string): Asked {
  return { path: '/price-alert', terms: { symbol, condition: 'above', target_price: 1e-9 } }
}

function ruleOf(symbol: string): Asked {
  return { path: '/alerts', terms: { symbol, when: { metric: 'cvd', operator: 'above', value: -1e12 }, repeat: false } }
}

async function create(api: string, { path, terms }: Asked, receiver: Receiver, refused: string[]): Promise<void> {
  const body = { ...terms, webhook_url: `${receiver.url}/hook`, expires_in_hours: 1 }
  try {
    const answer = await fetch(`${api}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    const text = await answer.text()
    if (answer.status !== 201) throw new Error(`${answer.status} ${text}`)
    const { alert_id, webhook_secret } = JSON.parse(text) as { alert_id: string; webhook_secret: string }
    receiver.know(alert_id, webhook_secret)
  } catch (error) {
    refused.push(String(error))
  }
}

function figuresOf(seen: Seen, receiver: Receiver): Figure[] {
  if (receiver.wrong.length > 0) throw new Error(`wrong deliveries: ${receiver.wrong.slice(0, 3).join('; ')}`)
  const samples = [...receiver.deliveries].flatMap(([id, { first }]) => hopsOf(seen, id, first) ?? [])
  if (samples.length === 0) throw new Error('no alert rang: is the market running?')
  const hops = Object.keys(samples[0] ?? {}) as Hop[]
  const rings = [...receiver.deliveries].flatMap(([id, { first }]) => ofMetric(seen, id, first) ?? [])
  const prices = hops.flatMap((hop) =>
    percentiles(
      hop,
      samples.map((sample) => sample[hop]),
    ),
  )
  return [...prices, ...ruleFigures(rings)]
}

/** A record rings all rules that wait for it: the first of them as a ring by itself, the last behind all others. */
function ruleFigures(rings: readonly FigureRing[]): Figure[] {
  const [some] = rings
  if (some === undefined) throw new Error('no rule rang: is CVD told?')
  const bursts = [...Map.groupBy(rings, ({ record }) => record).values()].map((ofRecord) =>
    ofRecord.toSorted((a, b) => wholeOf(a) - wholeOf(b)),
  )
  const parts = { 'first of a record': bursts.flatMap(([first]) => first ?? []), 'all of a record': rings }
  const hops = Object.keys(some.hops) as FigureHop[]
  const sizes = bursts.map(({ length }) => length)
  const told = Object.entries(parts).flatMap(([name, own]) =>
    hops.flatMap((hop) =>
      percentiles(
        `${hop}, ${name}`,
        own.map(({ hops: took }) => took[hop]),
      ),
    ),
  )
  return [...told, { metric: 'rings of a record, p50', value: quantile(sizes, 0.5), unit: 'rings', n: sizes.length }]
}

function wholeOf({ hops }: FigureRing): number {
  return hops['mark written to first byte, rule']
}
