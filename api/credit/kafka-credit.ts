import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import type { LogRecord } from '../../infra/kafka/seam.ts'
import type { ApiKey, CreditCommand } from '../../schemas/records.ts'
import { ApiError } from '../request/errors.ts'
import type { LogAccess } from '../log/log-connection.ts'
import { FollowedLog } from '../log/followed-log.ts'
import type { Unread } from '../log/unread.ts'
import { type CreditLog, KeyStore } from './key-store.ts'

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

/** The API keys of the log: `payments.keys` held in memory, `payments.credit` written. */
export class KafkaCredit implements CreditLog {
  readonly newest = new KeyStore()
  readonly #log: FollowedLog<undefined>
  readonly #waiting = new Map<string, (key: ApiKey) => void>()

  constructor(options: KafkaCreditOptions) {
    this.#log = new FollowedLog({
      ...options,
      clientId: 'api-credit',
      giveUpMs: COMMAND_MS,
      warning: 'the log of API keys cannot be connected; trying again',
      open: ({ codec }) => {
        const take = (record: LogRecord): Promise<void> => this.#heard(record, codec)
        return { topics: [{ topic: KEYS, partitions: 1, from: 'start', take }], use: undefined }
      },
      onMissed: () => this.newest.clear(),
    })
  }

  async book(): Promise<KeyStore> {
    await this.#log.within(CATCH_UP_MS, away, ({ toEnd }) => toEnd(KEYS))
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
      return await this.#log.within(COMMAND_MS, away, async () => {
        await this.tell(command)
        return promise
      })
    } finally {
      this.#waiting.delete(request)
    }
  }

  async tell(command: CreditCommand): Promise<void> {
    await this.#log.within(COMMAND_MS, away, ({ codec, writer }) => {
      const value = codec.encode(COMMANDS, 'credit_command', command)
      return writer.send(COMMANDS, PARTITION, [{ key: command.key_id, value, time: command.time / 1_000 }])
    })
  }

  async close(): Promise<void> {
    await this.#log.close()
  }

  async #heard({ value }: LogRecord, codec: RegistryCodec): Promise<void> {
    if (value === null) return
    const message = await codec.read(value)
    if (message.type !== 'api_key') return
    this.newest.put(message.value)
    this.#waiting.get(message.value.request_id ?? '')?.(message.value)
  }
}

function away(cause?: unknown): ApiError {
  const message = 'API keys cannot be looked up or changed right now; send the same again in a moment.'
  return new ApiError('data_unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause })
}
