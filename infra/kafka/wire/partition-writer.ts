import { codeText, verdictOf } from './codes.ts'
import { isMissingTopic, isTransient } from './internals.ts'
import type { Appended } from './produce.ts'
import { boundOf, encodeBatch, nextSequence, type Producer } from './record-batch.ts'
import { Backoff } from './retry.ts'
import { FencedError, LogError, type OutRecord } from '../seam.ts'

/** Sends that wait are merged into one batch up to here; a single send is one batch whatever its size. */
const MERGE_RECORDS_MAX = 2_000
const MERGE_BYTES_MAX = 512 * 1024
/** A topic that is said to be missing for this long is missing; during a broker's start it may only seem so. */
const MISSING_MS = 10_000
/** A new producer id for a sequence that the broker does not follow; more would hide a fault. */
const RENEWALS_MAX = 3

export interface Identity {
  readonly id: bigint
  readonly epoch: number
}

export interface PartitionWriterOptions {
  readonly topic: string
  readonly partition: number
  /** Who writes; `spent`: the identity that cannot be used here any more. A claim has one only. */
  identify(spent: Identity | undefined): Promise<Identity>
  /** Loads the topic's metadata, anew where `stale`. */
  prepare(stale: boolean): Promise<void>
  append(batch: Buffer): Promise<Appended>
  /** The end of the partition. */
  end(): Promise<number>
  /** Whether that batch is in the log at or after `from`. */
  contains(from: number, producer: Producer): Promise<boolean>
  readonly giveUpMs: number
  /** Aborted: nothing is tried again. */
  readonly closed: AbortSignal
}

interface Send {
  readonly records: readonly OutRecord[]
  readonly bytes: number
  /** Of the steady clock: the other may be put ahead. */
  readonly asked: number
  readonly resolve: (first: number | undefined) => void
  readonly reject: (error: Error) => void
}

/**
 * The writes to one partition, one batch at a time and in the order of the calls. The same batch with the same sequence
 * is tried until the broker has it, so a retry can neither double nor reorder.
 */
export class PartitionWriter {
  readonly #options: PartitionWriterOptions
  readonly #queue: Send[] = []
  #busy = false
  #identity: Identity | undefined
  #spent: Identity | undefined
  #sequence = 0
  /** Whatever we still write comes at or after it. */
  #from: number | undefined

  constructor(options: PartitionWriterOptions) {
    this.#options = options
  }

  /** Appends the records as one batch; gives the offset of the first, where the broker says it. */
  send(records: readonly OutRecord[]): Promise<number | undefined> {
    const bytes = records.reduce((sum, record) => sum + boundOf(record), 0)
    return new Promise((resolve, reject) => {
      this.#queue.push({ records, bytes, asked: performance.now(), resolve, reject })
      if (!this.#busy) void this.#work()
    })
  }

  async #work(): Promise<void> {
    this.#busy = true
    for (let sends = this.#take(); sends.length > 0; sends = this.#take()) await this.#writeAll(sends)
    this.#busy = false
  }

  #take(): readonly Send[] {
    let records = 0
    let bytes = 0
    const count = this.#queue.findIndex((send, index) => {
      records += send.records.length
      bytes += send.bytes
      return index > 0 && (records > MERGE_RECORDS_MAX || bytes > MERGE_BYTES_MAX)
    })
    return this.#queue.splice(0, count < 0 ? this.#queue.length : count)
  }

  async #writeAll(sends: readonly Send[]): Promise<void> {
    try {
      let next = await this.#write(
        sends.flatMap((send) => send.records),
        sends[0]?.asked ?? 0,
      )
      for (const { resolve, records } of sends) {
        resolve(next)
        next = next === undefined ? undefined : next + records.length
      }
    } catch (error) {
      // one record that the broker refuses must not cost the sends that it was merged with
      const alone = error instanceof LogError && error.code === 'refused' && sends.length > 1
      if (alone) for (const send of sends) await this.#writeAll([send])
      else for (const { reject } of sends) reject(error as Error)
    }
  }

  async #write(records: readonly OutRecord[], asked: number): Promise<number | undefined> {
    const backoff = new Backoff()
    const where = `${this.#options.topic}/${this.#options.partition}`
    let batch: Buffer | undefined
    let renewals = 0
    let stale = false
    let missingSince: number | undefined
    let cause: unknown
    for (;;) {
      const outcome = await this.#attempt(records, batch, stale)
      switch (outcome.is) {
        case 'ok':
          this.#sequence = nextSequence(this.#sequence, records.length)
          return outcome.base
        case 'fenced':
          throw new FencedError(`a newer claim stands on ${where}`)
        case 'lost-sequence':
          renewals += 1
          if (renewals > RENEWALS_MAX)
            throw new LogError('refused', `${where}: the broker lost the producer's sequence`)
          this.#renew()
          batch = undefined
          continue
        case 'refused':
          throw new LogError('refused', `${where}: ${outcome.text}`)
        case 'again':
          batch = outcome.batch ?? batch
          cause = outcome.cause
          stale = true
          missingSince = outcome.missing ? (missingSince ?? performance.now()) : undefined
      }
      if (missingSince !== undefined && performance.now() - missingSince > MISSING_MS) {
        throw new LogError('no-topic', `topic ${this.#options.topic} has no partition ${this.#options.partition}`)
      }
      await this.#giveUpWhenLate(asked, batch !== undefined, where, cause)
      await backoff.wait()
    }
  }

  async #attempt(records: readonly OutRecord[], before: Buffer | undefined, stale: boolean): Promise<Outcome> {
    let batch = before
    try {
      await this.#options.prepare(stale)
      this.#identity ??= await this.#options.identify(this.#spent)
      this.#from ??= await this.#options.end()
      const producer = { ...this.#identity, sequence: this.#sequence }
      // tried before, with an answer that said nothing or none at all
      if (batch !== undefined && (await this.#options.contains(this.#from, producer)))
        return { is: 'ok', base: undefined }
      batch ??= encodeBatch(records, producer)
      const { code, base } = await this.#options.append(batch)
      if (base >= 0) this.#from = base + records.length
      const verdict = verdictOf(code)
      switch (verdict) {
        case 'ok':
          return { is: verdict, base: base < 0 ? undefined : base }
        case 'fenced':
        case 'lost-sequence':
          return { is: verdict }
        case 'retry':
        case 'stale':
        case 'no-topic':
          return { is: 'again', batch, missing: verdict === 'no-topic', cause: codeText(code) }
        case 'out-of-range':
        case 'refused':
          return { is: 'refused', text: codeText(code) }
      }
    } catch (error) {
      if (!isTransient(error) && !(error instanceof LogError && error.retriable)) throw error
      return { is: 'again', batch, missing: isMissingTopic(error), cause: error }
    }
  }

  #renew(): void {
    this.#spent = this.#identity
    this.#identity = undefined
    this.#sequence = 0
  }

  /** Whether the batch is in the log is not known then: whatever follows needs a sequence of its own. */
  async #giveUpWhenLate(asked: number, inDoubt: boolean, where: string, cause: unknown): Promise<void> {
    const { closed, giveUpMs } = this.#options
    if (!closed.aborted && performance.now() - asked < giveUpMs) return
    if (inDoubt) this.#renew()
    if (closed.aborted) throw new LogError('closed', `${where}: closed while the broker was away`, { cause })
    throw new LogError('unavailable', `${where}: not written within ${giveUpMs} ms`, { cause })
  }
}

type Outcome =
  | { readonly is: 'ok'; readonly base: number | undefined }
  | { readonly is: 'fenced' | 'lost-sequence' }
  | { readonly is: 'refused'; readonly text: string }
  | { readonly is: 'again'; readonly batch: Buffer | undefined; readonly missing: boolean; readonly cause: unknown }
