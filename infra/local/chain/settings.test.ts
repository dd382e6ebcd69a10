import { expect, it } from 'vitest'
import { localPayments } from './settings.ts'

const urls = { chain: 'http://127.0.0.1:8545', api: 'http://127.0.0.1:3000' }

it.each([
  ['http://127.0.0.1:4021', 'http://127.0.0.1:4021'],
  ['http://localhost:4021/x402', 'http://localhost:4021/x402'],
  ['https://x402.org/facilitator', ''],
  ['http://127.0.0.1.example.com', ''],
  ['', ''],
])('play money is settled by a facilitator of this machine, or by none: %s', (facilitator, url) => {
  expect(localPayments({ ...urls, facilitator })['PAYMENT_FACILITATOR_URL']).toBe(url)
})
