import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import { Follower, positionsAt } from '../../infra/kafka/follower.ts'
import type { Log, LogRecord } from '../../infra/kafka/seam.ts'
import type { ApiKey, CreditCommand } from '../../schemas/records.ts'
import { CatchUp, differsAt } from '../alerts/catch-up.ts'
import { within } from '../alerts/deadline.ts'
import { decode } from '../alerts/decode.ts'
import { ApiError } from '../errors.ts'
import { LogConnection, type LogAccess } from '../log-connection.ts'
import type { Unread } from '../unread.ts'
import type { CreditLog } from './credit-log.ts'
import { KeyStore } from './key-store.ts'

const KEYS = 'payments.keys'
const COMMANDS = 'payments.credit'
const PARTITION = 0
/** A command is answered by then, milliseconds. */
const COMMAND_MS = 5_000
/** A read has caught up with the log by then, milliseconds. */
const CATCH_UP_MS = 1_000
/** Commands that wait for what follows from them; beyond, 503 at once. */
const WAITING_MAX = 2_000
const RETRY_AFTER_SECONDS = 2

export interface KafkaCreditOptions extends LogAccess {
  readonly unread: Unread
}

/** What there is once the log is connected. */
interface Link {
  readonly codec: RegistryCodec
  readonly catchUp: CatchUp
  write(command: CreditCommand): Promise<unknown>
  close(): Promise<void>
}

/** The API keys of the log: `payments.keys` held in memory, `payments.credit` written. */
export class KafkaCredit implements CreditLog {
  readonly newest = new KeyStore()
  readonly #options: KafkaCreditOptions
  readonly #connection: LogConnection<Link>
  readonly #waiting = new Map<string, (key: ApiKey) => void>()

  constructor(options: KafkaCreditOptions) {
    this.#options = options
    const warning = 'the log of API keys cannot be connected; trying again'
    const connected = { ...options, clientId: 'api-credit', giveUpMs: COMMAND_MS, warning }
    this.#connection = new LogConnection(connected, (kafka, codec) => this.#follow(kafka, codec))
  }

  async book(): Promise<KeyStore> {
    await reading(
      CATCH_UP_MS,
      this.#linked().then(({ catchUp }) => catchUp.toEnd()),
    )
    return this.newest
  }

  async command(command: CreditCommand): Promise<ApiKey> {
    const { request_id: request } = command
    if (this.#waiting.size >= WAITING_MAX)
      throw new ApiError('overloaded', 'Too many keys are being changed; try again in a second.', {
        retryAfterSeconds: 1,
      })
    const { promise, resolve } = Promise.withResolvers<ApiKey>()
    this.#waiting.set(request, resolve)
    try {
      return await reading(
        COMMAND_MS,
        this.tell(command).then(() => promise),
      )
    } finally {
      this.#waiting.delete(request)
    }
  }

  async tell(command: CreditCommand): Promise<void> {
    await (await this.#linked()).write(command)
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }

  async #linked(): Promise<Link> {
    const link = await this.#connection.opened
    if (link === undefined) throw away()
    return link
  }

  async #follow(kafka: Log, codec: RegistryCodec): Promise<Link> {
    const { log, unread } = this.#options
    const writer = kafka.writer()
    const asking = kafka.reader()
    const where = { topic: KEYS, partitions: 1 } as const
    const take = unread.passing(KEYS, log, (record) => this.#heard(record, codec))
    const follower = new Follower({
      reader: kafka.reader(),
      log,
      take: (record, { partition }) => take(record, partition),
      differsAt: differsAt(asking),
      onMissed: () => {
        this.newest.clear()
        return positionsAt(asking, where, 'start')
      },
    })
    follower.start(await positionsAt(asking, where, 'start'))
    return {
      codec,
      catchUp: new CatchUp({ ...where, reader: asking, follower }),
      write: (command) => {
        const value = codec.encode(COMMANDS, 'credit_command', command)
        return writer.send(COMMANDS, PARTITION, [{ key: command.key_id, value, time: command.time / 1_000 }])
      },
      close: async () => {
        await follower.close()
        await kafka.close()
      },
    }
  }

  async #heard({ value }: LogRecord, codec: RegistryCodec): Promise<void> {
    if (value === null) return
    const message = await decode(codec, value)
    if (message.type !== 'api_key') return
    this.newest.put(message.value)
    this.#waiting.get(message.value.request_id ?? '')?.(message.value)
  }
}

async function reading<Value>(ms: number, work: Promise<Value>): Promise<Value> {
  try {
    return await within(ms, work, () => away())
  } catch (error) {
    throw error instanceof ApiError ? error : away(error)
  }
}

function away(cause?: unknown): ApiError {
  const message = 'API keys cannot be looked up or changed right now; send the same again in a moment.'
  return new ApiError('data_unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause })
}
