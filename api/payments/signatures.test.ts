import { createPublicClient, custom, encodeFunctionResult, parseAbi, RpcRequestError, type Hex } from 'viem'
import { beforeEach, describe, expect, it } from 'vitest'
import { NOW, SELLER } from '../../processors/payments/testing/intents.ts'
import { decodePayment, type Payment } from '../../processors/payments/wire/decode.ts'
import { signPayment, stranger } from '../testing/fake-payments.ts'
import { signatureChecks } from './signatures.ts'
import type { IsSigned } from './payments.ts'

const abi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
const MAGIC = '0x1626ba7e'
const wallet: Hex = `0x${'c0'.repeat(20)}`

let calls: string[]
let now: number
let codes: Map<string, Hex>
let answer: Hex | 'reverts'
let isSigned: IsSigned
let signatures: ReturnType<typeof signatureChecks>

beforeEach(() => {
  calls = []
  now = NOW * 1_000
  codes = new Map([[wallet, '0x60aa']])
  answer = MAGIC
  const request = async ({ method, params }: { method: string; params?: unknown }): Promise<unknown> => {
    calls.push(method)
    const [first] = params as readonly unknown[]
    if (method === 'eth_getCode') return codes.get(String(first).toLowerCase()) ?? '0x'
    if (answer === 'reverts')
      throw new RpcRequestError({ body: {}, url: 'fake', error: { code: 3, message: 'execution reverted' } })
    return encodeFunctionResult({ abi, functionName: 'isValidSignature', result: answer })
  }
  const client = createPublicClient({ transport: custom({ request }, { retryCount: 0 }) })
  signatures = signatureChecks(client, SELLER, () => now)
  isSigned = signatures.isSigned
})

/** A payment of that account, signed by another one. */
async function paymentOf(from: Hex | null): Promise<Payment> {
  const { v2 } = await signPayment({ amount: '20000', now: NOW, account: stranger })
  const decoded = decodePayment({ v2, v1: '' })
  if (decoded.kind !== 'payment') throw new Error('no payment')
  const { payment } = decoded
  return from === null ? payment : { ...payment, authorization: { ...payment.authorization, from } }
}

const account = (n: number): Hex => `0x${String(n).padStart(40, '0')}`

describe('a signed text', () => {
  it('is a plain account’s, without the chain, or a contract wallet’s, by its code', async () => {
    const signature = await stranger.signMessage({ message: 'me' })
    expect(await signatures.hasSigned(stranger.address, 'me', signature)).toBe(true)
    expect(calls).toEqual([])
    expect(await signatures.hasSigned(stranger.address, 'you', signature)).toBe(false)
    expect(await signatures.hasSigned(wallet, 'me', '0x1234')).toBe(true)
    answer = 'reverts'
    expect(await signatures.hasSigned(wallet, 'me', '0x1234')).toBe(false)
  })
})

describe('the signature', () => {
  it('of a plain account is judged without the chain', async () => {
    expect(await isSigned(await paymentOf(null))).toBe(true)
    expect(calls).toEqual([])
  })

  it('of a contract wallet is judged by its code, and asked for once where it has signed before', async () => {
    for (let n = 0; n < 3; n += 1) expect(await isSigned(await paymentOf(wallet))).toBe(true)
    expect(calls).toEqual(['eth_getCode', 'eth_call', 'eth_call', 'eth_call'])
    answer = 'reverts'
    expect(await isSigned(await paymentOf(wallet))).toBe(false)
  })

  it('that is wrong, of an account without code, costs one call a minute, however often it comes', async () => {
    for (let n = 0; n < 20; n += 1) expect(await isSigned(await paymentOf(account(1)))).toBe(false)
    expect(calls).toEqual(['eth_getCode'])
    now += 60_001
    codes.set(account(1), '0x60bb')
    expect(await isSigned(await paymentOf(account(1)))).toBe(true)
  })

  it.each<[string, Hex | undefined]>([
    ['accounts without code', undefined],
    ['contracts that are no wallets', '0x60cc'],
  ])('that is wrong, of ever new %s, does not cost calls without a bound', async (_, code) => {
    await isSigned(await paymentOf(wallet))
    answer = 'reverts'
    const refused: unknown[] = []
    for (let n = 0; n < 200; n += 1) {
      if (code !== undefined) codes.set(account(n), code)
      refused.push(await isSigned(await paymentOf(account(n))).catch((error: unknown) => error))
    }
    expect(calls.filter((method) => method === 'eth_getCode')).toHaveLength(50)
    expect(refused.at(-1)).toMatchObject({ code: 'data_unavailable', detail: { retryAfterSeconds: 2 } })
    answer = MAGIC
    expect(await isSigned(await paymentOf(wallet))).toBe(true)
    expect(await isSigned(await paymentOf(null))).toBe(true)
    now += 5_000
    expect(await isSigned(await paymentOf(account(2_000)))).toBe(false)
  })

  it('cannot be judged where the node does not answer', async () => {
    const client = createPublicClient({
      transport: custom({ request: () => Promise.reject(new Error('away')) }, { retryCount: 0 }),
    })
    const check = signatureChecks(client, SELLER, () => now).isSigned
    await expect(check(await paymentOf(wallet))).rejects.toMatchObject({ code: 'data_unavailable' })
  })
})
