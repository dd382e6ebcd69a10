import { Api, operations, streams, type OperationName, type StreamName } from './api.ts'
import { CallError, errorOf, PaymentRequiredError } from './errors.ts'
import {
  errorReplyOf,
  eventsOf,
  nextOf,
  objectIn,
  requestOf,
  type Outcome,
  type Request,
  type ServerEvent,
} from './exchange.ts'
import type { PaidBy, Payment } from './payment.ts'

export interface ClientOptions {
  /** The API's address, such as https://api.example.com. */
  readonly baseUrl: string
  /** Left out: a route that costs something is answered with `PaymentRequiredError`. */
  readonly payer?: PaidBy
  /** Charges what costs something to the credit of an API key, mda_...; a payer pays where it has too little. */
  readonly apiKey?: string
  /** For one call with all its attempts, milliseconds. */
  readonly deadlineMs?: number
  /** Attempts of one call. */
  readonly tries?: number
  readonly fetch?: typeof fetch
}

export interface CallOptions {
  readonly deadlineMs?: number
  /** Aborted, the call gives up: nothing more is signed or sent, and its error has what was sent. */
  readonly signal?: AbortSignal | undefined
  /** 16 to 128 characters; a random one where it is left out, the same for all attempts of the call. */
  readonly idempotencyKey?: string | undefined
  /** Of the `CallError` of the same call before: it is sent again, with its key, and no other is signed. */
  readonly payment?: Payment | undefined
  /** Told what was paid, once the answer is there. */
  readonly onPaid?: (payment: Payment, receipt: string | null) => void
  /** Told what the credit of the API key was charged, USDC, once the answer is there. */
  readonly onCharged?: (usdc: number) => void
}

/** What goes with a request. */
export interface Sent {
  /** JSON. */
  readonly body?: string | undefined
  /** They take the place of the client's own; names in any case. */
  readonly headers?: Readonly<Record<string, string>>
  /** Of the same request before: no other is signed. */
  readonly payment?: Payment | undefined
}

/** What a request came to: the API's last word, a refusal too, and what was sent to pay for it. */
export type Reply = Pick<Answered, 'status' | 'headers' | 'text' | 'events'> & { readonly payment: Payment | undefined }

const DEADLINE_MS = 60_000
const TRIES = 6
/** Before a stream that was cut is opened again, milliseconds. */
const AGAIN_MS = 1_000
/** A stream gives a sign of life every 15 s, milliseconds. */
const SILENT_MS = 45_000

/**
 * The API. A call waits out 429, 503 and warming symbols for as long as its deadline and tries last, repeats what is safe
 * to repeat, and sends one payment for all its attempts, so that it is charged once. Where it gives up, its error has the
 * payment for the next call.
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

  /**
   * Any request, for programs that are told what to ask; `path` with its query. It waits out 429, and pays; what is not
   * paid is not repeated. Throws `NoAnswerError` where nothing was said.
   */
  async request(method: string, path: string, { body, headers: own, payment: before }: Sent = {}): Promise<Reply> {
    const json = body !== undefined && { 'content-type': 'application/json' }
    const headers = { 'idempotency-key': crypto.randomUUID(), ...json, ...lowered(own) }
    const request = { method, url: `${this.#base}${path}`, headers, body, isRepeatable: false }
    const { payment, outcome, error } = await this.#outcomeOf(request, {}, before)
    if (outcome.kind === 'lost') throw sentWith(error, request, payment)
    return { ...outcome, payment }
  }

  protected async send(name: OperationName, input: object, options: CallOptions = {}): Promise<unknown> {
    const operation = operations[name]
    const { payment: before, idempotencyKey = crypto.randomUUID() } = options
    const key = operation.isKeyed ? (before?.idempotencyKey ?? idempotencyKey) : undefined
    const request = requestOf(operation, this.#base, input, key)
    const { payment, outcome } = await this.#exchange(request, options, before)
    tellCost(options, payment, outcome)
    return JSON.parse(outcome.text)
  }

  /**
   * Events until the time of the stream is over; over cuts it goes on behind the last one, with the same payment. To go on
   * after that, ask again with that event's id: it is paid anew.
   */
  protected async *listen(
    name: StreamName,
    input: { readonly last_event_id?: string },
    options: CallOptions = {},
  ): AsyncGenerator<ServerEvent, void> {
    let last = input.last_event_id ?? ''
    let { payment } = options // the time of a stream outlasts it: the API says when that is over
    let isTold = false
    for (;;) {
      const query = { ...input, ...(last !== '' && { last_event_id: last }) }
      const request = requestOf(streams[name], this.#base, query, undefined)
      const { outcome, payment: paid } = await this.#exchange(request, options, payment)
      if (!isTold) tellCost(options, paid, outcome)
      isTold = true
      payment = paid
      try {
        for await (const event of eventsOf(outcome.events ?? nothing(), last)) {
          last = event.id
          yield event
          if (event.name === 'end' && isFinal(event.data)) return
        }
      } catch (error) {
        if (error instanceof SyntaxError) throw error
        // The connection is lost: it goes on behind the last event.
      }
      await sleep(AGAIN_MS, options.signal)
    }
  }

  async #exchange(
    request: Request,
    options: CallOptions,
    before: Payment | undefined,
  ): Promise<{ payment: Payment | undefined; outcome: Answered }> {
    const { payment, outcome, error } = await this.#outcomeOf(request, options, before)
    if (outcome.kind === 'lost' || error !== undefined) throw sentWith(error, request, payment)
    return { payment, outcome }
  }

  /** The last of its attempts; with an error where that is no success. */
  async #outcomeOf(
    request: Request,
    { deadlineMs = this.#options.deadlineMs ?? DEADLINE_MS, signal }: CallOptions,
    before?: Payment,
  ): Promise<{ payment: Payment | undefined; outcome: Outcome; error?: Error }> {
    const { tries = TRIES, payer } = this.#options
    const until = Date.now() + deadlineMs
    let payment = before
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#attempt(request, payment, { until, signal })
      const next = nextOf(outcome, request, { isPaid: payment !== undefined, attempt })
      if (next.do === 'give') return { payment, outcome }
      if (next.do === 'throw') return { payment, outcome, error: next.error }
      if (outcome.kind === 'answer' && next.do === 'pay') {
        if (payer === undefined || signal?.aborted === true)
          return { payment, outcome, error: errorOf(errorReplyOf(outcome)) }
        payment = await paymentBy(payer, outcome, request)
      }
      if (next.do !== 'wait') continue
      const isOver = attempt >= tries || Date.now() + next.ms >= until || signal?.aborted === true
      if (isOver) return { payment, outcome, error: next.error }
      await sleep(next.ms, signal)
    }
  }

  async #attempt(
    request: Request,
    payment: Payment | undefined,
    { until, signal }: { readonly until: number; readonly signal: AbortSignal | undefined },
  ): Promise<Outcome> {
    const { fetch: send = fetch, apiKey } = this.#options
    const left = until - Date.now()
    if (left <= 0) return { kind: 'lost', why: 'the deadline is over' }
    if (signal?.aborted === true) return { kind: 'lost', why: 'it was aborted' }
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error('the deadline is over')), left)
    try {
      const response = await send(request.url, {
        method: request.method,
        headers: { ...request.headers, ...(apiKey !== undefined && { 'x-api-key': apiKey }), ...payment?.headers },
        redirect: 'error',
        signal: signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]),
        ...(request.body === undefined ? {} : { body: request.body }),
      })
      const { status, headers, body } = response
      const isOpen = status === 200 && headers.get('content-type') === 'text/event-stream' && body !== null
      if (isOpen && body !== null) return { kind: 'answer', status, headers, text: '', events: spoken(body, late) }
      return { kind: 'answer', status, headers, text: await response.text() }
    } catch (error) {
      return { kind: 'lost', why: whyOf(error) }
    } finally {
      clearTimeout(timer)
    }
  }
}

function tellCost({ onPaid, onCharged }: CallOptions, payment: Payment | undefined, { headers }: Answered): void {
  if (payment !== undefined) onPaid?.(payment, headers.get('payment-response'))
  const charged = headers.get('credit-charged')
  if (charged !== null) onCharged?.(Number(charged))
}

type Answered = Extract<Outcome, { kind: 'answer' }>

/** Names in lower case: two spellings of one would be two fields, whose values `fetch` joins. */
function lowered(headers: Sent['headers'] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** `fetch` says why it failed by the cause of its error. */
function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

/** With a key beside it: payments can be read on the chain, and the key is what nobody else has. */
async function paymentBy(payer: PaidBy, outcome: Answered, { headers }: Request): Promise<Payment> {
  const payment = await payer.pay({ header: (name) => outcome.headers.get(name), body: objectIn(outcome.text) })
  const { 'idempotency-key': key = crypto.randomUUID() } = headers
  return { ...payment, headers: { ...payment.headers, 'idempotency-key': key }, idempotencyKey: key }
}

/** The error of a call with what was sent; a payment that was refused is of no further use. */
function sentWith(error: unknown, { headers }: Request, payment: Payment | undefined): unknown {
  if (!(error instanceof CallError)) return error
  const isRefused = error instanceof PaymentRequiredError || error.code === 'payment_already_used'
  error.keep(isRefused ? undefined : payment, headers['idempotency-key'])
  return error
}

/** Until then, or until the signal. */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}

/** The bytes of a stream; throws where it is silent for longer than its signs of life are apart. */
async function* spoken(body: ReadableStream<Uint8Array>, line: AbortController): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader()
  try {
    for (;;) {
      const timer = setTimeout(() => line.abort(new Error('the stream is silent')), SILENT_MS)
      const { done, value } = await reader.read().finally(() => clearTimeout(timer))
      if (done) return
      yield value
    }
  } finally {
    line.abort()
  }
}

async function* nothing(): AsyncGenerator<Uint8Array, void> {}

/** The time is over, or another reader has taken its place. */
function isFinal(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'reason' in data && data.reason !== 'restarting'
}
