import type { PrivateKeyAccount } from 'viem/accounts'
import { authorizationTypes } from '../../processors/payments/wire/offer.ts'
import { encodeHeader } from '../../processors/payments/wire/headers.ts'
import type { Offer } from './offer.ts'

/** Clocks of nodes lag behind: valid from a while ago, as the official clients of version 1 do, seconds. */
const BACKDATED_SECONDS = 600

/** The request header that pays an offer: name and value. Whoever holds it can have it settled, to `payTo` only. */
export async function signPayment(
  offer: Offer,
  account: PrivateKeyAccount,
  at: { readonly nowSeconds: number; readonly nonce: `0x${string}` },
): Promise<readonly [name: string, value: string]> {
  const { network, asset, payTo, amount, token, version } = offer
  const validAfter = BigInt(at.nowSeconds - BACKDATED_SECONDS)
  const validBefore = BigInt(at.nowSeconds + offer.timeoutSeconds)
  const { nonce } = at
  const signature = await account.signTypedData({
    domain: { ...token, chainId: network.chainId, verifyingContract: asset },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: { from: account.address, to: payTo, value: amount, validAfter, validBefore, nonce },
  })
  const numbers = { value: String(amount), validAfter: String(validAfter), validBefore: String(validBefore) }
  const payload = { signature, authorization: { from: account.address, to: payTo, ...numbers, nonce } }
  if (version === 1)
    return ['X-PAYMENT', encodeHeader({ x402Version: 1, scheme: 'exact', network: network.v1, payload })]
  const { resource, accepted } = offer
  return ['PAYMENT-SIGNATURE', encodeHeader({ x402Version: 2, payload, resource, accepted })]
}
