import type { PerpMarket, SimLiquidation } from '../economy.ts'
import type { Micros } from '../trade.ts'
import type { Swept } from './book.ts'

/** One liquidation order is about this large at most, dollars. */
const ORDER_USD = 60_000
const ORDERS_MAX = 8
/** Smaller ones are not worth an order: such positions live on, unlevered. */
const ORDER_USD_MIN = 40
const SLIPPAGE = 0.0008

/** The orders that close what was swept: whole lots of the venue, prices with its decimals. */
export function closingsOf(
  market: PerpMarket,
  swept: Swept,
  { mark, time, draw }: { mark: number; time: Micros; draw: (index: number) => number },
): SimLiquidation[] {
  const places = market.sizeDecimals - market.factor
  const worth = swept.size * swept.price
  const count = Math.min(ORDERS_MAX, 1 + Math.floor((worth * draw(0)) / ORDER_USD))
  const maintenance = market.tiers[0]?.rate ?? 0.01
  const sign = swept.side === 'long' ? -1 : 1
  const closings: SimLiquidation[] = []
  let left = swept.size
  for (let index = 0; index < count; index += 1) {
    const part = index === count - 1 ? left : left * (0.3 + 0.6 * draw(1 + index))
    const size = floored(part, places)
    if (size <= 0 || size * swept.price < ORDER_USD_MIN) continue
    left -= size
    const bankruptcy = swept.price * (1 + sign * maintenance)
    const fill = mark * (1 + sign * SLIPPAGE * draw(10 + index))
    // A fund pays what the order loses beyond the bankruptcy price.
    const filled = swept.side === 'long' ? Math.max(fill, bankruptcy) : Math.min(fill, bankruptcy)
    const [bankruptcyPrice, fillPrice] = [priced(market, bankruptcy), priced(market, filled)]
    closings.push({ time, side: swept.side, size, bankruptcyPrice, fillPrice })
  }
  return closings
}

function priced(market: PerpMarket, price: number): number {
  const places = market.priceDecimals + market.priceFactor
  return Number(`${Math.round(Number(`${price.toPrecision(15)}e${places}`))}e${-places}`)
}

function floored(size: number, places: number): number {
  return Number(`${Math.floor(size * 10 ** places)}e${-places}`)
}
