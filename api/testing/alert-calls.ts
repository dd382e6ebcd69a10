import { startHarness, type Harness, type HarnessOptions } from './harness.ts'

interface Sent {
  readonly body?: unknown
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type Answered = Awaited<ReturnType<Harness['get']>>

/** The API with alerts in memory, and short ways to ask it. */
export interface AlertHarness extends Harness {
  send(method: string, path: string, sent?: Sent): Promise<Answered>
  /** A new alert; gives its id, its path and its token. */
  create(change?: object, path?: string): Promise<{ id: string; at: string; token: string }>
}

export async function startAlerts(options: HarnessOptions = {}): Promise<AlertHarness> {
  const api = await startHarness(options)
  const send = (method: string, path: string, { body, token, headers }: Sent = {}): Promise<Answered> =>
    api.get(path, {
      method,
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...(body === undefined ? {} : { body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }),
    })
  return {
    ...api,
    send,
    async create(change = {}, path = '/price-alert') {
      const body = (bodies[path] ?? priceBody)(change)
      const answer = await send('POST', path, { body })
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
      const id = textOf(answer.body['alert_id'])
      return { id, at: `${path}/${id}`, token: textOf(answer.body['manage_token']) }
    },
  }
}

const bodies: Readonly<Record<string, (change: object) => object>> = {
  '/liquidation/alert': (change) => riskBody(change),
  '/alerts': (change) => ruleBody(change),
}

export const HOOK = 'https://hooks.example.com/a-secret-path'

export function priceBody(change: object = {}): object {
  return { symbol: 'BTC', condition: 'above', target_price: 100, webhook_url: HOOK, ...change }
}

/** CVD of BTC over 5, but for what is given. */
export function ruleBody(change: object = {}): object {
  return { symbol: 'BTC', when: { metric: 'cvd', operator: 'above', value: 5 }, webhook_url: HOOK, ...change }
}

export function riskBody(change: object = {}): object {
  return { symbol: 'BTC', webhook_url: HOOK, ...change }
}

/** A field of an answer that has to be a text. */
export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new Error(`not a text: ${JSON.stringify(value)}`)
  return value
}

export const kinds = [
  ['/price-alert', '/price-alerts', priceBody],
  ['/liquidation/alert', '/liquidation/alerts', riskBody],
] as const

export const EVM = '0x52908400098527886E0F7030069857D2E4169EE7'
export const SOLANA = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV'
export const KEY = 'a-key-of-16-chars-or-more'

/** Status, identifier and field at fault. */
export function errorOf({ status, body }: Answered): string {
  return [status, body['error'], body['field']].join(' ').trim()
}
