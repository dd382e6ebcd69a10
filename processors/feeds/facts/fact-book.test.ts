import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyFields } from '../../../schemas/codec.ts'
import type { DerivativeTicker, Instrument, SpotTicker, VenueState } from '../../../schemas/records.ts'
import { listed } from '../../../schemas/testing/instrument.ts'
import type { Market } from '../../../schemas/venues.ts'
import { FactBook, type FactVerdict } from './fact-book.ts'
import type { DerivativeFact, Fact, TickerFact, TokenFact } from '../venues/events.ts'

const second = 1_000_000
const minute = 60 * second
const start = 1_790_000_040 * second

/** A book with what it wrote. */
function bookOf(...instruments: Instrument[]) {
  const records: { type: string; value: unknown }[] = []
  const clamped: string[] = []
  const book = new FactBook({
    record: (type, value) => void records.push({ type, value }),
    clamped: (source) => void clamped.push(source),
  })
  for (const [source, own] of Map.groupBy(instruments, ({ venue }) => venue))
    for (const market of ['spot', 'perp'] as const) {
      book.list(
        source,
        market,
        own.filter((row) => row.market === market),
      )
    }
  const take = (fact: Fact, received: number, source = 'binance', market: Market = 'spot'): FactVerdict =>
    book.take(fact, { source, market, channel: 'test', received })
  const of = (type: string) => records.filter((record) => record.type === type).map(({ value }) => value)
  return { book, take, clamped, of, tickers: () => of('spot_ticker') as SpotTicker[] }
}

function ticker(over: Partial<TickerFact>): TickerFact {
  return { kind: 'ticker', symbol: 'BTCUSDT', time: start, ...over }
}

const perp = listed('binance:perp:1000PEPEUSDT', {
  asset: 'pepe',
  size_factor: 1000,
  price_factor: 1000,
})

describe('spot tickers', () => {
  it('are merged, and priced in the middle of the book or by the last trade', () => {
    const { take, tickers, book } = bookOf(listed('binance:spot:BTCUSDT'))
    take(ticker({ last: '100', bid: '99', ask: '102', volume24h: '5', change24h: 1.5 }), start)
    expect(tickers()).toMatchObject([{ bid: 99, ask: 102, last: 100, price: 100.5, change_24h: 1.5, volume_24h: 5 }])
    take(ticker({ time: start + second, last: '101', ask: null }), start + 6 * second)
    expect(tickers()[1]).toMatchObject({ bid: 99, ask: null, last: 101, price: 101, volume_24h: 5 })
    book.flush(start + 100 * second)
    expect(tickers()).toHaveLength(2)
  })

  it('have a middle without the digits that only binary arithmetic makes', () => {
    const { take, tickers } = bookOf(listed('binance:spot:BTCUSDT'))
    take(ticker({ last: '84059.3', bid: '84059.29', ask: '84059.31' }), start)
    expect(tickers()[0]?.price).toBe(84_059.3)
  })

  it('wait for a first last price', () => {
    const { take, tickers } = bookOf(listed('binance:spot:BTCUSDT'))
    take(ticker({ bid: '99', ask: '101' }), start)
    expect(tickers()).toEqual([])
    take(ticker({ last: '105', time: start + 1 }), start + 1)
    expect(tickers()).toMatchObject([{ price: 100, low: 100, high: 100, last: 105 }])
  })

  it.each([
    ['a wanted asset every second', new Set(['btc']), 1],
    ['others every five', new Set<string>(), 5],
  ])('of %s are written, with the low and high between', (_what, wanted, every) => {
    const { book, take, tickers } = bookOf(listed('binance:spot:BTCUSDT'))
    book.want(wanted)
    for (let at = 0; at <= 10_000; at += 100) {
      const now = start + at * 1_000
      take(ticker({ last: String(1_000 + (at % 700)), time: now }), now)
    }
    expect(tickers().map(({ received }) => (received - start) / second)).toEqual(
      [0, ...Array.from({ length: 10 / every }, (_, index) => (index + 0.5) * every)], // the second took its turn early
    )
    expect(tickers()[2]).toMatchObject({ low: 1_000, high: 1_600 })
  })

  it('that say nothing new are written every five seconds, so that their age is true', () => {
    const { book, take, tickers } = bookOf(listed('binance:spot:BTCUSDT'))
    book.want(new Set(['btc']))
    for (let at = 0; at <= 10; at++) take(ticker({ last: '7', time: start + at * second }), start + at * second)
    expect(tickers().map(({ time }) => (time - start) / second)).toEqual([0, 5, 10])
  })

  it('are dropped where the venue said something later before, or is 5 s ahead: cut', () => {
    const { take, tickers, clamped } = bookOf(listed('binance:spot:BTCUSDT'))
    expect(take(ticker({ last: '1', time: start + 60 * second }), start)).toBe('taken')
    expect(tickers()).toMatchObject([{ time: start + 5 * second }])
    expect(clamped).toEqual(['binance'])
    expect(take(ticker({ last: '2', time: start }), start + second)).toBe('old')
    expect(take(ticker({ symbol: 'NONE', last: '2' }), start)).toBe('unlisted')
  })

  it('are not outdated by a price without a venue time: what was on its way then counts, in its order', () => {
    const { take, tickers, book } = bookOf(listed('binance:spot:BTCUSDT'))
    const ms = 1_000
    take(ticker({ last: '100' }), start)
    expect(take(ticker({ last: '101', time: null }), start + 10 * second)).toBe('taken')
    const behind = [
      ticker({ last: '50', time: start + 10 * second - 100 * ms }),
      ticker({ last: '100', time: start + 10 * second - 50 * ms }),
    ]
    expect(behind.map((fact) => take(fact, start + 10 * second + ms))).toEqual(['taken', 'taken'])
    expect(take(ticker({ last: '7', time: start + 10 * second - 60 * ms }), start + 10 * second + ms)).toBe('old')
    book.flush(start + 20 * second)
    expect(tickers()).toMatchObject([
      { price: 100, time: start },
      { price: 101, time: start + 10 * second },
      { price: 100, low: 50, time: start + 10 * second },
    ])
  })

  it('carry what a unit of their quote is worth, as the stable coins’ own markets say', () => {
    const usdt = (venue: string): Instrument => listed(`${venue}:spot:USDT-USD`, { asset: 'usdt', quote: 'USD' })
    const { take, tickers } = bookOf(listed('binance:spot:BTCUSDT'), usdt('coinbase'), usdt('kraken'))
    take(ticker({ last: '1' }), start)
    take(ticker({ symbol: 'USDT-USD', last: '0.998' }), start, 'coinbase')
    take(ticker({ symbol: 'USDT-USD', last: '0.996' }), start, 'kraken')
    take(ticker({ last: '2', time: start + second }), start + 6 * second)
    expect(tickers().map(({ asset, quote_usd: usd }) => [asset, usd])).toEqual([
      ['btc', 1],
      ['usdt', 1],
      ['usdt', 1],
      ['btc', 0.997],
    ])
  })

  describe('when a market of a stable coin is not heard any more', () => {
    const usdt = (venue: string): Instrument => listed(`${venue}:spot:USDT-USD`, { asset: 'usdt', quote: 'USD' })
    const worth = (last: string, time: number): TickerFact => ticker({ symbol: 'USDT-USD', last, time })

    /** USDT at 1 dollar on both venues at first. */
    function rates() {
      const { book, take, tickers } = bookOf(listed('binance:spot:BTCUSDT'), usdt('coinbase'), usdt('kraken'))
      for (const venue of ['coinbase', 'kraken']) take(worth('1', start), start, venue)
      const rateAt = (after: number): number | undefined => {
        take(ticker({ last: '100', time: start + after }), start + after)
        book.flush(start + after)
        return tickers().findLast(({ asset }) => asset === 'btc')?.quote_usd
      }
      return { book, take, rateAt }
    }

    it('its price counts for 15 s', () => {
      const { take, rateAt } = rates()
      take(worth('0.9', start + 15 * second), start + 15 * second, 'kraken')
      expect(rateAt(15 * second)).toBe(0.95)
      expect(rateAt(21 * second)).toBe(0.9)
    })

    it('its price counts as long as its channel lives, and has lived since', () => {
      const { book, take, rateAt } = rates()
      const said = (after: number, state: VenueState['state'], since = start): void =>
        book.note([{ venue: 'coinbase', state, since, sockets: 1 }], start + after)
      const at = 3_600 * second
      take(worth('0.9', start + at), start + at, 'kraken')
      said(at, 'live')
      expect(rateAt(at)).toBe(0.95)
      said(at + 6 * second, 'down')
      expect(rateAt(at + 6 * second)).toBe(0.9)
      said(at + 12 * second, 'live', start + at + 12 * second)
      expect(rateAt(at + 12 * second)).toBe(0.9)
      take(worth('0.92', start + at + 13 * second), start + at + 13 * second, 'coinbase')
      expect(rateAt(at + 18 * second)).toBe(0.92)
    })

    it('its price counts no longer where it is not listed', () => {
      const { book, take, rateAt } = rates()
      take(worth('0.9', start + second), start + second, 'kraken')
      expect(rateAt(second)).toBe(0.95)
      book.list('coinbase', 'spot', [])
      expect(rateAt(7 * second)).toBe(0.9)
    })

    it('the last rate stands where no market is heard', () => {
      const { book, take, rateAt } = rates()
      for (const venue of ['coinbase', 'kraken']) take(worth('0.8', start + second), start + second, venue)
      expect(rateAt(3_600 * second)).toBe(0.8)
      for (const venue of ['coinbase', 'kraken']) book.list(venue, 'spot', [])
      expect(rateAt(7_200 * second)).toBe(0.8)
    })
  })

  it('come to the same in any batching and with any doubles, and no low or high is lost', () => {
    const price = fc.integer({ min: 1, max: 1_000 })
    const step = fc.record({
      price,
      pause: fc.integer({ min: 1, max: 3_000 }),
      again: fc.boolean(),
      flush: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), fc.boolean(), (steps, wanted) => {
        const { book, take, tickers } = bookOf(listed('binance:spot:BTCUSDT'))
        if (wanted) book.want(new Set(['btc']))
        let now = start
        const past: TickerFact[] = []
        for (const { price, pause, again, flush } of steps) {
          now += pause * 1_000
          const fact = ticker({ last: String(price), time: now })
          past.push(fact)
          take(fact, now)
          if (again) for (const old of past) take(old, now)
          if (flush) book.flush(now)
        }
        book.flush(now + minute)
        const prices = steps.map((each) => each.price)
        expect(tickers().at(-1)).toMatchObject({ price: prices.at(-1), time: now })
        expect(Math.min(...tickers().map(({ low }) => low))).toBe(Math.min(...prices))
        expect(Math.max(...tickers().map(({ high }) => high))).toBe(Math.max(...prices))
      }),
    )
  })
})

describe('derivative tickers', () => {
  const fact = (over: Partial<DerivativeFact>): DerivativeFact => ({
    kind: 'derivative',
    symbol: '1000PEPEUSDT',
    ...over,
  })
  const written = (of: (type: string) => unknown[]) => of('derivative_ticker') as DerivativeTicker[]

  it('have the groups that were said, scaled exactly', () => {
    const { take, of } = bookOf(perp)
    const mark = { mark: '0.0123', index: '0.0124', time: start }
    take(fact({ mark, openInterest: { size: '70', time: start - second } }), start, 'binance', 'perp')
    expect(written(of)).toEqual([
      {
        ...emptyFields('derivative_ticker'),
        instrument: 'binance:perp:1000PEPEUSDT',
        asset: 'pepe',
        channel: 'test',
        mark: 0.0000123,
        index: 0.0000124,
        mark_time: start,
        open_interest: 70_000,
        open_interest_time: start - second,
        received: start,
      },
    ])
  })

  it('drop each group that is not newer, and keep the index of another channel for the next mark', () => {
    const { book, take, of } = bookOf(perp)
    book.want(new Set(['pepe']))
    const told = (over: Partial<DerivativeFact>, at: number) => take(fact(over), start + at * second, 'binance', 'perp')
    told({ mark: { mark: '1', index: null, time: start } }, 0)
    expect(told({ mark: { mark: '2', index: null, time: start } }, 1)).toBe('old')
    expect(told({ mark: { mark: null, index: '3', time: start - second } }, 2)).toBe('taken')
    expect(written(of)).toHaveLength(1)
    told({ mark: { mark: '4', index: null, time: start + second } }, 3)
    expect(written(of)[1]).toMatchObject({ mark: 0.004, index: 0.003, mark_time: start + second })
  })

  it('keep the settlement that a rate without one is for, until it has passed', () => {
    const { book, take } = bookOf(perp)
    const next = start + minute
    take(fact({ rate: { rate: '0.0001', next, time: start } }), start, 'binance', 'perp')
    take(fact({ rate: { rate: '-0.0002', next: null, time: start + second } }), start + second, 'binance', 'perp')
    expect(book.find('binance', 'perp', '1000PEPEUSDT')?.derivative.nextSettlement).toBe(next)
    take(fact({ rate: { rate: '0.0003', next: null, time: next + 1 } }), next + 1, 'binance', 'perp')
    expect(book.find('binance', 'perp', '1000PEPEUSDT')?.derivative.nextSettlement).toBe(null)
  })

  it('write each minute of the premium once, whatever order they come in', () => {
    const { take, of } = bookOf(perp)
    const times = [3, 0, 1, 3, 2, 1].map((index) => start + index * minute)
    const verdicts = times.map((time) =>
      take(fact({ premium: { premium: '-0.0005', time } }), start + 5 * minute, 'binance', 'perp'),
    )
    expect(verdicts).toEqual(['taken', 'taken', 'taken', 'known', 'taken', 'known'])
    expect(written(of).map(({ premium_time: time }) => time)).toEqual([3, 0, 1, 2].map((i) => start + i * minute))
    const ahead = fact({ premium: { premium: '0', time: start + 10 * minute } })
    expect(take(ahead, start + 5 * minute, 'binance', 'perp')).toBe('ahead')
  })

  it('write no open interest that is older than what is known, and at first sight any', () => {
    const { take, of } = bookOf(perp)
    const told = (size: string, time: number) =>
      take(fact({ openInterest: { size, time } }), start + 5 * minute, 'binance', 'perp')
    expect(told('1', start)).toBe('taken')
    expect([-15, -5, 0].map((minutes) => told('2', start + minutes * minute))).toEqual(['old', 'old', 'old'])
    expect(of('derivative_ticker')).toMatchObject([{ open_interest: 1_000, open_interest_time: start }])
  })
})

describe('what is written once', () => {
  it('is a settlement, by its minute', () => {
    const { take, of, book } = bookOf(perp)
    const settlement = { kind: 'settlement', symbol: '1000PEPEUSDT', rate: '0.0001', mark: '0.01' } as const
    const at = start - (start % minute)
    expect(take({ ...settlement, time: at + 3_000 }, start, 'binance', 'perp')).toBe('taken')
    expect(take({ ...settlement, time: at }, start, 'binance', 'perp')).toBe('known')
    expect(of('settlement')).toMatchObject([{ settled_rate: 0.0001, mark: 0.00001, time: at }])
    expect(book.find('binance', 'perp', '1000PEPEUSDT')?.hasSettled(at)).toBe(true)
  })

  it('is a liquidation, by its id, with its value', () => {
    const { take, of } = bookOf(perp)
    const liquidation = {
      kind: 'liquidation',
      symbol: '1000PEPEUSDT',
      id: '1',
      side: 'long',
      size: '2',
      price: '0.5',
      priceKind: 'bankruptcy',
      completeness: 'all',
      time: start,
    } as const
    expect([1, 2].map(() => take(liquidation, start, 'binance', 'perp'))).toEqual(['taken', 'known'])
    expect(of('liquidation')).toMatchObject([{ size: 2_000, price: 0.0005, value: 1 }])
  })

  it('are terms, joined from several calls and only when they change', () => {
    const { book, take, of } = bookOf(perp)
    const terms = (over: object, at: number) =>
      take({ kind: 'terms', symbol: '1000PEPEUSDT', ...over }, start + at * second, 'binance', 'perp')
    terms({ maxLeverage: 75 }, 0)
    terms({ intervalHours: 4, cap: 0.02, floor: -0.02 }, 1)
    book.flush(start + 4 * second)
    terms({ cap: 0.02, maxLeverage: 75 }, 5)
    book.flush(start + 100 * second)
    terms({ intervalHours: 1 }, 200)
    book.flush(start + 203 * second)
    expect(of('contract_terms')).toMatchObject([
      { interval_hours: 4, rate_cap: 0.02, rate_floor: -0.02, max_leverage: 75, interest_daily: null },
      { interval_hours: 1 },
    ])
  })

  it('are terms with the interval that the venue says, and none before it says one', () => {
    const { book, take, of } = bookOf(perp)
    const symbol = '1000PEPEUSDT'
    take({ kind: 'terms', symbol, interestDaily: 0.0003 }, start, 'binance', 'perp')
    book.flush(start + 60 * minute)
    expect(of('contract_terms')).toEqual([])
    take({ kind: 'terms', symbol, intervalHours: 4 }, start + 60 * minute, 'binance', 'perp')
    book.flush(start + 60 * minute + 3 * second)
    expect(of('contract_terms')).toMatchObject([{ interval_hours: 4, interest_daily: 0.0003 }])
  })

  it('are the usual terms of markets that an answer does not name, which had others before as well', () => {
    const wif = listed('binance:perp:WIFUSDT', { asset: 'wif', size_factor: 1000, price_factor: 1000 })
    const { book, take, of } = bookOf(perp, wif)
    const usual = (named: string[], at: number) => {
      const fact = { kind: 'other_terms', named: new Set(named), intervalHours: 8 } as const
      expect(take(fact, start + at, 'binance', 'perp')).toBe('taken')
      book.flush(start + at + 3 * second)
    }
    take({ kind: 'terms', symbol: '1000PEPEUSDT', intervalHours: 4 }, start, 'binance', 'perp')
    usual(['1000PEPEUSDT', 'NOTOURSUSDT'], 0)
    usual([], 60 * minute)
    usual([], 120 * minute)
    expect(of('contract_terms')).toMatchObject([
      { asset: 'pepe', interval_hours: 4 },
      { asset: 'wif', interval_hours: 8 },
      { asset: 'pepe', interval_hours: 8 },
    ])
  })
})

describe('tokens', () => {
  const token = (over: Partial<TokenFact>): TokenFact => ({
    kind: 'token',
    symbol: 'bitcoin',
    ticker: 'btc',
    name: 'Bitcoin',
    price: 100,
    change24h: 1,
    change7d: 2,
    change30d: 3,
    volume24h: 4,
    marketCap: 5,
    rank: 1,
    circulating: 6,
    total: null,
    ath: 7,
    athDate: null,
    atl: 8,
    atlDate: null,
    updated: start,
    ...over,
  })

  it('are ours where ticker and price agree, the best ranked of several', () => {
    const wif = listed('binance:spot:WIFUSDT', { asset: 'wif' })
    const { take, of } = bookOf(listed('binance:spot:BTCUSDT'), wif)
    take(ticker({ last: '101' }), start)
    take(ticker({ symbol: 'WIFUSDT', last: '2' }), start)
    take(token({}), start)
    take(token({ symbol: 'bitcoin-fake', rank: 900, price: 99 }), start)
    take(token({ symbol: 'batcat', rank: 901, price: 0.001 }), start)
    take(token({ symbol: 'dogwifcoin', ticker: 'wif', rank: 100, price: 2.05 }), start)
    take(token({ symbol: 'other-wif', ticker: 'wif', rank: 5_000, price: 2.2 }), start)
    take(token({ symbol: 'unseen', ticker: 'uns', rank: 50 }), start)
    expect(take(token({}), start + second)).toBe('known')
    expect((of('token') as { id: string; asset: string | null }[]).map(({ id, asset }) => [id, asset])).toEqual([
      ['bitcoin', 'btc'],
      ['bitcoin-fake', null],
      ['batcat', null],
      ['dogwifcoin', 'wif'],
      ['other-wif', null],
      ['unseen', null],
    ])
  })
})

describe('listings that change', () => {
  it('scale by the new contract value from the next fact on, and forget what is delisted', () => {
    const { book, take, tickers } = bookOf(listed('binance:spot:BTCUSDT'))
    take(ticker({ last: '100' }), start)
    book.list('binance', 'spot', [listed('binance:spot:BTCUSDT', { price_factor: 10 })])
    take(ticker({ last: '100', time: start + 1 }), start + 1)
    expect(tickers().map(({ price }) => price)).toEqual([100, 10])
    book.list('binance', 'spot', [])
    expect(take(ticker({ last: '100' }), start + 2)).toBe('unlisted')
  })
})
