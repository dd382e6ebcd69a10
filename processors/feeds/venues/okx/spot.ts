import { changeOf, refusedField, tickerOf } from '../fact-fields.ts'
import { countOf, isDecimal, isRecord, isSymbol, microsOf } from '../fields.ts'
import type { FactRow } from '../events.ts'
import { spotPair, type Listed, type Listing } from '../venue.ts'
import { answerOf } from './messages.ts'
import { readPrices } from './listing.ts'

export const SPOT_TICKERS = '/api/v5/market/tickers?instType=SPOT'

/** Spot pairs of coins in USDT and USDC. */
export const spotListing: Listing = {
  first: { path: '/api/v5/public/instruments?instType=SPOT', cost: 2 },
  parse: (body) => answerOf(body, (row) => readInstrument(row) ?? []),
  seed: 'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM PEPE SHIB GRAM TRX LTC USDC'
    .split(' ')
    .map((base) => listed(base, 'USDT', null, true)),
  fromSymbol(symbol) {
    const [, base, quote] = /^([^-]+)-(USDT|USDC)$/.exec(symbol) ?? []
    return base === undefined || quote === undefined ? undefined : listed(base, quote, null, true)
  },
  prices: { first: { path: SPOT_TICKERS, cost: 2 }, parse: readPrices },
}

function listed(base: string, quote: string, tick: number | null, live: boolean): Listed {
  return spotPair(`${base}-${quote}`, base, quote, tick, live)
}

/** `instCategory` 1 is crypto; answers before 2025 do not have the field. */
function readInstrument(row: unknown): Listed | undefined {
  if (!isRecord(row) || row['instType'] !== 'SPOT') return undefined
  const { instId, baseCcy, quoteCcy, state, tickSz, instCategory = '1' } = row
  if (!isSymbol(baseCcy) || (quoteCcy !== 'USDT' && quoteCcy !== 'USDC') || instCategory !== '1') return undefined
  if (instId !== `${baseCcy}-${quoteCcy}`) return undefined
  return listed(baseCcy, quoteCcy, isDecimal(tickSz) ? Number(tickSz) : null, state === 'live')
}

/** A row of `tickers`, of the stream and of the call alike. `vol24h` of spot counts coins, `volCcy24h` the quote. */
export function readTicker(row: unknown): readonly FactRow[] {
  if (!isRecord(row) || !isSymbol(row['instId'])) return [refusedField]
  if (row['instType'] !== 'SPOT') return [{ refused: 'unknown-symbol' }]
  const { instId, bidPx: bid, askPx: ask, last, open24h, vol24h: volume24h, volCcy24h: quoteVolume24h, ts } = row
  const time = microsOf(countOf(ts) ?? 0)
  if (time === undefined) return [refusedField]
  return [tickerOf(instId, time, { bid, ask, last, change24h: changeOf(open24h, last), volume24h, quoteVolume24h })]
}
