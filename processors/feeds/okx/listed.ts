import type { Listed } from '../venue.ts'

/** `sz` counts contracts of `ctVal x ctMult` coins; the price is for one coin. */
export function listed(symbol: string, base: string, sizeFactor: number, tick: number | null, live: boolean): Listed {
  return { symbol, base, quote: 'USDT', settle: 'USDT', sizeFactor, priceFactor: 1, tick, live }
}

/** Coins per contract of the known assets as they stood in November 2026; the list decides at first contact. */
const contracts: Readonly<Record<string, number>> = {
  BTC: 0.01,
  ETH: 0.1,
  SOL: 1,
  XRP: 100,
  BNB: 0.01,
  DOGE: 1000,
  LINK: 1,
  ARB: 10,
  ADA: 100,
  AVAX: 1,
  DOT: 1,
  POL: 10,
  UNI: 1,
  APT: 1,
  OP: 1,
  SUI: 1,
  NEAR: 10,
  ATOM: 1,
  PEPE: 10_000_000,
  SHIB: 1_000_000,
  GRAM: 1,
  TRX: 1000,
  LTC: 1,
}

export const seed: readonly Listed[] = Object.entries(contracts).map(([base, size]) =>
  listed(`${base}-USDT-SWAP`, base, size, null, true),
)

/** For tools without a venue: only the seeds, since a contract's size does not follow from its symbol. */
export function fromSymbol(symbol: string): Listed | undefined {
  return seed.find((row) => row.symbol === symbol)
}
