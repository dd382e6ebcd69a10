import { decodeFunctionData, encodeAbiParameters, encodeEventTopics, parseAbi, type Log } from 'viem'
import { describe, expect, it } from 'vitest'
import { intentOf } from './testing/intents.ts'
import { hasPaid, hex, reasonOf, tokenAbi, transferCall } from './token.ts'

const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])
const intent = intentOf()
const [r, s] = ['ab'.repeat(32), 'cd'.repeat(32)]

describe('the call of a transfer', () => {
  it.each([
    ['1b', 27],
    ['1c', 28],
    ['00', 27],
    ['01', 28],
  ])('splits a plain signature; its last byte %s is v %d', (last, v) => {
    const data = transferCall({ ...intent, signature: `0x${r}${s}${last}` })
    const { args } = decodeFunctionData({ abi, data })
    expect(args.slice(2)).toEqual([20_000n, 0n, BigInt(intent.valid_before), intent.nonce, v, `0x${r}`, `0x${s}`])
  })

  it('hands any other signature on as it is', () => {
    const signature = `0x${'ef'.repeat(130)}`
    const { args } = decodeFunctionData({ abi, data: transferCall({ ...intent, signature }) })
    expect(args.slice(5)).toEqual([intent.nonce, signature])
  })

  it('is not made of what is no hex', () => {
    expect(() => transferCall({ ...intent, from: 'vitalik.eth' })).toThrow('not hex')
  })
})

describe('logs of a transaction', () => {
  const common = { blockHash: null, blockNumber: null, logIndex: null, transactionHash: null, transactionIndex: null }
  const log = (address: string, topics: readonly unknown[], data: `0x${string}` = '0x'): Log => ({
    ...common,
    address: hex(address),
    topics: topics as Log['topics'],
    data,
    removed: false,
  })
  const moved = (change: { from?: string; to?: string; value?: bigint; asset?: string } = {}): Log => {
    const { from = intent.from, to = intent.pay_to, value = 20_000n, asset = intent.asset } = change
    const args = { from: hex(from), to: hex(to) }
    const topics = encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer', args })
    return log(asset, topics, encodeAbiParameters([{ type: 'uint256' }], [value]))
  }
  const used = (nonce: string, asset = intent.asset, by = intent.from): Log => {
    const args = { authorizer: hex(by), nonce: hex(nonce) }
    return log(asset, encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationUsed', args }))
  }
  const at = (logIndex: number, one: Log): Log => ({ ...one, logIndex })
  const other = `0x${'33'.repeat(20)}`
  const another = `0x${'44'.repeat(32)}`

  it.each<[string, readonly Log[]]>([
    ['by itself', [used(intent.nonce), moved()]],
    [
      'among others, as one call of many',
      [used(another), moved(), used(intent.nonce), moved(), used(another), moved()],
    ],
    ['with another contract’s word between', [used(intent.nonce), moved({ asset: other }), moved()]],
    ['with another word of the token between', [used(intent.nonce), log(intent.asset, [hex(another)]), moved()]],
    ['in the order of their numbers, however they were listed', [at(8, moved()), at(7, used(intent.nonce))]],
  ])('say that it was paid, %s', (_, logs) => {
    expect(hasPaid(logs, intent)).toBe(true)
  })

  it.each<[string, readonly Log[]]>([
    ['nothing was said', []],
    ['the authorization was used for nothing', [used(intent.nonce)]],
    ['the money moved by another authorization', [used(`0x${'44'.repeat(32)}`), moved()]],
    ['another amount moved', [used(intent.nonce), moved({ value: 19_999n })]],
    ['it went to another', [used(intent.nonce), moved({ to: other })]],
    ['it came from another', [used(intent.nonce), moved({ from: other })]],
    ['it was another token', [used(intent.nonce), moved({ asset: other })]],
    ['another’s authorization of the same nonce was used', [used(intent.nonce, intent.asset, other), moved()]],
    ['it was another token’s authorization', [used(intent.nonce, other), moved()]],
    [
      'it was used for another transfer, beside one of the same money',
      [used(intent.nonce), moved({ to: intent.from, value: 0n }), used(another), moved()],
    ],
    [
      'it was used for another transfer, behind one of the same money',
      [used(another), moved(), used(intent.nonce), moved({ to: intent.from, value: 0n })],
    ],
    [
      'its number is not beside that of the money, however they were listed',
      [at(2, used(intent.nonce)), at(9, moved()), at(3, moved({ to: other }))],
    ],
  ])('do not: %s', (_, logs) => {
    expect(hasPaid(logs, intent)).toBe(false)
  })
})

it.each([
  ['FiatTokenV2: authorization is used or canceled', 'invalid_exact_evm_nonce_already_used'],
  ['ERC20: transfer amount exceeds balance', 'insufficient_funds'],
  ['FiatTokenV2: authorization is not yet valid', 'invalid_exact_evm_payload_authorization_valid_after'],
  ['FiatTokenV2: authorization is expired', 'invalid_exact_evm_payload_authorization_valid_before'],
  ['FiatTokenV2: invalid signature', 'invalid_exact_evm_payload_signature'],
  ['ECRecover: invalid signature', 'invalid_exact_evm_payload_signature'],
  ['Blacklistable: account is blacklisted', 'invalid_exact_evm_transaction_simulation_failed'],
  ['', 'invalid_exact_evm_transaction_simulation_failed'],
])('the token’s word "%s" is %s', (revert, reason) => {
  expect(reasonOf(revert)).toBe(reason)
})
