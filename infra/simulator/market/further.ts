import { gatePerp, spotMarket } from './catalogue.ts'
import { type AssetRow, assets, type FurtherVenueName, furtherVenueNames, type Market } from './markets.ts'
import type { Random } from './random.ts'
import type { Fill, Trade } from './trade.ts'

/**
 * Markets of venues whose trades are asked for only here and there. They trade while somebody has them in the ledger, in
 * the wake of Binance's market of the same asset; what the others trade is the same with them as without.
 */
export const furtherMarkets: readonly Market[] = furtherVenueNames.flatMap((venue) =>
  assets.map((row) => furtherMarket(row, venue)),
)

export function isFurther({ venue }: Market): boolean {
  return furtherVenueNames.some((name) => name === venue)
}

/** Share of Binance's fills that has an echo on a further market. */
const ECHO_CHANCE = 0.5
/** Of what Binance's market trades, a further one trades this much: of an echo half at the mean. */
export const ECHO_SHARE = ECHO_CHANCE / 2
const INTERNAL_CHANCE = 0.01
const ECHO_BASIS = 0.000_05

/** What a further market trades after these trades of another market of its asset; prices and sizes in its own units. */
export function echoesOf(market: Market, source: Market, trades: readonly Trade[], random: Random): Fill[] {
  const price = 10 ** (market.priceDecimals + priceFactorOf(market) - source.priceDecimals - source.factor)
  const size = 10 ** (market.sizeDecimals - market.factor - source.sizeDecimals + source.factor)
  return trades
    .filter(() => random.chance(ECHO_CHANCE))
    .map((trade) => ({
      ...trade,
      price: Math.max(1, Math.round(trade.price * price * (1 + ECHO_BASIS * random.normal()))),
      size: Math.max(1, Math.round(trade.size * size * random.unit())),
      fills: 1 + random.below(3),
      // Internal trades of Gate: fills of its insurance fund and the like, in its stream and in no account.
      block: market.venue === 'gate' && random.chance(INTERNAL_CHANCE),
      rpi: false,
    }))
}

/** A price is for 10^this of the base. */
export function priceFactorOf({ startPrice, asset }: Market): number {
  const row = assets.find((one) => one.asset === asset)
  return row === undefined ? 0 : Math.round(Math.log10(startPrice / row.price))
}

function furtherMarket(row: AssetRow, venue: FurtherVenueName): Market {
  const base = row.ticker ?? row.asset
  const common = { venue, asset: row.asset, base, tick: 1, lot: 1, factor: 0, startPrice: row.price, weight: 0 }
  switch (venue) {
    case 'kraken': {
      const { priceDecimals, sizeDecimals } = spotMarket('kraken', { asset: row.asset, base, price: row.price })
      return { ...common, symbol: `${base}/USD`, quote: 'USD', priceDecimals, sizeDecimals }
    }
    case 'gate': {
      const { symbol, factor, priceDecimals, sizeDecimals } = gatePerp(row)
      return { ...common, symbol, factor, quote: 'USDT', priceDecimals, sizeDecimals }
    }
    case 'hyperliquid': {
      const factor = row.thousands ?? 0
      const startPrice = row.price * 10 ** factor
      const { priceDecimals, sizeDecimals } = spotMarket('binance', { asset: '', base, price: startPrice })
      const symbol = factor === 0 ? base : `k${base}`
      return { ...common, symbol, factor, startPrice, quote: 'USD', priceDecimals, sizeDecimals }
    }
    case 'binance_spot':
    case 'bitget': {
      const { priceDecimals, sizeDecimals } = spotMarket('binance', { asset: row.asset, base, price: row.price })
      return { ...common, symbol: `${base}USDT`, quote: 'USDT', priceDecimals, sizeDecimals }
    }
  }
}
