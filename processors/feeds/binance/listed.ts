import { scaledBase } from '../multiplier.ts'
import type { Listed } from '../venue.ts'

/** Quantity and price of `1000PEPEUSDT` are in and for 1000 PEPE; of spot's `1000SATSUSDT` too. */
export function listed(symbol: string, ticker: string, tick: number | null, live: boolean): Listed {
  const { base, factor } = scaledBase(ticker)
  return { symbol, base, quote: 'USDT', settle: 'USDT', sizeFactor: factor, priceFactor: factor, tick, live }
}

/** A market that the lists take by its name alone: in USDT, and no dated future (`BTCUSDT_260925`). */
export function isUsdtMarket(symbol: string): boolean {
  return usdtMarket.test(symbol)
}

const usdtMarket = /^([^_]+)USDT$/

/** For tools without a venue: live and without a tick. */
export function fromSymbol(symbol: string): Listed | undefined {
  const ticker = usdtMarket.exec(symbol)?.[1]
  return ticker === undefined ? undefined : listed(symbol, ticker, null, true)
}

const tickers =
  'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM 1000PEPE 1000SHIB GRAM TRX LTC'

/** The known assets as they stood in November 2026: MATIC trades as POL, TON as GRAM. */
export const seed: readonly Listed[] = seedOf(tickers)

const spotTickers =
  'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM PEPE SHIB GRAM TRX LTC USDC'

/** The same on the spot market, where PEPE and SHIB are not multiplied, and USDC against USDT. */
export const spotSeed: readonly Listed[] = seedOf(spotTickers)

function seedOf(names: string): Listed[] {
  return names.split(' ').map((ticker) => listed(`${ticker}USDT`, ticker, null, true))
}
