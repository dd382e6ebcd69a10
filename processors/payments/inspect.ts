import { isHex, type PublicClient } from 'viem'
import { asked } from './chain.ts'
import type { Found } from './readiness.ts'
import { tokenAbi } from './token.ts'
import type { Seller } from './wire/offer.ts'

/** Reads off the network what `obstacles` judges; rejects with `ChainError` where the node does not answer. */
export async function inspectNetwork(
  client: PublicClient,
  { asset }: Pick<Seller, 'asset'>,
  wallet: `0x${string}` | null,
): Promise<Found> {
  const chainId = await asked('chainId', client.getChainId())
  const code = await asked('code', client.getCode({ address: asset }))
  const isContract = isHex(code) && code.length > 2
  const token = isContract ? await readToken(client, asset) : null
  if (wallet === null) return { chainId, token, wallet: null }
  const wei = await asked('balance', client.getBalance({ address: wallet }))
  return { chainId, token, wallet: { address: wallet, wei } }
}

async function readToken(client: PublicClient, address: `0x${string}`): Promise<NonNullable<Found['token']>> {
  const call = { address, abi: tokenAbi } as const
  const [name, version, decimals] = await Promise.all([
    client.readContract({ ...call, functionName: 'name' }).catch(() => null),
    client.readContract({ ...call, functionName: 'version' }).catch(() => null),
    client.readContract({ ...call, functionName: 'decimals' }).catch(() => null),
  ])
  return { name, version, decimals }
}
