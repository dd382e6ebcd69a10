import { setTimeout as delay } from 'node:timers/promises'
import type { PrivateKeyAccount } from 'viem/accounts'
import { decodeHeader } from '../../processors/payments/wire/headers.ts'
import { readOffer, type Offer } from './offer.ts'
import { signPayment } from './sign.ts'

const CALL_MS = 60_000
const TRIES = 8
const RETRY_MS_MAX = 15_000
const RETRY_MS = 1_000

export interface Purchase {
  readonly url: string
  readonly method: string
  readonly body: string | undefined
  /** Beside those of the payment. */
  readonly headers?: Readonly<Record<string, string>>
  readonly version: 1 | 2
  readonly account: PrivateKeyAccount
  /** Throws where the offer is not to be paid. */
  readonly agree: (offer: Offer) => void
  readonly say: (line: string) => void
  readonly nowSeconds: () => number
  readonly nonce: () => `0x${string}`
}

export interface Bought {
  readonly status: number
  readonly text: string
  /** What was agreed to; undefined: it was free, or refused before any payment. */
  readonly offer: Offer | undefined
  /** The API's word on the payment. */
  readonly receipt: object | undefined
}

/** Asks, pays what is asked, and asks again; the same payment is sent again while its outcome is unknown, never another. */
export async function buy(purchase: Purchase): Promise<Bought> {
  const { version, account, agree, say } = purchase
  const first = await call(purchase, [])
  const asked = await first.text()
  if (first.status !== 402) return { status: first.status, text: asked, offer: undefined, receipt: undefined }
  const read = readOffer(version, first.headers.get('payment-required'), asked)
  if ('fault' in read) throw new Error(read.fault)
  agree(read.offer)
  const signed = await signPayment(read.offer, account, { nowSeconds: purchase.nowSeconds(), nonce: purchase.nonce() })
  for (let tries = 1; ; tries++) {
    const answer = await attempt(purchase, signed)
    if (answer.status !== 503 || tries === TRIES) return { ...answer, offer: read.offer }
    say(`no answer yet (${answer.reason}); the same payment again in ${answer.waitMs} ms`)
    await delay(answer.waitMs)
  }
}

type Attempt = Omit<Bought, 'offer'> & { readonly reason: string; readonly waitMs: number }

async function attempt(purchase: Purchase, signed: readonly [string, string]): Promise<Attempt> {
  try {
    const response = await call(purchase, [signed])
    const text = await response.text()
    const told = response.headers.get('payment-response') ?? response.headers.get('x-payment-response')
    const read = decodeHeader(told ?? '')
    const receipt = 'object' in read ? read.object : undefined
    const seconds = Number(response.headers.get('retry-after') ?? '')
    const waitMs = seconds > 0 ? Math.min(seconds * 1_000, RETRY_MS_MAX) : RETRY_MS
    return { status: response.status, text, receipt, reason: `status ${response.status}`, waitMs }
  } catch (error) {
    // The connection was lost: the money may have moved, so only the same payment may follow.
    const reason = error instanceof Error ? error.message : String(error)
    return { status: 503, text: '', receipt: undefined, reason, waitMs: RETRY_MS }
  }
}

function call(
  { url, method, body, headers: own }: Purchase,
  headers: readonly (readonly [string, string])[],
): Promise<Response> {
  const json = body === undefined ? [] : [['content-type', 'application/json'] as const]
  return fetch(url, {
    method,
    headers: { ...own, ...Object.fromEntries([...json, ...headers]) },
    redirect: 'error',
    signal: AbortSignal.timeout(CALL_MS),
    ...(body !== undefined && { body }),
  })
}
