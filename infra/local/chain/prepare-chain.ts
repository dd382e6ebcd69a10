import { createTestClient, defineChain, http, publicActions, walletActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { chainId, payer, token } from './accounts.ts'
import { multicall3Address, multicall3Runtime, tokenAbi, tokenRuntime } from './contracts.ts'

const CALL_MS = 10_000
const POLL_MS = 50
/** 1,000 dollars, in millionths. */
const PAYER_BALANCE_MIN = 1_000_000_000n
const BLOCK_MS_MAX = 60_000

/**
 * Puts in place what a fresh chain lacks: the token, Multicall3, and what the example payer spent. Doing it again
 * changes nothing. False: the chain does not answer yet.
 */
export async function prepareChain(url: string): Promise<boolean> {
  const client = localClient(url)
  if (!(await client.getChainId().then(isOurs, () => false))) return false
  await client.setCode({ address: token, bytecode: tokenRuntime })
  await client.setCode({ address: multicall3Address, bytecode: multicall3Runtime })
  const balance = await client.readContract({
    address: token,
    abi: tokenAbi,
    functionName: 'balanceOf',
    args: [payer.address],
  })
  if (balance < PAYER_BALANCE_MIN) await mint(url, payer.address, PAYER_BALANCE_MIN - balance)
  return true
}

/** Makes play money, millionths of a dollar; resolves when it is in a block. Its nonce is not the hot wallet's. */
export async function mint(url: string, to: `0x${string}`, value: bigint): Promise<void> {
  const client = localClient(url)
  const hash = await client.writeContract({
    account: privateKeyToAccount(payer.key),
    address: token,
    abi: tokenAbi,
    functionName: 'mint',
    args: [to, value],
  })
  const receipt = await client.waitForTransactionReceipt({ hash, timeout: BLOCK_MS_MAX })
  if (receipt.status !== 'success') throw new Error(`the local chain refused to mint: ${hash}`)
}

/** Not from viem/chains: it holds hundreds, and takes as long to load as everything else together. */
const chain = defineChain({
  id: chainId,
  name: 'local',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
})

/** Reads, writes, and has the powers over a test chain (`mine`, `setAutomine`, `setCode`). */
export function localClient(url: string) {
  const transport = http(url, { retryCount: 0, timeout: CALL_MS })
  return createTestClient({ chain, mode: 'anvil', transport, pollingInterval: POLL_MS, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
}

function isOurs(id: number): boolean {
  if (id !== chainId) throw new Error(`the local chain says that it is chain ${id}, not ${chainId}`)
  return true
}
