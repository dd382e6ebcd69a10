import { expect, it } from 'vitest'
import { orderKey, ordersOf, PastOrders } from './past-orders.ts'

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

it('keeps one span of the orders of an asset that touch, others apart, and none that was taken back', () => {
  const orders = new PastOrders()
  const take = (from: number, to: number): boolean => {
    const order = { asset: 'btc', from, to, archives: true, time: NOW }
    return orders.apply(orderKey(order), order)
  }
  for (let date = 4; date < 8; date++) take(day(3, date - 3), day(3, date))
  take(day(1, 1), day(1, 2))
  expect(orders.archivesOf('btc')).toMatchObject([
    { from: day(3, 1), to: day(3, 7) },
    { from: day(1, 1), to: day(1, 2) },
  ])
  expect(orders.candlesSince('btc')).toBe(day(1, 1))
  orders.apply(`order|btc|${day(1, 1)}|${day(1, 2)}`, null)
  expect([orders.archivesOf('btc'), orders.candlesSince('btc'), orders.assets.size]).toEqual([[], undefined, 0])
})

it('says so of an order that is too much, and takes it when there is room', () => {
  const orders = new PastOrders()
  const apply = (asset: string): boolean =>
    orders.apply(`order|${asset}|0|1`, { asset, from: day(1, 1), to: day(1, 2), archives: false, time: NOW })
  for (let count = 0; count < 10_000; count++) expect(apply(`a${count}`)).toBe(true)
  expect([apply('btc'), apply('a7')]).toEqual([false, true])
  orders.apply('order|a7|0|1', null)
  expect(apply('btc')).toBe(true)
})
