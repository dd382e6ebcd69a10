import { scaledBase } from '../multiplier.ts'
import type { Listed } from '../venue.ts'

/** Multipliers stand before the ticker (1000PEPE) or behind it (SHIB1000); price and size are for and in that many. */
export function listed(symbol: string, ticker: string, tick: number | null, live: boolean): Listed {
  const { base, factor } = scaledBase(ticker)
  return { symbol, base, quote: 'USDT', settle: 'USDT', sizeFactor: factor, priceFactor: factor, tick, live }
}

/** For tools without a venue: live and without a tick. */
export function fromSymbol(symbol: string): Listed | undefined {
  const ticker = /^([^-]+)USDT$/.exec(symbol)?.[1]
  return ticker === undefined ? undefined : listed(symbol, ticker, null, true)
}

const tickers =
  'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM 1000PEPE SHIB1000 GRAM TRX LTC'

/** The known assets as they stood in November 2026: MATIC trades as POL, TON as GRAM. */
export const seed: readonly Listed[] = tickers.split(' ').map((ticker) => listed(`${ticker}USDT`, ticker, null, true))
