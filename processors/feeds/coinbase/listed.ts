import type { Listed } from '../venue.ts'

/** `size` is in base units, `price` in dollars for one. */
export function listed(symbol: string, base: string, tick: number | null, live: boolean): Listed {
  return { symbol, base, quote: 'USD', settle: 'USD', sizeFactor: 1, priceFactor: 1, tick, live }
}

/** For tools without a venue: live and without a tick. */
export function fromSymbol(symbol: string): Listed | undefined {
  const base = /^([^-]+)-USD$/.exec(symbol)?.[1]
  return base === undefined ? undefined : listed(symbol, base, null, true)
}

const tickers = 'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM PEPE SHIB TON LTC USDT'

/** The known assets as the venue listed them in August 2026: TON under its old name, TRX not at all. */
export const seed: readonly Listed[] = tickers.split(' ').map((base) => listed(`${base}-USD`, base, null, true))
