import type { LogReader } from '../../../infra/kafka/seam.ts'
import { recordPosition } from '../../../schemas/record-id.ts'
import type { Attempt, Trigger } from '../../../schemas/records.ts'
import type { CompositePrice, Message, Metric, SpotTicker } from '../../../schemas/records.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import type { LogBooks } from '../../accounts/books.ts'
import { tail, type SeenRecord } from './delays.ts'

/** A version is the generation times this plus the offset in the input topic. */
const GENERATION = 2 ** 44

interface At<Value> extends SeenRecord {
  readonly value: Value
}

/** What our readers saw on the way, by partition and offset or by trigger id. */
export interface Seen {
  readonly tickers: Map<string, At<SpotTicker>>
  readonly prices: Map<string, At<CompositePrice>>
  readonly metrics: Map<string, At<Metric>>
  readonly triggers: Map<string, At<Trigger>>
  /** First attempts. */
  readonly attempts: Map<string, At<Attempt>>
}

/** Reads the topics between venue and dispatcher from now on until `signal`, each with a reader of its own. */
export async function tailAlerts(reader: () => LogReader, books: LogBooks, signal: AbortSignal): Promise<Seen> {
  const seen: Seen = {
    tickers: new Map(),
    prices: new Map(),
    metrics: new Map(),
    triggers: new Map(),
    attempts: new Map(),
  }
  const take = (message: Message, record: SeenRecord): void => {
    const { position } = record
    if (message.type === 'spot_ticker') seen.tickers.set(position, { value: message.value, ...record })
    if (message.type === 'composite_price') seen.prices.set(position, { value: message.value, ...record })
    if (message.type === 'metric') seen.metrics.set(position, { value: message.value, ...record })
    if (message.type === 'trigger') seen.triggers.set(message.value.trigger_id, { value: message.value, ...record })
    if (message.type === 'attempt' && message.value.number === 1)
      seen.attempts.set(message.value.trigger_id, { value: message.value, ...record })
  }
  const topics: readonly TopicName[] = ['market.tickers', 'alerts.inputs', 'alerts.triggers', 'webhooks.attempts']
  await Promise.all(
    topics.map(async (topic) => {
      const own = reader()
      await tail({ ...books, reader: own }, topic, signal, take)
      await own.close()
    }),
  )
  return seen
}

const hops = [
  'ticker written to first byte',
  'frame received to first byte',
  'venue time to frame received',
  'frame received to ticker written (one a second)',
  'ticker written to ticker in market.tickers',
  'ticker to price in alerts.inputs',
  'price to trigger in alerts.triggers',
  'trigger to attempt started',
  'attempt started to first byte',
] as const
export type Hop = (typeof hops)[number]

const figureHops = [
  'mark written to first byte, rule',
  'figure in alerts.inputs to first byte',
  'mark written to figure in alerts.inputs',
  'figure to trigger in alerts.triggers',
  'trigger to attempt started, rule',
  'attempt started to first byte, rule',
] as const
export type FigureHop = (typeof figureHops)[number]

/** One ring of a rule on a figure; `record`: what rang it, and others with it. */
export interface FigureRing {
  readonly record: string
  readonly hops: Readonly<Record<FigureHop, number>>
}

/**
 * How long a rule on a figure of CVD took to its first byte, milliseconds, from the mark on that closed its bucket: what a
 * processor writes has the time of what it follows from. Undefined: no figure rang it.
 */
export function ofMetric({ triggers, metrics, attempts }: Seen, id: string, firstByte: number): FigureRing | undefined {
  const [trigger, attempt] = [triggers.get(id), attempts.get(id)]
  const record = trigger?.value.record ?? ''
  const cause = recordPosition(record)
  const metric = cause && metrics.get(`${cause.partition}/${cause.offset}`)
  if (trigger === undefined || attempt === undefined || metric === undefined) return undefined
  const started = attempt.value.started / 1_000
  const hops = {
    'mark written to first byte, rule': firstByte - metric.written,
    'figure in alerts.inputs to first byte': firstByte - metric.at,
    'mark written to figure in alerts.inputs': metric.at - metric.written,
    'figure to trigger in alerts.triggers': trigger.at - metric.at,
    'trigger to attempt started, rule': started - trigger.at,
    'attempt started to first byte, rule': firstByte - started,
  }
  return { record, hops }
}

/** How long each hop of one delivery took, milliseconds; undefined where a record on its way was not seen. */
export function hopsOf(seen: Seen, id: string, firstByte: number): Record<Hop, number> | undefined {
  const trigger = seen.triggers.get(id)
  const attempt = seen.attempts.get(id)
  const cause = recordPosition(trigger?.value.record ?? '')
  const price = cause && seen.prices.get(`${cause.partition}/${cause.offset}`)
  const ticker = price && cause && seen.tickers.get(`${cause.partition}/${price.value.v % GENERATION}`)
  if (trigger === undefined || attempt === undefined || price === undefined || ticker === undefined) return undefined
  const received = ticker.value.received / 1_000
  const started = attempt.value.started / 1_000
  return {
    'ticker written to first byte': firstByte - ticker.written,
    'frame received to first byte': firstByte - received,
    'venue time to frame received': received - ticker.value.time / 1_000,
    'frame received to ticker written (one a second)': ticker.written - received,
    'ticker written to ticker in market.tickers': ticker.at - ticker.written,
    'ticker to price in alerts.inputs': price.at - ticker.at,
    'price to trigger in alerts.triggers': trigger.at - price.at,
    'trigger to attempt started': started - trigger.at,
    'attempt started to first byte': firstByte - started,
  }
}
