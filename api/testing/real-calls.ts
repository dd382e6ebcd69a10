import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { startChild, type Child } from '../../infra/local/child.ts'
import { emptyFields } from '../../schemas/codec.ts'
import type { Message } from '../../schemas/records.ts'
import { textOf } from './alert-calls.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

/** A broker that others keep busy may be late for the API's own deadlines; what it tells then must still be right. */
const LATE_MS = 60_000

/** A request to an API process; one that only reads is sent again while the answer is that it cannot be read just now. */
export async function call(
  api: { readonly url: string },
  method: string,
  target: string,
  sent: Sent = {},
): Promise<Answer> {
  const until = performance.now() + LATE_MS
  for (;;) {
    const answer = await callOnce(api, method, target, sent)
    const isLate = method === 'GET' && answer.body['error'] === 'data_unavailable'
    if (!isLate || performance.now() > until) return answer
  }
}

interface Sent {
  readonly body?: object
  readonly token?: unknown
  readonly key?: string
}

async function callOnce(
  api: { readonly url: string },
  method: string,
  target: string,
  { body, token, key }: Sent,
): Promise<Answer> {
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${textOf(token)}` }),
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const response = await fetch(`${api.url}${target}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  }
}

export function priceAlert(change: object = {}): object {
  return {
    symbol: 'BTC',
    condition: 'above',
    target_price: 100_000,
    webhook_url: 'https://hooks.example.com/secret-path',
    ...change,
  }
}

/** What says that BTC costs this, as of now. */
export function priceMessages(usd: number): Message<'mark' | 'composite_price'>[] {
  const time = Date.now() * 1000
  const sources = ['binance', 'okx'].map((exchange) => {
    return { exchange, instrument: `${exchange}:spot:BTCUSDT`, price: usd, low: usd, high: usd, time }
  })
  return [
    {
      type: 'mark',
      value: { ...emptyFields('mark'), writer: 'prices', run: 0, time },
    },
    {
      type: 'composite_price',
      value: {
        asset: 'btc',
        price: usd,
        low: usd,
        high: usd,
        change_24h: null,
        sources,
        quality: 'good',
        late: false,
        bounds_from: 0,
        time,
        v: 1,
      },
    },
  ]
}

/** The instance has read all alerts there are, and what the venues list. */
export async function assertAlerts(api: Child): Promise<void> {
  const { status } = await call(api, 'GET', '/price-alerts?symbol=BTC')
  if (status !== 200) throw new Error(`alerts: ${status}`)
}

/** Ids of all alerts of a list, page after page. */
export async function pages(api: Child, target: string, cursor = ''): Promise<unknown[]> {
  const { body } = await call(api, 'GET', target + cursor)
  const ids = (body['alerts'] as { alert_id: unknown }[]).map(({ alert_id: id }) => id)
  const next = body['next_cursor']
  return next === null ? ids : [...ids, ...(await pages(api, target, `&cursor=${textOf(next)}`))]
}

/** Starts one of our services; its log goes to `folder`. */
export function startService(
  { folder, env }: { folder: string; env: Readonly<Record<string, string>> },
  name: string,
  main: string,
): Promise<Child> {
  return startChild({
    name,
    command: [process.execPath, fileURLToPath(new URL(main, import.meta.url))],
    env,
    logFile: path.join(folder, `${name}.log`),
    ready: 'message',
    readyWithinMs: 60_000,
    stopWithinMs: 10_000,
  })
}
