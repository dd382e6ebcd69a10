import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodePayment } from './decode.ts'
import { encodeHeader, HEADER_LENGTH_MAX } from './headers.ts'
import { authorization, payloadV2, seller, signature, URL_ASKED, v1, v2 } from './testing/payloads.ts'

const faultOf = (headers: { v1?: string; v2?: string }): string => {
  const decoded = decodePayment({ v1: '', v2: '', ...headers })
  return decoded.kind === 'malformed' ? `${decoded.header} ${decoded.fault}` : decoded.kind
}

describe('what a request pays with', () => {
  it('is nothing where no header is', () => {
    expect(decodePayment({ v1: '', v2: '' })).toEqual({ kind: 'none' })
  })

  it('is read from PAYMENT-SIGNATURE, hex in lower case', () => {
    expect(decodePayment({ v2: v2(), v1: '' })).toEqual({
      kind: 'payment',
      payment: {
        version: 2,
        declared: 2,
        scheme: 'exact',
        network: 'eip155:84532',
        accepted: {
          scheme: 'exact',
          network: 'eip155:84532',
          amount: '20000',
          asset: seller.asset,
          payTo: seller.payTo,
        },
        resource: URL_ASKED,
        authorization: { ...authorization, from: authorization.from.toLowerCase(), to: authorization.to.toLowerCase() },
        signature,
      },
    })
  })

  it('is read from X-PAYMENT, which says neither offer nor resource', () => {
    const decoded = decodePayment({ v1: v1(), v2: '' })
    expect(decoded).toMatchObject({
      kind: 'payment',
      payment: { version: 1, network: 'base-sepolia', accepted: null, resource: null },
    })
  })

  it('is version 2’s where both headers hold the same authorization', () => {
    expect(decodePayment({ v1: v1(), v2: v2() })).toMatchObject({ kind: 'payment', payment: { version: 2 } })
  })

  it.each([
    ['another authorization', { v1: v1({ payload: { authorization: { nonce: `0x${'11'.repeat(32)}` } } }), v2: v2() }],
    ['another signature', { v1: v1({ payload: { signature: `${signature}00` } }), v2: v2() }],
  ])('is refused where the second header holds %s', (_, headers) => {
    expect(faultOf(headers)).toBe('X-PAYMENT two-payments')
  })

  it.each([
    ['a bad second header', { v1: 'x', v2: v2() }, 'X-PAYMENT not-base64'],
    ['no base64', { v2: 'not base64!' }, 'PAYMENT-SIGNATURE not-base64'],
    ['the URL alphabet', { v2: Buffer.from('{"a":"??>>"}').toString('base64url') }, 'PAYMENT-SIGNATURE not-base64'],
    ['no padding', { v2: v2().replace(/=+$/, '').slice(0, -1) }, 'PAYMENT-SIGNATURE not-base64'],
    ['two values', { v2: `${v2()}, ${v2()}` }, 'PAYMENT-SIGNATURE not-base64'],
    ['no JSON', { v2: Buffer.from('{').toString('base64') }, 'PAYMENT-SIGNATURE not-json'],
    ['no UTF-8', { v1: Buffer.from([0x22, 0xff, 0x22]).toString('base64') }, 'X-PAYMENT not-json'],
    ['an array', { v2: encodeHeader([1]) }, 'PAYMENT-SIGNATURE not-an-object'],
    ['null', { v1: Buffer.from('null').toString('base64') }, 'X-PAYMENT not-an-object'],
    ['too much', { v2: v2({ extensions: { a: 'x'.repeat(HEADER_LENGTH_MAX) } }) }, 'PAYMENT-SIGNATURE too-long'],
    [
      'too many levels',
      { v2: Buffer.from(`{"a":${'['.repeat(2000)}${']'.repeat(2000)}}`).toString('base64') },
      'PAYMENT-SIGNATURE too-deep',
    ],
    ['the payload of version 1 in the header of 2', { v2: v1() }, 'PAYMENT-SIGNATURE not-a-payment'],
    ['the payload of version 2 in the header of 1', { v1: v2() }, 'X-PAYMENT not-a-payment'],
  ])('is refused where it is %s', (_, headers, fault) => {
    expect(faultOf(headers)).toBe(fault)
  })

  it.each([
    ['a number as value', { payload: { authorization: { value: 20000 } } }],
    ['a signed value', { payload: { authorization: { value: '-1' } } }],
    ['a value in hex', { payload: { authorization: { value: '0x4e20' } } }],
    ['leading zeros', { payload: { authorization: { value: '020000' } } }],
    ['a value beyond uint256', { payload: { authorization: { value: (2n ** 256n).toString() } } }],
    ['a number as time', { payload: { authorization: { validBefore: 1795165300 } } }],
    ['a short address', { payload: { authorization: { from: '0x1234' } } }],
    ['an upper-case 0X', { payload: { authorization: { from: authorization.from.replace('0x', '0X') } } }],
    ['a list as address', { payload: { authorization: { to: [seller.payTo] } } }],
    ['a short nonce', { payload: { authorization: { nonce: '0x00' } } }],
    ['no nonce', { payload: { authorization: { nonce: undefined } } }],
    ['half a byte of signature', { payload: { signature: '0x123' } }],
    ['no signature', { payload: { signature: undefined } }],
    ['a signature without end', { payload: { signature: `0x${'00'.repeat(2049)}` } }],
    ['no authorization', { payload: { authorization: undefined } }],
    ['another kind of transfer', { payload: { authorization: undefined, permit2Authorization: {} } }],
    ['no payload', { payload: undefined }],
    ['a text as version', { x402Version: '2' }],
    ['no accepted offer', { accepted: undefined }],
    ['a number as amount', { accepted: { amount: 20000 } }],
    ['a text as resource', { resource: URL_ASKED }],
  ])('is refused where it has %s', (_, change) => {
    expect(faultOf({ v2: v2(change) })).toBe('PAYMENT-SIGNATURE not-a-payment')
  })

  it('is not looked for in what an object inherits', () => {
    const hidden = Buffer.from(`{"x402Version":2,"__proto__":${JSON.stringify(payloadV2())}}`).toString('base64')
    expect(faultOf({ v2: hidden })).toBe('PAYMENT-SIGNATURE not-a-payment')
  })

  it('is an outcome for every text', () => {
    const json = fc.json().map((text) => Buffer.from(text).toString('base64'))
    const any = fc.oneof(fc.string(), fc.base64String(), json)
    fc.assert(
      fc.property(any, any, (a, b) => {
        expect(['none', 'malformed']).toContain(decodePayment({ v1: a, v2: b }).kind)
      }),
    )
  })
})
