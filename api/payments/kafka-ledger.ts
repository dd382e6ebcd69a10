import { setTimeout as delay } from 'node:timers/promises'
import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import type { LogRecord, LogReader, OutRecord, Writer } from '../../infra/kafka/seam.ts'
import type { PaymentAnswer, PaymentIntent } from '../../schemas/records.ts'
import { fetchAt, printOf } from '../../processors/kernel/position-check.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { ApiError } from '../request/errors.ts'
import { within, type LogAccess } from '../log/log-connection.ts'
import { FollowedLog, type Connected, type FollowedTopic, type Following } from '../log/followed-log.ts'
import type { Unread } from '../log/unread.ts'
import { Answers, ANSWERS } from './answers.ts'
import { Outcomes } from './outcomes.ts'
import type { Outcome, PaymentLedger, Standing } from './payments.ts'

const EVENTS = 'payments.events'
const INTENTS = 'payments.intents'
const PARTITIONS = 1
/** What nobody has taken up for 5 minutes is not charged any more, milliseconds. */
const ASKED_MS = 10 * 60_000
/** No authorization lasts so long: what settled before can only be brought too late, milliseconds. */
const KNOWN_MS = 26 * 3_600_000
/** A read has caught up with the log by then, milliseconds. */
const CATCH_UP_MS = 2_000
const KEEP_MS = 3_000
/** What the settling processor may take longer than its own deadline, milliseconds. */
const GRACE_MS = 5_000
const RETRY_AFTER_SECONDS = 2
const SWEEP_MS = 60_000

export interface KafkaLedgerOptions extends LogAccess {
  /** How long the settling processor waits for a receipt, milliseconds. */
  readonly settleMs: number
  /** Host's clock, milliseconds. */
  readonly now: () => number
  readonly unread: Unread
}

/** The payments of the log, all three topics followed, intents and answers written. */
export class KafkaLedger implements PaymentLedger {
  readonly #outcomes = new Outcomes()
  readonly #options: KafkaLedgerOptions
  readonly #log: FollowedLog<Answers>
  readonly #sweeping: NodeJS.Timeout

  constructor(options: KafkaLedgerOptions) {
    this.#options = options
    this.#log = new FollowedLog({
      ...options,
      clientId: 'api-payments',
      giveUpMs: GRACE_MS,
      warning: 'the log of payments cannot be connected; trying again',
      open: (connected) => this.#open(connected),
    })
    this.#sweeping = setInterval(() => void this.#sweep(), SWEEP_MS).unref()
  }

  async find(id: string): Promise<Standing | undefined> {
    await this.#reading(({ toEnd }) => Promise.all([toEnd(INTENTS), toEnd(EVENTS)]))
    return this.#outcomes.find(id)
  }

  async settle(intent: PaymentIntent): Promise<Outcome> {
    const { log, settleMs } = this.#options
    const { payment_id: id } = intent
    const { codec, writer, reader } = await this.#reading((following) => following)
    const left = new AbortController()
    const { outcome, leave } = this.#outcomes.wait(intent)
    const pending = (): Outcome => ({ is: 'pending', transaction: this.#outcomes.transaction(id) })
    try {
      const value = codec.encode(INTENTS, 'payment_intent', intent)
      const time = Math.floor(intent.created / 1000)
      const record = { key: id, value, time }
      const sent = keepAsked({ reader, writer, record, signal: left.signal }).then(() => outcome)
      return await within(settleMs + GRACE_MS, sent, () => new LateError())
    } catch (error) {
      // Whether it is in the log is not known: it may yet be settled, so it must not be paid for a second time.
      if (!(error instanceof LateError)) log.warn({ err: error, payment: id }, 'an intent could not be written')
      return pending()
    } finally {
      leave()
      left.abort()
    }
  }

  answer(id: string): Promise<PaymentAnswer | undefined> {
    return this.#reading(async ({ toEnd, use }) => {
      await toEnd(ANSWERS)
      return use.find(id)
    })
  }

  async keep(answer: PaymentAnswer): Promise<PaymentAnswer> {
    const { use: answers } = await this.#reading((following) => following)
    const { first, leave } = answers.keep(answer)
    try {
      return await within(KEEP_MS, first, () => new LateError())
    } finally {
      leave()
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping)
    await this.#log.close()
  }

  #reading<Value>(work: (following: Following<Answers>) => Promise<Value> | Value): Promise<Value> {
    return this.#log.within(CATCH_UP_MS, away, work)
  }

  #open({ log, codec, writer }: Connected): { topics: readonly FollowedTopic[]; use: Answers } {
    const { now } = this.#options
    const answers = new Answers({ codec, writer, reader: log.reader(), now })
    const heard = (record: LogRecord): Promise<void> => this.#heard(record, codec)
    const one = { partitions: PARTITIONS, take: heard } as const
    return {
      topics: [
        { ...one, topic: INTENTS, from: { time: now() - ASKED_MS } },
        { ...one, topic: EVENTS, from: { time: now() - KNOWN_MS } },
        { ...one, topic: ANSWERS, from: 'start', take: (record) => answers.heard(record) },
      ],
      use: answers,
    }
  }

  async #heard({ value, offset }: LogRecord, codec: RegistryCodec): Promise<void> {
    if (value === null) return
    const message = await codec.read(value)
    if (message.type === 'payment_event') this.#outcomes.heard(message.value)
    else if (message.type === 'payment_intent') this.#outcomes.asked(message.value, offset)
  }

  async #sweep(): Promise<void> {
    const { now, log } = this.#options
    this.#outcomes.forget((now() - KNOWN_MS) * 1000)
    try {
      const { use: answers } = await this.#reading((following) => following)
      await answers.sweep()
    } catch (error) {
      log.warn({ err: error }, 'old answers could not be let go; trying again in a minute')
    }
  }
}

class LateError extends Error {}

/** Nothing was written: the same payment can be sent again. */
function away(cause?: unknown): ApiError {
  return new ApiError('data_unavailable', 'Payments cannot be looked up right now; send the same again in a moment.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  })
}

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
