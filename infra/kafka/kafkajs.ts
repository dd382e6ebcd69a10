import type { Logger } from '../log.ts'
import { asAdmin } from './admin.ts'
import { openClaim } from './wire/claim.ts'
import { Reader } from './wire/fetch.ts'
import { Link } from './wire/internals.ts'
import { Appender } from './wire/produce.ts'
import type { Claim, Log, LogReader, Position, TopicPartition, Writer } from './seam.ts'
import { retrying } from './wire/retry.ts'
import { readLeaseSettings, type LeaseSettings } from './wire/lease.ts'
import { openWriter, type WriterOptions } from './wire/writer.ts'

const CONNECT_MS = 30_000
/** A partition without a leader for a moment is not the caller's matter. */
const TRIM_MS = 10_000

export interface LogOptions {
  /** host:port of some of the cluster's brokers. */
  readonly brokers: readonly string[]
  /** Put before every topic and transactional id. */
  readonly namespace: string
  /** Names this process in the broker's log. */
  readonly clientId: string
  readonly log?: Logger | undefined
  /** How long a send is tried before it is rejected, milliseconds; default: 10 minutes for a writer, 1 for a claim. */
  readonly giveUpMs?: number
  /** How long a first answer is waited for, milliseconds; default 30,000. */
  readonly connectMs?: number | undefined
  /** Partitions will be claimed: refuses at once brokers that forget owners too soon. */
  readonly claims?: boolean
}

/**
 * Connects to Kafka over kafkajs; rejects with `LogError` `unavailable` where no broker answers within 30 s, and with
 * `ConfigError` where claims are wanted of brokers with which they cannot be kept.
 */
export async function connectLog(options: LogOptions): Promise<Log> {
  const { brokers, clientId, log, connectMs = CONNECT_MS } = options
  const link = new Link({ brokers, clientId, log })
  await retrying(`connection to ${brokers.join(', ')}`, connectMs, () => link.connect())
  const kafka = new KafkaLog(link, options)
  if (options.claims === true) await kafka.terms().catch(closing(link))
  return kafka
}

function closing(link: Link): (error: unknown) => Promise<never> {
  return async (error) => {
    await link.close()
    throw error
  }
}

interface Part {
  close(): Promise<void>
}

class KafkaLog implements Log {
  readonly #link: Link
  readonly #options: LogOptions
  readonly #appender: Appender
  readonly #parts = new Set<Part>()
  #terms: Promise<LeaseSettings> | undefined

  constructor(link: Link, options: LogOptions) {
    this.#link = link
    this.#options = options
    this.#appender = new Appender(link)
  }

  reader(): LogReader {
    return this.#own(new Reader(new Link(this.#options), this.#options.namespace, this.#options.log))
  }

  writer(giveUpMs?: number): Writer {
    const giveUp = giveUpMs === undefined ? {} : { giveUpMs }
    return this.#own(openWriter({ ...this.#writing(), ...giveUp }))
  }

  async claim(owner: string, targets: readonly TopicPartition[]): Promise<Claim> {
    const { log } = this.#options
    return this.#own(await openClaim({ ...this.#writing(), owner, targets, log, terms: await this.terms() }))
  }

  trim({ topic, partition, offset }: Position): Promise<void> {
    const partitions = [{ partition, offset: String(offset) }]
    const { namespace } = this.#options
    const name = namespace + topic
    const attempt = async (): Promise<void> =>
      asAdmin(this.#options, async (admin) => {
        await admin.fetchTopicOffsets(name) // kafkajs loads a topic's metadata here only
        await admin.deleteTopicRecords({ topic: name, partitions })
      })
    return retrying('trim', TRIM_MS, attempt)
  }

  /** As the brokers' settings were at the first time. */
  terms(): Promise<LeaseSettings> {
    const { log } = this.#options
    this.#terms ??= asAdmin(this.#options, (admin) => readLeaseSettings(admin, log))
    this.#terms.catch(() => {
      this.#terms = undefined
    })
    return this.#terms
  }

  async close(): Promise<void> {
    await Promise.all([...this.#parts].map((part) => part.close()))
    await this.#link.close()
  }

  #writing(): WriterOptions {
    const { namespace, giveUpMs } = this.#options
    const base = { link: this.#link, appender: this.#appender, namespace }
    return giveUpMs === undefined ? base : { ...base, giveUpMs }
  }

  /** Closes the part with the log, unless it was closed before. */
  #own<Kind extends Part>(part: Kind): Kind {
    const close = part.close.bind(part)
    this.#parts.add(part)
    part.close = async () => {
      this.#parts.delete(part)
      await close()
    }
    return part
  }
}
