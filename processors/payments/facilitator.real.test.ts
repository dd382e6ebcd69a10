import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { x402Facilitator } from '@x402/core/facilitator'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator'
import { createWalletClient, http, publicActions } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { baseSepolia } from 'viem/chains'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hostClock } from '../../infra/clock.ts'
import { closeServer, listen } from '../../infra/http/ops.ts'
import { hotWallet } from '../../infra/local/chain/accounts.ts'
import { tokenAbi, localClient, mint } from '../../infra/local/chain/prepare-chain.ts'
import { startChain, type Chain as LocalChain } from '../../infra/local/chain/start.ts'
import type { PaymentIntent } from '../../schemas/records.ts'
import { quietReport } from '../kernel/quiet.ts'
import { Chain, connectChain } from './chain.ts'
import { FacilitatorSettler } from './facilitator.ts'
import { SELLER } from './testing/intents.ts'
import type { Outcome, Sent } from './settler.ts'
import { newAccount, signed } from './testing/world.ts'
import { transferCall } from './token.ts'

/** The protocol's own facilitator, over HTTP, on a local chain. */

let folder: string
let chain: LocalChain
let server: Server
let url: string
/** What the facilitator does with a request of that path; undefined: what it should. */
let instead: ((path: string) => object | 'hang' | 'cut' | undefined) | undefined
let asked: string[]

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'facilitator-'))
  chain = await startChain({ dataDir: path.join(folder, 'chain'), port: 0, logFile: path.join(folder, 'chain.log') })
  const account = privateKeyToAccount(hotWallet.key)
  const transport = http(chain.url)
  const client = createWalletClient({ account, chain: baseSepolia, transport, pollingInterval: 50 }).extend(
    publicActions,
  )
  const facilitator = new x402Facilitator()
  const signer = toFacilitatorEvmSigner({
    address: account.address,
    readContract: (args) => client.readContract({ ...args, args: args.args ?? [] }),
    verifyTypedData: (args) => client.verifyTypedData(args as Parameters<typeof client.verifyTypedData>[0]),
    writeContract: (args) => client.writeContract({ ...args, chain: baseSepolia, account }),
    sendTransaction: (args) => client.sendTransaction({ ...args, chain: baseSepolia, account }),
    waitForTransactionReceipt: ({ hash }) => client.waitForTransactionReceipt({ hash }),
    getCode: ({ address }) => client.getCode({ address }),
  })
  registerExactEvmScheme(facilitator, { signer, networks: 'eip155:84532' })
  server = createServer((request, response) => {
    void reply(facilitator, request, response)
  })
  url = `http://127.0.0.1:${await listen(server, '127.0.0.1', 0)}`
})
afterAll(async () => {
  server.closeAllConnections()
  await closeServer(server)
  await chain.stop()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  instead = undefined
  asked = []
})

async function reply(facilitator: x402Facilitator, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const said = await answer(facilitator, request)
  if (said === 'cut') response.destroy()
  else if (said !== 'hang') response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said))
}

async function answer(facilitator: x402Facilitator, request: IncomingMessage): Promise<object | 'hang' | 'cut'> {
  const name = request.url ?? ''
  asked.push(name)
  const body = JSON.parse(await text(request)) as {
    paymentPayload: Parameters<x402Facilitator['verify']>[0]
    paymentRequirements: Parameters<x402Facilitator['verify']>[1]
  }
  const other = instead?.(name)
  if (other !== undefined && other !== 'cut') return other
  const done = await facilitator[name === '/verify' ? 'verify' : 'settle'](
    body.paymentPayload,
    body.paymentRequirements,
  )
  return other ?? done
}

const payer = async (value = 100_000n): Promise<PrivateKeyAccount> => {
  const account = newAccount()
  await mint(chain.url, account.address, value)
  return account
}
const balance = (of: `0x${string}`): Promise<bigint> =>
  localClient(chain.url).readContract({ address: SELLER.asset, abi: tokenAbi, functionName: 'balanceOf', args: [of] })

async function settle(intent: PaymentIntent, sent: readonly Sent[] = []): Promise<{ outcome: Outcome; said: Sent[] }> {
  const said: Sent[] = []
  const settler = new FacilitatorSettler({
    url,
    seller: SELLER,
    clock: hostClock,
    report: quietReport,
    chain: new Chain(connectChain(chain.url)),
  })
  const sending = async (one: Sent): Promise<void> => void said.push(one)
  const outcome = await settler.settle({ intent, sent, sending, signal: AbortSignal.timeout(50_000) })
  return { outcome, said }
}

/** Somebody submits the payer's authorization. */
async function submit(intent: PaymentIntent): Promise<`0x${string}`> {
  const client = localClient(chain.url)
  const account = privateKeyToAccount(`0x${'5a'.repeat(32)}`)
  await client.setBalance({ address: account.address, value: 10n ** 18n })
  const hash = await client.sendTransaction({ account, to: SELLER.asset, data: transferCall(intent), gas: 300_000n })
  await client.waitForTransactionReceipt({ hash })
  return hash
}

const POLL = { timeout: 60_000 }

describe('a facilitator', () => {
  it('settles; its transaction is looked at on the chain, and the log knew before', async () => {
    const account = await payer()
    const { outcome, said } = await settle(await signed(account))
    expect(outcome).toMatchObject({ is: 'settled', by: 'facilitator', tx: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
    expect(said).toEqual([{ tx: null, raw: null }])
    expect(await balance(account.address)).toBe(80_000n)
    expect(asked).toEqual(['/verify', '/settle'])
  })

  it('that refuses is believed where the chain agrees', async () => {
    const { outcome, said } = await settle(await signed(await payer(1n)))
    expect(outcome).toMatchObject({ is: 'failed', reason: expect.stringMatching(/insufficient/) })
    expect(said).toEqual([])
  })

  it('that claims a settlement of nothing is not believed', async () => {
    const account = await payer()
    instead = (name) =>
      name === '/settle' ? { success: true, transaction: `0x${'12'.repeat(32)}`, network: 'eip155:84532' } : undefined
    const soon = Math.floor(Date.now() / 1_000) + 120
    const intent = await signed(account, { fields: { valid_before: soon } })
    const ended = settle(intent)
    await expect.poll(() => asked, POLL).toContain('/settle')
    await localClient(chain.url).increaseTime({ seconds: 180 })
    await localClient(chain.url).mine({ blocks: 1 })
    expect((await ended).outcome).toMatchObject({
      is: 'failed',
      reason: 'invalid_exact_evm_payload_authorization_valid_before',
    })
    expect(await balance(account.address)).toBe(100_000n)
  })

  it('whose answer is lost has settled all the same: it is found on the chain', async () => {
    const account = await payer()
    instead = (name) => (name === '/settle' ? 'cut' : undefined)
    const { outcome } = await settle(await signed(account))
    expect(outcome).toMatchObject({ is: 'settled', by: 'facilitator' })
    expect(await balance(account.address)).toBe(80_000n)
  })

  it('was asked by a process that was killed: its successor finds what came of it', async () => {
    const account = await payer()
    const intent = await signed(account)
    const first = await settle(intent)
    const second = await settle(intent, [{ tx: null, raw: null }])
    expect(second.outcome).toMatchObject({ is: 'settled', tx: first.outcome.tx })
    expect(await balance(account.address)).toBe(80_000n)
    expect(asked).toEqual(['/verify', '/settle'])
  })

  it('that gives up on a transaction which it has sent is not believed: the money may have moved', async () => {
    const account = await payer()
    instead = (name) =>
      name === '/settle' ? { success: false, errorReason: 'unexpected_settle_error', transaction: '' } : undefined
    const intent = await signed(account)
    const ended = settle(intent)
    await expect.poll(() => asked, POLL).toContain('/settle')
    await submit(intent)
    expect((await ended).outcome).toMatchObject({ is: 'settled', by: 'facilitator' })
    expect(await balance(account.address)).toBe(80_000n)
  })

  it('whose transaction was undone is believed', async () => {
    const account = await payer()
    const intent = await signed(account)
    const transaction = await submit({ ...intent, value: '1' })
    const said = { success: false, errorReason: 'invalid_exact_evm_transaction_failed', transaction }
    instead = (name) => (name === '/settle' ? said : undefined)
    expect((await settle(intent)).outcome).toEqual({
      is: 'failed',
      tx: transaction,
      reason: 'invalid_transaction_state',
    })
    expect(await balance(account.address)).toBe(100_000n)
  })

  it('that answers nothing that can be read has settled nothing', async () => {
    instead = () => ({ hello: 'world' })
    const { outcome, said } = await settle(await signed(await payer()))
    expect([outcome, said]).toEqual([{ is: 'failed', tx: null, reason: 'unexpected_settle_error' }, []])
  })
})
