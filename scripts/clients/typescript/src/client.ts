import { Api, operations, streams, type OperationName, type StreamName } from './api.ts'
import { CallError, errorOf, NoAnswerError, PaymentRequiredError } from './errors.ts'
import { eventsOf, nextOf, requestOf, errorReplyOf, type Outcome, type Request, type ServerEvent } from './exchange.ts'
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
  /** 16 to 128 characters; a random one where it is left out, the same for all attempts of the call. */
  readonly idempotencyKey?: string | undefined
  /** Of the `CallError` of the same call before: it is sent again, with its key, and no other is signed. */
  readonly payment?: Payment | undefined
  /** Told what was paid, once the answer is there. */
  readonly onPaid?: (payment: Payment, receipt: string | null) => void
}

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

  protected async send(name: OperationName, input: object, options: CallOptions = {}): Promise<unknown> {
    const operation = operations[name]
    const { payment: before, idempotencyKey = crypto.randomUUID() } = options
    const key = operation.isKeyed ? (before?.idempotencyKey ?? idempotencyKey) : undefined
    const request = requestOf(operation, this.#base, input, key)
    const until = Date.now() + (options.deadlineMs ?? this.#options.deadlineMs ?? DEADLINE_MS)
    const { payment, outcome } = await this.#exchange(request, until, before)
    if (payment !== undefined) options.onPaid?.(payment, outcome.headers.get('payment-response'))
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
      const until = Date.now() + (options.deadlineMs ?? this.#options.deadlineMs ?? DEADLINE_MS)
      const { outcome, payment: paid } = await this.#exchange(request, until, payment)
      if (paid !== undefined && !isTold) {
        options.onPaid?.(paid, outcome.headers.get('payment-response'))
        isTold = true
      }
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
      await sleep(AGAIN_MS)
    }
  }

  async #exchange(
    request: Request,
    until: number,
    before?: Payment,
  ): Promise<{ payment: Payment | undefined; outcome: Answered }> {
    const { tries = TRIES } = this.#options
    let payment = before
    try {
      for (let attempt = 1; ; attempt++) {
        const outcome = await this.#attempt(request, payment, until)
        const next = nextOf(outcome, request, { isPaid: payment !== undefined, attempt })
        if (next.do === 'throw') throw next.error
        if (outcome.kind === 'answer' && next.do === 'give') return { payment, outcome }
        if (outcome.kind === 'answer' && next.do === 'pay') payment = await this.#pay(outcome, request)
        if (next.do !== 'wait') continue
        if (attempt >= tries || Date.now() + next.ms >= until) throw next.error
        await sleep(next.ms)
      }
    } catch (error) {
      throw sentWith(error, request, payment)
    }
  }

  /** With a key beside it: payments can be read on the chain, and the key is what nobody else has. */
  async #pay(outcome: Answered, { headers }: Request): Promise<Payment> {
    const { payer } = this.#options
    if (payer === undefined) throw errorOf(errorReplyOf(outcome))
    const body: unknown = JSON.parse(outcome.text)
    const payment = await payer.pay({ header: (name) => outcome.headers.get(name), body })
    const { 'idempotency-key': key = crypto.randomUUID() } = headers
    return { ...payment, headers: { ...payment.headers, 'idempotency-key': key }, idempotencyKey: key }
  }

  async #attempt(request: Request, payment: Payment | undefined, until: number): Promise<Outcome> {
    const { fetch: send = fetch, apiKey } = this.#options
    const left = until - Date.now()
    if (left <= 0) throw new NoAnswerError(`${request.method} ${request.url}: the deadline is over`)
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error('the deadline is over')), left)
    try {
      const response = await send(request.url, {
        method: request.method,
        headers: { ...request.headers, ...(apiKey !== undefined && { 'x-api-key': apiKey }), ...payment?.headers },
        redirect: 'error',
        signal: late.signal,
        ...(request.body === undefined ? {} : { body: request.body }),
      })
      const { status, headers, body } = response
      const isOpen = status === 200 && headers.get('content-type') === 'text/event-stream' && body !== null
      if (isOpen && body !== null) return { kind: 'answer', status, headers, text: '', events: spoken(body, late) }
      return { kind: 'answer', status, headers, text: await response.text() }
    } catch (error) {
      return { kind: 'lost', why: error instanceof Error ? error.message : String(error) }
    } finally {
      clearTimeout(timer)
    }
  }
}

type Answered = Extract<Outcome, { kind: 'answer' }>

/** The error of a call with what was sent; a payment that was refused is of no further use. */
function sentWith(error: unknown, { headers }: Request, payment: Payment | undefined): unknown {
  if (!(error instanceof CallError)) return error
  const isRefused = error instanceof PaymentRequiredError || error.code === 'payment_already_used'
  error.keep(isRefused ? undefined : payment, headers['idempotency-key'])
  return error
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
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
