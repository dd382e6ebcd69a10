import { partitionOf } from '../../schemas/catalogue.ts'
import type { FundingView, PriceSource } from '../../schemas/records.ts'
import type { Micros } from '../../schemas/records.ts'
import { fundingVenues, priceVenues, ratioVenues, venueNames } from '../../schemas/venues.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { ChannelRow } from '../views/world.ts'
import type { FakeMarket } from './fake-market.ts'

const SECOND: Micros = 1_000_000
const HOUR: Micros = 3_600 * SECOND

/** Topics that feeds write beside trades. */
export const marketTopics = ['market.tickers', 'market.funding', 'market.liquidations'] as const

/** Every venue's channels and polls are alive at `time`. */
export function liveChannels(time: Micros, since: Micros): ChannelRow[] {
  const row = (topic: TopicName, venue: string): ChannelRow => ({
    topic,
    venue,
    writer: 'feeds',
    state: 'live',
    sockets: 1,
    since,
    time,
  })
  return [...marketTopics, 'market.trades' as const].flatMap((topic) => venueNames.map((venue) => row(topic, venue)))
}

/** Everything of one asset beside trades, as it is just before `now`; `price`: USD. */
export function fillAsset(market: FakeMarket, asset: string, { now, price }: { now: Micros; price: number }): void {
  const symbol = asset.toUpperCase()
  market.tickers.push(
    ...priceVenues.map((venue, index) => ({
      instrument: `${venue}:spot:${symbol}USDT`,
      asset,
      bid: price - 1 + index,
      ask: price + 1 + index,
      last: price + index,
      price: price + index,
      low: price - 2,
      high: price + 8,
      change_24h: 1 + index / 8,
      volume_24h: venue === 'coinbase' ? 50 : 100 - index,
      quote_volume_24h: venue === 'coinbase' ? null : 100 * price,
      quote: venue === 'coinbase' || venue === 'kraken' ? 'USD' : 'USDT',
      quote_usd: 1,
      time: now - SECOND,
      received: now - SECOND + 1000,
    })),
  )
  market.prices.push(compositeOf(asset, now, price))
  market.funding.push({
    asset,
    exchanges: fundingVenues.map((venue) => perpetual(venue, asset, now, price)),
    time: now,
    v: 1,
  })
  for (const [rank, venue] of fundingVenues.entries())
    market.settlements.push(
      ...Array.from({ length: 12 }, (_, index) => ({
        instrument: `${venue}:perp:${symbol}USDT`,
        asset,
        settled_rate: Number(`${(index - 3) * 10 + rank}e-5`),
        mark: price,
        time: lastSettlement(now) - index * 8 * HOUR,
        received: now,
      })),
    )
  fillDerivatives(market, asset, { now, price })
  fillRatios(market, asset, now)
  fillLiquidations(market, asset, { now, price })
}

function lastSettlement(now: Micros): Micros {
  return now - (now % (8 * HOUR))
}

function compositeOf(asset: string, now: Micros, price: number): FakeMarket['prices'][number] {
  const sources = priceVenues.map((venue, index): PriceSource => {
    const instrument = `${venue}:spot:${asset.toUpperCase()}USDT`
    return { exchange: venue, instrument, price: price + index, low: price - 2, high: price + 8, time: now - SECOND }
  })
  const bounds = { price: price + 2, low: price - 2, high: price + 8, change_24h: 1.25 }
  return { asset, ...bounds, sources, quality: 'good', late: false, bounds_from: 0, time: now - SECOND + 1000, v: 1 }
}

/** Rates rise from venue to venue: 0.0001, 0.0002, 0.0003. */
export function perpetual(venue: string, asset: string, now: Micros, price: number): FundingView {
  const rank = fundingVenues.findIndex((known) => known === venue)
  return {
    exchange: venue,
    instrument: `${venue}:perp:${asset.toUpperCase()}USDT`,
    rate: Number(`${rank + 1}e-4`),
    rate_time: now - 3 * SECOND,
    next_settlement: lastSettlement(now) + 8 * HOUR,
    interval_hours: 8,
    mark: price * (1 + (rank - 1) / 1024),
    index: price,
    mark_time: now - 2 * SECOND,
    premium: 0.0005,
    premium_time: now - 60 * SECOND,
    average_premium: 0.0004,
    samples: 180,
    expected: 184,
    predicted: Number(`${rank + 2}e-4`),
    settled_rate: -0.0003,
    settled_time: lastSettlement(now),
    open_interest: 1000 * (rank + 1),
    open_interest_time: now - 4 * SECOND,
  }
}

/** Marks and open interest of three hours back: the interest was smaller by a tenth each hour. */
function fillDerivatives(market: FakeMarket, asset: string, { now, price }: { now: Micros; price: number }): void {
  for (const venue of fundingVenues)
    for (const ago of [0, 1, 2, 3]) {
      const time = now - 5 * SECOND - ago * HOUR
      const { instrument, rate, next_settlement, mark, index, open_interest } = perpetual(venue, asset, time, price)
      const times = { rate_time: time, mark_time: time, open_interest_time: time, received: time + 1000 }
      const interest = (open_interest ?? 0) * (1 - ago / 10)
      const figures = { rate, next_settlement, mark, index, premium: null, premium_time: null }
      market.derivatives.push({ instrument, asset, channel: 'tickers', ...figures, open_interest: interest, ...times })
    }
}

/** Longs over shorts: 1, 2, 3. */
function fillRatios(market: FakeMarket, asset: string, now: Micros): void {
  for (const [index, venue] of ratioVenues.entries()) {
    const ls_ratio = index + 1
    const shares = { long_ratio: ls_ratio / (ls_ratio + 1), short_ratio: 1 / (ls_ratio + 1), ls_ratio }
    const fields = { instrument: `${venue}:perp:${asset.toUpperCase()}USDT`, asset, basis: 'positions' } as const
    const times = { time: now - 300 * SECOND, received: now }
    market.ratios.push(
      { ...fields, cohort: 'top_traders', ...shares, ...times },
      // What must not be taken: everybody's, and a count of heads.
      { ...fields, cohort: 'all', ...shares, ls_ratio: 99, ...times },
      { ...fields, cohort: 'top_traders', basis: 'accounts', ...shares, ls_ratio: 98, ...times },
    )
  }
}

function fillLiquidations(market: FakeMarket, asset: string, { now, price }: { now: Micros; price: number }): void {
  const levels = [1, 2, 3].map((step) => ({ price: price * (1 - step / 100), long_usd: 100 * step, short_usd: 0 }))
  market.risks.push({
    asset,
    price,
    open_interest_usd: 10_000,
    exchanges: fundingVenues.map((exchange) => ({
      exchange,
      open_interest_usd: 2_500,
      mark: price,
      time: now - 5 * SECOND,
    })),
    levels,
    clusters: [100, 50, 25, 10, 5].flatMap((leverage) =>
      (['long', 'short'] as const).map((side) => ({
        leverage,
        side,
        price: price * (side === 'long' ? 1 - 1 / leverage : 1 + 1 / leverage),
        usd: 10 * leverage,
      })),
    ),
    at_risk_5_usd: 600,
    at_risk_5_pct: 6,
    at_risk_10_usd: 700,
    at_risk_10_pct: 7,
    cascade_risk: 'medium',
    swept_long_usd: 400,
    swept_short_usd: 200,
    since: now - 2 * HOUR,
    time: now,
    v: 1,
  })
  const ages = [10 * SECOND, 30 * 60 * SECOND, 90 * 60 * SECOND, 25 * HOUR]
  const offset = market.liquidations.length
  market.liquidations.push(
    ...ages.map((age, index) => ({
      instrument: `bybit:perp:${asset.toUpperCase()}USDT`,
      asset,
      id: `${now - age}-0`,
      side: index % 2 === 0 ? ('long' as const) : ('short' as const),
      size: 0.5,
      price: price - index,
      price_kind: 'bankruptcy' as const,
      value: 0.5 * (price - index),
      completeness: 'all' as const,
      time: now - age,
      received: now - age + 1000,
      partition: partitionOf(asset, 12),
      offset: offset + ages.length - index,
    })),
  )
}

/** Bitcoin as the registry has it. */
export function fillTokens(market: FakeMarket, now: Micros): void {
  const day = 24 * HOUR
  const changes = { change_24h: 2.5, change_7d: -3.5, change_30d: 10.25 }
  const supply = { market_cap: 1e12, market_cap_rank: 1, circulating_supply: 19_900_000, total_supply: 21_000_000 }
  const bounds = { ath: 126_000, ath_date: now - 80 * day, atl: 67.81, atl_date: now - 4000 * day }
  const times = { last_updated: now - 30 * SECOND, received: now - 20 * SECOND }
  const figures = { price: 100.5, ...changes, volume_24h: 3e10, ...supply, ...bounds, ...times }
  market.tokens.push({ id: 'bitcoin', asset: 'btc', symbol: 'btc', name: 'Bitcoin', ...figures })
  const rare = { total_supply: null, circulating_supply: null, price: null, market_cap: null }
  market.tokens.push({ id: 'rare-token', asset: null, symbol: 'rare', name: 'Rare', ...figures, ...rare })
}
