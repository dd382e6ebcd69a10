import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { emptyFields } from '../../schemas/codec.ts'
import type {
  Candle,
  ContractTerms,
  DerivativeTicker,
  Liquidation,
  LongShortRatio,
  PriceRange,
  Settlement,
  SpotTicker,
  Token,
} from '../../schemas/records.ts'
import { createWorld, iso, T, type World } from './testing/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld('market')
})
afterAll(() => world.end())

const own = { instrument: 'okx:perp:BTC-USDT-SWAP', asset: 'btc' }
const named = { ...own, venue: 'okx', market: 'perp', symbol: 'BTC-USDT-SWAP' }
/** All columns of a view but the place in the log; these times as microseconds. */
const shown = (view: string, times: readonly string[], log = ' EXCEPT (partition, offset)'): string =>
  `SELECT *${log} REPLACE (${times.map((name) => `toUnixTimestamp64Micro(${name}) AS ${name}`).join(', ')}) FROM ${view}`

describe('market.tickers', () => {
  const ticker: SpotTicker = {
    instrument: 'kraken:spot:BTC/USD',
    asset: 'btc',
    bid: 99.5,
    ask: null,
    last: 100,
    price: 100.25,
    low: 99,
    high: 101,
    change_24h: -1.5,
    volume_24h: null,
    quote_volume_24h: 1e9,
    quote: 'USD',
    quote_usd: 1,
    time: T,
    received: T + 10,
  }
  const encode = (change: Partial<SpotTicker>): Buffer =>
    world.codec.encode('market.tickers', 'spot_ticker', { ...ticker, ...change })

  it('give every ticker once, whatever the order', async () => {
    const newest = { time: T + 5, received: T + 15, price: 102 }
    const first = await world.append('market.tickers', [encode(newest), encode({}), encode({})])
    await world.soon(`${shown('tickers', ['time', 'received'], '')} ORDER BY time`, [
      { ...ticker, venue: 'kraken', market: 'spot', symbol: 'BTC/USD', partition: 2, offset: first + 2 },
      { ...ticker, ...newest, venue: 'kraken', market: 'spot', symbol: 'BTC/USD', partition: 2, offset: first },
    ])
  })

  it('give ranges and the state of the channels', async () => {
    const { instrument, asset, low, high, quote, quote_usd } = ticker
    const range: PriceRange = {
      instrument,
      asset,
      from: T,
      to: T + 60,
      low,
      high,
      quote,
      quote_usd,
      received: T + 90,
      candles: [{ minute: T, low, high }],
    }
    const down = { venue: 'kraken', state: 'down', sockets: 0, since: T } as const
    const live = { ...down, state: 'live', sockets: 2, since: T + 7 } as const
    await world.append('market.tickers', [
      world.codec.encode('market.tickers', 'price_range', range),
      world.mark('market.tickers', { time: T + 8, venues: [live] }),
      world.mark('market.tickers', { time: T + 6, venues: [down] }),
    ])
    await world.soon(shown('price_ranges', ['from', 'to', 'received']), [
      { ...range, candles: [{ minute: iso(T), low, high }], venue: 'kraken', market: 'spot', symbol: 'BTC/USD' },
    ])
    await world.soon('SELECT * EXCEPT run FROM channel_states', [
      { topic: 'market.tickers', writer: 'feeds', ...live, since: iso(T + 7), time: iso(T + 8) },
    ])
    await world.soon("SELECT time FROM partition_times WHERE topic = 'market.tickers'", [{ time: iso(T + 8) }])
  })
})

describe('market.funding', () => {
  const nothing: DerivativeTicker = {
    ...emptyFields('derivative_ticker'),
    ...own,
    channel: 'funding-rate',
    received: T + 10,
  }
  const encode = (change: Partial<DerivativeTicker>): Buffer =>
    world.codec.encode('market.funding', 'derivative_ticker', { ...nothing, ...change })

  it('gives each group of a derivative ticker at its own time, and none where it is silent', async () => {
    const rate = { rate: 0.0001, rate_time: T + 1, next_settlement: T + 9 }
    const marks = { mark: 101, index: 100, mark_time: T + 2 }
    const interest = { open_interest: 5, open_interest_time: T + 4 }
    await world.append('market.funding', [
      encode({ ...rate, ...marks, premium: 0.002, premium_time: T + 3, ...interest }),
      encode({ ...rate, received: T + 20 }),
      encode({}),
    ])
    const without = ' EXCEPT (received, partition, offset)'
    const common = { ...named, channel: 'funding-rate' }
    await world.soon(shown('funding_rates', ['time', 'next_settlement'], without), [
      { ...common, rate: 0.0001, next_settlement: T + 9, time: T + 1 },
    ])
    await world.soon(shown('mark_prices', ['time'], without), [
      { ...common, mark: 101, index_price: 100, source: 'live', time: T + 2 },
    ])
    await world.soon(shown('premiums', ['time'], without), [{ ...named, premium: 0.002, time: T + 3 }])
    await world.soon(shown('open_interest', ['time'], without), [
      { ...common, open_interest: 5, source: 'live', time: T + 4 },
    ])
  })

  it('gives settlements, ratios and terms', async () => {
    const settlement: Settlement = { ...own, settled_rate: -0.0002, mark: null, time: T, received: T + 10 }
    const share = { long_ratio: 0.6, short_ratio: 0.4, ls_ratio: 1.5 }
    const whose = { cohort: 'top_traders', basis: 'positions' } as const
    const ratio: LongShortRatio = { ...own, ...whose, ...share, time: T, received: T + 10 }
    const terms: ContractTerms = {
      ...own,
      interval_hours: 4,
      rate_cap: 0.003,
      rate_floor: -0.003,
      interest_daily: null,
      max_leverage: 100,
      margin_tiers: [
        { up_to: 50_000, rate: 0.004, deduction: 0 },
        { up_to: null, rate: 0.5, deduction: 10 },
      ],
      received: T,
    }
    await world.append('market.funding', [
      world.codec.encode('market.funding', 'settlement', settlement),
      world.codec.encode('market.funding', 'long_short_ratio', ratio),
      world.codec.encode('market.funding', 'long_short_ratio', { ...ratio, time: T - 300e6, ls_ratio: 9 }),
      world.codec.encode('market.funding', 'contract_terms', { ...terms, interval_hours: 8, received: T - 1 }),
      world.codec.encode('market.funding', 'contract_terms', terms),
      world.mark('market.funding', { time: T + 1 }),
    ])
    const times = ['time', 'received']
    await world.soon(shown('funding_settlements', times), [{ ...settlement, ...named, source: 'live' }])
    await world.soon(`${shown('long_short_ratios', times)} ORDER BY long_short_ratios.time DESC LIMIT 1`, [
      { ...ratio, ...named, source: 'live' },
    ])
    await world.soon(shown('latest_terms', ['received']), [{ ...terms, ...named }])
    expect(await world.rows('SELECT interval_hours FROM contract_terms ORDER BY received')).toEqual([
      { interval_hours: 8 },
      { interval_hours: 4 },
    ])
  })
})

it('gives liquidations, each once: the first in the log', async () => {
  const liquidation: Liquidation = {
    ...own,
    id: '17-3',
    side: 'long',
    size: 2,
    price: 100,
    price_kind: 'bankruptcy',
    value: 200,
    completeness: 'sampled',
    time: T,
    received: T + 10,
  }
  const encode = (change: Partial<Liquidation>): Buffer =>
    world.codec.encode('market.liquidations', 'liquidation', { ...liquidation, ...change })
  await world.append('market.liquidations', [
    encode({}),
    encode({ received: T + 99 }),
    encode({ id: '17-4', side: 'short' }),
    world.mark('market.liquidations', { time: T + 20 }),
  ])
  await world.soon(`${shown('liquidations', ['time', 'received'])} ORDER BY id`, [
    { ...liquidation, ...named },
    { ...liquidation, ...named, id: '17-4', side: 'short' },
  ])
})

it('gives candles, nulls where the venue does not say', async () => {
  const minute = Math.floor(T / 60e6) * 60e6
  const candle: Candle = {
    ...own,
    minute,
    open: 1,
    high: 4,
    low: 0.5,
    close: 2,
    volume: 10,
    taker_buy: 6.5,
    trades: 12,
    received: T + 10,
  }
  const silent = { ...candle, minute: minute + 60e6, taker_buy: null, trades: null }
  await world.append('market.candles', [
    world.codec.encode('market.candles', 'candle', candle),
    world.codec.encode('market.candles', 'candle', silent),
    world.mark('market.candles', { time: T + 20 }),
  ])
  await world.soon(`${shown('candles', ['minute', 'received'])} ORDER BY minute`, [
    { ...candle, ...named },
    { ...silent, ...named },
  ])
})

it('gives the newest of each token; a tombstone is passed by', async () => {
  const token: Token = {
    ...emptyFields('token'),
    id: 'bitcoin',
    asset: 'btc',
    symbol: 'btc',
    name: 'Bitcoin',
    price: 100,
    change_24h: 1,
    change_30d: -2,
    volume_24h: 3,
    market_cap: 4,
    market_cap_rank: 1,
    circulating_supply: 5,
    ath: 7,
    ath_date: T - 5,
    last_updated: T,
    received: T + 10,
  }
  const encode = (change: Partial<Token>): Buffer =>
    world.codec.encode('market.tokens', 'token', { ...token, ...change })
  await world.append(
    'market.tokens',
    [encode({ price: 1 }), encode({}), null, encode({ id: 'other', asset: null, market_cap_rank: null })],
    0,
  )
  await world.soon(`${shown('tokens', ['ath_date', 'last_updated', 'received'], '')} ORDER BY id`, [
    token,
    { ...token, id: 'other', asset: null, market_cap_rank: null },
  ])
})

it('could read all of it', async () => {
  expect(await world.rows('SELECT * FROM ingest_errors')).toEqual([])
})
