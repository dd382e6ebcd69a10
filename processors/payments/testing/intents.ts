import { paymentId } from '../../../schemas/keys.ts'
import type { PaymentIntent } from '../../../schemas/records.ts'
import { networkOf, type Seller } from '../wire/offer.ts'

/** What the tests of this folder begin with. */

/** Seconds. */
export const NOW = 1_795_165_333

const network = networkOf(84_532)
if (network === undefined) throw new Error('the test network is in the table')

export const SELLER: Seller = {
  network,
  asset: network.usdc.address,
  assetName: network.usdc.name,
  assetVersion: network.usdc.version,
  payTo: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  maxTimeoutSeconds: 300,
}

const from = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const nonce = `0x${'79'.repeat(32)}`

/** Two cents for a request, as the interface writes it; the signature is none. */
export function intentOf(fields: Partial<PaymentIntent> = {}): PaymentIntent {
  return {
    payment_id: paymentId(SELLER.network.chainId, SELLER.asset, from, nonce),
    request_id: 'r',
    method: 'GET',
    route: '/cvd/:symbol',
    fingerprint: 'f',
    price: '20000',
    version: 2,
    chain_id: SELLER.network.chainId,
    asset: SELLER.asset.toLowerCase(),
    pay_to: SELLER.payTo.toLowerCase(),
    from,
    value: '20000',
    valid_after: 0,
    valid_before: NOW + 300,
    nonce,
    signature: `0x${'11'.repeat(64)}1b`,
    created: NOW * 1e6,
    purchase: null,
    credit: null,
    ...fields,
  }
}
