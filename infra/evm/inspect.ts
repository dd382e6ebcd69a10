import { createPublicClient, http, parseAbi } from 'viem'

const CALL_MS = 10_000
const RETRIES = 2

const tokenAbi = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
])

export interface Inspection {
  readonly chainId: number
  /** null: no contract there; a field that the contract does not give is null. */
  readonly token: {
    readonly name: string | null
    readonly version: string | null
    readonly decimals: number | null
  } | null
  readonly wallet: { readonly address: string; readonly wei: bigint } | null
}

/** The network did not answer; the message names the node by its origin only, for its path may hold a key. */
export class NoNetworkError extends Error {
  readonly code = 'no-network'
}

/** What the network says about itself, the token and our wallet; throws `NoNetworkError`. */
export async function inspectNetwork(options: {
  readonly rpcUrl: string
  readonly token: `0x${string}`
  /** undefined: a facilitator settles. */
  readonly wallet: `0x${string}` | undefined
}): Promise<Inspection> {
  const { rpcUrl, token: address, wallet } = options
  const client = createPublicClient({ transport: http(rpcUrl, { timeout: CALL_MS, retryCount: RETRIES }) })
  const text = (functionName: 'name' | 'version'): Promise<string | null> =>
    client.readContract({ address, abi: tokenAbi, functionName }).catch(() => null)
  try {
    const code = await client.getCode({ address })
    const [name, version, decimals] = await Promise.all([
      text('name'),
      text('version'),
      client.readContract({ address, abi: tokenAbi, functionName: 'decimals' }).catch(() => null),
    ])
    return {
      chainId: await client.getChainId(),
      token: code === undefined || code === '0x' ? null : { name, version, decimals },
      wallet: wallet === undefined ? null : { address: wallet, wei: await client.getBalance({ address: wallet }) },
    }
  } catch (error) {
    const kind = error instanceof Error ? error.name : 'unknown'
    throw new NoNetworkError(
      `PAYMENT_RPC_URL: the node at ${new URL(rpcUrl).origin} does not answer (${kind}): is it up, and the URL right?`,
    )
  }
}
