import { badBody, isDecimal, isRecord, isSymbol } from '../fields.ts'
import type { Listed, ListedPrice, Listing } from '../venue.ts'
import { info } from './messages.ts'

/** kPEPE is 1000 PEPE: sizes are in thousands of coins, prices for a thousand. A capital must follow. */
const thousands = /^k([A-Z0-9]{2,})$/

function listed(symbol: string, live: boolean): Listed {
  const base = thousands.exec(symbol)?.[1]
  const factor = base === undefined ? 1 : 1000
  return {
    symbol,
    base: base ?? symbol,
    quote: 'USD',
    settle: 'USDC',
    sizeFactor: factor,
    priceFactor: factor,
    tick: null,
    live,
  }
}

const tickers = 'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM kPEPE kSHIB TON TRX LTC'

/** Perpetuals of `meta`, weight 20; prices of all markets, `allMids`, weight 2. */
export const listing: Listing = {
  first: info(20, { type: 'meta' }),
  parse(body) {
    const universe = isRecord(body) ? body['universe'] : undefined
    if (!Array.isArray(universe)) return badBody('a universe')
    return { kind: 'rows', rows: universe.flatMap(readMarket) }
  },
  seed: tickers.split(' ').map((symbol) => listed(symbol, true)),
  fromSymbol: (symbol) => (symbol === '' ? undefined : listed(symbol, true)),
  prices: {
    first: info(2, { type: 'allMids' }),
    parse(body) {
      if (!isRecord(body)) return badBody('mids')
      return { kind: 'rows', rows: Object.entries(body).flatMap(readMid) }
    },
  },
}

/** `{"name":"BTC","szDecimals":5,"maxLeverage":50,"isDelisted":true}`; markets of others have a prefix ("xyz:"). */
function readMarket(row: unknown): Listed[] {
  if (!isRecord(row) || !isSymbol(row['name']) || row['name'].includes(':')) return []
  return [listed(row['name'], row['isDelisted'] !== true)]
}

/** Middle prices by name; spot markets are "@1" and the like. */
function readMid([symbol, price]: [string, unknown]): ListedPrice[] {
  return isSymbol(symbol) && isDecimal(price) && !symbol.startsWith('@') ? [{ symbol, price: Number(price) }] : []
}
