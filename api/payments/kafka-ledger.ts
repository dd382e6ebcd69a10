import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import { Follower, positionsAt } from '../../infra/kafka/follower.ts'
import type { Log, LogReader, LogRecord, Position, Writer } from '../../infra/kafka/seam.ts'
import type { PaymentAnswer, PaymentIntent } from '../../schemas/records.ts'
import { CatchUp, differsAt } from '../alerts/catch-up.ts'
import { within } from '../alerts/deadline.ts'
import { decode } from '../alerts/decode.ts'
import { ApiError } from '../errors.ts'
import { LogConnection, type LogAccess } from '../log-connection.ts'
import { Answers, ANSWERS } from './answers.ts'
import { keepAsked } from './asked.ts'
import { Outcomes } from './outcomes.ts'
import type { Unread } from '../unread.ts'
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

/** What there is once the log is connected. */
interface Link {
  readonly codec: RegistryCodec
  readonly writer: Writer
  /** Its fetches do not wait. */
  readonly reader: LogReader
  readonly answers: Answers
  readonly intents: CatchUp
  readonly events: CatchUp
  readonly kept: CatchUp
  close(): Promise<void>
}

type Topic = typeof INTENTS | typeof EVENTS | typeof ANSWERS

/** The payments of the log, all three topics followed, intents and answers written. */
export class KafkaLedger implements PaymentLedger {
  readonly #outcomes = new Outcomes()
  readonly #options: KafkaLedgerOptions
  readonly #connection: LogConnection<Link>
  readonly #sweeping: NodeJS.Timeout

  constructor(options: KafkaLedgerOptions) {
    this.#options = options
    const warning = 'the log of payments cannot be connected; trying again'
    const connected = { ...options, clientId: 'api-payments', giveUpMs: GRACE_MS, warning }
    this.#connection = new LogConnection(connected, (kafka, codec) => this.#follow(kafka, codec))
    this.#sweeping = setInterval(() => void this.#sweep(), SWEEP_MS).unref()
  }

  async find(id: string): Promise<Standing | undefined> {
    await reading(this.#linked().then(({ intents, events }) => Promise.all([intents.toEnd(), events.toEnd()])))
    return this.#outcomes.find(id)
  }

  async settle(intent: PaymentIntent): Promise<Outcome> {
    const { log, settleMs } = this.#options
    const { payment_id: id } = intent
    const { codec, writer, reader } = await this.#linked()
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

  async answer(id: string): Promise<PaymentAnswer | undefined> {
    return reading(this.#linked().then(({ kept, answers }) => kept.toEnd().then(() => answers.find(id))))
  }

  async keep(answer: PaymentAnswer): Promise<PaymentAnswer> {
    const { answers } = await this.#linked()
    try {
      return await within(KEEP_MS, answers.keep(answer), () => new LateError())
    } finally {
      answers.leave(answer.payment_id)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping)
    await this.#connection.close()
  }

  async #linked(): Promise<Link> {
    const link = await within(CATCH_UP_MS, this.#connection.opened, () => away())
    if (link === undefined) throw away()
    return link
  }

  async #follow(kafka: Log, codec: RegistryCodec): Promise<Link> {
    const { log, now, unread } = this.#options
    const writer = kafka.writer()
    const answers = new Answers({ codec, writer, reader: kafka.reader(), now })
    const heard = (record: LogRecord): Promise<void> => this.#heard(record, codec)
    const taken: Record<Topic, ReturnType<Unread['passing']>> = {
      [INTENTS]: unread.passing(INTENTS, log, heard),
      [EVENTS]: unread.passing(EVENTS, log, heard),
      [ANSWERS]: unread.passing(ANSWERS, log, (record) => answers.heard(record)),
    }
    const asking = kafka.reader()
    const follower = new Follower({
      reader: kafka.reader(),
      log,
      differsAt: differsAt(asking),
      take: (record, { topic, partition }) => taken[topic as Topic](record, partition), // it follows these three
    })
    const at = (topic: Topic, from: Parameters<typeof positionsAt>[2]): Promise<Position[]> =>
      positionsAt(asking, { topic, partitions: PARTITIONS }, from)
    const starts = [
      at(INTENTS, { time: now() - ASKED_MS }),
      at(EVENTS, { time: now() - KNOWN_MS }),
      at(ANSWERS, 'start'),
    ]
    follower.start((await Promise.all(starts)).flat())
    const catchUp = (topic: Topic): CatchUp => new CatchUp({ topic, partitions: PARTITIONS, reader: asking, follower })
    return {
      codec,
      writer,
      reader: asking,
      answers,
      intents: catchUp(INTENTS),
      events: catchUp(EVENTS),
      kept: catchUp(ANSWERS),
      close: async () => {
        await follower.close()
        await kafka.close()
      },
    }
  }

  async #heard({ value, offset }: LogRecord, codec: RegistryCodec): Promise<void> {
    if (value === null) return
    const message = await decode(codec, value)
    if (message.type === 'payment_event') this.#outcomes.heard(message.value)
    else if (message.type === 'payment_intent') this.#outcomes.asked(message.value, offset)
  }

  async #sweep(): Promise<void> {
    const { now, log } = this.#options
    this.#outcomes.forget((now() - KNOWN_MS) * 1000)
    try {
      await (await this.#linked()).answers.sweep()
    } catch (error) {
      log.warn({ err: error }, 'old answers could not be let go; trying again in a minute')
    }
  }
}

class LateError extends Error {}

async function reading<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await within(CATCH_UP_MS, work, () => away())
  } catch (error) {
    throw error instanceof ApiError ? error : away(error)
  }
}

/** Nothing was written: the same payment can be sent again. */
function away(cause?: unknown): ApiError {
  return new ApiError('data_unavailable', 'Payments cannot be looked up right now; send the same again in a moment.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  })
}
