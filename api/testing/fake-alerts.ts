import { alerts } from '../../processors/alerts/alerts.ts'
import { emptyState } from '../../processors/alerts/state.ts'
import type { AlertEvent, Command } from '../../schemas/records.ts'
import type { Message } from '../../schemas/records.ts'
import { recordId, type RecordPosition } from '../../schemas/record-id.ts'
import type { Mailer } from '../../infra/mail.ts'
import { testLimit, type AlertLog, type Alerts, type PublicRecord } from '../alerts/alerts.ts'
import { AlertStore } from '../alerts/alert-store.ts'
import { EmailCodes } from '../alerts/email-codes.ts'
import { ApiError } from '../request/errors.ts'
import { Wallets } from '../alerts/wallet.ts'
import { RateLimiter } from '../request/limits.ts'
import type { Payments } from '../payments/payments.ts'

/** The log of alerts in memory, one partition of it: the real core decides, at once. */
export class FakeAlertLog implements AlertLog {
  readonly newest = new AlertStore()
  /** Commands so far, in order. */
  readonly commands: Command[] = []
  /** What the core emitted beside events and states: topic and message. */
  readonly sent: { readonly topic: string; readonly message: Message | null }[] = []
  readonly records = new Map<string, PublicRecord>()
  /** Set: the log is away. */
  isAway = false
  /** Commands are written, and their events come too late. */
  isSlow = false
  readonly #state = emptyState()
  #offset = 0

  async book(): Promise<AlertStore> {
    if (this.isAway) throw away()
    return this.newest
  }

  async command(command: Command): Promise<AlertEvent> {
    if (this.isAway) throw away()
    this.commands.push(command)
    const event = this.take({ type: 'command', value: command })
    if (event === undefined || this.isSlow) throw away()
    return event
  }

  async record(position: RecordPosition): Promise<PublicRecord | undefined> {
    return this.records.get(recordId(position))
  }

  /** Puts a record into `alerts.inputs`; gives the event of a command. */
  take(message: Message): AlertEvent | undefined {
    this.#offset += 1
    const entry = { topic: 'alerts.inputs' as const, offset: this.#offset, time: 0, message }
    const context = { partition: 0, v: this.#offset, partitionTime: this.#state.time }
    let event: AlertEvent | undefined
    alerts.apply(this.#state, entry, context, ({ topic, key, message: output }) => {
      if (output === null) this.newest.remove(key)
      else if (output.type === 'alert') this.newest.put(output.value)
      else if (output.type === 'alert_event') event = output.value
      else this.sent.push({ topic, message: output })
    })
    return event
  }
}

function away(): ApiError {
  return new ApiError('data_unavailable', 'The log is away.', { retryAfterSeconds: 2 })
}

const usual: Alerts['secrets'] = { newest: 1, byVersion: new Map([[1, 'a-secret-of-the-tests-that-is-long-enough']]) }

interface FakeOptions {
  readonly alertControl?: Alerts['control'] | undefined
  readonly payments?: Payments | null | undefined
  readonly secrets?: Alerts['secrets'] | undefined
  readonly mailer?: Mailer | undefined
}

export function fakeAlerts(
  log: FakeAlertLog,
  { alertControl: control = 'token', payments, secrets = usual, mailer = inMemory() }: FakeOptions = {},
): Alerts {
  const baseUrl = 'https://api.example.com'
  const emailCodes = new EmailCodes({ secrets, mailer, mode: 'demo' })
  return {
    log,
    secrets,
    wallets: new Wallets({ secrets, baseUrl, hasSigned: payments?.hasSigned }),
    control,
    reach: 'public',
    hasMail: true,
    ...(control === 'token' && { isMailCode: (address, code) => emailCodes.isCode(address, code) }),
    emailCodes,
    tests: new RateLimiter(testLimit),
  }
}

/** Takes whatever it is given. */
function inMemory(): Mailer {
  return {
    send: () => Promise.resolve({ status: 250, text: '' }),
    close: () => undefined,
  }
}
