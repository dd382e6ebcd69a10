import { decimalsOf } from './decimal.ts'
import { simulatedMarkets, type Market, type TradeVenueName } from './markets.ts'
import { mergedTrades, type Skipped } from './tape-files.ts'
import type { TapeTrade } from './tape-frames.ts'
import type { Micros } from './trade.ts'

/** What a tape holds, read once before it is played. */
export interface TapeContents {
  /** All that is listed: the tape's markets in the tape's decimals, and the simulated ones beside them. */
  readonly markets: readonly Market[]
  /** Markets of the tape, by venue and symbol. */
  readonly played: ReadonlyMap<string, Market>
  readonly trades: number
  readonly from: Micros
  readonly to: Micros
  readonly skipped: Skipped
  /** Whether a trade of the tape is played. */
  readonly plays: (trade: TapeTrade) => boolean
}

interface Seen {
  readonly first: TapeTrade
  priceDecimals: number
  sizeDecimals: number
  spot: number
  futures: number
}

export async function tapeContents(files: readonly string[]): Promise<TapeContents> {
  const seen = new Map<string, Seen>()
  const skipped: Skipped = new Map()
  let [from, to] = [Number.POSITIVE_INFINITY, 0]
  for await (const trade of mergedTrades(files, skipped)) {
    note(seen, trade)
    from = Math.min(from, trade.time)
    to = Math.max(to, trade.time)
  }
  const plays = (trade: TapeTrade): boolean => playable(seen.get(marketKey(trade)), trade)
  const played = new Map<string, Market>()
  let trades = 0
  for (const [key, { first, priceDecimals, sizeDecimals, spot, futures }] of seen) {
    const count = futures > 0 ? futures : spot
    if (futures === 0 && !spotPlays(first.venue)) {
      skipped.set('spot market', (skipped.get('spot market') ?? 0) + spot)
      continue
    }
    if (futures > 0 && spot > 0) skipped.set('spot market', (skipped.get('spot market') ?? 0) + spot)
    played.set(key, { ...marketOf(first.venue, first.symbol), priceDecimals, sizeDecimals, tick: 1 })
    trades += count
  }
  const rest = simulatedMarkets.filter((market) => !played.has(marketKey(market)))
  return { markets: [...played.values(), ...rest], played, trades, from, to, skipped, plays }
}

export function marketKey({ venue, symbol }: { venue: TradeVenueName; symbol: string }): string {
  return `${venue} ${symbol}`
}

function note(seen: Map<string, Seen>, trade: TapeTrade): void {
  const key = marketKey(trade)
  const known = seen.get(key) ?? { first: trade, priceDecimals: 0, sizeDecimals: 0, spot: 0, futures: 0 }
  known.priceDecimals = Math.max(known.priceDecimals, decimalsOf(trade.price))
  known.sizeDecimals = Math.max(known.sizeDecimals, decimalsOf(trade.size))
  if (trade.spot) known.spot += 1
  else known.futures += 1
  seen.set(key, known)
}

/** Binance spot and futures symbols are the same, so a spot tape can stand in for a futures one, but not beside it. */
function playable(seen: Seen | undefined, trade: TapeTrade): boolean {
  if (seen === undefined) return false
  return trade.spot ? seen.futures === 0 && spotPlays(trade.venue) : true
}

function spotPlays(venue: TradeVenueName): boolean {
  return venue === 'binance'
}

/** The simulated market of that symbol; a symbol that is not simulated is its own asset, one to one. */
function marketOf(venue: TradeVenueName, symbol: string): Market {
  const known = simulatedMarkets.find((market) => market.venue === venue && market.symbol === symbol)
  if (known !== undefined) return known
  const quote = /(?:-)?(USDT|USDC|USD)(?:-SWAP)?$/.exec(symbol)?.[1] ?? 'USDT'
  const listed = symbol.replace(/-?(USDT|USDC|USD)(-SWAP)?$/, '')
  const thousands = venue !== 'okx' && venue !== 'coinbase' && /^1000[A-Z]/.test(listed)
  const base = thousands ? listed.slice(4) : listed
  const units = { priceDecimals: 8, sizeDecimals: 8, tick: 1, lot: 1, factor: thousands ? 3 : 0 }
  return { venue, symbol, asset: base, base, quote, ...units, startPrice: 1, weight: 0 }
}
