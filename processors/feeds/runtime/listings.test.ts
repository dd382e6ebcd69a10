import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLog } from '../../../infra/log.ts'
import { MemoryBroker, stillClock } from '../../kernel/testing/memory-log.ts'
import { localCodec } from '../../../schemas/codec.ts'
import { quietMeter, quietReport } from '../../kernel/quiet.ts'
import type { Listed, ListedPrice, RestAnswer, RestCall, RestOutcome } from '../venues/venue.ts'
import { InstrumentTable, type ListedMarket } from './instrument-table.ts'
import { Listings } from './listings.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const stops: (() => void)[] = []

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
})

afterEach(() => {
  for (const stop of stops.splice(0)) stop()
  vi.useRealTimers()
})

/** What a venue lists: symbols with their prices; null: not live. */
type Prices = Record<string, number | null>

/** A venue's market that can be changed, and how often its list was asked for. */
class FakeMarket {
  asked = 0
  prices: Prices
  readonly market: ListedMarket

  constructor(name: string, prices: Prices) {
    this.prices = prices
    const first = { path: '/list', cost: 1 }
    const priced = { path: '/prices', cost: 1 }
    const rows = (): Listed[] =>
      Object.entries(this.prices).map(([symbol, price]) => {
        const own = { base: symbol, quote: 'USDT', settle: 'USDT', sizeFactor: 1, priceFactor: 1, tick: null }
        return { symbol, ...own, live: price !== null }
      })
    const told = (): ListedPrice[] =>
      Object.entries(this.prices).flatMap(([symbol, price]) => (price === null ? [] : [{ symbol, price }]))
    const listing = {
      first,
      seed: [],
      fromSymbol: () => undefined,
      parse: () => ({ kind: 'rows' as const, rows: rows() }),
      prices: { first: priced, parse: () => ({ kind: 'rows' as const, rows: told() }) },
    }
    const get = <Row>(call: RestCall, parse: (body: unknown) => RestAnswer<Row>): Promise<RestOutcome<Row>> => {
      if (call === first) this.asked += 1
      const answer = parse(null)
      return Promise.resolve(answer.kind === 'rows' ? answer : { kind: 'failed', message: 'no rows' })
    }
    this.market = { name, market: 'perp', listing, rest: { get } }
  }
}

/** Gives the assets of a venue's live markets, and who is told that its lists have changed. */
async function start(...markets: FakeMarket[]) {
  const kafka = new MemoryBroker(stillClock).connect()
  const codec = localCodec()
  const lookUp = (): Promise<boolean> => Promise.resolve(false)
  const ports = { codec, lookUp, writer: kafka.writer(), meter: quietMeter, report: quietReport }
  const table = await InstrumentTable.read(kafka.reader(), ports)
  const log = createLog('test', { LOG_LEVEL: 'fatal' })
  const listings = new Listings(
    table,
    markets.map(({ market }) => market),
    HOUR,
    log,
    () => undefined,
  )
  stops.push(() => listings.stop())
  await listings.first()
  const live = (venue: string): string[] => [...table.of(venue, 'perp').keys()].toSorted()
  return { live, soon: (venue: string) => listings.soon(venue) }
}

it('compares a new market with prices of now, not with those of up to an hour ago', async () => {
  const [binance, bybit] = [new FakeMarket('binance', { NEW: 1 }), new FakeMarket('bybit', { OLD: 5 })]
  const { live, soon } = await start(binance, bybit)
  await vi.advanceTimersByTimeAsync(HOUR / 2)
  binance.prices = { NEW: 1.08 }
  bybit.prices = { OLD: 5, NEW: 1.08 }
  soon('bybit')
  await vi.advanceTimersByTimeAsync(MINUTE)
  expect(live('bybit')).toEqual(['new', 'old'])
})

const symbols = 'A B C D E F G H I J'.split(' ')
const assets = 'a b c d e f g h i j'.split(' ')
const ten = Object.fromEntries(symbols.map((symbol) => [symbol, 2]))

it('believes a list without many of the live markets when the next one is without them too', async () => {
  const binance = new FakeMarket('binance', ten)
  const { live } = await start(binance)
  binance.prices = { A: 2, B: 2 }
  await vi.advanceTimersByTimeAsync(HOUR)
  expect([binance.asked, live('binance')]).toEqual([2, assets])
  await vi.advanceTimersByTimeAsync(MINUTE)
  expect([binance.asked, live('binance')]).toEqual([3, ['a', 'b']])
})

it('goes on with its markets where a list was cut short once', async () => {
  const binance = new FakeMarket('binance', ten)
  const { live } = await start(binance)
  binance.prices = { A: 2, B: 2 }
  await vi.advanceTimersByTimeAsync(HOUR)
  binance.prices = ten
  await vi.advanceTimersByTimeAsync(MINUTE)
  expect(live('binance')).toEqual(assets)
})

it('asks each minute for an hour where many markets stopped, so that they are back soon', async () => {
  const binance = new FakeMarket('binance', ten)
  const { live } = await start(binance)
  binance.prices = Object.fromEntries(symbols.map((symbol) => [symbol, null]))
  await vi.advanceTimersByTimeAsync(HOUR)
  expect(live('binance')).toEqual([])
  await vi.advanceTimersByTimeAsync(20 * MINUTE)
  binance.prices = ten
  await vi.advanceTimersByTimeAsync(MINUTE)
  expect(live('binance')).toEqual(assets)
  await vi.advanceTimersByTimeAsync(HOUR)
  const { asked } = binance
  await vi.advanceTimersByTimeAsync(HOUR)
  expect(binance.asked - asked).toBe(1)
})

it('takes one market that is listed no longer at once', async () => {
  const binance = new FakeMarket('binance', ten)
  const { live } = await start(binance)
  const { J: _, ...rest } = ten
  binance.prices = rest
  await vi.advanceTimersByTimeAsync(HOUR)
  expect(live('binance')).toEqual(assets.slice(0, -1))
})
