import { encodeFunctionData, parseAbi, parseEventLogs, type Address, type Hex, type Log } from 'viem'
import type { PaymentIntent } from '../../schemas/records.ts'

/**
 * USDC as it is paid by signature. Source: EIP-3009 and Circle's FiatTokenV2_2, whose overload with `bytes` also takes
 * the signatures of contract wallets (ERC-1271).
 */
export const tokenAbi = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])
const bySplitSignature = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])
const byBytes = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])

/** What the payer signed. */
export type Authorization = Pick<
  PaymentIntent,
  'asset' | 'pay_to' | 'from' | 'value' | 'valid_after' | 'valid_before' | 'nonce' | 'signature'
>

/** `0x`, r and s of 32 bytes each, v of one. */
const SPLIT_LENGTH = 2 + 2 * 65

/** Calldata of the transfer. A signature of 65 bytes goes in its parts, which tokens before V2_2 know too. */
export function transferCall(authorization: Authorization): Hex {
  const { from, pay_to: to, value, valid_after: after, valid_before: before, nonce, signature } = authorization
  const common = [hex(from), hex(to), BigInt(value), BigInt(after), BigInt(before), hex(nonce)] as const
  const functionName = 'transferWithAuthorization'
  if (signature.length !== SPLIT_LENGTH)
    return encodeFunctionData({ abi: byBytes, functionName, args: [...common, hex(signature)] })
  const [r, s] = [hex(`0x${signature.slice(2, 66)}`), hex(`0x${signature.slice(66, 130)}`)]
  return encodeFunctionData({ abi: bySplitSignature, functionName, args: [...common, vOf(signature), r, s] })
}

/** Some wallets write the parity as 0 or 1, the token takes 27 and 28 only. */
function vOf(signature: string): number {
  const v = Number.parseInt(signature.slice(130), 16)
  return v < 27 ? v + 27 : v
}

/**
 * Whether the logs of one transaction, all of them, say that exactly this authorization moved exactly this money. A nonce
 * binds neither receiver nor amount, and one transaction may use many: only the transfer that the token tells of next is
 * that of the authorization. Source: EIP-3009 and FiatTokenV2, which mark it as used and then transfer, nothing between.
 */
export function hasPaid(logs: readonly Log[], { asset, from, pay_to: to, value, nonce }: Authorization): boolean {
  const own = logs
    .filter(({ address }) => isSame(address, asset))
    .toSorted((a, b) => Number(a.logIndex) - Number(b.logIndex))
  const told = parseEventLogs({ abi: tokenAbi, eventName: ['AuthorizationUsed', 'Transfer'], logs: own })
  return told.some((use, at) => {
    const move = told[at + 1]
    if (use.eventName !== 'AuthorizationUsed' || move?.eventName !== 'Transfer') return false
    const isUse = isSame(use.args.authorizer, from) && isSame(use.args.nonce, nonce)
    return isUse && isSame(move.args.from, from) && isSame(move.args.to, to) && move.args.value === BigInt(value)
  })
}

/** The token's word on why it would not move the money, as the protocol's reason code. */
export function reasonOf(revert: string): string {
  for (const [pattern, reason] of reverts) if (pattern.test(revert)) return reason
  return 'invalid_exact_evm_transaction_simulation_failed'
}

const reverts: readonly (readonly [RegExp, string])[] = [
  [/used or cancell?ed|already used/i, 'invalid_exact_evm_nonce_already_used'],
  [/exceeds balance/i, 'insufficient_funds'],
  [/not yet valid/i, 'invalid_exact_evm_payload_authorization_valid_after'],
  [/expired/i, 'invalid_exact_evm_payload_authorization_valid_before'],
  [/signature|ECRecover/i, 'invalid_exact_evm_payload_signature'],
]

/** Our records hold hex as plain text; whoever writes them has checked it. */
export function hex(text: string): Address {
  if (!/^0x[0-9a-fA-F]*$/.test(text)) throw new Error('not hex')
  return `0x${text.slice(2)}`
}

function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
