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
interface OfferV2 {
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

/** A network that payments are made on, under both names that the protocol's versions give it. */
export interface Network {
  readonly chainId: number
  /** CAIP-2, as version 2 names it. */
  readonly caip2: string
  /** As version 1 names it. */
  readonly v1: string
  /** Circle's USDC there; its EIP-712 name differs between the two. */
  readonly usdc: { readonly address: Hex; readonly name: string; readonly version: string }
}

export type Hex = `0x${string}`

/** USDC has six decimals on every network. */
export const USDC_DECIMALS = 6

export const networks: readonly Network[] = [
  {
    chainId: 8453,
    caip2: 'eip155:8453',
    v1: 'base',
    usdc: { address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', name: 'USD Coin', version: '2' },
  },
  {
    chainId: 84532,
    caip2: 'eip155:84532',
    v1: 'base-sepolia',
    usdc: { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', name: 'USDC', version: '2' },
  },
]

export function networkOf(chainId: number): Network | undefined {
  return networks.find((network) => network.chainId === chainId)
}

/** A price in USDC as atomic units, decimal digits, exactly: 0.005 is `5000`. Throws where it has more than six decimals. */
export function atomicUnits(priceUsdc: number): string {
  const [, whole = '', fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(String(priceUsdc)) ?? []
  if (whole === '' || fraction.length > USDC_DECIMALS) throw new Error(`${priceUsdc} USDC is no price`)
  return BigInt(whole + fraction.padEnd(USDC_DECIMALS, '0')).toString()
}

/** What a payer signs, as typed data. Source: EIP-3009. */
export const authorizationTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const
