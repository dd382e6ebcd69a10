import { isHex, type PublicClient } from 'viem'
import { isPublicAccount, type Terms } from './terms.ts'
import { asked } from './chain.ts'
import { tokenAbi } from './token.ts'
import type { Seller } from './wire/offer.ts'

/** What the network says, as read at boot; null where it does not say. */
export interface Found {
  readonly chainId: number
  /** The token; null: no contract at its address. */
  readonly token: {
    readonly name: string | null
    readonly version: string | null
    readonly decimals: number | null
  } | null
  /** Our wallet, where one settles, with its balance of ether. */
  readonly wallet: { readonly address: string; readonly wei: bigint } | null
}

const DECIMALS = 6

/** Everything that would make payments fail, or go astray, in sentences that say how to mend it; none: all is well. */
export function obstacles({ mode, seller }: Terms, found: Found, gasWeiMin: bigint): string[] {
  const { network, asset, assetName, assetVersion } = seller
  if (found.chainId !== network.chainId)
    return [
      `PAYMENT_RPC_URL leads to chain ${found.chainId}, PAYMENT_CHAIN_ID says ${network.chainId}: change the one that is wrong`,
    ]
  return [
    ...tokenObstacles(found.token, { asset, name: assetName, version: assetVersion }),
    ...walletObstacles(mode, found.wallet, gasWeiMin),
  ]
}

function tokenObstacles(token: Found['token'], wanted: { asset: string; name: string; version: string }): string[] {
  const { asset, name, version } = wanted
  if (token === null)
    return [`no contract at PAYMENT_ASSET ${asset} on this chain: leave it out for the network's USDC`]
  const differs = (what: string, setting: string, theirs: string | null, ours: string): string[] =>
    theirs === ours
      ? []
      : [
          `the token ${asset} gives its ${what} as ${JSON.stringify(theirs)}, we would offer "${ours}", and payers would sign in vain: set ${setting}`,
        ]
  return [
    ...differs('name', 'PAYMENT_ASSET_NAME', token.name, name),
    ...differs('version', 'PAYMENT_ASSET_VERSION', token.version, version),
    ...(token.decimals === DECIMALS
      ? []
      : [
          `the token ${asset} has ${token.decimals ?? 'unknown'} decimals; prices are in a dollar token of ${DECIMALS}`,
        ]),
  ]
}

function walletObstacles(mode: Terms['mode'], wallet: Found['wallet'], gasWeiMin: bigint): string[] {
  if (wallet === null) return []
  if (mode === 'x402' && isPublicAccount(wallet.address))
    return [
      `PAYMENT_WALLET_KEY is the public development key of ${wallet.address}: anyone can empty it; make one of your own`,
    ]
  return wallet.wei >= gasWeiMin
    ? []
    : [
        `the wallet ${wallet.address} has ${wallet.wei} wei for gas, fewer than PAYMENT_GAS_WEI_MIN=${gasWeiMin}: send it ether of this chain`,
      ]
}

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
