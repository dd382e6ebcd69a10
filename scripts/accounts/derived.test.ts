import { describe, expect, it } from 'vitest'
import { cvdRows, type FlowAnswer } from './derived/flow.ts'
import { rateFrom } from './derived/perpetuals.ts'
import type { LedgerState, Liquidation, Perp } from './derived/ledger.ts'
import { liquidationRows, type RecentAnswer } from './derived/liquidations.ts'
import { batchRows } from './derived/prices.ts'
import { near, oneOf, same } from './derived/row.ts'
import { derivedText } from './derived.ts'

const nothing: LedgerState = {
  spot: [],
  perp: [],
  premiums: [],
  settlements: [],
  ratios: [],
  tokens: [],
  liquidations: [],
}

describe('a row of the derived numbers', () => {
  it('is right up to its tolerance and wrong beyond it', () => {
    expect(near('a', 'b', 1.5, 1, { by: 0.5 }).verdict).toBe('OK')
    expect(near('a', 'b', 1.51, 1, { by: 0.5 }).verdict).toBe('WRONG')
    expect(near('a', 'b', 101, 100, { part: 0.01 }).verdict).toBe('OK')
    expect(near('a', 'b', 102, 100, { part: 0.01 }).verdict).toBe('WRONG')
  })

  it('is wrong where either side has nothing', () => {
    expect(near('a', 'b', null, 1, { by: 9 }).verdict).toBe('WRONG')
    expect(near('a', 'b', 1, undefined, { by: 9 }).verdict).toBe('WRONG')
    expect(near('a', 'b', Number.NaN, 1, { by: 9 }).verdict).toBe('WRONG')
    expect(oneOf('a', 'b', undefined, ['x']).verdict).toBe('WRONG')
  })

  it('is shown with its figures when it is wrong, else one for its kind', () => {
    const rows = [same('word', 'BTC', 'x', 'x'), same('word', 'ETH', 'y', 'z'), near('n', 'BTC', 1, 1, { by: 1 })]
    const text = derivedText({ rows, rounds: 2 })
    expect(text).toMatch(/word +2 +ETH +y +z +equal +WRONG/)
    expect(text).toContain('WRONG: 2 values as the ledger has them, 1 not; asked 2 times.')
  })
})

describe('the class of a CVD', () => {
  const nothing = {
    period_cvd: 0,
    buy_volume: 0,
    sell_volume: 0,
    period_cvd_usd: 0,
    buy_volume_usd: 0,
    sell_volume_usd: 0,
  }
  const wrong = (buy: number, sell: number, signal: FlowAnswer['signal'], share: number, traded = share): number => {
    const coverage = { from: '2026-01-02T02:34:05Z', to: '2026-01-02T03:04:05Z', share, complete: false, gaps: [] }
    const past = { ...nothing, share: share - traded }
    const sources = { trades: { ...nothing, share: traded }, archive: { ...nothing, share: 0 }, venue_candles: past }
    const answer = { buy_volume: buy, sell_volume: sell, signal, sources, coverage }
    return cvdRows(answer, 'BTC', '1h').filter(({ verdict }) => verdict === 'WRONG').length
  }

  it.each([
    [57.5, 42.5, 'bullish_pressure', 0.25, 0],
    [40, 60, 'strong_bearish_pressure', 0.5, 0],
    [40, 60, 'strong_bearish_pressure', 0.249, 1],
    [40, 60, 'insufficient_data', 0.249, 0],
    [40, 60, 'insufficient_data', 0.25, 1],
    [0, 0, 'insufficient_data', 0.4, 0],
    [51, 49, 'neutral', 0.6, 1],
  ] as const)('of %d bought and %d sold, %s of the share %d: %i wrong', (buy, sell, signal, share, count) => {
    expect(wrong(buy, sell, signal, share)).toBe(count)
  })

  it('is none where the past alone covers enough of the period', () => {
    expect(wrong(40, 60, 'insufficient_data', 0.5, 0.01)).toBe(0)
    expect(wrong(40, 60, 'strong_bearish_pressure', 0.5, 0.01)).toBe(1)
  })
})

describe('the rate that follows from a mean premium', () => {
  const perp = (venue: string, intervalHours: number): Perp => ({
    venue,
    symbol: 'X',
    asset: 'X',
    intervalHours,
    cap: 0.02,
    floor: -0.02,
    mark: 1,
    index: 1,
    rate: 0,
    nextSettlement: 0,
    openInterest: 0,
    time: 0,
  })

  it.each([
    ['binance', 8, 0.0002, 0.0001],
    ['binance', 8, 0.000899376299376, 0.000399376299376],
    ['binance', 4, -0.001, -0.00025],
    ['bybit', 4, -0.001, -0.0005],
    ['bybit', 4, 0.0002, 0.00005],
    ['okx', 8, 0.9, 0.02],
  ])('is, at %s in %i hours, for %d: %d', (venue, hours, premium, rate) => {
    expect(rateFrom(premium, perp(venue, hours))).toBeCloseTo(rate, 14)
  })
})

describe('what a day’s trading was worth', () => {
  // Bought at 1 in the morning and at 2 now: 30 units were worth 45 then, and are 60 at the last price.
  const day = { bid: 2, ask: 2, last: 2, open24h: 1, volume24h: 30, quoteVolume24h: 45 }

  it.each([
    ['okx', 'USDT', 45],
    ['bybit', 'USDT', 45],
    ['coinbase', 'USD', 60],
    ['kraken', 'USD', 60],
  ] as const)('is what %s tells of it, in %s: %d', (venue, quote, volume) => {
    const tether = { venue: 'kraken', symbol: 'USDT/USD', asset: 'USDT', quote: 'USD', ...day, bid: 1, ask: 1 } as const
    const spot = [{ venue, symbol: 'DOGE', asset: 'DOGE', quote, ...day }, tether]
    const market = { source: venue, price: 2, change_24h: 100, volume_24h: volume, market_cap: null, as_of: '' }
    const rows = batchRows({ data: { doge: market } }, 'DOGE', { ...nothing, spot })
    expect(rows.find(({ what }) => what === 'batch volume, USD')).toMatchObject({ verdict: 'OK', share: 0 })
  })
})

describe('liquidations beside the ledger', () => {
  const start = Date.parse('2026-11-21T10:00:00Z') * 1000
  const liquidation = (venue: string, seconds: number, size: number): Liquidation => ({
    venue,
    symbol: 'BTCUSDT',
    asset: 'BTC',
    time: start + seconds * 1_000_000,
    side: 'long',
    size,
    bankruptcyPrice: 90,
    fillPrice: 100,
  })
  const ledger: LedgerState = {
    ...nothing,
    liquidations: [
      liquidation('bybit', 1, 2),
      liquidation('bybit', 2, 3),
      liquidation('okx', 3, 1),
      liquidation('binance', 4, 1),
      liquidation('binance', 4.5, 2),
    ],
  }
  const told = ledger.liquidations.filter(({ venue, size }) => venue !== 'binance' || size === 2)

  function answer(rows: readonly Liquidation[]): RecentAnswer {
    const events = rows.map(({ venue, time, side, size, bankruptcyPrice, fillPrice }) => {
      const price = venue === 'binance' ? fillPrice : bankruptcyPrice
      const timestamp = new Date(time / 1000).toISOString()
      const value = { side, size, price, value_usd: price * size, price_kind: 'unknown', completeness: 'all' } as const
      return { id: '', symbol: 'BTCUSDT', ...value, timestamp, exchange: venue.toUpperCase() }
    })
    const figures = {
      total_events: rows.length,
      total_value_usd: events.reduce((sum, event) => sum + event.value_usd, 0),
      complete: true,
    }
    const since = new Date(start / 1000).toISOString()
    return {
      as_of: new Date(start / 1000 + 60_000).toISOString(),
      count: rows.length,
      events,
      stats: {
        last_1h: { ...figures, long_liquidations: rows.length, short_liquidations: 0, since },
        last_24h: { ...figures, since },
      },
    }
  }

  function wrong(rows: readonly Liquidation[]): string[] {
    return liquidationRows(answer(rows), ledger).flatMap(({ what, subject, verdict }) =>
      verdict === 'WRONG' ? [`${what} ${subject}`] : [],
    )
  }

  it('are right when every one that a venue tells is there', () => {
    expect(wrong(told)).toEqual([])
  })

  it('are wrong when one is missing, twice there, or never told', () => {
    expect(wrong(told.filter(({ size }) => size !== 3))).toContain('liquidations that are missing bybit')
    expect(wrong([...told, ...told.slice(0, 1)])).toContain('liquidations that the venue never told bybit')
    expect(wrong(ledger.liquidations)).toContain('liquidations that the venue never told binance')
  })
})
