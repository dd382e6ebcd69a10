import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import type { AlertEvent, Command } from '../../schemas/records.ts'
import type { RecordPosition } from '../../schemas/record-id.ts'
import { ApiError } from '../request/errors.ts'
import type { LogAccess } from '../log/log-connection.ts'
import { FollowedLog, type Connected, type FollowedTopic } from '../log/followed-log.ts'
import type { Unread } from '../log/unread.ts'
import type { AlertLog, PublicRecord } from './alerts.ts'
import { AlertStore } from './alert-store.ts'
import { Commander } from './commander.ts'
import { RecordReader } from './record-reader.ts'

const STATE = 'alerts.state'
const EVENTS = 'alerts.events'
/** A command is answered by then, milliseconds. */
const COMMAND_MS = 5_000
/** A read has caught up with the log by then, milliseconds. */
const CATCH_UP_MS = 1_000
const RECORD_MS = 2_000
const notSent = 'The request cannot be taken in right now, and nothing was changed'
/** When a caller should come back, seconds. */
const RETRY_AFTER_SECONDS = 2

export interface KafkaAlertsOptions extends LogAccess {
  readonly partitions: number
  /** Host's clock, milliseconds. */
  readonly now: () => number
  readonly unread: Unread
}

/** What there is once the log is connected. */
interface Use {
  readonly commander: Commander
  readonly records: RecordReader
}

/** The alerts of the log: `alerts.state` held in memory, `alerts.events` listened to, commands written. */
export class KafkaAlerts implements AlertLog {
  readonly newest = new AlertStore()
  readonly #options: KafkaAlertsOptions
  readonly #log: FollowedLog<Use>

  constructor(options: KafkaAlertsOptions) {
    this.#options = options
    this.#log = new FollowedLog({
      ...options,
      clientId: 'api-alerts',
      giveUpMs: COMMAND_MS,
      warning: 'the log of alerts cannot be connected; trying again',
      open: (connected) => this.#open(connected),
      onMissed: (topic) => {
        if (topic === STATE) this.newest.clear()
      },
    })
  }

  async book(): Promise<AlertStore> {
    await this.#log.within(CATCH_UP_MS, away('The alerts cannot be read right now'), ({ toEnd }) => toEnd(STATE))
    return this.newest
  }

  async command(command: Command): Promise<AlertEvent> {
    const { now } = this.#options
    let commander: Commander | undefined
    // What was not sent by then never is.
    const unanswered = (cause?: unknown): ApiError =>
      away(commander === undefined ? notSent : 'It is not yet known what became of the request')(cause)
    try {
      return await this.#log.within(COMMAND_MS, unanswered, ({ use }) => {
        commander = use.commander
        return commander.send(command, now())
      })
    } finally {
      commander?.forget(command.request_id)
    }
  }

  record(position: RecordPosition): Promise<PublicRecord | undefined> {
    const unread = away('The record cannot be read right now')
    return this.#log.within(RECORD_MS, unread, ({ use }) => use.records.read(position))
  }

  async close(): Promise<void> {
    await this.#log.close()
  }

  #open({ log, codec, writer }: Connected): { topics: readonly FollowedTopic[]; use: Use } {
    const { partitions } = this.#options
    const commander = new Commander({ writer, codec, partitions })
    const state: FollowedTopic['take'] = ({ key, value }) => this.#state(key, value, codec, commander)
    const event: FollowedTopic['take'] = ({ value }) => this.#event(value, codec, commander)
    return {
      topics: [
        { topic: STATE, partitions, from: 'start', take: state },
        { topic: EVENTS, partitions, from: 'end', take: event },
      ],
      use: { commander, records: new RecordReader({ reader: log.reader(), codec, partitions }) },
    }
  }

  async #state(key: Buffer | null, value: Buffer | null, codec: RegistryCodec, commander: Commander): Promise<void> {
    if (value === null) {
      this.newest.remove(key?.toString() ?? '')
      return
    }
    const message = await codec.read(value)
    if (message.type !== 'alert') return
    this.newest.put(message.value)
    commander.seen(message.value.alert_id, message.value.v)
  }

  async #event(value: Buffer | null, codec: RegistryCodec, commander: Commander): Promise<void> {
    if (value === null || commander.waiting === 0) return
    const message = await codec.read(value)
    if (message.type === 'alert_event') commander.heard(message.value, (id) => this.newest.find(id)?.v)
  }
}

function away(what: string): (cause?: unknown) => ApiError {
  const message = `${what}; send it again in a moment, a creation with its Idempotency-Key.`
  return (cause) => new ApiError('data_unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause })
}
