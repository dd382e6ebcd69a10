import { setTimeout as delay } from 'node:timers/promises'
import type { LogReader, OutRecord, Writer } from '../../infra/kafka/seam.ts'
import { fetchAt, printOf } from '../../processors/kernel/position-check.ts'
import type { TopicName } from '../../schemas/topics.ts'

const TOPIC: TopicName = 'payments.intents'
const PARTITION = 0
/** Between two looks, milliseconds. Most payments have settled by then. */
const LOOK_MS = 5_000

export interface AskedOptions {
  readonly reader: LogReader
  readonly writer: Writer
  /** As it was written. */
  readonly record: OutRecord
  /** Given when nobody waits any more. */
  readonly signal: AbortSignal
  readonly lookMs?: number
}

/**
 * Writes an intent, and again where the log has lost it, for as long as somebody waits for its outcome: the settling knows
 * a request by its id, so that twice is once.
 */
export async function keepAsked(options: AskedOptions): Promise<void> {
  const { writer, record, signal, lookMs = LOOK_MS } = options
  const write = (): Promise<number | undefined> => writer.send(TOPIC, PARTITION, [record])
  let at = await write()
  void looking(signal, lookMs, async () => {
    if (at !== undefined && !(await isThere(options, at))) at = await write()
  })
}

async function looking(signal: AbortSignal, everyMs: number, look: () => Promise<void>): Promise<void> {
  while (await delay(everyMs, true, { signal, ref: false }).catch(() => false)) await look().catch(() => undefined) // the log is away; it is looked for again
}

async function isThere({ reader, record }: AskedOptions, offset: number): Promise<boolean> {
  const slice = await fetchAt(reader, { topic: TOPIC, partition: PARTITION, offset }, delay)
  if (slice.start > offset) return true // it was there for long
  const found = slice.records.find((each) => each.offset === offset)
  return found !== undefined && printOf(found) === printOf({ ...record, key: Buffer.from(record.key ?? '') })
}
