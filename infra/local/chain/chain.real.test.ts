import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ask } from '../../http/testing/pages.ts'
import { chainId, hotWallet, payer, payTo, token } from './accounts.ts'
import { multicall3Address, tokenAbi, localClient } from './prepare-chain.ts'
import { startChain, type Chain } from './start.ts'

const FUNDED = 1_000_000_000n

let folder: string
let chain: Chain | undefined
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'chain-'))
})
afterEach(async () => {
  await chain?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function start(): Promise<ReturnType<typeof localClient>> {
  chain = await startChain({ dataDir: path.join(folder, 'chain'), port: 0, logFile: path.join(folder, 'chain.log') })
  return localClient(chain.url)
}

type Client = ReturnType<typeof localClient>

const balance = (client: Client, account: `0x${string}`): Promise<bigint> =>
  client.readContract({ address: token, abi: tokenAbi, functionName: 'balanceOf', args: [account] })

/** The example payer signs, the hot wallet sends. */
async function pay(client: Client, value: bigint, nonce: `0x${string}`): Promise<'success' | 'reverted'> {
  const message = { from: payer.address, to: payTo, value, validAfter: 0n, validBefore: 4_000_000_000n, nonce } as const
  const signature = await privateKeyToAccount(payer.key).signTypedData({
    domain: { name: 'USDC', version: '2', chainId, verifyingContract: token },
    primaryType: 'TransferWithAuthorization',
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    message,
  })
  const { from, to, validAfter, validBefore } = message
  const hash = await client.writeContract({
    account: privateKeyToAccount(hotWallet.key),
    address: token,
    abi: tokenAbi,
    functionName: 'transferWithAuthorization',
    args: [from, to, value, validAfter, validBefore, nonce, signature],
    gas: 200_000n,
  })
  return (await client.waitForTransactionReceipt({ hash })).status
}

const someNonce = (): `0x${string}` => `0x${randomBytes(32).toString('hex')}`

describe('the local chain', () => {
  it('shows no web page of another site what it answers', async () => {
    await start()
    const asked = { 'content-type': 'text/plain', origin: 'https://evil.example' }
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'
    const { status, headers } = await ask(chain?.url ?? '', asked, { method: 'POST', body })
    expect([status, headers['access-control-allow-origin']]).toEqual([200, undefined])
  })

  it('has the token at the address of the real one, a funded payer, gas for the wallet, and Multicall3', async () => {
    const client = await start()
    expect(await client.getChainId()).toBe(chainId)
    expect(await balance(client, payer.address)).toBe(FUNDED)
    expect(await client.getBalance({ address: hotWallet.address })).toBeGreaterThan(10n ** 18n)
    const [name, decimals] = await client.multicall({
      multicallAddress: multicall3Address,
      allowFailure: false,
      contracts: [
        { address: token, abi: tokenAbi, functionName: 'name' },
        { address: token, abi: tokenAbi, functionName: 'decimals' },
      ],
    })
    expect([name, decimals]).toEqual(['USDC', 6])
  })

  it('moves a payment that was signed once, and only once', async () => {
    const client = await start()
    const nonce = someNonce()
    expect(await pay(client, 20_000n, nonce)).toBe('success')
    expect(await pay(client, 20_000n, nonce)).toBe('reverted')
    expect(await balance(client, payTo)).toBe(20_000n)
  })

  it('remembers payments and their events over a restart, and fills up what the payer spent', async () => {
    const before = await start()
    await pay(before, 30_000n, someNonce())
    await chain?.stop()
    const client = await start()
    expect(await balance(client, payTo)).toBe(30_000n)
    expect(await balance(client, payer.address)).toBe(FUNDED)
    const used = await client.getContractEvents({
      address: token,
      abi: tokenAbi,
      eventName: 'AuthorizationUsed',
      fromBlock: 0n,
    })
    expect(used.map(({ args }) => args.authorizer)).toEqual([payer.address])
    expect(await pay(client, 1n, someNonce())).toBe('success')
  })

  it('keeps the time of the machine, after a restart too', async () => {
    await start()
    await chain?.stop()
    const client = await start()
    await client.mine({ blocks: 1 })
    const { timestamp } = await client.getBlock()
    expect(Math.abs(Number(timestamp) - Date.now() / 1_000)).toBeLessThan(5)
  })

  it('starts anew on a state that a kill cut short', async () => {
    await start()
    await chain?.stop()
    writeFileSync(path.join(folder, 'chain', 'state.json'), '{"block": {"number"')
    expect(await balance(await start(), payer.address)).toBe(FUNDED)
  })
})
