import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import { Follower, positionsAt } from '../../infra/kafka/follower.ts'
import type { Log, LogReader, Writer } from '../../infra/kafka/seam.ts'
import type { AlertEvent, Command } from '../../schemas/records.ts'
import type { RecordPosition } from '../../schemas/record-id.ts'
import { ApiError } from '../errors.ts'
import { LogConnection, type LogAccess } from '../log-connection.ts'
import type { Unread } from '../unread.ts'
import type { AlertLog, PublicRecord } from './alerts.ts'
import { AlertStore } from './alert-store.ts'
import { CatchUp, differsAt } from './catch-up.ts'
import { Commander } from './commander.ts'
import { within } from './deadline.ts'
import { decode } from './decode.ts'
import { RecordReader } from './record-reader.ts'

const STATE = 'alerts.state'
const EVENTS = 'alerts.events'
/** A command is answered by then, milliseconds. */
const COMMAND_MS = 5_000
/** A read has caught up with the log by then, milliseconds. */
const CATCH_UP_MS = 1_000
const RECORD_MS = 2_000
/** When a caller should come back, seconds. */
const RETRY_AFTER_SECONDS = 2

export interface KafkaAlertsOptions extends LogAccess {
  readonly partitions: number
  /** Host's clock, milliseconds. */
  readonly now: () => number
  readonly unread: Unread
}

/** What there is once the log is connected. */
interface Link {
  readonly commander: Commander
  readonly catchUp: CatchUp
  readonly records: RecordReader
  close(): Promise<void>
}

/** The alerts of the log: `alerts.state` held in memory, `alerts.events` listened to, commands written. */
export class KafkaAlerts implements AlertLog {
  readonly newest = new AlertStore()
  readonly #options: KafkaAlertsOptions
  readonly #connection: LogConnection<Link>

  constructor(options: KafkaAlertsOptions) {
    this.#options = options
    const warning = 'the log of alerts cannot be connected; trying again'
    const connected = { ...options, clientId: 'api-alerts', giveUpMs: COMMAND_MS, warning }
    this.#connection = new LogConnection(connected, (kafka, codec) => this.#follow(kafka, codec))
  }

  async book(): Promise<AlertStore> {
    const caught = this.#linked().then(({ catchUp }) => catchUp.toEnd())
    await within(CATCH_UP_MS, caught, () => away('The alerts cannot be read right now'))
    return this.newest
  }

  async command(command: Command): Promise<AlertEvent> {
    const { now } = this.#options
    let commander: Commander | undefined
    const answered = this.#linked().then((link) => {
      commander = link.commander
      return commander.send(command, now())
    })
    try {
      return await within(COMMAND_MS, answered, () => away('It is not yet known what became of the request'))
    } catch (error) {
      throw error instanceof ApiError ? error : away('The alerts cannot be changed right now', error)
    } finally {
      commander?.forget(command.request_id)
    }
  }

  async record(place: RecordPosition): Promise<PublicRecord | undefined> {
    const found = this.#linked().then(({ records }) => records.read(place))
    try {
      return await within(RECORD_MS, found, () => away('The record cannot be read right now'))
    } catch (error) {
      throw error instanceof ApiError ? error : away('The record cannot be read right now', error)
    }
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }

  async #linked(): Promise<Link> {
    const link = await this.#connection.opened
    if (link === undefined) throw away('The service is stopping')
    return link
  }

  async #follow(kafka: Log, codec: RegistryCodec): Promise<Link> {
    const { partitions, log, unread } = this.#options
    const writer: Writer = kafka.writer()
    const commander = new Commander({ writer, codec, partitions })
    const asking: LogReader = kafka.reader()
    const taken = {
      [STATE]: unread.passing(STATE, log, ({ key, value }) => this.#state(key, value, codec, commander)),
      [EVENTS]: unread.passing(EVENTS, log, ({ value }) => this.#event(value, codec, commander)),
    }
    const follower = new Follower({
      reader: kafka.reader(),
      log,
      take: (record, { topic, partition }) => taken[topic === STATE ? STATE : EVENTS](record, partition),
      differsAt: differsAt(asking),
      onMissed: async ({ topic }) => {
        if (topic === EVENTS) return positionsAt(asking, { topic: EVENTS, partitions }, 'end')
        this.newest.clear()
        return positionsAt(asking, { topic: STATE, partitions }, 'start')
      },
    })
    follower.start([
      ...(await positionsAt(asking, { topic: STATE, partitions }, 'start')),
      ...(await positionsAt(asking, { topic: EVENTS, partitions }, 'end')),
    ])
    return {
      commander,
      catchUp: new CatchUp({ topic: STATE, partitions, reader: asking, follower }),
      records: new RecordReader({ reader: kafka.reader(), codec, partitions }),
      close: async () => {
        await follower.close()
        await kafka.close()
      },
    }
  }

  async #state(key: Buffer | null, value: Buffer | null, codec: RegistryCodec, commander: Commander): Promise<void> {
    if (value === null) {
      this.newest.remove(key?.toString() ?? '')
      return
    }
    const message = await decode(codec, value)
    if (message.type !== 'alert') return
    this.newest.put(message.value)
    commander.seen(message.value.alert_id, message.value.v)
  }

  async #event(value: Buffer | null, codec: RegistryCodec, commander: Commander): Promise<void> {
    if (value === null || commander.waiting === 0) return
    const message = await decode(codec, value)
    if (message.type === 'alert_event') commander.heard(message.value, (id) => this.newest.find(id)?.v)
  }
}

function away(what: string, cause?: unknown): ApiError {
  return new ApiError('data_unavailable', `${what}; send it again in a moment, a creation with its Idempotency-Key.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  })
}
