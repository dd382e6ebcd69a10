import { expect, it } from 'vitest'
import { ordersOf } from './past-orders.ts'

const day = (month: number, date: number): number => Date.UTC(2026, month - 1, date) * 1_000
const NOW = day(3, 10) + 7 * 3_600_000_000
const asked = { assets: ['btc', 'eth'], archives: true }

it('orders the last days, today among them, or those that are named, of each asset', () => {
  const order = { archives: true, time: NOW }
  expect(ordersOf({ ...asked, days: 3 }, NOW)).toEqual([
    { ...order, asset: 'btc', from: day(3, 8), to: day(3, 11) },
    { ...order, asset: 'eth', from: day(3, 8), to: day(3, 11) },
  ])
  const named = { assets: ['btc'], archives: true, from: day(1, 5) + 1, to: day(1, 8) + 1 }
  expect(ordersOf(named, NOW)).toEqual([{ ...order, asset: 'btc', from: day(1, 5), to: day(1, 8) }])
})

it.each([
  { days: 3, from: day(1, 1) },
  { days: 0 },
  { days: 1.5 },
  { from: day(1, 1), to: day(1, 1) },
  { from: NOW + 86_400e6 },
  { from: 0 },
])('refuses %j with a word', (wrong) => {
  expect(ordersOf({ ...asked, ...wrong }, NOW)).toMatch(/days|from/)
})
