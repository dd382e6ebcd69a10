import type { LogReader } from '../../infra/kafka/seam.ts'
import { UndecodableError } from '../../schemas/codec.ts'
import type { Attempt, Message, Micros, Pending } from '../../schemas/records.ts'
import type { Decoder } from '../kernel/decoder.ts'
import { FatalError } from '../kernel/errors.ts'
import { keepNewest } from '../kernel/newest.ts'
import { FINISHED_KNOWN, RECALLED_MAX } from './limits.ts'

export const ATTEMPTS = 'webhooks.attempts'
export const PENDING = 'webhooks.pending'

/** Outcomes after which something is still to be sent. */
const goesOn: ReadonlySet<Attempt['outcome']> = new Set(['retry', 'unknown', 'digested'])

/**
 * Deliveries that ended long ago, as their journal tells them: what was finished is known for an hour, and a trigger that is
 * older than that (a core that was built again, a log that lost its tail, a long outage) is looked up before it is sent.
 */
export class Recall {
  readonly #partition: number
  readonly #reader: LogReader
  readonly #decoder: Decoder
  readonly #ended = new Set<string>()
  /** From when on all ends up to `at` are known. */
  #from: Micros = Infinity
  #at: Micros = 0

  constructor(partition: number, reader: LogReader, decoder: Decoder) {
    this.#partition = partition
    this.#reader = reader
    this.#decoder = decoder
  }

  /** Whether the delivery of a trigger of `time` had ended before, as far as it is not known anyway. */
  async hasEnded(id: string, time: Micros, now: Micros): Promise<boolean> {
    if (time > now - FINISHED_KNOWN) return false
    if (time < this.#from || now > this.#at + FINISHED_KNOWN) await this.#read(time, now)
    return this.#ended.has(id)
  }

  async #read(time: Micros, now: Micros): Promise<void> {
    this.#ended.clear()
    const since = { time: Math.floor(time / 1_000) }
    const from = (await this.#reader.offsets(ATTEMPTS, [this.#partition], since)).get(this.#partition)
    for await (const attempt of attemptsFrom(this.#reader, this.#decoder, this.#partition, from)) {
      if (goesOn.has(attempt.outcome)) continue
      this.#ended.add(attempt.trigger_id)
      keepNewest(this.#ended, RECALLED_MAX)
    }
    this.#from = time
    this.#at = now
  }
}

/** Attempts of a partition from an offset to its end; one that cannot be read tells nothing. */
export async function* attemptsFrom(
  reader: LogReader,
  decoder: Decoder,
  partition: number,
  from: number | undefined,
): AsyncGenerator<Attempt> {
  for await (const records of reader.toEnd(ATTEMPTS, partition, from)) {
    for (const { value } of records) {
      const message = value === null ? undefined : await readable(decoder, value)
      if (message?.type === 'attempt') yield message.value
    }
  }
}

async function readable(decoder: Decoder, value: Buffer): Promise<Message | undefined> {
  try {
    return await decoder.decodeOrAsk(value)
  } catch (error) {
    if (!(error instanceof UndecodableError)) throw error
    return undefined
  }
}

/** What is pending of a partition: the last record of each key. */
export async function readPending(
  reader: LogReader,
  decoder: Decoder,
  partition: number,
): Promise<Map<string, Pending>> {
  const pending = new Map<string, Pending>()
  for await (const records of reader.toEnd(PENDING, partition)) {
    for (const { key, value } of records) {
      const name = key?.toString() ?? ''
      pending.delete(name)
      const message = value === null ? undefined : await readState(partition, decoder, value)
      if (message?.type === 'pending') pending.set(name, message.value)
    }
  }
  return pending
}

async function readState(partition: number, decoder: Decoder, value: Buffer): Promise<Message> {
  try {
    return decoder.decode(value) ?? (await decoder.decodeOrAsk(value))
  } catch (error) {
    if (!(error instanceof UndecodableError)) throw error
    const message = `partition ${partition} of webhooks.pending cannot be read: ${error.message}`
    throw new FatalError('unreadable-state', message, { cause: error })
  }
}
