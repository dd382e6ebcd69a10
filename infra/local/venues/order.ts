import type { Market } from './markets.ts'
import type { Random } from './random.ts'
import type { Fill, Micros } from './trade.ts'

/** Mean number of trade records that one taker order makes; measured over a million orders. */
export const RECORDS_PER_ORDER = 1.44

const LEVELS_MAX = 6
const NOTIONAL_MAX = 4_000_000

export interface Order {
  readonly market: Market
  /** Middle of the book, for one unit of size, in quote currency. */
  readonly price: number
  readonly buy: boolean
  readonly time: Micros
  /** How liquid the asset is; larger orders come to deeper books. */
  readonly depth: number
}

/** What one taker order trades: from the best price on, level by level. */
export function fillsOf(order: Order, random: Random): Fill[] {
  const { market, buy, time } = order
  const block = market.venue === 'bybit' && random.chance(0.0005)
  const size = sizeOf(order, random) * (block ? 40 : 1)
  const rpi = (market.venue === 'bybit' || market.venue === 'binance') && random.chance(0.03)
  const parts = block ? [size] : cut(size, partsOf(market, random), random)
  const best = bestPrice(order)
  return parts.map((part, level) => ({
    time,
    price: Math.max(market.tick, best + (buy ? 1 : -1) * levelOf(market, level, random) * market.tick),
    size: part,
    buy,
    fills: market.venue === 'binance' ? Math.min(part, 1 + random.below(1 + random.below(6))) : 1,
    block,
    rpi,
  }))
}

/** In whole units: the ask for a buyer, the bid for a seller, a tenth of a basis point from the middle, on the grid. */
function bestPrice({ market, price, buy }: Order): number {
  // A contract's price is quoted per base unit on OKX, which `startPrice` already is.
  const ticks = (price * 10 ** market.priceDecimals) / market.tick
  const spread = Math.max(0.5, ticks * 0.000_01)
  return market.tick * (buy ? Math.ceil(ticks + spread) : Math.floor(ticks - spread))
}

/** Heavy-tailed: most orders are small, a few move the market; people like round sizes. Whole units of size. */
function sizeOf({ market, price, depth }: Order, random: Random): number {
  const kind = random.unit()
  const usd =
    kind < 0.7
      ? 160 * Math.exp(1.5 * random.normal())
      : kind < 0.95
        ? 2_600 * Math.exp(1.2 * random.normal())
        : 15_000 * (1 - random.unit()) ** (-1 / 1.5)
  const notional = Math.min(NOTIONAL_MAX, usd) * Math.sqrt(Math.max(0.05, depth / 10))
  // OKX quotes per base unit but counts contracts, so one unit of size is worth 10^factor of the price.
  const worth = market.venue === 'okx' ? price * 10 ** market.factor : price
  const units = Math.max(1, Math.round((notional / worth) * 10 ** market.sizeDecimals))
  if (!random.chance(0.25)) return units
  const step = 10 ** Math.max(0, Math.floor(Math.log10(units)))
  return Math.max(1, Math.round(units / step)) * step
}

/** Binance merges what one order fills at one price, so it shows fewer records than venues that list each fill. */
function partsOf(market: Market, random: Random): number {
  const more = market.venue === 'binance' ? 0.12 : 0.42
  let parts = 1
  while (parts < 12 && random.chance(more)) parts += 1
  return parts
}

function levelOf(market: Market, part: number, random: Random): number {
  if (market.venue === 'binance') return Math.min(part, LEVELS_MAX)
  return Math.min(LEVELS_MAX, Math.floor(part * random.unit()))
}

/** Cuts a size into at most `parts` whole pieces of at least one unit each. */
function cut(size: number, parts: number, random: Random): number[] {
  const pieces: number[] = []
  let left = size
  for (let open = Math.min(parts, size); open > 1; open -= 1) {
    const piece = 1 + Math.floor((left - open) * random.unit() ** 2)
    pieces.push(piece)
    left -= piece
  }
  pieces.push(left)
  return pieces
}
