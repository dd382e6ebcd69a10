import type { TradeVenueName } from '../../../schemas/venues.ts'
import { gatePerp, spotMarket } from './catalogue.ts'
import { type AssetRow, assets, type Market } from './markets.ts'
import type { Random } from './random.ts'
import type { Fill, Trade } from './trade.ts'

/** A venue whose trades are asked for only here and there, and how it counts an asset. */
interface FurtherVenue extends Pick<Market, 'firstId' | 'idStep' | 'isFine'> {
  readonly market: (row: AssetRow, base: string) => FurtherMarket
}
type Units = 'symbol' | 'quote' | 'priceDecimals' | 'sizeDecimals'
type FurtherMarket = Pick<Market, Units> & Partial<Pick<Market, 'factor' | 'startPrice'>>

/** A pair that counts as Binance's spot pairs do. */
function pairOf(symbol: string, { asset, price }: AssetRow, base: string): FurtherMarket {
  const { priceDecimals, sizeDecimals } = spotMarket('binance', { asset, base, price })
  return { symbol, quote: 'USDT', priceDecimals, sizeDecimals }
}

const venues = {
  kraken: {
    firstId: 103_436_767,
    isFine: true,
    market({ asset, price }, base) {
      const { priceDecimals, sizeDecimals } = spotMarket('kraken', { asset, base, price })
      return { symbol: `${base}/USD`, quote: 'USD', priceDecimals, sizeDecimals }
    },
  },
  gate: {
    firstId: 675_286_746,
    market(row) {
      const { symbol, factor, priceDecimals, sizeDecimals } = gatePerp(row)
      return { symbol, factor, quote: 'USDT', priceDecimals, sizeDecimals }
    },
  },
  binance_spot: { firstId: 665_076_759, market: (row, base) => pairOf(`${base}USDT`, row, base) },
  bitget: { firstId: 4_120_000_000, idStep: 5_000, market: (row, base) => pairOf(`${base}USDT`, row, base) },
  hyperliquid: {
    firstId: 300_002,
    market(row, base) {
      const factor = row.thousands ?? 0
      const startPrice = row.price * 10 ** factor
      const units = pairOf(factor === 0 ? base : `k${base}`, { ...row, asset: '', price: startPrice }, base)
      return { ...units, factor, startPrice, quote: 'USD' }
    },
  },
} as const satisfies Readonly<Partial<Record<TradeVenueName, FurtherVenue>>>

/**
 * Their markets. They trade while somebody has them in the ledger, in the wake of Binance's market of the same asset; what the
 * others trade is the same with them as without.
 */
export const furtherMarkets: readonly Market[] = (Object.keys(venues) as (keyof typeof venues)[]).flatMap((venue) =>
  assets.map((row) => furtherMarket(row, venue)),
)

function furtherMarket(row: AssetRow, venue: keyof typeof venues): Market {
  const base = row.ticker ?? row.asset
  const { market, ...ids }: FurtherVenue = venues[venue]
  const common = { venue, asset: row.asset, base, tick: 1, lot: 1, factor: 0, startPrice: row.price, weight: 0 }
  return { ...common, ...ids, ...market(row, base) }
}

export function isFurther({ venue }: Market): boolean {
  return Object.hasOwn(venues, venue)
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
