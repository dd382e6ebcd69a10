import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FundingView } from '../../schemas/records.ts'
import { listAsset, NOW, startHarness, streamAsset, type Harness } from '../testing/harness.ts'

const SECOND = 1_000_000

let api: Harness
beforeEach(async () => {
  api = await startHarness()
})
afterEach(() => api.stop())

/** The perpetuals of BTC, changed. */
function perpetuals(change: (view: FundingView) => Partial<FundingView> | null): void {
  const { market } = api.database
  market.funding = market.funding.map((funding) => ({
    ...funding,
    exchanges: funding.exchanges.flatMap((view) => {
      const changed = change(view)
      return changed === null ? [] : [{ ...view, ...changed }]
    }),
  }))
}

/** The venues were last heard `seconds` ago, channels and data. */
function silence(venues: readonly string[], seconds: number): void {
  const last = NOW - seconds * SECOND
  perpetuals(({ exchange }) => (venues.includes(exchange) ? { rate_time: last, mark_time: last } : {}))
  const { market } = api.database
  const isSilent = (instrument: string): boolean => venues.includes(instrument.split(':')[0] ?? '')
  market.tickers = market.tickers.map((row) => (isSilent(row.instrument) ? { ...row, time: last } : row))
  market.ratios = market.ratios.map((row) => (isSilent(row.instrument) ? { ...row, time: last } : row))
  api.database.channels = api.database.channels.map((row) =>
    venues.includes(row.venue) ? { ...row, state: 'down', since: last } : row,
  )
}

/** Venues have closed their markets of BTC; they have others. */
function delist(market: 'spot' | 'perp', venues: readonly string[]): void {
  const { database } = api
  const others = database.instruments.filter((row) => row.market !== market || !venues.includes(row.venue))
  const closed = market === 'spot' ? 'BTCUSDT' : 'BTC'
  database.instruments = [
    ...others,
    ...venues.flatMap((venue) => [
      { asset: 'btc', venue, market, base: closed, live: false },
      { asset: 'eth', venue, market, base: 'ETH', live: true },
    ]),
  ]
}

/** All that perpetuals have said is `seconds` older. */
function grow(seconds: number): void {
  const then = NOW - seconds * SECOND
  const { market } = api.database
  const view = { rate_time: then, mark_time: then, open_interest_time: then }
  market.funding = market.funding.map((row) => ({
    ...row,
    exchanges: row.exchanges.map((exchange) => ({ ...exchange, ...view })),
  }))
  market.ratios = market.ratios.map((row) => ({ ...row, time: then }))
  market.risks = market.risks.map((row) => ({
    ...row,
    exchanges: row.exchanges.map((exchange) => ({ ...exchange, time: then })),
  }))
}

/** No spot market has said anything for `seconds`; channels live. */
function spokeLast(seconds: number): void {
  const { market } = api.database
  const time = NOW - seconds * SECOND
  market.tickers = market.tickers.map((row) => ({ ...row, time, received: time }))
  market.prices = market.prices.map((row) => ({ ...row, time }))
}

const all = ['binance', 'bybit', 'okx', 'coinbase', 'kraken', 'gate']

describe('one exchange speaks for a symbol', () => {
  it.each([
    [[], 'binance', 0.0001],
    [['binance'], 'bybit', 0.0002],
    [['binance', 'bybit'], 'okx', 0.0003],
  ])('with %j silent it is %s', async (silent, exchange, rate) => {
    silence(silent, 121)
    expect(await api.body('/funding-rate/BTC')).toMatchObject({ exchange, funding_rate: rate, stale: false })
    const predicted = await api.body('/futures/predicted-funding/BTC')
    expect(predicted).toMatchObject({ exchange, current_funding_rate: rate, stale: false })
  })

  it('the next one where the first does not list it', async () => {
    perpetuals(({ exchange }) => (exchange === 'binance' ? null : {}))
    expect(await api.body('/funding-rate/BTC')).toMatchObject({ exchange: 'bybit' })
  })

  it('with all silent the answer is stale and says its age', async () => {
    silence(all, 300)
    expect(await api.body('/funding-rate/BTC')).toMatchObject({ exchange: 'binance', stale: true, age_ms: 300_000 })
  })

  it.each([
    ['rate_time', 120, false],
    ['rate_time', 121, true],
    ['mark_time', 60, false],
    ['mark_time', 61, true],
  ] as const)('a %s %i s old is stale: %s', async (field, seconds, stale) => {
    perpetuals(() => ({ [field]: NOW - seconds * SECOND }))
    expect(await api.body('/funding-rate/BTC')).toMatchObject({ stale })
  })

  it('comes back by itself', async () => {
    silence(['binance'], 121)
    expect(await api.body('/funding-rate/BTC')).toMatchObject({ exchange: 'bybit' })
    api.advance(30_000)
    perpetuals(() => ({ rate_time: NOW + 29 * SECOND, mark_time: NOW + 29 * SECOND }))
    expect(await api.body('/funding-rate/BTC')).toMatchObject({ exchange: 'binance' })
  })
})

describe('a venue that is missing in an answer of three', () => {
  it('has its key, a status and nulls, and is left out of bests', async () => {
    silence(['okx'], 121)
    const compare = await api.body('/futures/funding-compare/BTC')
    expect(compare).toMatchObject({
      exchanges: {
        binance: { funding_rate: 0.0001, status: 'live' },
        okx: { funding_rate: null, annualized_pct: null, next_funding_time: null, mark_price: null, status: 'stale' },
      },
      best_arb: { long_exchange: 'binance', short_exchange: 'bybit' },
      stale: false,
    })
    const basis = await api.body('/futures/basis/BTC')
    expect(basis).toMatchObject({
      exchanges: { okx: { perp_price: null, basis_usd: null, direction: null, status: 'stale' } },
      best_carry_trade: { exchange: 'bybit' },
    })
  })

  it.each([
    [
      'unlisted',
      () =>
        (api.database.instruments = api.database.instruments
          .filter(({ venue }) => venue !== 'okx')
          .concat(other('okx'))),
    ],
    ['unavailable', () => undefined],
  ])('is %s where it never said anything', async (status, prepare) => {
    prepare()
    perpetuals(({ exchange }) => (exchange === 'okx' ? null : {}))
    expect(await api.body('/futures/funding-compare/BTC')).toMatchObject({ exchanges: { okx: { status } } })
  })

  it('leaves no best below two venues, but a carry trade', async () => {
    silence(['okx', 'bybit'], 121)
    expect(await api.body('/futures/funding-compare/BTC')).toMatchObject({ best_arb: null, stale: false })
    expect(await api.body('/futures/basis/BTC')).toMatchObject({ best_carry_trade: { exchange: 'binance' } })
  })

  it('counts in a mean that is what the ratios make', async () => {
    const { market } = api.database
    const ratios = [2.0001, 2.0003, 1.9996]
    market.ratios = market.ratios.map((row) => ({ ...row, ls_ratio: ratios[row.ls_ratio - 1] ?? row.ls_ratio }))
    const { aggregate } = await api.body('/futures/long-short/BTC')
    expect(aggregate).toMatchObject({ avg_ls_ratio: 2, sentiment: 'Bullish' })
    const { points } = await api.body('/futures/long-short/history/BTC?interval=5m&limit=2')
    expect(points).toMatchObject([{ avg_ls_ratio: 2 }, { avg_ls_ratio: null }])
  })

  it('is left out of the mean of ratios', async () => {
    silence(['gate'], 601)
    const { exchanges, aggregate } = await api.body('/futures/long-short/BTC')
    expect(exchanges).toMatchObject({
      gate: { ls_ratio: null, long_ratio: null, source: 'top_traders', status: 'stale' },
    })
    expect(aggregate).toMatchObject({ avg_ls_ratio: 1.5, sentiment: 'Slightly bullish' })
  })

  it('shows what was last known where all are silent, and says that it is stale', async () => {
    silence(all, 300)
    const compare = await api.body('/futures/funding-compare/BTC')
    expect(compare).toMatchObject({ stale: true, age_ms: 300_000, best_arb: { short_exchange: 'okx' } })
    expect(compare['exchanges']).toMatchObject({ binance: { funding_rate: 0.0001, status: 'stale' } })
  })
})

function other(venue: string): Harness['database']['instruments'] {
  return [{ asset: 'eth', venue, market: 'perp', base: 'ETH', live: true }]
}

describe('the basis', () => {
  it('says the age of each leg', async () => {
    const answer = await api.body('/futures/basis/BTC')
    expect(answer).toMatchObject({
      spot_price: 100,
      spot_age_ms: 0,
      exchanges: { binance: { as_of: '2026-01-02T03:04:03.000Z' } },
    })
  })

  it('is stale when its spot price is', async () => {
    silence(['binance'], 16)
    expect(await api.body('/futures/basis/BTC')).toMatchObject({ stale: true, spot_age_ms: 16_000 })
  })

  it('is not there without a spot reference', async () => {
    const { market } = api.database
    market.tickers = market.tickers.filter(({ instrument }) => !instrument.startsWith('binance'))
    const { status, headers, body: got } = await api.get('/futures/basis/BTC')
    expect([status, got['error'], headers.get('retry-after')]).toEqual([503, 'data_unavailable', '10'])
  })
})

describe('the price chain', () => {
  it.each([
    [[], 'binance', 100],
    [['binance'], 'coinbase', 101],
    [['binance', 'coinbase'], 'okx', 102],
    [['binance', 'coinbase', 'okx'], 'bybit', 103],
    [['binance', 'coinbase', 'okx', 'bybit'], 'kraken', 104],
    [all, 'coingecko', 100.5],
  ])('with %j silent answers from %s', async (silent, source, price) => {
    silence(silent, 16)
    const { data, meta } = await api.body('/api/v1/prices?symbols=btc')
    expect(data).toMatchObject({ btc: { source, price } })
    expect(meta).toMatchObject({ stale: false, count: 1 })
  })

  it('with the registry silent too gives what was heard last, and says that it is stale', async () => {
    silence(all, 200)
    const { market } = api.database
    market.tokens = market.tokens.map((row) => ({ ...row, received: NOW - 301 * SECOND }))
    const { data, meta } = await api.body('/api/v1/prices?symbols=btc')
    expect([data, meta]).toMatchObject([{ btc: { source: 'binance' } }, { stale: true, age_ms: 200_000 }])
  })

  it('takes a quiet market for alive while its channel is', async () => {
    const { market } = api.database
    const time = NOW - 3_600 * SECOND
    market.tickers = market.tickers.map((row) => ({ ...row, time }))
    market.prices = market.prices.map((row) => ({
      ...row,
      sources: row.sources.map((source) => ({ ...source, time })),
    }))
    expect(await api.body('/api/v1/prices?symbols=btc')).toMatchObject({
      data: { btc: { source: 'binance' } },
      meta: { stale: false },
    })
    const { exchanges } = await api.body('/price/BTC')
    expect(exchanges).toMatchObject({ binance: { age_ms: 3_600_000, used: true, status: 'live' } })
  })

  it.each([
    [3_600, 'binance', 102],
    [3_601, 'coingecko', 100.5],
  ])('leaves a market that said nothing for %i s: it is %s', async (seconds, source, price) => {
    spokeLast(seconds)
    const isStale = source === 'coingecko'
    expect(await api.body('/price/BTC')).toMatchObject({ stale: isStale, age_ms: isStale ? 3_601_000 : 0 })
    expect(await api.body('/api/v1/prices?symbols=btc')).toMatchObject({
      data: { btc: { source } },
      meta: { stale: false },
    })
    expect(await api.body('/api/v1/market/bitcoin')).toMatchObject({ data: { price }, stale: false })
  })

  it('leaves a market whose place another of its venue has taken', async () => {
    const { market } = api.database
    const before = NOW - 61 * SECOND
    const left = market.tickers
      .filter(({ instrument }) => instrument.startsWith('bybit:'))
      .map((row) => ({ ...row, instrument: 'bybit:spot:BTCUSDC', quote: 'USDC', time: before, received: before }))
    market.tickers.push(...left.map((row) => ({ ...row, price: 50, last: 50, quote_volume_24h: 1e9 })))
    expect(left).toHaveLength(1)
    expect(await api.body('/price/BTC')).toMatchObject({ exchanges: { bybit: { price: 103 } } })
    expect(await api.body('/api/v1/market/bitcoin')).toMatchObject({ data: { volume_24h: 4 * 10_000 + 50 * 101 } })
  })

  it('leaves a composite price whose markets are listed no longer', async () => {
    spokeLast(60)
    delist('spot', all)
    expect((await api.get('/price/BTC')).status).toBe(404)
    expect(await api.body('/api/v1/market/bitcoin')).toMatchObject({ data: { price: 100.5, source: 'coingecko' } })
  })

  it('leaves a composite price that was not made for an hour, though its markets speak', async () => {
    const { market } = api.database
    market.prices = market.prices.map((row) => ({ ...row, time: NOW - 3_601 * SECOND }))
    expect(await api.body('/price/BTC')).toMatchObject({ stale: true, age_ms: 3_601_000 })
  })

  it('values quotes by what a unit of them is worth', async () => {
    const { market } = api.database
    market.tickers = market.tickers.map((row) => ({ ...row, quote_usd: row.quote === 'USDT' ? 0.5 : 1 }))
    const { data } = await api.body('/api/v1/prices?symbols=btc')
    expect(data).toMatchObject({ btc: { price: 50, volume_24h: 5_000, market_cap: 50 * 19_900_000 } })
    expect(await api.body('/futures/basis/BTC')).toMatchObject({ spot_price: 100 })
  })

  it('multiplies decimals, without what binary arithmetic adds', async () => {
    const { market } = api.database
    market.tickers = market.tickers.map((row) => ({ ...row, quote_usd: 0.00035 }))
    const { data } = await api.body('/api/v1/prices?symbols=btc')
    expect(data).toMatchObject({ btc: { price: 0.035, market_cap: 696_500 } })
  })

  it('leaves out what nobody can price, and is not there when that is all', async () => {
    expect(await api.body('/api/v1/prices?symbols=btc,eth')).toMatchObject({ meta: { count: 1, requested: 2 } })
    expect((await api.get('/api/v1/prices?symbols=eth')).status).toBe(503)
  })
})

describe('a processor that stands still while feeds go on', () => {
  /** The processor's newest marks are `seconds` old. */
  function stand(processor: string, seconds: number): void {
    const { database } = api
    const time = NOW - seconds * SECOND
    database.derived = database.derived.map((row) => (row.processor === processor ? { ...row, time } : row))
    if (processor !== 'cvd') return
    database.times = database.times.map((row) => (row.topic === 'derived.flow' ? { ...row, time } : row))
  }

  it.each([
    [15, false],
    [16, true],
  ])('makes the composite price %i s later stale: %s', async (seconds, stale) => {
    spokeLast(60)
    stand('prices', seconds)
    expect(await api.body('/price/BTC')).toMatchObject({ stale, age_ms: seconds * 1000 })
    expect(await api.body('/api/v1/market/bitcoin')).toMatchObject({ data: { price: 102 }, stale })
    const { symbols } = await api.body('/screener')
    expect(symbols).toMatchObject([{ symbol: 'BTC', price: stale ? null : 102 }])
  })

  it.each([
    [30, false],
    [31, true],
  ])('makes what CVD counts %i s later stale: %s', async (seconds, stale) => {
    stand('cvd', seconds)
    expect(await api.body('/cvd/BTC')).toMatchObject({ stale })
    const { symbols } = await api.body('/screener')
    const [btc] = symbols as Readonly<Record<string, unknown>>[]
    const figures = [btc?.['cvd_1h_usd'], btc?.['cvd_24h_usd'], btc?.['volume_24h_usd']]
    expect(figures.map((figure) => figure === null)).toEqual([stale, stale, stale])
  })
})

describe('market details', () => {
  it('join our price with the registry’s details, and name both', async () => {
    const { data, quality } = await api.body('/api/v1/market/bitcoin')
    expect(data).toMatchObject({ price: 102, change_24h: 1.25, ath: 126_000 })
    expect(quality).toBe(api.database.market.prices[0]?.quality)
    expect(data).toMatchObject({ source: 'composite of binance, coinbase, okx, bybit, kraken; details from coingecko' })
    // Four venues of 10,000 in quote units, and one that tells 50 base units at its last price.
    expect(data).toMatchObject({ volume_24h: 4 * 10_000 + 50 * 101 })
  })

  it('are told by an id that the registry has given up, of the coin that has another now', async () => {
    const [token] = api.database.market.tokens
    if (token === undefined) throw new Error('no token')
    const renamed = { ...token, id: 'polygon-ecosystem-token', symbol: 'pol', asset: 'matic' }
    api.database.market.tokens.push(renamed)
    expect(await api.body('/api/v1/market/matic-network')).toMatchObject({ data: { id: renamed.id } })
    // As long as the registry tells the old id too, it is its own.
    api.database.market.tokens.push({ ...renamed, id: 'matic-network' })
    expect(await api.body('/api/v1/market/matic-network')).toMatchObject({ data: { id: 'matic-network' } })
  })

  it('are the registry’s alone where no exchange can be heard', async () => {
    silence(all, 60)
    api.database.market.prices = api.database.market.prices.map((row) => ({ ...row, time: NOW - 60 * SECOND }))
    const answer = await api.body('/api/v1/market/bitcoin')
    const data = { price: 100.5, change_24h: 2.5, source: 'coingecko' }
    expect(answer).toMatchObject({ data, quality: null, stale: false })
  })

  it('are not there before the registry was read, and are stale 5 min after', async () => {
    api.hang(281_000)
    expect(await api.body('/api/v1/market/bitcoin')).toMatchObject({ stale: true })
    api.database.market.tokens = []
    api.hang(30_000)
    expect((await api.get('/api/v1/market/bitcoin')).status).toBe(503)
  })
})

describe('what venues list no longer', () => {
  const routes = [
    '/funding-rate/BTC',
    '/futures/predicted-funding/BTC',
    '/futures/funding-compare/BTC',
    '/futures/basis/BTC',
    '/futures/open-interest/BTC',
    '/futures/long-short/BTC',
    '/liquidation/heatmap/BTC',
  ]

  it.each(routes)('is told by %s as it was a moment ago, then not any more', async (route) => {
    delist('perp', all)
    expect(await api.body(route)).toMatchObject({ stale: false })
    grow(700)
    const { status, body } = await api.get(route)
    expect([status, body['error']]).toEqual([404, 'symbol_not_found'])
  })

  it.each(routes)('is told by %s while one of them lists it, as it was last known', async (route) => {
    delist(
      'perp',
      all.filter((venue) => venue !== 'binance'),
    )
    grow(700)
    expect(await api.body(route)).toMatchObject({ stale: true })
  })

  it('does not count beside what another venue said last', async () => {
    delist('perp', ['okx'])
    silence(all, 300)
    expect(await api.body('/futures/funding-compare/BTC')).toMatchObject({
      exchanges: { okx: { funding_rate: null, status: 'unlisted' } },
      best_arb: { short_exchange: 'bybit' },
      stale: true,
    })
  })
})

describe('what no venue has', () => {
  beforeEach(() => {
    api.database.instruments.push({ asset: 'coin', venue: 'kraken', market: 'spot', base: 'COIN', live: true })
    streamAsset(api.database, 'coin', NOW - 3_600 * SECOND)
  })

  it.each([
    ['/funding-rate/COIN', 404],
    ['/futures/funding-compare/COIN', 404],
    ['/funding-rate/history/COIN', 404],
    ['/price/COIN', 503],
    ['/futures/basis/COIN', 404],
    ['/futures/long-short/COIN', 404],
    ['/futures/open-interest/COIN', 404],
    ['/liquidation/heatmap/COIN', 404],
  ])('%s is %i', async (path, status) => {
    expect((await api.get(path)).status).toBe(status)
  })

  it('of a listed one is 503 with when to come back', async () => {
    listAsset(api.database, 'wif')
    for (const path of ['/price/WIF', '/funding-rate/WIF', '/futures/funding-compare/WIF', '/futures/basis/WIF']) {
      const { status, headers, body: got } = await api.get(path)
      expect([status, got['error'], headers.get('retry-after')]).toEqual([503, 'data_unavailable', '10'])
    }
  })
})
