import { networks, type Network } from '../../processors/payments/wire/offer.ts'
import { decodeHeader } from '../../processors/payments/wire/headers.ts'

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
