import { knownAsset, symbolOf } from '../schemas/catalogue.ts'
import { ApiError } from './errors.ts'
import type { InstrumentRow } from './views/world.ts'

/** Quotes that may follow a base symbol in a request: BTCUSDT is BTC. */
const QUOTES = ['USDT']

export interface Listed {
  readonly asset: string
  /** What answers show. */
  readonly symbol: string
}

/**
 * The asset that a request's upper-case symbol means; throws `symbol_not_found`.
 *
 * The catalogue is what the venues list. Before any venue's list is in the log, the assets known by name stand for it.
 */
export function findAsset(symbol: string, instruments: readonly InstrumentRow[]): Listed {
  const quote = QUOTES.find((suffix) => symbol.endsWith(suffix) && symbol.length > suffix.length)
  const candidates = quote === undefined ? [symbol] : [symbol, symbol.slice(0, -quote.length)]
  for (const candidate of candidates) {
    const asset = assetOf(candidate, instruments)
    if (asset !== undefined) return { asset, symbol: symbolOf(asset) }
  }
  throw new ApiError('symbol_not_found', `No venue lists ${symbol}; try BTC, ETH or SOL.`, { field: 'symbol' })
}

function assetOf(symbol: string, instruments: readonly InstrumentRow[]): string | undefined {
  const known = knownAsset(symbol)?.id
  if (instruments.length === 0) return known
  const named = known ?? symbol.toLowerCase()
  return instruments.find((row) => row.live && row.asset === named)?.asset ?? byBase(symbol, instruments)
}

/** A venue's own ticker, where it means one asset only. */
function byBase(symbol: string, instruments: readonly InstrumentRow[]): string | undefined {
  const assets = new Set(instruments.filter((row) => row.live && row.base === symbol).map((row) => row.asset))
  return assets.size === 1 ? [...assets][0] : undefined
}
