import { createHash } from 'node:crypto'
import { urlOf, type RunFile } from '../infra/local/run-file.ts'
import { ChaosPayer, type Payment } from './chaos/payer.ts'

export type Json = Record<string, unknown>

/** Asks a running system of play money: each request is asked, paid, and asked again. */
export class PaidCaller {
  readonly payer: ChaosPayer
  readonly #api: string

  private constructor(api: string, payer: ChaosPayer) {
    this.#api = api
    this.payer = payer
  }

  static async start(run: RunFile): Promise<PaidCaller> {
    return new PaidCaller(urlOf(run, 'api'), await ChaosPayer.start(urlOf(run, 'chain')))
  }

  /** The answer, and the payment that bought it; `paid`: one of before, sent once more. Throws where it is refused. */
  async ask(method: string, route: string, body?: object, paid?: Payment): Promise<{ json: Json; payment: Payment }> {
    const payment = paid ?? (await this.#pay(method, route, body))
    const answer = await this.#send(method, route, body, Object.fromEntries([payment.header]))
    if (answer.status >= 300) throw new Error(`${route}: ${answer.status} ${await answer.text()}`)
    this.payer.answered(payment, answer.headers.get('payment-response'))
    return { json: (await answer.json()) as Json, payment }
  }

  async #pay(method: string, route: string, body: object | undefined): Promise<Payment> {
    const answer = await this.#send(method, route, body)
    const text = await answer.text()
    if (answer.status !== 402) throw new Error(`${route}: ${answer.status} ${text}`)
    return this.payer.pay(answer.headers.get('payment-required'), text, { route })
  }

  #send(method: string, route: string, body: object | undefined, header: Json = {}): Promise<Response> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const key = { 'idempotency-key': keyOf(text ?? '', header) }
    const bodyHeaders = text !== undefined && { 'content-type': 'application/json' }
    const headers = { ...key, ...bodyHeaders, ...header } as Record<string, string>
    return fetch(this.#api + route, { method, headers, ...(text !== undefined && { body: text }) })
  }
}

/** The same for the same payment, which may be sent again. */
function keyOf(body: string, payment: Json): string {
  return createHash('sha256')
    .update(JSON.stringify([body, payment]))
    .digest('hex')
}

/** What is told for nothing, or to who has `token`. Throws where it is refused. */
export async function askFree(run: RunFile, route: string, token?: string): Promise<Json> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(urlOf(run, 'api') + route, { headers })
  if (!response.ok) throw new Error(`${route}: ${response.status} ${await response.text()}`)
  const { timestamp: _timestamp, ...rest } = (await response.json()) as Json
  return rest
}
