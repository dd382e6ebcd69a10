import { describe, expect, it } from 'vitest'
import { halved } from './bybit/facts.ts'
import { binance } from './binance/venue.ts'
import { bybit } from './bybit/venue.ts'
import { coinbase } from './coinbase/venue.ts'
import { gate } from './gate/venue.ts'
import { kraken } from './kraken/venue.ts'
import { okx } from './okx/venue.ts'
import type { FactRow, FrameEvent, TickerFact } from './events.ts'
import type { Venue } from './venue.ts'
import { isRecorded, messagesOf } from './testing/recorded.ts'

/** After all recorded times. */
const now = Date.UTC(2026, 10, 20)

function counted(names: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]))
}

function named<Part extends { readonly name: string }>(parts: readonly Part[], name: string): Part {
  const part = parts.find((one) => one.name === name)
  if (part === undefined) throw new Error(name)
  return part
}

function eventsOf(source: Venue, stream: string, folder: string): FrameEvent[] {
  return messagesOf(folder).flatMap((frame) => named(source.streams, stream).parse(frame))
}

function kindOf(event: FrameEvent): string {
  if (event.kind === 'refused') return event.reason
  return event.kind === 'fact' ? event.fact.kind : event.kind
}

/** The rows of all answers of a folder; an answer without rows is one refusal. */
function rowsOf(source: Venue, poll: string, symbol: string, folder: string): FactRow[] {
  return messagesOf(folder).flatMap((body) => {
    const answer = named(source.polls, poll).parse(symbol, JSON.parse(body), now)
    return answer.kind === 'rows' ? answer.rows : [{ refused: 'not-an-object' as const }]
  })
}

function factsOf(source: Venue, stream: string, folder: string): FactRow[] {
  return eventsOf(source, stream, folder).flatMap((event) => (event.kind === 'fact' ? [event.fact] : []))
}

function tickersOf(source: Venue, folder: string): TickerFact[] {
  return rowsOf(source, 'spot-tickers', 'SPOT', folder).filter((row) => 'kind' in row && row.kind === 'ticker')
}

/** Every message of each folder, and what becomes of it. */
const frames: readonly (readonly [folder: string, source: Venue, stream: string, expected: Record<string, number>])[] =
  [
    ['bybit/spot-tickers', bybit, 'spot-tickers', { ticker: 81 }],
    ['bybit/spot-control', bybit, 'spot-tickers', { subscribed: 6 }],
    // 605 of them change only what is not ours: the top of the book, the last price.
    ['bybit/linear-tickers', bybit, 'tickers', { derivative: 160 }],
    // The rejected one asked for a channel that does not exist.
    ['bybit/linear-control', bybit, 'liquidations', { subscribed: 8, pong: 1, heartbeat: 1, rejected: 1 }],
    ['bybit/linear-allLiquidation', bybit, 'liquidations', { liquidation: 4 }],
    // The channel that allLiquidation has replaced.
    ['bybit/linear-liquidation', bybit, 'liquidations', { 'unknown-event': 2 }],
    // Options and a swap among them.
    ['okx/spot-tickers', okx, 'spot-tickers', { 'unknown-symbol': 5, ticker: 40 }],
    ['okx/swap-tickers', okx, 'spot-tickers', { 'unknown-symbol': 6 }],
    ['okx/control', okx, 'spot-tickers', { subscribed: 31, rejected: 1 }],
    ['okx/swap-mark-price', okx, 'mark-price', { derivative: 3 }],
    // Four of 2021 and 2022 have no time of their own.
    ['okx/swap-funding-rate', okx, 'funding-rate', { 'bad-field': 4, derivative: 2, settlement: 2 }],
    ['okx/swap-open-interest', okx, 'open-interest', { derivative: 1 }],
    ['okx/swap-liquidation-orders', okx, 'liquidations', { liquidation: 3 }],
    ['coinbase/exchange-ticker', coinbase, 'spot-tickers', { ticker: 111 }],
    ['coinbase/exchange-heartbeat', coinbase, 'spot-tickers', { heartbeat: 118 }],
    ['coinbase/exchange-subscriptions', coinbase, 'spot-tickers', { subscribed: 4 }],
    ['coinbase/exchange-match', coinbase, 'spot-tickers', { 'unknown-event': 533 }],
    // The refused one is of a pair that never traded: no prices, time 1970.
    ['kraken/v2-ticker', kraken, 'spot-tickers', { ticker: 1, 'bad-field': 1 }],
    ['kraken/v2-control', kraken, 'spot-tickers', { subscribed: 4 }],
    ['kraken/v2-heartbeat', kraken, 'spot-tickers', { heartbeat: 23 }],
    ['kraken/v2-status', kraken, 'spot-tickers', {}],
    ['kraken/v2-trade', kraken, 'spot-tickers', { 'unknown-event': 15 }],
  ]

const answers: readonly (readonly [
  folder: string,
  source: Venue,
  poll: string,
  symbol: string,
  expected: Record<string, number>,
])[] = [
  ['bybit/rest-v5-tickers-spot', bybit, 'spot-tickers', 'spot', { ticker: 419 }],
  // 259 rows, 14 of them of futures that end.
  ['bybit/rest-v5-tickers-linear', bybit, 'tickers', 'linear', { derivative: 245 }],
  ['bybit/rest-v5-instruments-info-linear', bybit, 'terms', 'linear', { terms: 692 }],
  ['bybit/rest-v5-funding-history', bybit, 'settlements', 'BTCUSDT', { settlement: 2 }],
  ['bybit/rest-v5-kline-linear', bybit, 'candles', 'BTCUSDT', { candle: 2 }],
  ['bybit/rest-v5-index-price-kline', bybit, 'premium', 'BTCUSDT', { derivative: 1 }],
  ['okx/rest-funding-rate', okx, 'funding-rate', 'SWAP', { derivative: 1 }],
  ['okx/rest-funding-rate', okx, 'terms', 'SWAP', { terms: 1 }],
  ['okx/rest-mark-price', okx, 'mark-price', 'SWAP', { derivative: 1 }],
  ['okx/rest-open-interest', okx, 'open-interest', 'SWAP', { derivative: 2 }],
  ['okx/rest-index-tickers', okx, 'index-price', 'SWAP', { derivative: 1 }],
  ['okx/rest-funding-rate-history', okx, 'settlements', 'BTC-USDT-SWAP', { settlement: 3 }],
  // Four rows, one of them of a time that still runs.
  ['okx/rest-market-candles', okx, 'candles', 'BTC-USDT-SWAP', { candle: 3 }],
  ['okx/rest-rubik-long-short-account-ratio-contract', okx, 'top-traders', 'BTC-USDT-SWAP', { ratio: 3 }],
  ['coinbase/rest-exchange-candles', coinbase, 'candles', 'BTC-USD', { candle: 354 }],
  ['coinbase/rest-advanced-market-products', coinbase, 'spot-tickers', 'SPOT', { ticker: 401 }],
  ['kraken/rest-Ticker', kraken, 'spot-tickers', 'SPOT', { ticker: 2750 }],
]

/** Answers of routes of the past, each read as the series that asks for it. */
const past: readonly (readonly [
  folder: string,
  source: Venue,
  series: string,
  symbol: string,
  expected: Record<string, number>,
])[] = [
  ['bybit/rest-v5-funding-history', bybit, 'settlements', 'BTCUSDT', { settlement: 2 }],
  // 22 are of coin-margined pairs, 20 of another market than the one asked for.
  [
    'binance/rest-futuresdata-openInterestHist',
    binance,
    'open_interest',
    'BTCUSDT',
    { derivative: 15, 'bad-field': 42 },
  ],
  ['bybit/rest-v5-open-interest', bybit, 'open_interest', 'BTCUSDT', { derivative: 2 }],
  ['bybit/rest-v5-account-ratio', bybit, 'all_accounts', 'ETHUSDT', { ratio: 3 }],
  ['bybit/rest-v5-mark-price-kline', bybit, 'prices', 'BTCUSDT', { derivative: 2 }],
  ['okx/rest-funding-rate-history', okx, 'settlements', 'BTC-USDT-SWAP', { settlement: 3 }],
  ['okx/rest-rubik-open-interest-history', okx, 'open_interest', 'BTC-USDT-SWAP', { derivative: 1 }],
  ['bybit/rest-v5-index-price-kline', bybit, 'prices', 'BTCUSDT', { derivative: 1 }],
  ['okx/rest-index-candles', okx, 'prices', 'BTC-USDT-SWAP', { derivative: 1 }],
  ['gate/rest-v4-futures-usdt-funding_rate', gate, 'settlements', 'BTC_USDT', { settlement: 15 }],
  ['okx/rest-mark-price-candles', okx, 'prices', 'BTC-USDT-SWAP', { derivative: 1 }],
]

describe.runIf(isRecorded)('recorded answers of the past', () => {
  it.each(past)('of %s become what they are', (folder, source, series, symbol, expected) => {
    const own = source.pastFacts?.find(({ name }) => name === series)
    const rows = messagesOf(folder).flatMap((text) => {
      const answer = own?.parse(symbol, own.seconds, JSON.parse(text), Date.UTC(2026, 10, 20))
      return answer?.kind === 'rows' ? answer.rows : []
    })
    expect(counted(rows.map((row) => ('refused' in row ? row.refused : row.kind)))).toEqual(expected)
  })
})

describe.runIf(isRecorded)('recorded frames', () => {
  it.each(frames)('of %s become what they are', (folder, source, stream, expected) => {
    expect(counted(eventsOf(source, stream, folder).map(kindOf))).toEqual(expected)
  })
})

describe.runIf(isRecorded)('recorded answers', () => {
  it.each(answers)('of %s become what they are', (folder, source, poll, symbol, expected) => {
    const rows = rowsOf(source, poll, symbol, folder)
    expect(counted(rows.map((row) => ('refused' in row ? row.refused : row.kind)))).toEqual(expected)
  })

  it('of Bybit’s spot list are its pairs in USDT and USDC that are no shares', () => {
    const answer = bybit.listings[0]?.listing.parse(
      JSON.parse(messagesOf('bybit/rest-v5-instruments-info-spot')[0] ?? ''),
    )
    const rows = answer?.kind === 'rows' ? answer.rows : []
    expect(counted(rows.map(({ quote }) => quote))).toEqual({ USDT: 399, USDC: 86 })
    const symbols = new Set(rows.map(({ symbol }) => symbol))
    for (const seed of bybit.listings[0]?.listing.seed ?? []) expect(symbols).toContain(seed.symbol)
  })

  it('price every market that trades, and USDT itself near a dollar', () => {
    const markets = [
      tickersOf(coinbase, 'coinbase/rest-advanced-market-products'),
      tickersOf(kraken, 'kraken/rest-Ticker'),
    ]
    for (const tickers of markets) {
      const usdt = Number(tickers.find(({ symbol }) => /^USDT.USD$/.test(symbol))?.last)
      expect(Math.abs(usdt - 1)).toBeLessThan(0.01)
      expect(tickers.filter(({ last, volume24h }) => last === undefined && Number(volume24h) > 0)).toEqual([])
    }
  })

  it('of Kraken’s candles are all closed but the last one, at the time that they were asked for', () => {
    const [text = ''] = messagesOf('kraken/rest-OHLC')
    const asked = Date.UTC(2025, 10, 11, 0, 17, 4)
    const answer = kraken.candles?.parse('BTC/USDT', 60, JSON.parse(text), asked)
    const rows = answer?.kind === 'rows' ? answer.rows : []
    expect(counted(rows.map((row) => ('refused' in row ? row.refused : row.kind)))).toEqual({ candle: 720 })
  })

  it('of Kraken have no bid above its ask', () => {
    const crossed = tickersOf(kraken, 'kraken/rest-Ticker').filter(
      ({ bid, ask }) => Number(bid) > Number(ask ?? Infinity),
    )
    expect(crossed).toEqual([])
  })

  it('of Coinbase’s candles are read in the venue’s own order of columns', () => {
    const wrong = rowsOf(coinbase, 'candles', 'BTC-USD', 'coinbase/rest-exchange-candles').filter((row) => {
      if (!('kind' in row) || row.kind !== 'candle') return true
      const [low, ...between] = [row.low, row.open, row.close, row.high].map(Number)
      return between.some((price) => price < (low ?? NaN) || price > Number(row.high))
    })
    expect(wrong).toEqual([])
  })
})

describe.runIf(isRecorded)('recorded facts', () => {
  it('of Bybit hold half of the two-sided open interest, as the venue itself halves it', () => {
    const both = messagesOf('bybit/linear-tickers').flatMap((text) => {
      const [, two] = /"openInterest":"([\d.]+)"/.exec(text) ?? []
      const [, one] = /"singleOpenInterest":"([\d.]+)"/.exec(text) ?? []
      return two === undefined || one === undefined ? [] : [[halved(two), one] as const]
    })
    expect(both.length).toBeGreaterThan(10)
    // The venue counts in its steps and may be one of them off.
    for (const [ours, theirs] of both) expect(Math.abs(Number(ours) / Number(theirs) - 1)).toBeLessThan(1e-6)
  })

  it('of Bybit’s stream are those of every frame that names one of our fields', () => {
    const ours = /"(?:markPrice|indexPrice|fundingRate|openInterest|singleOpenInterest)":/
    const frames = messagesOf('bybit/linear-tickers').filter((text) => ours.test(text))
    expect(factsOf(bybit, 'tickers', 'bybit/linear-tickers')).toHaveLength(frames.length)
  })

  it('of OKX name the settlement to come, the one before it, and what was paid there', () => {
    expect(factsOf(okx, 'funding-rate', 'okx/swap-funding-rate').slice(0, 2)).toEqual([
      {
        kind: 'derivative',
        symbol: 'BTC-USDT-SWAP',
        rate: { rate: '0.0000263463215391', next: 1_790_380_800_000_000, time: 1_790_358_563_915_000 },
      },
      {
        kind: 'settlement',
        symbol: 'BTC-USDT-SWAP',
        rate: '0.0000341625964238',
        mark: null,
        time: 1_790_352_000_000_000,
      },
    ])
  })

  it('of liquidations have a side, a price and an identity', () => {
    expect(factsOf(okx, 'liquidations', 'okx/swap-liquidation-orders')[1]).toMatchObject({
      symbol: 'MUBARAK-USDT-SWAP',
      id: '1791435480289-sell-0.072682-2-1',
      side: 'long',
      completeness: 'sampled',
    })
    expect(factsOf(bybit, 'liquidations', 'bybit/linear-allLiquidation')[0]).toMatchObject({
      symbol: 'ICPUSDT',
      id: '1789670094412-0',
      side: 'long',
      size: '19.7',
      price: '2.585',
      completeness: 'all',
      time: 1_789_670_094_099_000,
    })
  })
})
