import type { Hex, Network } from './networks.ts'

/** Who is paid, in what, and how a payer finds us: the same for all routes. */
export interface Seller {
  readonly network: Network
  /** Token contract, checksummed. */
  readonly asset: Hex
  /** The token's EIP-712 domain. */
  readonly assetName: string
  readonly assetVersion: string
  /** Checksummed. */
  readonly payTo: Hex
  /** How long an authorization may last, as payers sign it, seconds. */
  readonly maxTimeoutSeconds: number
}

/** What is paid for. */
export interface Resource {
  /** Absolute, of our configuration, never of the Host header. */
  readonly url: string
  readonly description: string
  readonly mimeType: string
}

/** One of `accepts` of version 2. */
export interface OfferV2 {
  readonly scheme: 'exact'
  readonly network: string
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: { readonly name: string; readonly version: string; readonly paymentFlow: 'upfront' }
}

/** `upfront`: the payment is settled before the request is acted on. */
export function offerV2({ network, asset, payTo, maxTimeoutSeconds, ...token }: Seller, amount: string): OfferV2 {
  return {
    scheme: 'exact',
    network: network.caip2,
    amount,
    asset,
    payTo,
    maxTimeoutSeconds,
    extra: { name: token.assetName, version: token.assetVersion, paymentFlow: 'upfront' },
  }
}

/** One of `accepts` of version 1; `outputSchema` is left out, since its clients refuse null. */
export function offerV1(seller: Seller, amount: string, { url, description, mimeType }: Resource): object {
  const { network, asset, payTo, maxTimeoutSeconds, assetName: name, assetVersion: version } = seller
  return {
    scheme: 'exact',
    network: network.v1,
    maxAmountRequired: amount,
    resource: url,
    description,
    mimeType,
    payTo,
    maxTimeoutSeconds,
    asset,
    extra: { name, version },
  }
}
