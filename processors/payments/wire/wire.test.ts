import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http'
import { parsePaymentPayload, parsePaymentRequired } from '@x402/core/schemas'
import { describe, expect, it } from 'vitest'
import { atomicUnits } from './offer.ts'
import { challengeOf, receiptHeader } from './headers.ts'
import { fingerprintOf } from './purchase.ts'
import { adviceOf, reasons } from './refusals.ts'
import { network, payloadV1, payloadV2, PRICE, seller, URL_ASKED } from './testing/payloads.ts'

const resource = { url: URL_ASKED, description: 'Cumulative volume delta', mimeType: 'application/json' }

describe('an amount', () => {
  it.each([
    [0.005, '5000'],
    [0.02, '20000'],
    [0.06, '60000'],
    [1, '1000000'],
    [12.345678, '12345678'],
  ])('of %d USDC is %s atomic units', (price, units) => {
    expect(atomicUnits(price)).toBe(units)
  })

  it.each([-1, 0.0000001, 1.2345678, NaN, Infinity])('of %d USDC is none', (price) => {
    expect(() => atomicUnits(price)).toThrow(/no price/)
  })
})

describe('a challenge', () => {
  const challenge = challengeOf(seller, PRICE, resource, 'payment_required')

  it('is one that clients of version 2 read from its header', () => {
    const required = decodePaymentRequiredHeader(challenge.header)
    expect(parsePaymentRequired(required).success).toBe(true)
    expect(required).toMatchObject({
      x402Version: 2,
      error: 'payment_required',
      resource,
      accepts: [{ scheme: 'exact', network: 'eip155:84532', amount: PRICE, asset: seller.asset }],
    })
  })

  it('is one that clients of version 1 read from its body', () => {
    const parsed = parsePaymentRequired({ ...challenge.body, error: 'payment_required' })
    expect(parsed.success).toBe(true)
    expect(challenge.body.accepts).toMatchObject([{ network: 'base-sepolia', maxAmountRequired: PRICE }])
  })

  it('stays below 3 KB', () => {
    expect(challenge.header.length).toBeLessThan(1024)
  })
})

describe('the payloads that the tests change', () => {
  it.each([
    ['version 2', payloadV2()],
    ['version 1', payloadV1()],
  ])('are such as the protocol has: %s', (_, payload) => {
    expect(parsePaymentPayload(payload).success).toBe(true)
  })
})

describe('a receipt', () => {
  const settled = { success: true, transaction: '0x41f5', payer: '0x7099', amount: PRICE } as const

  it('names the network as the payment’s version does', () => {
    expect(decodePaymentResponseHeader(receiptHeader(settled, 2, network))).toEqual({
      ...settled,
      network: 'eip155:84532',
    })
    expect(decodePaymentResponseHeader(receiptHeader(settled, 1, network))).toEqual({
      success: true,
      transaction: '0x41f5',
      payer: '0x7099',
      network: 'base-sepolia',
    })
  })

  it('of a failure says why', () => {
    const failed = { success: false, errorReason: 'insufficient_funds', transaction: '', payer: '0x7099' } as const
    expect(decodePaymentResponseHeader(receiptHeader(failed, 2, network))).toEqual({
      ...failed,
      network: 'eip155:84532',
    })
  })
})

describe('a fingerprint', () => {
  const bought = { method: 'POST', target: '/price-alert', headers: [], body: Buffer.from('{"a":1}') } as const

  it('is the same for the same', () => {
    expect(fingerprintOf({ ...bought, body: Buffer.from('{"a":1}') })).toBe(fingerprintOf(bought))
    expect(fingerprintOf(bought)).toMatch(/^[0-9a-f]{64}$/)
  })

  it.each([
    ['method', { method: 'GET' }],
    ['target', { target: '/liquidation/alert' }],
    ['header', { headers: [['Authorization', 'Bearer a']] as const }],
    ['body', { body: Buffer.from('{"a":2}') }],
    ['body left out', { body: undefined }],
  ])('is another one for another %s', (_, change) => {
    expect(fingerprintOf({ ...bought, ...change })).not.toBe(fingerprintOf(bought))
  })
})

describe('advice', () => {
  it('is there for every reason, and for one that is not known', () => {
    for (const reason of [...Object.keys(reasons), 'of_another_facilitator', 'toString'])
      expect(adviceOf(reason)).toMatch(/^[A-Z].*\.$/)
  })
})
