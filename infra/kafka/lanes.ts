import { setTimeout as delay } from 'node:timers/promises'
import { askOffsets, LATEST } from './fetch-wire.ts'
import { findBatch } from './find-batch.ts'
import { isMissingTopic, type Link } from './internals.ts'
import { Lane, type LaneOptions } from './lane.ts'
import type { Appender } from './produce.ts'
import { boundOf } from './record-batch.ts'
import { LogError, type OutRecord } from './seam.ts'

/** What waits in all lanes of one writer; beyond it sends are refused with `full`. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024
const CLOSE_WITHIN_MS = 5_000

export interface LanesOptions {
  readonly link: Link
  readonly appender: Appender
  readonly namespace: string
  readonly giveUpMs: number
  readonly identify: LaneOptions['identify']
  /** Throws where the writer may not write just now; asked right before bytes leave. */
  readonly check?: () => void
}

/** One lane per partition that is written to. */
export class Lanes {
  readonly #options: LanesOptions
  readonly #lanes = new Map<string, Lane>()
  readonly #pending = new Set<Promise<unknown>>()
  readonly #abort = new AbortController()
  #bytes = 0
  #closed = false

  constructor(options: LanesOptions) {
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
    const sent = this.#lane(topic, partition).send(records)
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

  #lane(topic: string, partition: number): Lane {
    const id = `${topic}/${partition}`
    const lane = this.#lanes.get(id) ?? this.#open(this.#options.namespace + topic, partition)
    this.#lanes.set(id, lane)
    return lane
  }

  #open(topic: string, partition: number): Lane {
    const { link, appender, identify, giveUpMs, check } = this.#options
    return new Lane({
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
  const end = (await askOffsets(link, topic, [partition], LATEST))?.get(partition)
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
