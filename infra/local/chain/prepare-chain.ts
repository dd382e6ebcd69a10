import { createTestClient, defineChain, http, publicActions, walletActions, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { chainId, payer, token } from './accounts.ts'
import multicall3 from './contracts/Multicall3.json' with { type: 'json' }
import testToken from './contracts/TestToken.json' with { type: 'json' }

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

/** Where viem and other clients look for it on every chain. */
export const multicall3Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** What tests and the local start call; `mint` is open to anyone, for this is play money. */
export const tokenAbi = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function balanceOf(address) view returns (uint256)',
  'function authorizationState(address, bytes32) view returns (bool)',
  'function mint(address to, uint256 value)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function setBlacklisted(address account, bool listed)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])

const tokenRuntime = hex(testToken.runtime)
const multicall3Runtime = hex(multicall3.runtime)

function hex(text: string): `0x${string}` {
  if (!/^0x[0-9a-f]+$/.test(text)) throw new Error('no bytecode')
  return `0x${text.slice(2)}`
}
