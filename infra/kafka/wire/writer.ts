import { setTimeout as delay } from 'node:timers/promises'
import { type Identity, PartitionWriter, type PartitionWriterOptions } from './partition-writer.ts'
import { apis, Encoder, type Decoder, type Link } from './internals.ts'
import { verdictOf } from './codes.ts'
import { again, retrying } from './retry.ts'
import type { Appender } from './produce.ts'
import { type Writer, LogError, type OutRecord } from '../seam.ts'
import { askOffsets, LATEST, fetchRequest, readAnswer } from './fetch-wire.ts'
import { boundOf, scanBatches, type Producer } from './record-batch.ts'

/** A broker that is away for less costs nothing but time. */
const GIVE_UP_MS = 10 * 60_000
const IDENTIFY_MS = 30_000
/** Kafka wants one; it bounds an open transaction, and ours are empty and closed at once. */
const TRANSACTION_MS = 10_000
/** What waits for all partitions of one writer; beyond it sends are refused with `full`. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024
const CLOSE_WITHIN_MS = 5_000
const WAIT_MS = 100
const BYTES = 1024 * 1024

export interface WriterOptions {
  readonly link: Link
  readonly appender: Appender
  readonly namespace: string
  readonly giveUpMs?: number
}

/** A plain idempotent writer: each batch is in the log once, in the order of the calls, however often it was sent. */
export function openWriter({ link, appender, namespace, giveUpMs = GIVE_UP_MS }: WriterOptions): Writer {
  let shared: Promise<Identity> | undefined
  const identify = async (spent: Identity | undefined): Promise<Identity> => {
    const current = shared === undefined ? undefined : await shared
    if (shared === undefined || (spent !== undefined && current?.id === spent.id)) {
      shared = initProducer(link, 'any', null)
      shared.catch(() => {
        shared = undefined
      })
    }
    return shared
  }
  const writers = new PartitionWriters({ link, appender, namespace, giveUpMs, identify })
  return {
    send: (topic, partition, records) => writers.send(topic, partition, records),
    close: () => writers.close(),
  }
}

/** A producer id and epoch of the broker; for a transactional id the next epoch of it, which ends what came before. */
export async function initProducer(
  link: Link,
  node: number | 'any',
  transactionalId: string | null,
): Promise<Identity> {
  return retrying('producer id', IDENTIFY_MS, async () => {
    const body = new Encoder().writeString(transactionalId).writeInt32(TRANSACTION_MS)
    const answer = await link.call(node, { key: apis.initProducerId, version: 1, name: 'InitProducerId', body })
    const { code, ...identity } = readIdentity(answer)
    return verdictOf(code) === 'ok' ? identity : again
  })
}

function readIdentity(answer: Decoder): Identity & { code: number } {
  answer.forward(4) // throttle time
  const code = answer.readInt16()
  return { code, id: BigInt(answer.readInt64().toString()), epoch: answer.readInt16() }
}

export interface PartitionWritersOptions {
  readonly link: Link
  readonly appender: Appender
  readonly namespace: string
  readonly giveUpMs: number
  readonly identify: PartitionWriterOptions['identify']
  /** Throws where the writer may not write just now; asked right before bytes leave. */
  readonly check?: () => void
}

/** One writer per partition that is written to. */
export class PartitionWriters {
  readonly #options: PartitionWritersOptions
  readonly #writers = new Map<string, PartitionWriter>()
  readonly #pending = new Set<Promise<unknown>>()
  readonly #abort = new AbortController()
  #bytes = 0
  #closed = false

  constructor(options: PartitionWritersOptions) {
    this.#options = options
  }

  async send(topic: string, partition: number, records: readonly OutRecord[]): Promise<number | undefined> {
    if (this.#closed) throw new LogError('closed', `${topic}/${partition}: the writer is closed`)
    if (records.length === 0) return undefined
    const bytes = records.reduce((sum, record) => sum + boundOf(record), 0)
    if (this.#bytes + bytes > WAITING_BYTES_MAX) {
      throw new LogError('full', `${topic}/${partition}: ${this.#bytes} bytes wait to be written`)
    }
    this.#bytes += bytes
    const sent = this.#writer(topic, partition).send(records)
    this.#pending.add(sent)
    try {
      return await sent
    } finally {
      this.#bytes -= bytes
      this.#pending.delete(sent)
    }
  }

  /** Refuses new sends and waits for those under way, 5 s at the most. */
  async close(): Promise<void> {
    this.#closed = true
    const done = Promise.allSettled(this.#pending)
    await Promise.race([done, delay(CLOSE_WITHIN_MS, undefined, { ref: false })])
    this.#abort.abort()
    await done
  }

  #writer(topic: string, partition: number): PartitionWriter {
    const id = `${topic}/${partition}`
    const writer = this.#writers.get(id) ?? this.#open(this.#options.namespace + topic, partition)
    this.#writers.set(id, writer)
    return writer
  }

  #open(topic: string, partition: number): PartitionWriter {
    const { link, appender, identify, giveUpMs, check } = this.#options
    return new PartitionWriter({
      topic,
      partition,
      identify,
      giveUpMs,
      closed: this.#abort.signal,
      append: (batch) => appender.append(topic, partition, batch, check),
      contains: (from, producer) => findBatch(link, topic, partition, from, producer),
      end: () => endOf(link, topic, partition),
      prepare: (stale) => prepare(link, topic, stale),
    })
  }
}

async function endOf(link: Link, topic: string, partition: number): Promise<number> {
  const end = (await askOffsets(link, topic, [partition], LATEST))?.get(partition)?.offset
  if (end === undefined) throw new LogError('unavailable', `the end of ${topic}/${partition} is not known`)
  return end
}

async function prepare(link: Link, topic: string, stale: boolean): Promise<void> {
  if (stale && link.knows(topic)) await link.refresh()
  await link.know([topic])
}

/**
 * Whether the batch that `producer` began at its sequence lies in the partition (full topic name) at or after `from`.
 *
 * The broker itself knows the last batches of a producer, but not for ever: it forgets one whose newest record is older
 * than a day, by the record's own time. On a tape of last year that is every producer, at any restart.
 */
async function findBatch(
  link: Link,
  topic: string,
  partition: number,
  from: number,
  producer: Producer,
): Promise<boolean> {
  for (let offset = from; ;) {
    const node = link.leaderOf(topic, partition)
    if (node === undefined) throw new LogError('unavailable', `${topic}/${partition} has no leader`)
    const body = fetchRequest([{ topic, partition, offset }], { maxWaitMs: WAIT_MS, maxBytesPerPartition: BYTES }, '')
    const [part] = readAnswer(await link.call(node, { key: apis.fetch, version: 11, name: 'Fetch', body }))
    const verdict = part === undefined ? 'retry' : verdictOf(part.code)
    if (verdict === 'out-of-range') return false // the log ends before, or retention has passed it
    if (part === undefined || verdict !== 'ok')
      throw new LogError('unavailable', `${topic}/${partition} cannot be read`)
    const { next, found } = scanBatches(part.bytes, offset, producer)
    if (found) return true
    if (next >= part.end) return false
    offset = next
  }
}
