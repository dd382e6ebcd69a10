import type { ServiceSecrets } from '../../processors/alerts/secrets.ts'
import type { Operator } from '../../processors/webhooks/channels/channel.ts'
import type { AlertEvent, Command, Message } from '../../schemas/records.ts'
import type { RecordPosition } from '../../schemas/record-id.ts'
import type { RateLimiter } from '../request/limits.ts'
import type { AlertStore } from './alert-store.ts'
import type { EmailCodes } from './email-codes.ts'
import type { Wallets } from './wallet.ts'

/** A record of the log as anyone may see it. */
export interface PublicRecord {
  /** Kafka record timestamp, milliseconds. */
  readonly time: number
  readonly message: Message
}

/** What the API knows of alerts and how it asks for something: it decides nothing about them. */
export interface AlertLog {
  /** All alerts, with everything that was in the log when this was called; rejects with `data_unavailable` after 1 s. */
  book(): Promise<AlertStore>
  /** The alerts as far as they are known now. */
  readonly newest: AlertStore
  /**
   * Writes a command and gives what became of it, once every API instance can see it; rejects with `data_unavailable`
   * after 5 s (it may still be followed), with `overloaded` when too many wait.
   */
  command(command: Command): Promise<AlertEvent>
  /** The record at a place; undefined where it is not, or not any more, or not public. Rejects after 2 s. */
  record(position: RecordPosition): Promise<PublicRecord | undefined>
}

/** What handlers of alerts work with. */
export interface Alerts extends Operator {
  readonly log: AlertLog
  readonly secrets: ServiceSecrets
  /** `open`: nobody needs a token. */
  readonly control: 'token' | 'open'
  /** Null: the operator has configured no SMTP. */
  readonly emailCodes: EmailCodes | null
  /** Whose alerts are theirs by a wallet’s signature. */
  readonly wallets: Wallets
  /** Test events, by alert. */
  readonly tests: RateLimiter
}

/** Test events of one alert: three at once, then one in ten seconds, counted by each API instance. */
export const testLimit = { perSecond: 0.1, burst: 3, callersMax: 100_000 } as const
