import { offerV1, offerV2, type Resource, type Seller, type Network } from './offer.ts'

/** Longest payment header that is looked at, characters; an official client's with all its echoes has 2,600. */
export const HEADER_LENGTH_MAX = 8 * 1024
/** Levels of a payload; the protocol's own has 4, extensions some more. */
const DEPTH_MAX = 16

/** A JSON object as the value of a header. */
export function encodeHeader(value: object): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64')
}

export type HeaderFault = 'too-long' | 'not-base64' | 'not-json' | 'not-an-object' | 'too-deep'

/** The JSON object in a header: standard alphabet, padded, in its one canonical spelling, UTF-8. */
export function decodeHeader(text: string): { readonly object: object } | { readonly fault: HeaderFault } {
  if (text.length > HEADER_LENGTH_MAX) return { fault: 'too-long' }
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0 || bytes.toString('base64') !== text) return { fault: 'not-base64' }
  const value = jsonOf(bytes)
  if (value === undefined) return { fault: 'not-json' }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { fault: 'not-an-object' }
  return isDeep(value, DEPTH_MAX) ? { fault: 'too-deep' } : { object: value }
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

function isDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeep(inner, levels - 1))
}

/** An answer that asks for a payment: clients of version 2 read the header alone, those of version 1 the body alone. */
interface Challenge {
  /** Value of PAYMENT-REQUIRED. */
  readonly header: string
  /** The JSON object; further fields for people may be added to it. */
  readonly body: { readonly x402Version: 1; readonly accepts: readonly object[] }
}

/** `error`: `payment_required`, or the reason code of a payment that was not accepted. */
export function challengeOf(seller: Seller, amount: string, resource: Resource, error: string): Challenge {
  const required = { x402Version: 2, error, resource, accepts: [offerV2(seller, amount)] }
  return {
    header: encodeHeader(required),
    body: { x402Version: 1, accepts: [offerV1(seller, amount, resource)] },
  }
}

/** How a payment ended, as the answer's headers tell it. */
export type Settlement =
  | { readonly success: true; readonly transaction: string; readonly payer: string; readonly amount: string }
  /** `transaction`: empty where none was sent. */
  | { readonly success: false; readonly errorReason: string; readonly transaction: string; readonly payer: string }

/** Value of PAYMENT-RESPONSE and X-PAYMENT-RESPONSE: clients of either version look at their own. */
export function receiptHeader(settlement: Settlement, version: number, network: Network): string {
  const { transaction, payer } = settlement
  const named = { transaction, network: version === 1 ? network.v1 : network.caip2, payer }
  if (!settlement.success) return encodeHeader({ success: false, errorReason: settlement.errorReason, ...named })
  return encodeHeader({ success: true, ...named, ...(version === 1 ? {} : { amount: settlement.amount }) })
}
