import { describe, expect, it } from 'vitest'
import { readTerms, type TermsConfig } from './terms.ts'

const PAY_TO = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'

const real: TermsConfig = {
  MODE: 'live',
  PAYMENTS: 'x402',
  PAYMENT_RPC_URL: 'https://node.example.com/key',
  PAYMENT_CHAIN_ID: 8_453,
  PAYMENT_ASSET: '',
  PAYMENT_ASSET_NAME: '',
  PAYMENT_ASSET_VERSION: '',
  PAYMENT_PAY_TO: PAY_TO,
  PAYMENT_FACILITATOR_URL: '',
  PAYMENT_PUBLIC_URL: 'https://api.example.com/',
  PAYMENT_SETTLE_SECONDS: 20,
}
const local: TermsConfig = {
  ...real,
  MODE: 'demo',
  PAYMENTS: 'local',
  PAYMENT_CHAIN_ID: 84_532,
  PAYMENT_RPC_URL: 'http://127.0.0.1:8545',
}

const problems = async (config: TermsConfig): Promise<readonly string[]> => {
  const read = await readTerms(config)
  return read.is === 'wrong' ? read.problems : []
}

describe('the terms of payment', () => {
  it('are none where payments are off, whatever else is set', async () => {
    expect(await readTerms({ ...real, PAYMENTS: 'off', PAYMENT_PAY_TO: 'nonsense' })).toEqual({ is: 'off' })
  })

  it('ask for the USDC of the network under its own name', async () => {
    expect(await readTerms(real)).toMatchObject({
      is: 'on',
      terms: {
        mode: 'x402',
        seller: { asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', assetName: 'USD Coin', payTo: PAY_TO },
        publicUrl: 'https://api.example.com',
        facilitatorUrl: undefined,
        settleMs: 20_000,
      },
    })
    expect(await readTerms(local)).toMatchObject({ is: 'on', terms: { mode: 'local', seller: { assetName: 'USDC' } } })
  })

  it('show an address with its checksum, however it was written', async () => {
    const read = await readTerms({ ...real, PAYMENT_PAY_TO: PAY_TO.toLowerCase() })
    expect(read).toMatchObject({ terms: { seller: { payTo: PAY_TO } } })
  })

  it.each<[string, TermsConfig, RegExp]>([
    ['real money for a demo', { ...real, MODE: 'demo' }, /^a demo takes no real payments/],
    ['real money for a tape', { ...real, MODE: 'tape' }, /^a tape takes no real payments/],
    ['real money without a public address', { ...real, PAYMENT_PUBLIC_URL: '' }, /PAYMENT_PUBLIC_URL must be/],
    [
      'real money for an address whose key everybody knows',
      { ...real, PAYMENT_PAY_TO: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' },
      /development address/,
    ],
    [
      'play money on a network',
      { ...local, PAYMENT_RPC_URL: 'https://sepolia.base.org' },
      /must be a loopback address/,
    ],
    ['play money on Base', { ...local, PAYMENT_CHAIN_ID: 8_453 }, /is Base, for PAYMENTS=x402/],
    ['a chain that nobody has heard of', { ...real, PAYMENT_CHAIN_ID: 1 }, /one of 8453, 84532/],
    ['nobody to pay', { ...real, PAYMENT_PAY_TO: '' }, /PAYMENT_PAY_TO must be the address/],
    ['an address with one wrong letter', { ...real, PAYMENT_PAY_TO: PAY_TO.replace('Bc', 'bc') }, /right checksum/],
    ['the zero address', { ...real, PAYMENT_PAY_TO: `0x${'0'.repeat(40)}` }, /zero address/],
    ['another token without its name', { ...real, PAYMENT_ASSET: PAY_TO }, /PAYMENT_ASSET_NAME and/],
    ['no node', { ...real, PAYMENT_RPC_URL: '' }, /PAYMENT_RPC_URL must be/],
    ['a facilitator that is no address', { ...real, PAYMENT_FACILITATOR_URL: 'ftp://x' }, /PAYMENT_FACILITATOR_URL/],
    ['an hour’s wait', { ...real, PAYMENT_SETTLE_SECONDS: 3_600 }, /from 1 to 120/],
  ])('refuse %s', async (_what, config, message) => {
    expect(await problems(config)).toEqual([expect.stringMatching(message)])
  })

  it('never show the address of the node, which may hold a key', async () => {
    const told = await problems({ ...local, PAYMENT_RPC_URL: 'https://node.example.com/hush' })
    expect(told.join()).not.toContain('hush')
  })
})
