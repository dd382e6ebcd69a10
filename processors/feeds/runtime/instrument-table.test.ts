import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLog } from '../../../infra/log.ts'
import type { Instrument } from '../../../schemas/records.ts'
import { testTask } from '../../kernel/testing/task.ts'
import { FactBook } from '../facts/fact-book.ts'
import type { VenueMarkets } from '../venues/instruments.ts'
import type { Listed, ListedPrice, Listing, RestAnswer, RestCall, RestOutcome } from '../venues/venue.ts'
import { InstrumentTable, type ListedMarket } from './instrument-table.ts'
import { Listings } from './listings.ts'

const logger = createLog('test', { LOG_LEVEL: 'fatal' })
const hour = 3_600_000

function row(symbol: string, base: string, quote = 'USDT'): Listed {
  return { symbol, base, quote, settle: quote, sizeFactor: 1, priceFactor: 1, tick: null, live: true }
}

/** A venue whose lists are what the test says at each call; `failed`: it does not answer. */
function market(name: string, list: () => Listed[], prices: () => ListedPrice[] | 'failed'): ListedMarket {
  const calls: Record<string, () => Listed[] | ListedPrice[] | 'failed'> = { '/list': list, '/prices': prices }
  const rest = {
    get: <Row>({ path }: RestCall, parse: (body: unknown) => RestAnswer<Row>): Promise<RestOutcome<Row>> => {
      const told = calls[path]?.()
      const answer = told === 'failed' ? undefined : parse(told)
      return Promise.resolve(answer?.kind === 'rows' ? answer : { kind: 'limited', waitMs: 10_000 })
    },
  }
  const rows = <Row>(body: unknown): RestAnswer<Row> => ({ kind: 'rows', rows: body as Row[] })
  const listing: Listing = {
    first: { path: '/list', cost: 1 },
    parse: rows,
    seed: [],
    fromSymbol: () => undefined,
    prices: { first: { path: '/prices', cost: 1 }, parse: rows },
  }
  return { name, market: 'perp', listing, rest }
}

async function emptyTable(): Promise<InstrumentTable> {
  const { ports } = testTask()
  return InstrumentTable.read(ports.reader, { ...ports, writer: ports.log.writer() })
}

function assetsOf(table: InstrumentTable, ...venues: string[]): string[] {
  return venues.map((venue) => [...table.of(venue, 'perp').keys()].join(' '))
}

const wif = (price: number) => [{ symbol: 'WIFUSDT', price }]

describe('a market whose price is not told', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('is asked for again a minute later where the list of prices failed, and then joins its asset', async () => {
    let binance: ListedPrice[] | 'failed' = 'failed'
    const table = await emptyTable()
    const list = (): Listed[] => [row('WIFUSDT', 'WIF')]
    const markets = [market('binance', list, () => binance), market('bybit', list, () => wif(0.5))]
    const listings = new Listings(table, markets, hour, logger, () => undefined)
    await listings.first()
    expect(assetsOf(table, 'binance', 'bybit')).toEqual(['', 'wif'])
    binance = wif(0.501)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(assetsOf(table, 'binance', 'bybit')).toEqual(['wif', 'wif'])
    listings.stop()
  })

  it('is compared by the prices that its venue told before', async () => {
    let binance: ListedPrice[] | 'failed' = wif(0.5)
    let bybit: Listed[] = [row('XUSDT', 'X')]
    const table = await emptyTable()
    const list = (): Listed[] => [row('WIFUSDT', 'WIF')]
    const markets = [
      market('binance', list, () => binance),
      market(
        'bybit',
        () => bybit,
        () => wif(0.5),
      ),
    ]
    const listings = new Listings(table, markets, hour, logger, () => undefined)
    await listings.first()
    binance = 'failed'
    bybit = list()
    await vi.advanceTimersByTimeAsync(hour)
    expect(assetsOf(table, 'binance', 'bybit')).toEqual(['wif', 'wif'])
    listings.stop()
  })

  it('is told of once as long as it waits, and asked about at each listing', async () => {
    let bybit: ListedPrice[] = []
    const warn = vi.spyOn(logger, 'warn')
    const table = await emptyTable()
    const list = (): Listed[] => [row('WIFUSDT', 'WIF')]
    const markets = [market('binance', list, () => wif(0.5)), market('bybit', list, () => bybit)]
    const listings = new Listings(table, markets, hour, logger, () => undefined)
    await listings.first()
    await vi.advanceTimersByTimeAsync(3 * hour)
    expect(assetsOf(table, 'binance', 'bybit')).toEqual(['wif', ''])
    expect(warn.mock.calls).toMatchObject([[{ doubt: { instrument: 'bybit:perp:WIFUSDT', expected: 'wif' } }, /price/]])
    bybit = wif(0.5)
    await vi.advanceTimersByTimeAsync(hour)
    expect(assetsOf(table, 'binance', 'bybit')).toEqual(['wif', 'wif'])
    listings.stop()
  })
})

/** Prices of what is live by symbol, which is the base too; null: it is listed and not live. */
type Told = Record<string, number | null>

describe('a list that changes', () => {
  const minute = 60_000
  const told: Record<string, Told> = {}
  let asked = 0
  let listings: Listings
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    listings.stop()
    vi.useRealTimers()
  })

  /** Gives the assets of a venue's live markets. */
  async function start(begin: Record<string, Told>): Promise<(venue: string) => string> {
    Object.assign(told, begin)
    asked = 0
    const table = await emptyTable()
    const markets = Object.keys(begin).map((venue) => {
      const rows = (): [string, number | null][] => Object.entries(told[venue] ?? {})
      const list = (): Listed[] => {
        asked += 1
        return rows().map(([symbol, price]) => ({ ...row(symbol, symbol), live: price !== null }))
      }
      return market(venue, list, () => rows().flatMap(([symbol, price]) => (price === null ? [] : [{ symbol, price }])))
    })
    listings = new Listings(table, markets, hour, logger, () => undefined)
    await listings.first()
    return (venue) => [...table.of(venue, 'perp').keys()].toSorted().join('')
  }

  const all = (price: number | null): Told =>
    Object.fromEntries('A B C D E F G H I J'.split(' ').map((symbol) => [symbol, price]))

  it('has its new markets compared with prices of now, not of up to an hour ago', async () => {
    const live = await start({ binance: { NEW: 1 }, bybit: {} })
    await vi.advanceTimersByTimeAsync(hour / 2)
    Object.assign(told, { binance: { NEW: 1.08 }, bybit: { NEW: 1.08 } })
    listings.soon('bybit')
    await vi.advanceTimersByTimeAsync(minute)
    expect(live('bybit')).toBe('new')
  })

  it('is believed without many of the live markets when the next one is without them too', async () => {
    const live = await start({ binance: all(2) })
    told['binance'] = { A: 2, B: 2 }
    await vi.advanceTimersByTimeAsync(hour)
    expect([asked, live('binance')]).toEqual([2, 'abcdefghij'])
    await vi.advanceTimersByTimeAsync(minute)
    expect([asked, live('binance')]).toEqual([3, 'ab'])
  })

  it('is not believed where it was cut short once', async () => {
    const live = await start({ binance: all(2) })
    told['binance'] = { A: 2, B: 2 }
    await vi.advanceTimersByTimeAsync(hour)
    told['binance'] = all(2)
    await vi.advanceTimersByTimeAsync(minute)
    expect(live('binance')).toBe('abcdefghij')
  })

  it('is asked for each minute of an hour where many markets stopped, so that they are back soon', async () => {
    const live = await start({ binance: all(2) })
    told['binance'] = all(null)
    await vi.advanceTimersByTimeAsync(hour)
    expect(live('binance')).toBe('')
    await vi.advanceTimersByTimeAsync(20 * minute)
    told['binance'] = all(2)
    await vi.advanceTimersByTimeAsync(minute)
    expect(live('binance')).toBe('abcdefghij')
    await vi.advanceTimersByTimeAsync(hour)
    asked = 0
    await vi.advanceTimersByTimeAsync(hour)
    expect(asked).toBe(1)
  })

  it('is believed at once where it lost one market', async () => {
    const live = await start({ binance: all(2) })
    told['binance'] = { ...all(2), J: null }
    await vi.advanceTimersByTimeAsync(hour)
    expect(live('binance')).toBe('abcdefghi')
  })
})

describe('of several spot markets of an asset', () => {
  const now = 1_790_000_000_000_000
  const pairs = (...quotes: string[]): VenueMarkets => {
    const rows = quotes.map((quote) => row(`ARB${quote}`, 'ARB', quote))
    return { venue: 'bybit', market: 'spot', source: 'venue', rows, prices: [] }
  }

  it('the first of its venue’s quotes stands for it, whatever the order of the list', async () => {
    const table = await emptyTable()
    await table.update([pairs('USDC', 'USDT')], now)
    expect(table.of('bybit', 'spot').get('arb')?.symbol).toBe('ARBUSDT')
  })

  it('it takes the place of one that stood for it before, which is told to have ended', async () => {
    const table = await emptyTable()
    const book = new FactBook({ record: () => undefined, clamped: () => undefined })
    const list = (): Instrument[] => book.list('bybit', 'spot', table.of('bybit', 'spot').values())
    await table.update([pairs('USDC')], now)
    list()
    await table.update([pairs('USDC', 'USDT')], now)
    expect(list()).toMatchObject([{ symbol: 'ARBUSDC' }])
    expect([...book.of('bybit', 'spot')].map(({ instrument }) => instrument.symbol)).toEqual(['ARBUSDT'])
  })
})
