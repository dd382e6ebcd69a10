import { setTimeout as delay } from 'node:timers/promises'
import { askOffsets, LATEST } from './fetch-wire.ts'
import { findBatch } from './find-batch.ts'
import { isMissingTopic, type Link } from './internals.ts'
import { PartitionWriter, type PartitionWriterOptions } from './partition-writer.ts'
import type { Appender } from './produce.ts'
import { boundOf } from './record-batch.ts'
import { LogError, type OutRecord } from './seam.ts'

/** What waits for all partitions of one writer; beyond it sends are refused with `full`. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024
const CLOSE_WITHIN_MS = 5_000

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
  if (!link.knows(topic)) return link.know([topic])
  if (!stale) return
  try {
    await link.refresh()
  } catch (error) {
    // another topic was deleted: what is known of this one still holds, or the broker will say so
    if (!isMissingTopic(error)) throw error
  }
}
