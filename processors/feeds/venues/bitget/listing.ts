import { isDecimal, isRecord, isSymbol } from '../fields.ts'
import { scaledBase } from '../multiplier.ts'
import type { Listed, ListedPrice, Listing } from '../venue.ts'
import { rowsOf } from './messages.ts'

/** Sizes are in the base coin; of a multiplied symbol (1000BONKUSDT) in 1000 of them. */
function listed(ticker: string, tick: number | null, live: boolean): Listed {
  const { base, factor } = scaledBase(ticker)
  const symbol = `${ticker}USDT`
  return { symbol, base, quote: 'USDT', settle: 'USDT', sizeFactor: factor, priceFactor: factor, tick, live }
}

/** The known assets under the names that Binance has for them, as adapters wrote them in 2026: PEPE and SHIB plain. */
const tickers = 'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM PEPE SHIB TRX LTC'

/** USDT perpetuals of `contracts`. "symbolType: perpetual, delivery"; "symbolStatus: normal, maintain, limit_open, .., off". */
export const listing: Listing = {
  first: { path: '/api/v2/mix/market/contracts?productType=USDT-FUTURES', cost: 1 },
  parse: (body) => rowsOf(body, readContract),
  seed: tickers.split(' ').map((ticker) => listed(ticker, null, true)),
  fromSymbol(symbol) {
    const ticker = /^(\w+)USDT$/.exec(symbol)?.[1]
    return ticker === undefined ? undefined : listed(ticker, null, true)
  },
  prices: {
    first: { path: '/api/v2/mix/market/tickers?productType=USDT-FUTURES', cost: 1 },
    parse: (body) => rowsOf(body, readPrice),
  },
}

/** "pricePlace: price scale precision; priceEndStep: price step length": 5 at 1 place is a tick of 0.5. */
function readContract(row: unknown): Listed[] {
  if (!isRecord(row) || row['symbolType'] !== 'perpetual' || row['quoteCoin'] !== 'USDT') return []
  const { symbol, baseCoin, symbolStatus, pricePlace, priceEndStep, isRwa } = row
  // "isRwa: YES" are shares and the like.
  if (!isSymbol(baseCoin) || symbol !== `${baseCoin}USDT` || isRwa === 'YES') return []
  const tick =
    isDecimal(priceEndStep) && typeof pricePlace === 'string' ? Number(`${priceEndStep}e-${pricePlace}`) : NaN
  return [listed(baseCoin, Number.isFinite(tick) ? tick : null, symbolStatus === 'normal')]
}

function readPrice(row: unknown): ListedPrice[] {
  if (!isRecord(row) || !isSymbol(row['symbol']) || !isDecimal(row['lastPr'])) return []
  return [{ symbol: row['symbol'], price: Number(row['lastPr']) }]
}
