import { expect, it } from 'vitest'
import { scaledBase } from './multiplier.ts'

it.each([
  ['BTC', 'BTC', 1],
  ['1000PEPE', 'PEPE', 1000],
  ['SHIB1000', 'SHIB', 1000],
  ['10000SATS', 'SATS', 10_000],
  ['1000000MOG', 'MOG', 1_000_000],
  ['1MBABYDOGE', 'BABYDOGE', 1_000_000],
  ['1000X', 'X', 1000],
  ['1INCH', '1INCH', 1],
  ['0G', '0G', 1],
  ['2Z', '2Z', 1],
  ['4', '4', 1],
  ['42', '42', 1],
  ['1000', '1000', 1],
  ['API3', 'API3', 1],
  ['BANANAS31', 'BANANAS31', 1],
  ['C98', 'C98', 1],
  ['LUNA2', 'LUNA2', 1],
  ['USD1', 'USD1', 1],
  ['SPX6900', 'SPX6900', 1],
  ['10001000', '10001000', 1],
  ['币安人生', '币安人生', 1],
])('%s is %s, %d of it', (ticker, base, factor) => {
  expect(scaledBase(ticker)).toEqual({ base, factor })
})
