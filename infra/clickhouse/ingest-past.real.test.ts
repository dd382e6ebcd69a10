import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { says } from '../../processors/funding/testing/records.ts'
import type { DerivativeTicker, LongShortRatio, Settlement, VenueCandle } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { createWorld, iso, T, type World } from './testing/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld('pastfacts')
})
afterAll(() => world.end())

const HOUR = 3_600e6
const H = Math.floor(T / HOUR) * HOUR - 6 * HOUR
const at = (hours: number): string => iso(H + hours * HOUR).slice(0, -1)
const whole = `start = '${at(-1)}', end = '${at(4)}'`

type Fact = (asset: string, topic: TopicName) => Buffer

const about = (asset: string): { asset: string; instrument: string; received: number } => ({
  asset,
  instrument: 'binance:perp:BTCUSDT',
  received: T,
})

const settled =
  (hours: number, settled_rate: number): Fact =>
  (asset, topic) => {
    const row: Settlement = { ...about(asset), settled_rate, mark: null, time: H + hours * HOUR }
    return world.codec.encode(topic, 'settlement', row)
  }

const ticker =
  (channel: string, groups: Partial<DerivativeTicker>): Fact =>
  (asset, topic) =>
    world.codec.encode(topic, 'derivative_ticker', says({ ...about(asset), channel, ...groups }).value)

const interest = (at: number, open_interest: number): Fact =>
  ticker('open-interest', { open_interest, open_interest_time: at })
const marked = (channel: string, at: number, mark: number, index: number | null = null): Fact =>
  ticker(channel, { mark, index, mark_time: at })

const ratio =
  (hours: number, ls_ratio: number): Fact =>
  (asset, topic) => {
    const long_ratio = ls_ratio / (1 + ls_ratio)
    const shares = { long_ratio, short_ratio: 1 - long_ratio, ls_ratio }
    const whose = { cohort: 'top_traders', basis: 'positions' } as const
    const row: LongShortRatio = { ...about(asset), ...whose, ...shares, time: H + hours * HOUR }
    return world.codec.encode(topic, 'long_short_ratio', row)
  }

/** What is told of an asset, in parts that may come in any order: hours 1 and 2 live, 0 to 2 read back, some of it twice. */
const parts: readonly (readonly [TopicName, readonly Fact[]])[] = [
  ['market.history', [settled(0, 0.01), settled(1, 0.02), interest(H, 10), interest(H + HOUR, 20), ratio(0, 3)]],
  [
    'market.history',
    [settled(1, 0.02), interest(H + HOUR, 20), marked('prices', H, 7, 5), marked('prices', H + HOUR, 8)],
  ],
  ['market.history', [ratio(1, 4), interest(H + 2 * HOUR + 1, 30), marked('prices', H + 2 * HOUR + 1, 9)]],
  ['market.funding', [settled(1, 0.2), settled(2, 0.3), interest(H + HOUR, 200), ratio(1, 1)]],
  ['market.funding', [interest(H + 2 * HOUR, 300), marked('mark-price', H + 2 * HOUR, 90, 80), ratio(2, 1)]],
  ['market.history', [marked('prices', H + 3 * HOUR, 6)]],
  ['market.funding', [marked('mark-price', H + 3 * HOUR, 60, 50)]],
]

const row = (hours: number, source: string): object => ({ time: iso(H + hours * HOUR), source })

it('tells one series of what is live and what is read back, each time once, whatever came first', async () => {
  const orders = fc.sample(fc.shuffledSubarray([...parts], { minLength: parts.length }), 12)
  const assets = orders.map((_, index) => `asset${index}`)
  for (const [index, order] of orders.entries()) {
    for (const [topic, facts] of order)
      await world.append(
        topic,
        facts.map((fact) => fact(assets[index] ?? '', topic)),
      )
  }
  await world.soon('SELECT count() AS rows FROM funding_settlements', [{ rows: 3 * orders.length }])
  await world.soon('SELECT count() AS rows FROM long_short_ratios', [{ rows: 3 * orders.length }])
  await world.soon('SELECT count() AS rows FROM open_interest', [{ rows: 4 * orders.length }])
  await world.soon('SELECT count() AS rows FROM mark_prices', [{ rows: 5 * orders.length }])
  for (const asset of assets) {
    const history = (columns: string, view: string): Promise<unknown[]> =>
      world.rows(`SELECT time, ${columns}, source FROM ${view}_history(asset = '${asset}', seconds = 3600, ${whole})`)
    const sql = `SELECT time, settled_rate, source FROM funding_settlements WHERE asset = '${asset}' ORDER BY time`
    expect(await world.rows(sql)).toEqual([
      { ...row(0, 'venue_history'), settled_rate: 0.01 },
      { ...row(1, 'live'), settled_rate: 0.2 },
      { ...row(2, 'live'), settled_rate: 0.3 },
    ])
    // Of an hour in which something is live that stands, also where what was read back is later in it.
    expect(await history('open_interest, mark', 'open_interest')).toEqual([
      { ...row(0, 'venue_history'), open_interest: 10, mark: 7 },
      { ...row(1, 'live'), open_interest: 200, mark: 8 },
      { ...row(2, 'live'), open_interest: 300, mark: 90 },
    ])
    // Nobody told a spot price here: the venue's own index stands for it.
    expect(await history('mark, against, basis_usd, round(basis_pct, 6) AS pct', 'basis')).toEqual([
      { ...row(0, 'venue_history'), mark: 7, against: 'index', basis_usd: 2, pct: 40 },
      { ...row(1, 'venue_history'), mark: 8, against: null, basis_usd: null, pct: null },
      { ...row(2, 'live'), mark: 90, against: 'index', basis_usd: 10, pct: 12.5 },
      { ...row(3, 'live'), mark: 60, against: 'index', basis_usd: 10, pct: 20 },
    ])
    // What the venue told later of a time is not a second row of it.
    const marks = `SELECT time, mark, source FROM mark_prices WHERE asset = '${asset}' AND time >= '${at(3)}'`
    expect(await world.rows(marks)).toEqual([{ ...row(3, 'live'), mark: 60 }])
    expect(await history('ls_ratio', 'long_short')).toEqual([
      { ...row(0, 'venue_history'), ls_ratio: 3 },
      { ...row(1, 'live'), ls_ratio: 1 },
      { ...row(2, 'live'), ls_ratio: 1 },
    ])
  }
})

it('takes of two candles of an hour the one that says what takers bought, whichever came first', async () => {
  const candle = (asset: string, taker_buy: number | null): Buffer => {
    const prices = { open: 1, high: 2, low: 1, close: 2, volume: 10, quote: null, taker_buy_quote: null, trades: null }
    const row: VenueCandle = { ...about(asset), ...prices, taker_buy, start: H, seconds: 3600, source: 'venue_candles' }
    return world.codec.encode('market.history', 'venue_candle', row)
  }
  await world.append('market.history', [candle('told-first', 4), candle('told-first', null)])
  await world.append('market.history', [candle('told-last', null), candle('told-last', 4)])
  await world.soon("SELECT asset, taker_buy FROM venue_candles WHERE asset LIKE 'told-%' ORDER BY asset", [
    { asset: 'told-first', taker_buy: 4 },
    { asset: 'told-last', taker_buy: 4 },
  ])
})
