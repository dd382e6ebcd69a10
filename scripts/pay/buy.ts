import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { PrivateKeyAccount } from 'viem/accounts'
import { decodeHeader, encodeHeader } from '../../processors/payments/wire/headers.ts'
import { networks, type Network, authorizationTypes, USDC_DECIMALS } from '../../processors/payments/wire/offer.ts'
import { UsageError } from '../command/command.ts'

/** For one answer; of a stream for what comes next. */
const CALL_MS = 60_000
const TRIES = 8
const RETRY_MS_MAX = 15_000
const RETRY_MS = 1_000
/** Clocks of nodes lag behind: valid from a while ago, as the official clients of version 1 do, seconds. */
const BACKDATED_SECONDS = 600

export interface Purchase {
  readonly url: string
  readonly method: string
  readonly body: string | undefined
  /** Beside those of the payment, and a random Idempotency-Key where they have none. */
  readonly headers?: Readonly<Record<string, string>>
  readonly version: 1 | 2
  readonly account: PrivateKeyAccount
  /** Throws where the offer is not to be paid. */
  readonly agree: (offer: Offer) => void
  readonly say: (line: string) => void
  /** Told what a stream says as it comes, in place of a text; left out: it is waited for. */
  readonly show?: (text: string) => void
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
  /** As Retry-After says, milliseconds, within a bound. */
  readonly waitMs: number | undefined
}

/** Asks, pays what is asked, and asks again; the same payment is sent again while its outcome is unknown, never another. */
export async function buy(asked: Purchase): Promise<Bought> {
  const purchase = { ...asked, headers: { 'idempotency-key': randomUUID(), ...asked.headers } }
  const { version, account, agree, say } = purchase
  const first = await call(purchase, [])
  if (first.status !== 402) {
    const { status, text, headers } = first
    return { status, text, offer: undefined, receipt: undefined, waitMs: waitOf(headers) }
  }
  const read = readOffer(version, first.headers.get('payment-required'), first.text)
  if ('fault' in read) throw new Error(read.fault)
  agree(read.offer)
  const signed = await signPayment(read.offer, account, { nowSeconds: purchase.nowSeconds(), nonce: purchase.nonce() })
  for (let tries = 1; ; tries++) {
    const answer = await attempt(purchase, signed)
    const isForLater = answer.status === 503 || answer.status === 429
    if (!isForLater || tries === TRIES) return { ...answer, offer: read.offer }
    const { reason, waitMs = RETRY_MS } = answer
    say(`not the whole answer yet (${reason}); the same payment again in ${waitMs} ms`)
    await delay(waitMs)
  }
}

type Attempt = Omit<Bought, 'offer'> & { readonly reason: string }

async function attempt(purchase: Purchase, signed: readonly [string, string]): Promise<Attempt> {
  try {
    const { status, headers, text } = await call(purchase, [signed])
    const told = headers.get('payment-response') ?? headers.get('x-payment-response')
    const read = decodeHeader(told ?? '')
    const receipt = 'object' in read ? read.object : undefined
    return { status, text, receipt, reason: `status ${status}`, waitMs: waitOf(headers) }
  } catch (error) {
    // The connection was lost: the money may have moved, so only the same payment may follow.
    const reason = error instanceof Error ? error.message : String(error)
    return { status: 503, text: '', receipt: undefined, reason, waitMs: undefined }
  }
}

function waitOf(headers: Headers): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? '')
  return seconds > 0 ? Math.min(seconds * 1_000, RETRY_MS_MAX) : undefined
}

async function call(
  { url, method, body, headers: own, show }: Purchase,
  headers: readonly (readonly [string, string])[],
): Promise<Pick<Response, 'status' | 'headers'> & { readonly text: string }> {
  const json = body === undefined ? [] : [['content-type', 'application/json'] as const]
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error(`nothing came for ${CALL_MS / 1_000} s`)), CALL_MS)
  try {
    const response = await fetch(url, {
      method,
      headers: { ...own, ...Object.fromEntries([...json, ...headers]) },
      redirect: 'error',
      signal: late.signal,
      ...(body !== undefined && { body }),
    })
    const isStream = response.headers.get('content-type') === 'text/event-stream'
    const text = isStream && show !== undefined ? await shown(response, show, timer) : await response.text()
    return { status: response.status, headers: response.headers, text }
  } finally {
    clearTimeout(timer)
  }
}

async function shown({ body }: Response, show: (text: string) => void, timer: NodeJS.Timeout): Promise<''> {
  const decoder = new TextDecoder()
  for await (const bytes of body ?? []) {
    timer.refresh()
    show(decoder.decode(bytes, { stream: true }))
  }
  return ''
}

/** What an API asks for an answer, as either version of the protocol says it. */
export interface Offer {
  readonly version: 1 | 2
  readonly network: Network
  readonly asset: `0x${string}`
  readonly payTo: `0x${string}`
  /** Atomic units. */
  readonly amount: bigint
  readonly timeoutSeconds: number
  /** The token's EIP-712 domain. */
  readonly token: { readonly name: string; readonly version: string }
  /** As they came: a payment of version 2 repeats them. */
  readonly accepted: object
  readonly resource: unknown
}

export type OfferRead = { readonly offer: Offer } | { readonly fault: string }

/** The first offer that we can pay: `exact`, on a network we know. Version 2 stands in the header, version 1 in the body. */
export function readOffer(version: 1 | 2, header: string | null, body: string): OfferRead {
  const challenge = version === 2 ? ofHeader(header) : ofBody(body)
  if (challenge === undefined) return { fault: `the 402 holds no challenge of version ${version}` }
  const { accepts, resource } = challenge as { accepts?: unknown; resource?: unknown }
  const entries: unknown[] = Array.isArray(accepts) ? accepts : []
  const offers = entries.flatMap((entry) => offerOf(version, entry, resource) ?? [])
  const [offer] = offers
  return offer === undefined
    ? { fault: 'the 402 holds no offer that can be paid: exact, on a known network' }
    : { offer }
}

function ofHeader(header: string | null): object | undefined {
  const read = decodeHeader(header ?? '')
  return 'object' in read ? read.object : undefined
}

function ofBody(body: string): object | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return isObject(value) && value['x402Version'] === 1 ? value : undefined
  } catch {
    return undefined // no JSON, no challenge
  }
}

function offerOf(version: 1 | 2, entry: unknown, resource: unknown): Offer | undefined {
  if (!isObject(entry) || entry['scheme'] !== 'exact' || !isObject(entry['extra'])) return undefined
  const network = networks.find((known) => entry['network'] === (version === 2 ? known.caip2 : known.v1))
  const amount = amountOf(entry[version === 2 ? 'amount' : 'maxAmountRequired'])
  const [asset, payTo] = [addressOf(entry['asset']), addressOf(entry['payTo'])]
  const { name, version: domainVersion } = entry['extra']
  const timeoutSeconds = entry['maxTimeoutSeconds']
  if (network === undefined || amount === undefined || asset === undefined || payTo === undefined) return undefined
  if (typeof name !== 'string' || typeof domainVersion !== 'string' || typeof timeoutSeconds !== 'number')
    return undefined
  const token = { name, version: domainVersion }
  return { version, network, asset, payTo, amount, timeoutSeconds, token, accepted: entry, resource }
}

function amountOf(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^\d{1,30}$/.test(value) ? BigInt(value) : undefined
}

function addressOf(value: unknown): `0x${string}` | undefined {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value) ? `0x${value.slice(2)}` : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The request header that pays an offer: name and value. Whoever holds it can have it settled, to `payTo` only. */
export async function signPayment(
  offer: Offer,
  account: PrivateKeyAccount,
  at: { readonly nowSeconds: number; readonly nonce: `0x${string}` },
): Promise<readonly [name: string, value: string]> {
  const { network, asset, payTo, amount, token, version } = offer
  const validAfter = BigInt(at.nowSeconds - BACKDATED_SECONDS)
  const validBefore = BigInt(at.nowSeconds + offer.timeoutSeconds)
  const { nonce } = at
  const signature = await account.signTypedData({
    domain: { ...token, chainId: network.chainId, verifyingContract: asset },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: { from: account.address, to: payTo, value: amount, validAfter, validBefore, nonce },
  })
  const numbers = { value: String(amount), validAfter: String(validAfter), validBefore: String(validBefore) }
  const payload = { signature, authorization: { from: account.address, to: payTo, ...numbers, nonce } }
  if (version === 1)
    return ['X-PAYMENT', encodeHeader({ x402Version: 1, scheme: 'exact', network: network.v1, payload })]
  const { resource, accepted } = offer
  return ['PAYMENT-SIGNATURE', encodeHeader({ x402Version: 2, payload, resource, accepted })]
}

export const DOLLAR = 10 ** USDC_DECIMALS

/** Gives the amount, USDC; throws `UsageError` where an offer is not to be paid. */
export function agree(offer: Offer, maxUsd: number, { local, hasKey }: { local: boolean; hasKey: boolean }): number {
  const { network, asset, amount, payTo, token: domain } = offer
  const usd = Number(amount) / DOLLAR
  if (!local && !hasKey)
    throw new UsageError(`it asks for ${usd} USDC on ${network.v1}: say with PAYER_KEY or PAYER_KEY_FILE who pays`)
  if (asset.toLowerCase() !== network.usdc.address.toLowerCase() || domain.name !== network.usdc.name)
    throw new UsageError(`it asks for ${asset} (${domain.name}), which is not the USDC of ${network.v1}: not paid`)
  if (usd > maxUsd) throw new UsageError(`it asks for ${usd} USDC, more than --max ${maxUsd}: not paid`)
  console.error(`402: ${usd} USDC to ${payTo} on ${network.v1}${local ? ' (play money, local chain)' : ''}; paying`)
  return usd
}
