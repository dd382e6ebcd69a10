import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hostsOf } from '../../../schemas/venues.ts'
import { bybit } from './bybit/venue.ts'
import { coinbase } from './coinbase/venue.ts'
import { kraken } from './kraken/venue.ts'
import { okx } from './okx/venue.ts'
import type { Fact, FactRow } from './events.ts'
import type { RestAnswer } from './venue.ts'

const now = Date.UTC(2026, 10, 20)
const ms = String(now - 60_000)
const iso = '2026-11-19T23:59:00.000000Z'
const linear = {
  symbol: 'BTCUSDT',
  markPrice: '65117.4',
  fundingRate: '-0.0001',
  nextFundingTime: ms,
  openInterest: '5.1',
}
const contract = { symbol: 'BTCUSDT', contractType: 'LinearPerpetual', settleCoin: 'USDT', fundingInterval: 480 }
const limits = { riskLimitValue: '1000', maintenanceMargin: '0.005', initialMargin: '0.01', maxLeverage: '100' }
const swap = { instId: 'BTC-USDT-SWAP', instType: 'SWAP', ts: ms, px: '1' }

/** Frames and bodies as the venues write them, to be damaged. */
const samples: readonly unknown[] = [
  { topic: 'tickers.BTCUSDT', type: 'delta', ts: now, data: { ...linear, lastPrice: '1', price24hPcnt: '0.1' } },
  { topic: 'allLiquidation.A', ts: now, data: [{ T: now, s: 'A', S: 'Buy', v: '1', p: '2' }] },
  { retCode: 0, time: now, result: { list: [{ ...linear, lastPrice: '1', volume24h: '3', deliveryTime: '0' }] } },
  { retCode: 0, result: { symbol: 'BTCUSDT', list: [[ms, '1', '2', '1', '2', '0.5', '1']] } },
  { retCode: 0, result: { list: [{ symbol: 'BTCUSDT', fundingRate: '0.1', fundingRateTimestamp: ms, ...limits }] } },
  { retCode: 0, result: { list: [{ ...contract, upperFundingRate: '0.1', leverageFilter: { maxLeverage: '9' } }] } },
  { arg: { channel: 'tickers' }, data: [{ ...swap, instType: 'SPOT', bidPx: '1', last: '2', open24h: '1' }] },
  { arg: { channel: 'mark-price' }, data: [{ ...swap, markPx: '1' }] },
  { arg: { channel: 'funding-rate' }, data: [{ ...swap, fundingRate: '0.1', fundingTime: ms }] },
  {
    arg: { channel: 'liquidation-orders' },
    data: [{ ...swap, details: [{ side: 'buy', bkPx: '1', sz: '2', ts: ms }] }],
  },
  {
    code: '0',
    data: [{ ...swap, markPx: '1', oi: '2', idxPx: '3', premium: '-0.1', realizedRate: '0.1', fundingTime: ms }],
  },
  { code: '0', data: [[ms, '1', '2', '1', '2', '0.5', '1', '1', '1']] },
  { code: '0', data: [[ms, '1.17']] },
  { type: 'ticker', product_id: 'BTC-USD', price: '1', open_24h: '2', best_bid: '1', volume_24h: '3', time: iso },
  { products: [{ product_id: 'BTC-USD', quote_currency_id: 'USD', price: '1', price_percentage_change_24h: '-1' }] },
  [[now / 1_000 - 60, 1, 2, 1, 2, 0.5]],
  { channel: 'ticker', data: [{ symbol: 'BTC/USD', bid: 1, ask: 2, last: 1e-7, change_pct: -1, timestamp: iso }] },
  { method: 'subscribe', success: true, result: { symbol: 'BTC/USD' }, req_id: 1 },
  { error: [], result: { 'BTC/USD': { a: ['1'], b: ['1'], c: ['1'], v: ['1', '2'] } } },
  { error: [], result: { XXBTZUSD: [[now / 1_000 - 60, '1', '2', '1', '2', '1', '0.5', 3]], last: 1 } },
]

/** A value with some part of it replaced by anything. */
function damaged(value: unknown): fc.Arbitrary<unknown> {
  const anything = fc.oneof(fc.jsonValue(), fc.constantFrom('', '0', '-1', 'NaN', '1e400', '9'.repeat(40), -1, 1e300))
  if (typeof value !== 'object' || value === null)
    return fc.oneof({ weight: 4, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: anything })
  if (Array.isArray(value)) return fc.tuple(...value.map(damaged))
  return fc.record(Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, damaged(inner)])))
}

const anyBody = fc.oneof(...samples.map(damaged), fc.jsonValue(), fc.constant(undefined))
const anyText = fc.oneof(
  anyBody.map((body) => JSON.stringify(body) ?? ''),
  fc.string(),
)

function factsIn(answer: RestAnswer<FactRow> | undefined): Fact[] {
  return answer?.kind === 'rows' ? answer.rows.filter((row) => 'kind' in row) : []
}

/** What of a fact cannot be: a number that is none, a time that is not of our days, an endless text. */
function absurd(value: unknown, name = ''): string[] {
  if (typeof value === 'number' && ['time', 'minute', 'next'].includes(name)) return value > 1e15 ? [] : [name]
  if (typeof value === 'number') return Number.isFinite(value) ? [] : [name]
  if (typeof value === 'string') return value.length < 120 ? [] : [name]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([inner, of]) => absurd(of, inner))
}

describe.each([bybit, okx, coinbase, kraken])('what $name says', (source) => {
  it('never throws and never makes an absurd fact, whatever a stream brings', () => {
    let facts = 0
    fc.assert(
      fc.property(anyText, (text) => {
        const events = source.streams.flatMap((stream) => stream.parse(text))
        const found = events.flatMap((event) => (event.kind === 'fact' ? [event.fact] : []))
        facts += found.length
        expect(absurd(found)).toEqual([])
      }),
      { numRuns: 2_000 },
    )
    expect(facts).toBeGreaterThan(0)
  })

  it('never throws and never makes an absurd fact, whatever an answer is', () => {
    let facts = 0
    fc.assert(
      fc.property(anyBody, fc.constantFrom('BTCUSDT', 'BTC-USDT-SWAP'), (body, symbol) => {
        const answers = source.polls.map((poll) => poll.parse(symbol, body, now))
        const found = [...answers, source.candles?.parse(symbol, 60, body, now)].flatMap(factsIn)
        facts += found.length
        expect(absurd(found)).toEqual([])
        for (const { listing } of source.listings) {
          listing.parse(body)
          listing.prices?.parse(body)
        }
      }),
      { numRuns: 2_000 },
    )
    expect(facts).toBeGreaterThan(0)
  })

  it('is asked for on hosts that are known, within budgets that are', () => {
    for (const { host } of source.streams) expect(hostsOf(source.name)[host]).toMatch(/^wss:/)
    const lookup = source.candles === undefined ? [] : [source.candles]
    for (const { host } of [...source.polls, ...source.listings, ...lookup]) {
      expect(hostsOf(source.name)[host]).toMatch(/^https:/)
      expect(source.budgets[host]?.refillPerSecond).toBeGreaterThan(0)
    }
  })

  it('is asked for under names of its own, at a cost', () => {
    for (const parts of [source.streams, source.polls]) {
      expect(new Set(parts.map(({ name }) => name)).size).toBe(parts.length)
    }
    for (const { path, cost } of source.polls.map((poll) => poll.call('BTC-USDT-SWAP', now))) {
      expect(path).toMatch(/^\/\S+$/)
      expect(cost).toBeGreaterThan(0)
    }
  })

  it('has a seed of the assets that are streamed from the start, whose symbols are read again', () => {
    for (const { listing } of source.listings) {
      expect(listing.seed.map(({ base }) => base)).toEqual(
        expect.arrayContaining(['BTC', 'ETH', 'SOL', 'XRP', 'BNB', 'DOGE', 'LINK', 'ARB']),
      )
      for (const row of listing.seed) expect(listing.fromSymbol(row.symbol)).toEqual(row)
    }
  })
})
