import { describe, expect, it } from 'vitest'
import { binance } from './binance/venue.ts'
import { coingecko } from './coingecko/venue.ts'
import { gate } from './gate/venue.ts'
import type { FactRow } from './events.ts'
import type { DataStream, Poll, Venue } from './venue.ts'
import { isRecorded, messagesOf } from './testing/recorded.ts'

/** After all recorded times. */
const now = Date.UTC(2026, 10, 20)

function bodiesOf(folder: string): unknown[] {
  return messagesOf(folder).map((text): unknown => JSON.parse(text))
}

function named<Named extends { readonly name: string }>(list: readonly Named[], name: string): Named {
  const found = list.find((one) => one.name === name)
  if (found === undefined) throw new Error(name)
  return found
}

const pollOf = (source: Venue, name: string): Poll => named(source.polls, name)
const streamOf = (source: Venue, name: string): DataStream => named(source.streams, name)

function factsOf(poll: Poll, symbol: string, bodies: readonly unknown[]): FactRow[] {
  return bodies.flatMap((body) => {
    const answer = poll.parse(symbol, body, now)
    return answer.kind === 'rows' ? answer.rows : []
  })
}

/** How many of which kind, and how many refused for which reason. */
function counted(rows: readonly FactRow[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const row of rows) {
    const what = 'refused' in row ? row.refused : row.kind
    counts[what] = (counts[what] ?? 0) + 1
  }
  return counts
}

/** Rows of any interval as if they were of the minute that they began in. */
function asMinutes(bodies: readonly unknown[]): unknown[] {
  return bodies.filter(Array.isArray).map((body: readonly unknown[]) =>
    body.map((row) => {
      if (!Array.isArray(row)) return row
      const start = Math.floor(Number(row[0]) / 60_000) * 60_000
      return row.with(0, start).with(6, start + 59_999)
    }),
  )
}

describe.runIf(isRecorded)('recorded Binance frames', () => {
  it.each([
    // Eight of 2020 to October 2026.
    ['binance/usdm-forceOrder', 'liquidations', { liquidation: 8 }],
    // Two frames of two markets each.
    ['binance/usdm-markPrice_arr', 'mark-price', { derivative: 4 }],
    // One of 2021 is of a dated future in BUSD: not followed, but a sign of life.
    ['binance/usdm-markPrice', 'mark-price', { derivative: 107, heartbeat: 1 }],
    ['binance/spot-ticker', 'spot-tickers', { ticker: 3 }],
    ['binance/usdm-kline', 'mark-price', { 'unknown-event': 173 }],
  ])('of %s on %s become what they are', (folder, name, expected) => {
    const events = messagesOf(folder).flatMap((text) => streamOf(binance, name).parse(text))
    const kinds = events.map((event) =>
      event.kind === 'fact' ? event.fact.kind : event.kind === 'refused' ? event.reason : event.kind,
    )
    expect(
      Object.fromEntries([...new Set(kinds)].map((kind) => [kind, kinds.filter((one) => one === kind).length])),
    ).toEqual(expected)
  })

  it('of liquidations are what their recorders say', () => {
    const facts = messagesOf('binance/usdm-forceOrder').flatMap((text) => streamOf(binance, 'liquidations').parse(text))
    expect(facts).toContainEqual({
      kind: 'fact',
      fact: {
        kind: 'liquidation',
        symbol: 'XRPUSDT',
        id: '1791091175',
        side: 'short',
        size: '127.2',
        price: '1.4912',
        priceKind: 'average_fill',
        completeness: 'sampled',
        time: 1791091174219000,
      },
    })
  })
})

/** The rows of each folder through a poll: how many are taken, and why the others are not. */
describe.runIf(isRecorded)('recorded Binance answers', () => {
  it.each([
    ['rest-usdm-openInterest', 'open-interest', { derivative: 2 }],
    ['rest-usdm-premiumIndex', 'premium-index', { derivative: 69 }],
    ['rest-usdm-premiumIndex', 'interest', { terms: 69 }],
    ['rest-usdm-fundingInfo', 'funding-info', { terms: 25, other_terms: 1 }],
    ['rest-usdm-fundingRate', 'settlements', { settlement: 155 }],
    // 17 are of coin-margined pairs, whose shares have other names.
    ['rest-futuresdata-topLongShortPositionRatio', 'top-positions', { ratio: 80, 'bad-field': 17 }],
    // Of 790, 123 are in USDT, 5 of which have no price any more.
    ['rest-spot-ticker-24hr', 'spot-tickers', { ticker: 118 }],
    // None is of a minute: 5 minutes, an hour, a day.
    ['rest-usdm-klines', 'candles', { 'bad-field': 1504 }],
    ['rest-usdm-premiumIndexKlines', 'premium', { 'bad-field': 6 }],
  ])('of %s through %s', (folder, name, expected) => {
    expect(counted(factsOf(pollOf(binance, name), 'BTCUSDT', bodiesOf(`binance/${folder}`)))).toEqual(expected)
  })

  it('of klines are candles and premiums where they are of a minute, or taken for one', () => {
    const spot = bodiesOf('binance/rest-spot-klines').flatMap((body) => {
      const answer = binance.candles?.parse('BTCUSDT', 60, body, now)
      return answer?.kind === 'rows' ? answer.rows : []
    })
    expect(counted(spot)).toEqual({ candle: 71, 'bad-field': 3398 })
    const candles = asMinutes(bodiesOf('binance/rest-usdm-klines'))
    expect(counted(factsOf(pollOf(binance, 'candles'), 'BTCUSDT', candles))).toEqual({ candle: 1504 })
    const premiums = asMinutes(bodiesOf('binance/rest-usdm-premiumIndexKlines'))
    expect(counted(factsOf(pollOf(binance, 'premium'), 'BTCUSDT', premiums))).toEqual({ derivative: 6 })
  })

  it('have plausible values', () => {
    const ofPoll = (name: string, folder: string): FactRow[] =>
      factsOf(pollOf(binance, name), 'BTCUSDT', bodiesOf(`binance/${folder}`))
    const ratios = ofPoll('top-positions', 'rest-futuresdata-topLongShortPositionRatio')
    expect(ratios.filter((row) => 'long' in row && Math.abs(row.long / row.short / row.ratio - 1) > 0.001)).toEqual([])
    const settlements = ofPoll('settlements', 'rest-usdm-fundingRate')
    expect(settlements.filter((row) => 'time' in row && (Number(row.time) / 1e6) % 3600 > 1)).toEqual([])
  })
})

describe.runIf(isRecorded)('recorded Gate answers', () => {
  const stats = (): FactRow[] =>
    factsOf(pollOf(gate, 'contract-stats'), 'BTC_USDT', bodiesOf('gate/rest-v4-futures-usdt-contract_stats'))

  it('of contract statistics are two ratios each', () => {
    expect(counted(stats())).toEqual({ ratio: 52 })
  })

  it('agree with the sizes and heads that stand beside their ratios', () => {
    const [positions, accounts] = stats()
    expect(positions).toMatchObject({ basis: 'positions', ratio: 31310200 / 27277468 })
    expect(accounts).toMatchObject({ basis: 'accounts', ratio: 41 / 73 })
  })

  it('list coins, not stocks', () => {
    const { listing } = gate.trades
    const symbols = bodiesOf('gate/rest-v4-futures-usdt-contracts').flatMap((body) => {
      const answer = listing.parse(body)
      return answer.kind === 'rows' ? answer.rows.map(({ symbol, sizeFactor }) => `${symbol} ${sizeFactor}`) : []
    })
    expect(symbols).toEqual(['ZEC_USDT 0.01', 'GRASS_USDT 10', 'ICX_USDT 1'])
    const btc = listing.parse(bodiesOf('gate/rest-v4-futures-usdt-contracts-BTC_USDT'))
    expect(btc).toMatchObject({ rows: [{ ...listing.seed[0], tick: 0.1 }] })
  })
})

describe.runIf(isRecorded)('recorded answers of the token registry', () => {
  const tokens = (folder: string): FactRow[] =>
    factsOf(pollOf(coingecko, 'markets'), 'usd', bodiesOf(`coingecko/${folder}`))

  it('of markets are tokens', () => {
    const rows = tokens('rest-coins-markets')
    expect(counted(rows)).toEqual({ token: 3 })
    expect(rows.at(-1)).toMatchObject({ symbol: 'bitcoin', price: 75755, change24h: -1.53973, change7d: null, rank: 1 })
  })

  it.each(['rest-simple-price', 'rest-coins-id', 'rest-ping'])('of %s are not taken for markets', (folder) => {
    const poll = pollOf(coingecko, 'markets')
    const kinds = bodiesOf(`coingecko/${folder}`).map((body) => poll.parse('usd', body, now).kind)
    expect(new Set(kinds)).toEqual(new Set(['error']))
  })
})
