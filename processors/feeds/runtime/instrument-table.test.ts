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
