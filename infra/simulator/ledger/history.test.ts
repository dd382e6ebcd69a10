import fc from 'fast-check'
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { trimmedText } from '../market/text.ts'
import { type Market, simulatedMarkets } from '../market/markets.ts'
import { Random } from '../market/random.ts'
import { type Fill, numberedAfter, type Trade } from '../market/trade.ts'
import { baseText, bucketRows, History, ledgerRow } from './history.ts'
import { ROW_BYTES } from './rows.ts'

const START = 1_790_000_000_000_000
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'history-'))
})

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const fill: fc.Arbitrary<Omit<Fill, 'time'>> = fc.record({
  price: fc.integer({ min: 1, max: 1e8 }),
  size: fc.integer({ min: 1, max: 1e12 }),
  buy: fc.boolean(),
  fills: fc.integer({ min: 1, max: 9 }),
  block: fc.boolean(),
  rpi: fc.boolean(),
})

/** Fills as trades of `market`, a second apart. */
function trades(market: Market, fills: readonly Omit<Fill, 'time'>[], before?: Trade): Trade[] {
  const from = before === undefined ? START : before.time + 1_000_000
  const timed = fills.map((entry, index) => ({ ...entry, time: from + index * 1_000_000 }))
  return numberedAfter(before, market, timed, new Random(1))
}

function market(venue: string, asset: string): Market {
  const found = simulatedMarkets.find((candidate) => candidate.venue === venue && candidate.asset === asset)
  if (found === undefined) throw new Error(`no market of ${asset} at ${venue}`)
  return found
}

test.each(['binance', 'bybit', 'okx', 'coinbase'])('%s trades come back from disk as they were', (venue) => {
  fc.assert(
    fc.property(fc.array(fill, { minLength: 1, maxLength: 40 }), (fills) => {
      const place = mkdtempSync(join(folder, 'rows-'))
      const written = trades(market(venue, 'ETH'), fills)
      const history = new History(place, market(venue, 'ETH'), 7)
      for (const trade of written) history.append([trade])
      expect(history.rows.read(0, written.length)).toEqual(written)
      history.close()
      const again = new History(place, market(venue, 'ETH'), 7)
      expect(again.rows.read(0, written.length)).toEqual(written)
      expect(again.tail).toEqual(written.at(-1))
      again.close()
    }),
    { numRuns: 15 },
  )
})

test('the ledger begins where a market is first subscribed and is the same after a restart', () => {
  fc.assert(
    fc.property(fc.array(fill, { maxLength: 30 }), fc.array(fill, { maxLength: 30 }), (early, late) => {
      const place = mkdtempSync(join(folder, 'ledger-'))
      const okx = market('okx', 'BTC')
      const history = new History(place, okx, 11)
      const before = trades(okx, early)
      history.append(before)
      history.enter()
      const after = trades(okx, late, before.at(-1))
      for (const trade of after) history.append([trade])
      const counted = after.filter(({ block }) => !block)
      const sum = (buy: boolean): bigint =>
        counted.filter((trade) => trade.buy === buy).reduce((total, { size }) => total + BigInt(size), 0n)
      const expected = {
        venue: 'okx',
        symbol: 'BTC',
        instrument: 'BTC-USDT-SWAP',
        trades: counted.length,
        // Two decimals of a contract, and a contract is a hundredth of a coin.
        buy_volume: trimmedText(sum(true), 4),
        sell_volume: trimmedText(sum(false), 4),
        first_id: counted[0]?.id ?? null,
        last_id: counted.at(-1)?.id ?? null,
        // A millisecond after the last trade before it was subscribed.
        begin_time: before.length === 0 ? 0 : (before.at(-1)?.time ?? 0) + 1_000,
      }
      expect(ledgerRow(okx, history.ledger(), history.beginTime)).toEqual(expected)
      history.close()
      const again = new History(place, okx, 11)
      again.enter()
      expect(ledgerRow(okx, again.ledger(), again.beginTime)).toEqual(expected)
      again.close()
    }),
    { numRuns: 25 },
  )
})

test.each([
  ['binance', 'PEPE', 5n, '5000'],
  ['binance', 'BTC', 5n, '0.005'],
  ['bybit', 'SHIB', 12n, '12000'],
  ['okx', 'PEPE', 25n, '25000000'],
  ['okx', 'BTC', 101n, '0.0101'],
  ['coinbase', 'BTC', 1n, '0.00000001'],
])('%s %s: %s units of size are %s of the base', (venue, asset, units, text) => {
  expect(baseText(market(venue, asset), units)).toBe(text)
})

test('the ledger of a time range holds the trades of both its ends', () => {
  const coinbase = market('coinbase', 'ETH')
  const history = new History(join(folder, 'range'), coinbase)
  history.enter()
  const all = trades(
    coinbase,
    Array.from({ length: 10 }, () => ({ price: 1, size: 1, buy: true, fills: 1, block: false, rpi: false })),
  )
  history.append(all)
  const [from, to] = [all[2]?.time ?? 0, all[5]?.time ?? 0]
  expect(history.ledger(from, to)).toMatchObject({ trades: 4, first: all[2]?.id, last: all[5]?.id })
  expect(history.ledger(from + 1, to - 1).trades).toBe(2)
  expect(history.ledger(undefined, from).trades).toBe(3)
  expect(history.ledger(from + 1).trades).toBe(7)
  expect(history.ledger(all[0]?.time)).toEqual(history.ledger())
  history.close()
})

test.each([
  // Prices of 1000 coins, of which a unit of size is 1000; a tenth of a contract of ten million coins at the price of one coin.
  ['binance', 'PEPE', { buy_volume: 5_000, buy_quote: 0.0000015 }],
  ['okx', 'PEPE', { buy_volume: 5e6, buy_quote: 0.0015 }],
  ['coinbase', 'BTC', { buy_volume: 5e-8, buy_quote: 1.5e-8 }],
])('%s %s: the ledger by ten seconds tells base and quote volumes', (venue, asset, expected) => {
  const own = market(venue, asset)
  const history = new History(join(folder, 'buckets'), own)
  history.enter()
  const one = { price: 3, size: 5, buy: true, fills: 1, block: false, rpi: false }
  history.append(trades(own, [one, { ...one, buy: false }, { ...one, block: true }, one]))
  const step = 10_000_000
  const [first] = bucketRows(own, history.buckets(step, START + 1, START + step - 1))
  expect(first).toMatchObject({ bucket: START, trades: 2 })
  expect(first).toMatchObject(expected)
  const price = expected.buy_quote / expected.buy_volume
  expect([(first?.low ?? NaN) / price, (first?.high ?? NaN) / price]).toEqual([expect.closeTo(1), expect.closeTo(1)])
  expect(bucketRows(own, history.buckets(1_000_000)).map(({ bucket }) => bucket - START)).toEqual([0, 1e6, 3e6])
  history.close()
})

test('a range of a venue that writes milliseconds goes by what it writes', () => {
  const bybit = market('bybit', 'ETH')
  const history = new History(join(folder, 'range-ms'), bybit)
  history.enter()
  const orders = Array.from({ length: 3 }, () => ({ price: 1, size: 1, buy: true, fills: 1, block: false, rpi: false }))
  const times = [1_790_000_000_000_999, 1_790_000_000_001_000, 1_790_000_000_001_999]
  history.append(trades(bybit, orders).map((trade, index) => ({ ...trade, time: times[index] ?? 0 })))
  expect(history.ledger(1_790_000_000_001_000, 1_790_000_000_001_000).trades).toBe(2)
  expect(history.ledger(1_790_000_000_000_000, 1_790_000_000_000_000).trades).toBe(1)
  history.close()
})

test('a row that a crash cut in half is taken off', () => {
  const binance = market('binance', 'BTC')
  const place = join(folder, 'cut')
  const history = new History(place, binance)
  const written = trades(
    binance,
    Array.from({ length: 3 }, () => ({ price: 1, size: 1, buy: true, fills: 1, block: false, rpi: false })),
  )
  history.append(written)
  history.close()
  const file = readdirSync(place).find((name) => name.endsWith('.rows')) ?? ''
  appendFileSync(join(place, file), Buffer.alloc(ROW_BYTES - 1))
  const again = new History(place, binance)
  expect(again.rows.end).toBe(3)
  again.append(trades(binance, [{ price: 2, size: 2, buy: false, fills: 1, block: false, rpi: false }], written.at(-1)))
  expect(again.rows.read(0, 9).map(({ id }) => id - (written[0]?.id ?? 0))).toEqual([0, 1, 2, 3])
  again.close()
})

test('old files are dropped, and the ledger keeps what was in them', () => {
  const binance = market('binance', 'BTC')
  const place = join(folder, 'old')
  const history = new History(place, binance, 10)
  history.enter()
  const one = { price: 1, size: 1, buy: true, fills: 1, block: false, rpi: false }
  const hour = 3_600_000_000
  let last: Trade | undefined
  for (let count = 0; count < 100; count += 1) {
    const [trade] = numberedAfter(last, binance, [{ ...one, time: START + count * hour }], new Random(1))
    if (trade !== undefined) history.append([trade])
    last = trade
  }
  expect(history.rows.begin).toBeGreaterThan(50)
  expect(history.ledger().trades).toBe(100)
  history.close()
  const again = new History(place, binance, 10)
  expect(again.ledger()).toMatchObject({ trades: 100, buy: 100n })
  again.close()
})

test('minute candles hold exactly what traded, also after a restart', () => {
  fc.assert(
    fc.property(fc.array(fill, { minLength: 1, maxLength: 200 }), (fills) => {
      const place = mkdtempSync(join(folder, 'candles-'))
      const bybit = market('bybit', 'SOL')
      const all = trades(bybit, fills)
      const history = new History(place, bybit)
      history.append(all.slice(0, all.length / 2))
      history.close()
      const again = new History(place, bybit)
      again.append(all.slice(all.length / 2))
      const candles = again.candles.every(60_000, 0, Number.MAX_SAFE_INTEGER)
      const taken = all.filter(({ block }) => !block)
      const sum = (buy: boolean): number =>
        taken.filter((trade) => trade.buy === buy).reduce((total, { size }) => total + size, 0)
      expect(candles.reduce((total, { buy }) => total + buy, 0)).toBe(sum(true))
      expect(candles.reduce((total, { sell }) => total + sell, 0)).toBe(sum(false))
      expect(candles.reduce((total, { count }) => total + count, 0)).toBe(taken.length)
      expect(candles[0]?.open).toBe(taken[0]?.price)
      expect(candles.at(-1)?.close).toBe(taken.at(-1)?.price)
      again.close()
    }),
    { numRuns: 20 },
  )
})
