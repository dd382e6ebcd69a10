import { describe, expect, it } from 'vitest'
import { obstacles, type Found } from './readiness.ts'
import type { Terms } from './terms.ts'
import { networks } from './wire/offer.ts'

const [base] = networks
if (base === undefined) throw new Error('no networks')
const terms: Terms = {
  mode: 'x402',
  seller: {
    network: base,
    asset: base.usdc.address,
    assetName: base.usdc.name,
    assetVersion: base.usdc.version,
    payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
    maxTimeoutSeconds: 300,
  },
  rpcUrl: 'https://node.example.com',
  facilitatorUrl: undefined,
  publicUrl: 'https://api.example.com',
  settleMs: 20_000,
}
const token = { name: 'USD Coin', version: '2', decimals: 6 }
const wallet = { address: '0x1111111111111111111111111111111111111111', wei: 1_000n }
const good: Found = { chainId: 8_453, token, wallet }

describe('a network', () => {
  it('that is as the settings say stands in no way, with a facilitator in place of a wallet too', () => {
    expect(obstacles(terms, good, 1_000n)).toEqual([])
    expect(obstacles(terms, { ...good, wallet: null }, 1_000n)).toEqual([])
  })

  it.each<[string, Found, RegExp]>([
    ['is another chain', { ...good, chainId: 84_532 }, /leads to chain 84532, PAYMENT_CHAIN_ID says 8453/],
    ['has no token there', { ...good, token: null }, /no contract at PAYMENT_ASSET/],
    [
      'has a token of another name',
      { ...good, token: { ...token, name: 'USDC' } },
      /name as "USDC".*PAYMENT_ASSET_NAME/,
    ],
    ['has a token without a version', { ...good, token: { ...token, version: null } }, /version as null/],
    ['has a token of other decimals', { ...good, token: { ...token, decimals: 18 } }, /has 18 decimals/],
    ['has no gas for us', { ...good, wallet: { ...wallet, wei: 999n } }, /has 999 wei for gas.*send it ether/],
    [
      'would be paid for by a wallet that everybody can empty',
      { ...good, wallet: { address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', wei: 10n ** 18n } },
      /public development key/,
    ],
  ])('that %s is refused', (_what, found, message) => {
    expect(obstacles(terms, found, 1_000n)).toEqual([expect.stringMatching(message)])
  })

  it('of play money may use the keys that everybody knows', () => {
    const dev = { address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', wei: 1_000n }
    expect(obstacles({ ...terms, mode: 'local' }, { ...good, wallet: dev }, 1_000n)).toEqual([])
  })
})
