import { randomUUID } from 'node:crypto'
import { emailCode, isSame, type ServiceSecrets } from '../../processors/alerts/secrets.ts'
import { type Failure, failureOf } from '../../processors/webhooks/attempt.ts'
import { addressShown, isNoMailbox } from '../../processors/webhooks/channels/email.ts'
import type { Mailer } from '../../infra/mail.ts'
import { ApiError } from '../request/errors.ts'
import { RateLimiter, type RateLimit } from '../request/limits.ts'
import { within } from '../log/log-connection.ts'

/** Codes that one address is mailed: three at once, then one an hour. */
const addressLimit: RateLimit = { perSecond: 1 / 3_600, burst: 3, callersMax: 100_000 }
/** Codes that one caller asks for: five at once, then one a minute. */
const callerLimit: RateLimit = { perSecond: 1 / 60, burst: 5, callersMax: 100_000 }
/** Codes that all of them ask for: the server's name with other mail servers is everybody's. */
const allLimit: RateLimit = { perSecond: 1 / 2, burst: 60, callersMax: 1 }
/** Nobody who asks for a code waits longer for the mail server, milliseconds; what it has then may come all the same. */
const DEADLINE_MS = 15_000

export interface EmailCodesOptions {
  readonly secrets: ServiceSecrets
  readonly mailer: Mailer
  /** `demo` marks each mail. */
  readonly mode: string
}

/**
 * Nobody is mailed alerts who has not asked for them: whoever makes one that goes to an address gives the code that was
 * mailed there. It follows from the address, so that nothing has to be remembered; each API instance counts for itself how
 * often one is asked for.
 */
export class EmailCodes {
  readonly #options: EmailCodesOptions
  readonly #ofAddress = new RateLimiter(addressLimit)
  readonly #ofCaller = new RateLimiter(callerLimit)
  readonly #ofAll = new RateLimiter(allLimit)

  constructor(options: EmailCodesOptions) {
    this.#options = options
  }

  /** Whether it is the code of the address, under any secret that is read; case and what parts its digits do not matter. */
  isCode(address: string, code: string): boolean {
    const { secrets } = this.#options
    const told = plain(code)
    const codes = [...secrets.byVersion.keys()].map((version) => emailCode(secrets, version, address.toLowerCase()))
    return codes.some((known) => isSame(plain(known), told))
  }

  /**
   * Mails the address its code; throws `rate_limited`, `invalid_channel` where there is no such mailbox, `data_unavailable`.
   * What the server takes none of does not count against the address.
   */
  async mail(address: string, caller: string, now: number): Promise<void> {
    this.#admit(address, caller, now)
    const said = await this.#sent(address).catch((error: unknown) => {
      if (isUnreached(error)) this.#ofAddress.giveBack(mailboxOf(address), now)
      throw away(error)
    })
    if (said.status < 300) return
    if (isNoMailbox(said))
      throw new ApiError('invalid_channel', 'The mail server does not take this address; check its spelling.', {
        field: 'to',
      })
    this.#ofAddress.giveBack(mailboxOf(address), now)
    throw away(new Error(said.text.replaceAll(address, addressShown(address)))) // which is logged
  }

  close(): void {
    this.#options.mailer.close()
  }

  async #sent(address: string): ReturnType<Mailer['send']> {
    const { mailer, secrets, mode } = this.#options
    const code = emailCode(secrets, secrets.newest, address.toLowerCase())
    const mail = { to: address, ...wordsOf(code, mode), id: `email-code-${randomUUID()}` }
    const late = (): Error => new Error(`the mail server did not answer in ${DEADLINE_MS} ms`)
    return within(DEADLINE_MS, mailer.send(mail, AbortSignal.timeout(DEADLINE_MS)), late)
  }

  /** What one limit refuses counts against no other: none is mailed. */
  #admit(address: string, caller: string, now: number): void {
    const limits = [
      [this.#ofCaller, caller],
      [this.#ofAddress, mailboxOf(address)],
      [this.#ofAll, ''],
    ] as const
    const refuses = limits.find(([limiter, whose]) => limiter.look(whose, now).kind === 'refused')
    for (const [limiter, whose] of refuses === undefined ? limits : [refuses])
      limiter.admit(whose, now, 'Ask for a code again')
  }
}

/** Mail to me+1@ comes to me@. */
function mailboxOf(address: string): string {
  return address.toLowerCase().replace(/\+[^@]*@/, '@')
}

const unreached: ReadonlySet<Failure> = new Set(['refused', 'dns', 'tls'])

/** The mail server was not there, so that it has taken nothing. */
function isUnreached(error: unknown): boolean {
  const { timeoutType } = Object(error) as Readonly<Record<string, unknown>>
  return unreached.has(failureOf(error)) && timeoutType !== 'SOCKET_TIMEOUT' // that one is of a connection that was open
}

function plain(code: string): string {
  return code.toLowerCase().replaceAll(/[\s-]/g, '')
}

function away(cause?: unknown): ApiError {
  const message = 'The mail server did not take the message; try again in a minute.'
  return new ApiError('data_unavailable', message, { retryAfterSeconds: 60, cause })
}

/** Nothing in it is of whoever asks. */
function wordsOf(code: string, mode: string): { readonly subject: string; readonly text: string } {
  return {
    subject: `${mode === 'demo' ? 'Demo: ' : ''}Your code for alerts by email`,
    text: [
      'Somebody, perhaps you, asks for market alerts to this address. This code allows it:',
      code,
      'Whoever has it can have alerts sent here, so give it to nobody whom you do not trust.',
      'If you have not asked for it, you need do nothing: no alert comes without it.\n',
    ].join('\n\n'),
  }
}
