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
