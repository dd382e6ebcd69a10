import { describe, expect, it } from 'vitest'
import { decodePayment, type Payment } from './decode.ts'
import { mismatchOf, untimelyOf } from './refusals.ts'
import { NOW, PRICE, seller, URL_ASKED, v1, v2 } from './testing/payloads.ts'

const asked = { seller, amount: PRICE, url: URL_ASKED }

function payment(headers: { v1?: string; v2?: string }): Payment {
  const decoded = decodePayment({ v1: '', v2: '', ...headers })
  if (decoded.kind !== 'payment') throw new Error(JSON.stringify(decoded))
  return decoded.payment
}

const other = '0x000000000000000000000000000000000000dEaD'

describe('a payment beside the offer of the route', () => {
  it.each([
    ['version 2', { v2: v2() }],
    ['version 1', { v1: v1() }],
    ['addresses in lower case', { v2: v2({ accepted: { asset: seller.asset.toLowerCase() } }) }],
    ['no resource', { v2: v2({ resource: undefined }) }],
    ['further fields', { v2: v2({ accepted: { extra: { name: 'other' } }, extensions: { bazaar: {} } }) }],
  ])('is for it: %s', (_, headers) => {
    expect(mismatchOf(payment(headers), asked)).toBeNull()
  })

  it.each([
    ['invalid_x402_version', { v2: v2({ x402Version: 1 }) }],
    ['invalid_x402_version', { v1: v1({ x402Version: 2 }) }],
    ['unsupported_scheme', { v2: v2({ accepted: { scheme: 'upto' } }) }],
    ['unsupported_scheme', { v1: v1({ scheme: 'upto' }) }],
    ['invalid_network', { v2: v2({ accepted: { network: 'eip155:8453' } }) }],
    ['invalid_network', { v2: v2({ accepted: { network: 'base-sepolia' } }) }],
    ['invalid_network', { v1: v1({ network: 'base' }) }],
    ['invalid_payment_requirements', { v2: v2({ accepted: { amount: '1' } }) }],
    ['invalid_payment_requirements', { v2: v2({ accepted: { asset: other } }) }],
    ['invalid_payment_requirements', { v2: v2({ accepted: { payTo: other } }) }],
    ['invalid_exact_evm_payload_recipient_mismatch', { v2: v2({ payload: { authorization: { to: other } } }) }],
    ['invalid_exact_evm_payload_recipient_mismatch', { v1: v1({ payload: { authorization: { to: other } } }) }],
    [
      'invalid_exact_evm_payload_authorization_value_mismatch',
      { v2: v2({ payload: { authorization: { value: '19999' } } }) },
    ],
    [
      'invalid_exact_evm_payload_authorization_value_mismatch',
      { v1: v1({ payload: { authorization: { value: '20001' } } }) },
    ],
    ['resource_mismatch', { v2: v2({ resource: { url: 'https://api.example.com/cvd/ETH?period=1h' } }) }],
  ])('is refused: %s', (reason, headers) => {
    expect(mismatchOf(payment(headers), asked)).toBe(reason)
  })
})

describe('the time of a payment', () => {
  const after = 'invalid_exact_evm_payload_authorization_valid_after'
  const before = 'invalid_exact_evm_payload_authorization_valid_before'
  it.each([
    ['0', NOW + 300, null],
    [String(NOW), NOW + 6, null],
    [String(NOW), NOW + 900, null],
    [String(NOW + 1), NOW + 300, after],
    ['0', NOW + 5, before],
    ['0', 0, before],
    ['0', NOW + 900 + 1, before],
    ['0', (2n ** 256n - 1n).toString(), before],
    [(2n ** 256n - 1n).toString(), NOW + 300, after],
  ])('from %s to %s is %s', (validAfter, validBefore, reason) => {
    const change = { payload: { authorization: { validAfter, validBefore: String(validBefore) } } }
    expect(untimelyOf(payment({ v2: v2(change) }), asked.seller, NOW + 0.9)).toBe(reason)
  })
})
