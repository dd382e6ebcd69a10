import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../../infra/simulator/market/random.ts'
import type { Payment } from '../../clients/typescript/src/payment.ts'
import type { ChaosPayer } from '../payer.ts'

const SYMBOLS = ['BTC', 'ETH', 'SOL', 'XRP', 'BNB', 'DOGE'] as const
/** Rules are for these too: more than one destination is told in a minute. */
const FURTHER = ['LINK', 'ARB', 'ADA', 'AVAX', 'DOT', 'UNI', 'APT', 'OP', 'SUI', 'NEAR', 'ATOM', 'TRX', 'LTC'] as const
const CONDITIONS = ['above', 'below', 'crosses_above', 'crosses_below'] as const
/** So close to the price that most of them ring within the minute. */
const DISTANCE_MAX = 0.002
const ANSWER_MS = 10_000
/** The API waits for the chain itself. */
const PAID_ANSWER_MS = 30_000
const RETRY_MS = 500
/** A creation that has not succeeded by then is given up and told. */
const CREATE_WITHIN_MS = 120_000
/** One alert in this many is a rule for several symbols, which ring at once and are told in digests. */
const RULE_ONE_IN = 30
/** One alert in this many has quiet hours. */
const QUIET_ONE_IN = 12
/** Quiet hours of the alerts end so long after their creation, and a minute later at most. */
const QUIET_MS = 60_000
/** One alert in this many is cancelled by its owner a while after. */
const CANCEL_ONE_IN = 12
const OPEN_MAX = 64

export interface CreatedAlert {
  readonly alertId: string
  readonly secret: string
  readonly token: string
  /** How many symbols it is for. */
  readonly symbols: number
  /** Its quiet hours last until then, host's milliseconds; 0: it has none. */
  readonly quietUntil: number
  /** It is to be cancelled again. */
  readonly cancels: boolean
}

/** What is asked for. */
interface Asked {
  readonly path: string
  readonly body: object
  readonly symbols: number
  readonly quietUntil: number
}

/** What is asked of the creator; `api` is read anew each time. */
export interface CreatorOptions {
  readonly api: () => string
  readonly webhookUrl: string
  readonly random: Random
  /** 0: none is created. */
  readonly perSecond: number
  readonly onCreated: (alert: CreatedAlert) => void
  /** Pays what is asked for; undefined: nothing costs anything. */
  readonly payer: ChaosPayer | undefined
}

/** Creates alerts around the market price until it is stopped. */
export class AlertCreator {
  readonly created = new Map<string, CreatedAlert>()
  /** Creations and cancellations that could not be made in time. */
  readonly failed: string[] = []
  readonly #options: CreatorOptions
  readonly #stopped = new AbortController()
  readonly #running: Promise<void>
  readonly #open = new Set<Promise<void>>()

  constructor(options: CreatorOptions) {
    this.#options = options
    this.#running = options.perSecond > 0 ? this.#run(1_000 / options.perSecond) : Promise.resolve()
  }

  /** Ends with every request that is under way. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#running
    await Promise.all(this.#open)
  }

  async #run(everyMs: number): Promise<void> {
    const { signal } = this.#stopped
    while (!signal.aborted) {
      if (this.#open.size < OPEN_MAX) this.#begin()
      await delay(everyMs, undefined, { signal }).catch(() => undefined) // stopped: the loop looks
    }
  }

  #begin(): void {
    const { random } = this.#options
    const cancels = random.below(CANCEL_ONE_IN) === 0
    const isRule = random.below(RULE_ONE_IN) === 0
    const isQuiet = random.below(QUIET_ONE_IN) === 0
    const symbol = SYMBOLS[random.below(SYMBOLS.length)] ?? 'BTC'
    const condition = CONDITIONS[random.below(CONDITIONS.length)] ?? 'above'
    const factor = 1 + (random.unit() * 2 - 1) * DISTANCE_MAX
    const asked = isRule ? Promise.resolve(ruleForAll()) : this.#around(symbol, condition, factor)
    const work = asked
      .then((plain) => this.#create(isQuiet ? quiet(plain) : plain, cancels))
      .catch((error: unknown) => {
        const what = isRule ? 'a rule' : `${symbol} ${condition}`
        this.failed.push(`${what}: ${error instanceof Error ? error.message : String(error)}`)
      })
    this.#open.add(work)
    void work.then(() => this.#open.delete(work))
  }

  async #around(symbol: string, condition: string, factor: number): Promise<Asked> {
    const target_price = Number(((await this.#price(symbol)) * factor).toPrecision(8))
    const body = { symbol, condition, target_price, expires_in_hours: 1 }
    return { path: '/price-alert', body, symbols: 1, quietUntil: 0 }
  }

  /** The same key at each try: a creation whose answer was lost is made once. */
  async #create({ path, body, symbols, quietUntil }: Asked, cancels: boolean): Promise<void> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() }
    const whole = JSON.stringify({ ...body, webhook_url: `${this.#options.webhookUrl}/hook` })
    const answer = await this.#until(201, path, { method: 'POST', headers, body: whole })
    const { alert_id: alertId, webhook_secret: secret, manage_token: token } = answer as Record<string, string>
    if (alertId === undefined || secret === undefined || token === undefined)
      throw new Error(`a creation's answer is not complete: ${Object.keys(answer).join(', ')}`)
    const alert = { alertId, secret, token, symbols, quietUntil, cancels }
    this.created.set(alertId, alert)
    this.#options.onCreated(alert)
    if (cancels) await this.#cancel(alert, path)
  }

  async #price(symbol: string): Promise<number> {
    const headers = { 'idempotency-key': randomUUID() }
    const answer = await this.#until(200, `/price/${symbol}`, { headers })
    return Number(answer['price'])
  }

  /** A crossing that has rung already cannot be cancelled: 409 is an answer as well. */
  async #cancel({ alertId, token }: CreatedAlert, path: string): Promise<void> {
    const headers = { authorization: `Bearer ${token}` }
    await this.#until([200, 409], `${path}/${alertId}`, { method: 'DELETE', headers })
  }

  /** Pays as clients do: each further try brings the same payment, and a new one is signed only where it was refused. */
  async #until(
    wanted: number | readonly number[],
    path: string,
    request: RequestInit,
  ): Promise<Record<string, unknown>> {
    const deadline = performance.now() + CREATE_WITHIN_MS
    let last = ''
    let payment: Payment | undefined
    const { payer } = this.#options
    while (performance.now() < deadline) {
      try {
        const { status, text, header } = await this.#call(path, request, payment)
        last = `${status} ${text.slice(0, 200)}`
        if (status === 402 && payer !== undefined) {
          if (payment !== undefined) payer.answered(payment, header('payment-response'))
          payment = await payer.pay({ header, body: JSON.parse(text) as unknown }, request)
          last = 'the payment was signed'
          continue
        }
        if ([wanted].flat().includes(status)) {
          if (payment !== undefined) payer?.answered(payment, header('payment-response'))
          return JSON.parse(text) as Record<string, unknown>
        }
        if (status < 429 && status >= 400) throw new TypeError(last)
      } catch (error) {
        if (error instanceof TypeError && last.startsWith('4')) throw error
        last = String(error) // the API is being killed: that is what chaos is about
      }
      await delay(RETRY_MS)
    }
    throw new Error(`${path} not answered within ${CREATE_WITHIN_MS / 1000} s, at last: ${last}`)
  }

  async #call(path: string, request: RequestInit, payment: Payment | undefined) {
    const headers = { ...(request.headers as Record<string, string>), ...payment?.headers }
    const signal = AbortSignal.timeout(payment === undefined ? ANSWER_MS : PAID_ANSWER_MS)
    const answer = await fetch(`${this.#options.api()}${path}`, { ...request, headers, signal })
    const text = await answer.text()
    return { status: answer.status, text, header: (name: string) => answer.headers.get(name) }
  }
}

/** Rings at the next price of each symbol. */
function ruleForAll(): Asked {
  const symbols = [...SYMBOLS, ...FURTHER]
  const when = { metric: 'price', operator: 'above', value: 0 }
  return {
    path: '/alerts',
    body: { symbols, when, digest: true, expires_in_hours: 1 },
    symbols: symbols.length,
    quietUntil: 0,
  }
}

/** The same with quiet hours that have begun, and end in a minute or two. */
function quiet({ body, ...asked }: Asked): Asked {
  const now = Date.now()
  const quietUntil = Math.ceil((now + QUIET_MS) / 60_000) * 60_000
  const [from, to] = [now, quietUntil].map((ms) => new Date(ms).toISOString().slice(11, 16))
  return { ...asked, body: { ...body, quiet_hours: { from, to, time_zone: 'UTC' } }, quietUntil }
}
