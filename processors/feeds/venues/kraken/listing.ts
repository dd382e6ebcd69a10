import { pricesOf } from '../fact-fields.ts'
import { isDecimal, isRecord, isSymbol } from '../fields.ts'
import { spotPair, type Listed, type Listing } from '../venue.ts'
import { parseMarket, refusal, resultOf, symbolOf, TICKERS } from './market.ts'

/** Spot pairs in US dollars, USDT/USD and USDC/USD among them. */
export const listing: Listing = {
  first: { path: '/0/public/AssetPairs', cost: 1 },
  parse(body) {
    const result = resultOf(body)
    if (result === undefined) return refusal(body)
    return { kind: 'rows', rows: Object.values(result).flatMap(readPair) }
  },
  seed: 'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM PEPE SHIB TON TRX LTC USDT USDC'
    .split(' ')
    .map((base) => listed(base, null, true)),
  fromSymbol(symbol) {
    const base = /^([^/]+)\/USD$/.exec(symbol)?.[1]
    return base === undefined ? undefined : listed(base, null, true)
  },
  prices: { first: { path: TICKERS, cost: 1 }, parse: (body) => pricesOf(parseMarket(body)) },
}

function listed(base: string, tick: number | null, live: boolean): Listed {
  return spotPair(`${base}/USD`, base, 'USD', tick, live)
}

/** `wsname` is XBT/USD; `base` and `quote` have letters before them (XXBT, ZUSD). Tokenised shares are another class. */
function readPair(row: unknown): Listed[] {
  if (!isRecord(row) || !isSymbol(row['wsname'])) return []
  const { wsname, status, tick_size, aclass_base = 'currency' } = row
  const [base, quote, more] = symbolOf(wsname).split('/')
  if (base === undefined || base === '' || quote !== 'USD' || more !== undefined || aclass_base !== 'currency')
    return []
  return [listed(base, isDecimal(tick_size) ? Number(tick_size) : null, status === 'online')]
}
