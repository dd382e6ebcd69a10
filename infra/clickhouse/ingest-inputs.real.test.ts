import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CompositePrice, Funding, FundingView, LiquidationRisk } from '../../schemas/records.ts'
import { createWorld, iso, T, type World } from './testing/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld('inputs')
})
afterAll(() => world.end())

const source = { exchange: 'kraken', instrument: 'kraken:spot:BTC/USD', price: 100, low: 99, high: 101, time: T - 3 }
const price: CompositePrice = {
  asset: 'btc',
  price: 100,
  low: 99,
  high: 101,
  change_24h: null,
  sources: [source],
  quality: 'degraded',
  late: false,
  bounds_from: 0,
  time: T,
  v: 5,
}
const risk: LiquidationRisk = {
  asset: 'btc',
  price: 100,
  open_interest_usd: 1e9,
  exchanges: [{ exchange: 'okx', open_interest_usd: 1e9, mark: 100, time: T - 2 }],
  levels: [
    { price: 99.75, long_usd: 5, short_usd: 0 },
    { price: 100.25, long_usd: 0, short_usd: 6 },
  ],
  clusters: [{ leverage: 100, side: 'long', price: 99.5, usd: 5 }],
  at_risk_5_usd: 11,
  at_risk_5_pct: 1.1,
  at_risk_10_usd: 12,
  at_risk_10_pct: 1.2,
  cascade_risk: 'low',
  swept_long_usd: 1,
  swept_short_usd: 2,
  since: T - 9,
  time: T,
  v: 7,
}

it('gives every composite price, also one that is told late', async () => {
  const encode = (change: Partial<CompositePrice>): Buffer =>
    world.codec.encode('alerts.inputs', 'composite_price', { ...price, ...change })
  const first = await world.append('alerts.inputs', [
    encode({ time: T - 10, v: 4 }),
    encode({}),
    encode({ time: T - 5, v: 6, late: true, bounds_from: T - 65, low: 90 }),
    encode({}),
  ])
  await world.soon('SELECT time, v, late, bounds_from, low FROM prices ORDER BY v', [
    { time: iso(T - 10), v: 4, late: false, bounds_from: iso(0), low: 99 },
    { time: iso(T), v: 5, late: false, bounds_from: iso(0), low: 99 },
    { time: iso(T - 5), v: 6, late: true, bounds_from: iso(T - 65), low: 90 },
  ])
  await world.soon('SELECT * FROM prices ORDER BY time DESC LIMIT 1', [
    {
      ...price,
      sources: [{ ...source, time: iso(T - 3) }],
      bounds_from: iso(0),
      time: iso(T),
      partition: 2,
      offset: first + 3,
    },
  ])
})

it('keeps a composite price that code of a later generation told again as one', async () => {
  const encode = (generation: number): Buffer =>
    world.codec.encode('alerts.inputs', 'composite_price', {
      ...price,
      asset: 'eth',
      price: generation,
      v: generation * 2 ** 44 + 9,
    })
  await world.append('alerts.inputs', [encode(2), encode(1)])
  await world.soon("SELECT price FROM prices WHERE asset = 'eth'", [{ price: 2 }])
})

it('gives liquidation risk with its levels', async () => {
  const encode = (change: Partial<LiquidationRisk>): Buffer =>
    world.codec.encode('alerts.inputs', 'liquidation_risk', { ...risk, ...change })
  const first = await world.append('alerts.inputs', [
    encode({}),
    encode({ time: T - 5_000_000, v: 6, levels: [] }),
    world.mark('alerts.inputs', { writer: 'prices', run: 0, time: T + 9 }),
  ])
  const expected = {
    ...risk,
    exchanges: [{ exchange: 'okx', open_interest_usd: 1e9, mark: 100, time: iso(T - 2) }],
    since: iso(T - 9),
    time: iso(T),
    partition: 2,
    offset: first,
  }
  await world.soon('SELECT * FROM liquidation_risk ORDER BY time DESC LIMIT 1', [expected])
  expect(await world.rows('SELECT length(levels) AS levels FROM liquidation_risk ORDER BY time')).toEqual([
    { levels: 0 },
    { levels: 2 },
  ])
  await world.soon("SELECT time FROM partition_times WHERE topic = 'alerts.inputs'", [{ time: iso(T + 9) }])
})

it('gives derived figures, each time of a processor and asset once', async () => {
  const figures = [
    { figure: 'buy', exchange: 'okx', value: 2.5 },
    { figure: 'cvd_class_1h', exchange: null, value: 5 },
  ]
  const encode = (v: number): Buffer =>
    world.codec.encode('alerts.inputs', 'metric', { asset: 'btc', core: 'cvd', figures, time: T, v })
  await world.append('alerts.inputs', [encode(8), encode(8), encode(2 ** 44 + 8)])
  await world.soon('SELECT asset, core, time, figures, v FROM metrics', [
    { asset: 'btc', core: 'cvd', time: iso(T), figures, v: 2 ** 44 + 8 },
  ])
})

it('gives the newest funding of each asset with all its venues, nulls included', async () => {
  const silent: FundingView = {
    exchange: 'okx',
    instrument: 'okx:perp:BTC-USDT-SWAP',
    rate: null,
    rate_time: null,
    next_settlement: null,
    interval_hours: 8,
    mark: null,
    index: null,
    mark_time: null,
    premium: null,
    premium_time: null,
    average_premium: null,
    samples: 0,
    expected: 90,
    predicted: null,
    settled_rate: null,
    settled_time: null,
    open_interest: null,
    open_interest_time: null,
  }
  const full: FundingView = {
    ...silent,
    exchange: 'binance',
    instrument: 'binance:perp:BTCUSDT',
    rate: 0.0001,
    rate_time: T - 1,
    next_settlement: T + 1,
    mark: 101,
    index: 100,
    mark_time: T - 2,
    premium: 0.002,
    premium_time: T - 3,
    average_premium: 0.001,
    samples: 80,
    predicted: 0.0002,
    settled_rate: -0.0001,
    settled_time: T - 4,
    open_interest: 12.5,
    open_interest_time: T - 5,
  }
  const encode = (change: Partial<Funding>): Buffer =>
    world.codec.encode('derived.funding', 'funding', {
      asset: 'btc',
      exchanges: [full, silent],
      time: T,
      v: 3,
      ...change,
    })
  const first = await world.append('derived.funding', [
    encode({}),
    encode({ v: 2, exchanges: [] }),
    world.mark('derived.funding', { writer: 'funding', run: 0, time: T + 9 }),
  ])
  const times = {
    rate_time: iso(T - 1),
    next_settlement: iso(T + 1),
    mark_time: iso(T - 2),
    premium_time: iso(T - 3),
    settled_time: iso(T - 4),
    open_interest_time: iso(T - 5),
  }
  await world.soon('SELECT * FROM latest_funding', [
    { asset: 'btc', exchanges: [{ ...full, ...times }, silent], time: iso(T), v: 3, partition: 2, offset: first },
  ])
  await world.soon("SELECT time FROM partition_times WHERE topic = 'derived.funding'", [{ time: iso(T + 9) }])
  expect(await world.rows('SELECT * FROM ingest_errors')).toEqual([])
})
