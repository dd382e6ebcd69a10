import { Api, operations, type OperationName } from './api.ts'
import { errorOf, NoAnswerError } from './errors.ts'
import { nextOf, requestOf, toldOf, type Outcome, type Request } from './exchange.ts'

/** Who pays: `payer.ts` has one that keeps to a budget. Rejects, before it signs, what is not to be paid. */
export interface PaidBy {
  pay(asked: { readonly header: (name: string) => string | null; readonly body: unknown }): Promise<Payment>
}

/** A signed payment: the headers that carry it, and what it is. */
export interface Payment {
  readonly headers: Readonly<Record<string, string>>
  readonly usdc: number
}

export interface ClientOptions {
  /** The API's address, such as https://api.example.com. */
  readonly baseUrl: string
  /** Left out: a route that costs something is answered with `PaymentRequiredError`. */
  readonly payer?: PaidBy
  /** For one call with all its attempts, milliseconds. */
  readonly deadlineMs?: number
  /** Attempts of one call. */
  readonly tries?: number
  readonly fetch?: typeof fetch
}

export interface CallOptions {
  readonly deadlineMs?: number
  /** 16 to 128 characters; a random one where it is left out, the same for all attempts of the call. */
  readonly idempotencyKey?: string
  /** Told what was paid, once the answer is there. */
  readonly onPaid?: (payment: Payment, receipt: string | null) => void
}

const DEADLINE_MS = 60_000
const TRIES = 6

/**
 * The API. A call waits out 429, 503 and warming symbols for as long as its deadline and tries last, repeats what is safe
 * to repeat, and sends one payment for all its attempts, so that it is charged once.
 */
export class MarketDataClient extends Api<CallOptions> {
  readonly #options: ClientOptions
  readonly #base: string

  constructor(options: ClientOptions) {
    super()
    this.#options = options
    this.#base = options.baseUrl.replace(/\/$/, '')
  }

  /** Any operation by its name, its input unchecked: for programs that make their calls from a table. */
  call(name: OperationName, input: object, options?: CallOptions): Promise<unknown> {
    return this.send(name, input, options)
  }

  protected async send(name: OperationName, input: object, options: CallOptions = {}): Promise<unknown> {
    const operation = operations[name]
    const key = operation.isKeyed ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined
    const request = requestOf(operation, this.#base, input, key)
    const until = Date.now() + (options.deadlineMs ?? this.#options.deadlineMs ?? DEADLINE_MS)
    const { payment, outcome } = await this.#exchange(request, until)
    if (payment !== undefined) options.onPaid?.(payment, outcome.headers.get('payment-response'))
    return JSON.parse(outcome.text)
  }

  async #exchange(request: Request, until: number): Promise<{ payment: Payment | undefined; outcome: Answered }> {
    const { tries = TRIES } = this.#options
    let payment: Payment | undefined
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#attempt(request, payment, until)
      const next = nextOf(outcome, request, { isPaid: payment !== undefined, attempt })
      if (next.do === 'throw') throw next.error
      if (outcome.kind === 'answer' && next.do === 'give') return { payment, outcome }
      if (outcome.kind === 'answer' && next.do === 'pay') payment = await this.#pay(outcome)
      if (next.do !== 'wait') continue
      if (attempt >= tries || Date.now() + next.ms >= until) throw next.error
      await sleep(next.ms)
    }
  }

  async #pay(outcome: Answered): Promise<Payment> {
    const { payer } = this.#options
    if (payer === undefined) throw errorOf(toldOf(outcome))
    return payer.pay({ header: (name) => outcome.headers.get(name), body: JSON.parse(outcome.text) as unknown })
  }

  async #attempt(request: Request, payment: Payment | undefined, until: number): Promise<Outcome> {
    const { fetch: send = fetch } = this.#options
    const left = until - Date.now()
    if (left <= 0) throw new NoAnswerError(`${request.method} ${request.url}: the deadline is over`)
    try {
      const response = await send(request.url, {
        method: request.method,
        headers: { ...request.headers, ...payment?.headers },
        redirect: 'error',
        signal: AbortSignal.timeout(left),
        ...(request.body === undefined ? {} : { body: request.body }),
      })
      return { kind: 'answer', status: response.status, headers: response.headers, text: await response.text() }
    } catch (error) {
      return { kind: 'lost', why: error instanceof Error ? error.message : String(error) }
    }
  }
}

type Answered = Extract<Outcome, { kind: 'answer' }>

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
