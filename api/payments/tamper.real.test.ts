import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { x402Facilitator } from '@x402/core/facilitator'
import { x402ResourceServer } from '@x402/core/server'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hotWallet } from '../../infra/local/chain/accounts.ts'
import { localClient } from '../../infra/local/chain/prepare-chain.ts'
import { startChain, type Chain } from '../../infra/local/chain/start.ts'
import { decodePayment } from '../../processors/payments/wire/decode.ts'
import { encodeHeader } from '../../processors/payments/wire/headers.ts'
import { mismatchOf, untimelyOf } from '../../processors/payments/wire/refusals.ts'
import { offerV2 } from '../../processors/payments/wire/offer.ts'
import { seller, signPayment, stranger } from '../testing/fake-payments.ts'
import type { IsSigned } from './payments.ts'
import { signatureChecks, signatureNode } from './signatures.ts'

const PRICE = '20000'
const OTHER = '0x000000000000000000000000000000000000dEaD'

let folder: string
let chain: Chain
let facilitator: x402Facilitator
let isSigned: IsSigned

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'tamper-'))
  chain = await startChain({ dataDir: path.join(folder, 'chain'), logFile: path.join(folder, 'chain.log'), port: 0 })
  const client = localClient(chain.url)
  const account = privateKeyToAccount(hotWallet.key)
  const signer = toFacilitatorEvmSigner({
    address: account.address,
    getCode: (args) => client.getCode(args),
    readContract: (args) => client.readContract({ ...args, args: args.args ?? [] }),
    verifyTypedData: (args) => client.verifyTypedData(args as Parameters<typeof client.verifyTypedData>[0]),
    writeContract: () => Promise.reject(new Error('nothing is settled here')),
    sendTransaction: () => Promise.reject(new Error('nothing is settled here')),
    waitForTransactionReceipt: () => Promise.reject(new Error('nothing is settled here')),
  })
  facilitator = new x402Facilitator()
  registerExactEvmScheme(facilitator, { signer, networks: 'eip155:84532' })
  isSigned = signatureChecks(signatureNode(chain.url), seller, Date.now).isSigned
})
afterAll(async () => {
  await chain?.stop()
  rmSync(folder, { recursive: true, force: true })
})

type Payload = PaymentPayload & {
  payload: { authorization: Record<string, unknown>; signature: unknown }
  accepted: Record<string, unknown>
}

/** What we say before anything is settled. */
async function ours(payload: object): Promise<boolean> {
  const decoded = decodePayment({ v1: '', v2: encodeHeader(payload) })
  if (decoded.kind !== 'payment') return false
  const { payment } = decoded
  const asked = { seller, amount: PRICE, url: '' }
  if (mismatchOf(payment, asked) !== null || untimelyOf(payment, seller, Date.now() / 1000) !== null) return false
  return isSigned(payment)
}

const requirements: PaymentRequirements = { ...offerV2(seller, PRICE), network: 'eip155:84532' }

/** What the official server and the official facilitator say. */
async function theirs(payload: Payload): Promise<boolean> {
  try {
    const isOffered = new x402ResourceServer().findMatchingRequirements([requirements], payload) !== undefined
    return isOffered && (await facilitator.verify(payload, requirements)).isValid
  } catch {
    return false
  }
}

const now = (): number => Math.floor(Date.now() / 1000)

describe('our judgement of a payment is that of the official facilitator', () => {
  it.each<[string, boolean, (payload: Payload) => void, object?]>([
    ['as it was signed', true, () => undefined],
    [
      'addresses in lower case',
      true,
      ({ payload: { authorization } }) => {
        authorization['from'] = String(authorization['from']).toLowerCase()
      },
    ],
    ['another value', false, ({ payload: { authorization } }) => void (authorization['value'] = '19999')],
    ['signed for less', false, () => undefined, { amount: '19999' }],
    ['signed for more', false, () => undefined, { amount: '20001' }],
    ['another receiver', false, ({ payload: { authorization } }) => void (authorization['to'] = OTHER)],
    ['signed for another receiver', false, () => undefined, { to: OTHER }],
    ['another payer', false, ({ payload: { authorization } }) => void (authorization['from'] = stranger.address)],
    [
      'another nonce',
      false,
      ({ payload: { authorization } }) => void (authorization['nonce'] = `0x${'11'.repeat(32)}`),
    ],
    [
      'another end',
      false,
      ({ payload: { authorization } }) => void (authorization['validBefore'] = String(now() + 200)),
    ],
    ['ended', false, () => undefined, { validBefore: now() - 1 }],
    ['about to end', false, () => undefined, { validBefore: now() + 3 }],
    ['not begun', false, () => undefined, { validAfter: now() + 100_000 }],
    ['a signature of zeros', false, ({ payload }) => void (payload.signature = `0x${'00'.repeat(65)}`)],
    ['half a signature', false, ({ payload }) => void (payload.signature = String(payload.signature).slice(0, 66))],
    ['no signature', false, ({ payload }) => void (payload.signature = '0x')],
    ['another network', false, ({ accepted }) => void (accepted['network'] = 'eip155:8453')],
    ['another scheme', false, ({ accepted }) => void (accepted['scheme'] = 'upto')],
    ['another asset', false, ({ accepted }) => void (accepted['asset'] = OTHER)],
    ['another receiver accepted', false, ({ accepted }) => void (accepted['payTo'] = OTHER)],
    ['another price accepted', false, ({ accepted }) => void (accepted['amount'] = '19999')],
    ['a price that is a number', false, ({ accepted }) => void Object.assign(accepted, { amount: Number(PRICE) })],
    ['signed for another token', false, () => undefined, { domain: { verifyingContract: OTHER } }],
    ['signed for another chain', false, () => undefined, { domain: { chainId: 8453 } }],
    ['signed for another name of the token', false, () => undefined, { domain: { name: 'USD Coin' } }],
    ['signed for another version of the token', false, () => undefined, { domain: { version: '1' } }],
    ['a value in words', false, ({ payload: { authorization } }) => void (authorization['value'] = 'twenty')],
    ['an end in words', false, ({ payload: { authorization } }) => void (authorization['validBefore'] = 'later')],
    ['a short nonce', false, ({ payload: { authorization } }) => void (authorization['nonce'] = '0x12')],
    ['a payer that is a number', false, ({ payload: { authorization } }) => void (authorization['from'] = 7)],
    ['no payer', false, ({ payload: { authorization } }) => void delete authorization['from']],
    ['a signature that is a number', false, ({ payload }) => void (payload.signature = 7)],
  ])('%s: %s', async (_, isGood, tamper, signing = {}) => {
    const { v2 } = await signPayment({ amount: PRICE, now: now(), nonce: fresh(), ...signing })
    const payload = JSON.parse(Buffer.from(v2, 'base64').toString()) as Payload
    payload.accepted['amount'] = PRICE
    tamper(payload)
    expect({ ours: await ours(payload), theirs: await theirs(payload) }).toEqual({ ours: isGood, theirs: isGood })
  })

  it('and where it takes numbers for texts, ours is the stricter one', async () => {
    const { v2 } = await signPayment({ amount: PRICE, now: now(), nonce: fresh() })
    const payload = JSON.parse(Buffer.from(v2, 'base64').toString()) as Payload
    for (const name of ['value', 'validBefore', 'validAfter'])
      expect(
        await ours({
          ...payload,
          payload: { ...payload.payload, authorization: { ...payload.payload.authorization, [name]: 20000 } },
        }),
      ).toBe(false)
  })
})

function fresh(): `0x${string}` {
  return `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')}`
}
