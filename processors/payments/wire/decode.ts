import { decodeHeader, type HeaderFault } from './headers.ts'
import type { Hex } from './offer.ts'

/** What the payer signed (EIP-3009), as it was sent; all texts are checked. */
interface Authorization {
  /** Lower case. */
  readonly from: Hex
  /** Lower case. */
  readonly to: Hex
  /** Atomic units, decimal digits. */
  readonly value: string
  /** Seconds since the Unix epoch, decimal digits, at most uint256. */
  readonly validAfter: string
  readonly validBefore: string
  /** 32 bytes, lower case. */
  readonly nonce: Hex
}

/** The offer that a payer of version 2 says it accepted: a hint, never a price. */
interface Accepted {
  readonly scheme: string
  readonly network: string
  readonly amount: string
  readonly asset: string
  readonly payTo: string
}

/** A payment as a header holds it: known fields only, each of its type. */
export interface Payment {
  readonly version: 1 | 2
  /** What the payload says its version is. */
  readonly declared: number
  readonly scheme: string
  readonly network: string
  readonly accepted: Accepted | null
  /** `resource.url` of version 2; null: not said. */
  readonly resource: string | null
  readonly authorization: Authorization
  /** Lower case. */
  readonly signature: Hex
}

type PaymentFault = HeaderFault | 'not-a-payment' | 'two-payments'

export type Decoded =
  | { readonly kind: 'none' }
  | { readonly kind: 'payment'; readonly payment: Payment }
  | { readonly kind: 'malformed'; readonly header: PaymentHeader; readonly fault: PaymentFault }

type PaymentHeader = 'PAYMENT-SIGNATURE' | 'X-PAYMENT'

/** Values of the request's headers, empty where they are not there. */
export interface PaymentHeaders {
  /** PAYMENT-SIGNATURE */
  readonly v2: string
  /** X-PAYMENT */
  readonly v1: string
}

/** Reads what a request pays with. Both headers may hold the same authorization; then version 2's counts. */
export function decodePayment({ v2, v1 }: PaymentHeaders): Decoded {
  if (v2 === '' && v1 === '') return { kind: 'none' }
  const second = v2 === '' ? undefined : read('PAYMENT-SIGNATURE', v2)
  const first = v1 === '' ? undefined : read('X-PAYMENT', v1)
  if (second === undefined || first === undefined) return second ?? first ?? { kind: 'none' }
  if (second.kind === 'malformed') return second
  if (first.kind === 'malformed') return first
  return isSame(second.payment, first.payment)
    ? second
    : { kind: 'malformed', header: 'X-PAYMENT', fault: 'two-payments' }
}

type Read = Exclude<Decoded, { kind: 'none' }>

function read(header: PaymentHeader, text: string): Read {
  const decoded = decodeHeader(text)
  if ('fault' in decoded) return { kind: 'malformed', header, fault: decoded.fault }
  const payment = header === 'X-PAYMENT' ? readV1(decoded.object) : readV2(decoded.object)
  return payment === undefined ? { kind: 'malformed', header, fault: 'not-a-payment' } : { kind: 'payment', payment }
}

function isSame(a: Payment, b: Payment): boolean {
  return a.signature === b.signature && JSON.stringify(a.authorization) === JSON.stringify(b.authorization)
}

function readV1(object: object): Payment | undefined {
  const declared = own(object, 'x402Version')
  const scheme = textIn(object, 'scheme')
  const network = textIn(object, 'network')
  const signed = readSigned(own(object, 'payload'))
  if (typeof declared !== 'number' || scheme === undefined || network === undefined || signed === undefined)
    return undefined
  return { version: 1, declared, scheme, network, accepted: null, resource: null, ...signed }
}

function readV2(object: object): Payment | undefined {
  const declared = own(object, 'x402Version')
  const accepted = readAccepted(own(object, 'accepted'))
  const signed = readSigned(own(object, 'payload'))
  const resource = own(object, 'resource')
  const url = isObject(resource) ? own(resource, 'url') : undefined
  if (typeof declared !== 'number' || accepted === undefined || signed === undefined) return undefined
  if (resource !== undefined && resource !== null && typeof url !== 'string') return undefined
  const { scheme, network } = accepted
  return { version: 2, declared, scheme, network, accepted, resource: typeof url === 'string' ? url : null, ...signed }
}

function readAccepted(value: unknown): Accepted | undefined {
  const [scheme, network, amount, asset, payTo] = ['scheme', 'network', 'amount', 'asset', 'payTo'].map((name) =>
    isObject(value) ? textIn(value, name) : undefined,
  )
  return scheme === undefined ||
    network === undefined ||
    amount === undefined ||
    asset === undefined ||
    payTo === undefined
    ? undefined
    : { scheme, network, amount, asset, payTo }
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const WORD = /^0x[0-9a-fA-F]{64}$/
/** Contract wallets' signatures may be long; 65 bytes are a plain account's. */
const SIGNATURE = /^0x(?:[0-9a-fA-F]{2}){1,2048}$/
const UINT = /^(?:0|[1-9]\d{0,77})$/
const UINT256_MAX = 2n ** 256n - 1n

function readSigned(payload: unknown): Pick<Payment, 'authorization' | 'signature'> | undefined {
  if (!isObject(payload)) return undefined
  const signature = hexIn(payload, 'signature', SIGNATURE)
  const signed = own(payload, 'authorization')
  if (!isObject(signed) || signature === undefined) return undefined
  const from = hexIn(signed, 'from', ADDRESS)
  const to = hexIn(signed, 'to', ADDRESS)
  const nonce = hexIn(signed, 'nonce', WORD)
  const value = uintIn(signed, 'value')
  const validAfter = uintIn(signed, 'validAfter')
  const validBefore = uintIn(signed, 'validBefore')
  if (from === undefined || to === undefined || nonce === undefined) return undefined
  if (value === undefined || validAfter === undefined || validBefore === undefined) return undefined
  return { authorization: { from, to, value, validAfter, validBefore, nonce }, signature }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Only what the object itself has: `__proto__` and its like are not looked through. */
function own(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined
}

function textIn(object: object, name: string): string | undefined {
  const value = own(object, name)
  return typeof value === 'string' ? value : undefined
}

function hexIn(object: object, name: string, pattern: RegExp): Hex | undefined {
  const text = textIn(object, name)
  return text !== undefined && pattern.test(text) ? `0x${text.slice(2).toLowerCase()}` : undefined
}

function uintIn(object: object, name: string): string | undefined {
  const text = textIn(object, name)
  return text !== undefined && UINT.test(text) && BigInt(text) <= UINT256_MAX ? text : undefined
}
