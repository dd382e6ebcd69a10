import { encodeHeader } from '../headers.ts'
import { networks, type Network, type Seller } from '../offer.ts'

const sepolia = networks.find(({ chainId }) => chainId === 84532)
if (sepolia === undefined) throw new Error('Base Sepolia is in the table')
export const network: Network = sepolia

export const seller: Seller = {
  network,
  asset: network.usdc.address,
  assetName: network.usdc.name,
  assetVersion: network.usdc.version,
  payTo: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  maxTimeoutSeconds: 300,
}

export const PRICE = '20000'
export const URL_ASKED = 'https://api.example.com/cvd/BTC?period=1h'
export const NOW = 1_795_165_000

export const authorization = {
  from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  to: seller.payTo,
  value: PRICE,
  validAfter: '0',
  validBefore: String(NOW + 300),
  nonce: `0x${'7a'.repeat(32)}`,
}
export const signature = `0x${'5d'.repeat(64)}1b`

const accepted = {
  scheme: 'exact',
  network: network.caip2,
  amount: PRICE,
  asset: seller.asset,
  payTo: seller.payTo,
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', version: '2', paymentFlow: 'upfront' },
}

/** A payload as the official client of version 2 makes it; `change` at the given path. */
export function payloadV2(change: object = {}): object {
  return merged(
    { x402Version: 2, payload: { authorization, signature }, resource: { url: URL_ASKED }, accepted },
    change,
  )
}

export function payloadV1(change: object = {}): object {
  return merged({ x402Version: 1, scheme: 'exact', network: network.v1, payload: { signature, authorization } }, change)
}

export const v2 = (change: object = {}): string => encodeHeader(payloadV2(change))
export const v1 = (change: object = {}): string => encodeHeader(payloadV1(change))

/** Fields of `change` replace those of `value`, objects in depth; undefined takes one away. */
function merged(value: object, change: object): object {
  const both = Object.entries({ ...value, ...change }).map(([name, field]) => {
    const before: unknown = Reflect.get(value, name)
    return [name, isPlain(before) && isPlain(field) ? merged(before, field) : field] as const
  })
  return Object.fromEntries(both.filter(([, field]) => field !== undefined))
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
