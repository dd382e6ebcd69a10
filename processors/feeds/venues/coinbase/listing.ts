import { badBody, isDecimal, isRecord, isSymbol } from '../fields.ts'
import { spotPair, type Listed, type ListedPrice, type Listing, type RestAnswer, type RestCall } from '../venue.ts'
import { refusal } from './messages.ts'

/** `size` is in base units, `price` in dollars for one. */
function listed(symbol: string, base: string, tick: number | null, live: boolean): Listed {
  return spotPair(symbol, base, 'USD', tick, live)
}

/** For tools without a venue: live and without a tick. */
function fromSymbol(symbol: string): Listed | undefined {
  const base = /^([^-]+)-USD$/.exec(symbol)?.[1]
  return base === undefined ? undefined : listed(symbol, base, null, true)
}

const tickers = 'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM PEPE SHIB TON LTC USDT'

/** The known assets as the venue listed them in August 2026: TON under its old name, TRX not at all. */
const seed: readonly Listed[] = tickers.split(' ').map((base) => listed(`${base}-USD`, base, null, true))

/** Exchange has no call that prices all products; the retail interface has, without a key, on its own host. */
export const wholeMarket: RestCall = {
  path: '/api/v3/brokerage/market/products?product_type=SPOT',
  cost: 1,
  base: 'https://api.coinbase.com',
}

/** Spot products in US dollars. BTC-USDC is an alias of BTC-USD (one book): it would count the same trades twice. */
export const listing: Listing = {
  first: { path: '/products', cost: 1 },
  parse(body) {
    if (!Array.isArray(body)) return refusal(body) ?? badBody('an array of products')
    return { kind: 'rows', rows: body.map(readProduct).filter((row) => row !== undefined) }
  },
  seed,
  fromSymbol,
  prices: {
    first: wholeMarket,
    parse: readPrices,
  },
}

function readProduct(row: unknown): Listed | undefined {
  if (!isRecord(row)) return undefined
  const { id, base_currency, quote_currency, quote_increment, status, trading_disabled } = row
  if (!isSymbol(id) || !isSymbol(base_currency) || quote_currency !== 'USD') return undefined
  const tick = isDecimal(quote_increment) ? Number(quote_increment) : null
  return listed(id, base_currency, tick, status === 'online' && trading_disabled !== true)
}

function readPrices(body: unknown): RestAnswer<ListedPrice> {
  const products = isRecord(body) ? body['products'] : undefined
  if (!Array.isArray(products)) return refusal(body) ?? badBody('products')
  return { kind: 'rows', rows: products.map(readPrice).filter((row) => row !== undefined) }
}

function readPrice(row: unknown): ListedPrice | undefined {
  if (!isRecord(row) || !isSymbol(row['product_id']) || !isDecimal(row['price'])) return undefined
  return { symbol: row['product_id'], price: Number(row['price']) }
}
