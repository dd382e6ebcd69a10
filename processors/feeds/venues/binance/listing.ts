import { badBody, isDecimal, isRecord, isSymbol, scaledMarket } from '../fields.ts'
import type { Listed, ListedPrice, Listing, PriceList, RestAnswer } from '../venue.ts'
import { refusal } from './messages.ts'

/** A market that the lists take by its name alone: in USDT, and no dated future (`BTCUSDT_260925`). */
export function isUsdtMarket(symbol: string): boolean {
  return usdtMarket.test(symbol)
}

const usdtMarket = /^([^_]+)USDT$/

/** For tools without a venue: live and without a tick. */
function fromSymbol(symbol: string): Listed | undefined {
  const ticker = usdtMarket.exec(symbol)?.[1]
  return ticker === undefined ? undefined : scaledMarket(symbol, ticker, null, true)
}

const tickers =
  'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM 1000PEPE 1000SHIB GRAM TRX LTC'

/** The known assets as they stood in November 2026: MATIC trades as POL, TON as GRAM. */
const seed: readonly Listed[] = seedOf(tickers)

const spotTickers =
  'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM PEPE SHIB GRAM TRX LTC USDC'

/** The same on the spot market, where PEPE and SHIB are not multiplied, and USDC against USDT. */
const spotSeed: readonly Listed[] = seedOf(spotTickers)

function seedOf(names: string): Listed[] {
  return names.split(' ').map((ticker) => scaledMarket(`${ticker}USDT`, ticker, null, true))
}

/** USDT perpetuals of `exchangeInfo`: weight 1. Prices of all symbols: weight 2. */
export const listing: Listing = {
  first: { path: '/fapi/v1/exchangeInfo', cost: 1 },
  parse: (body) => parseSymbols(body, readSymbol),
  seed,
  fromSymbol,
  prices: pricesOf('/fapi/v2/ticker/price', 2),
}

/** `exchangeInfo` of either market. */
function parseSymbols(body: unknown, read: (row: unknown) => Listed | undefined): RestAnswer<Listed> {
  const symbols = isRecord(body) ? body['symbols'] : undefined
  if (!Array.isArray(symbols)) return refusal(body) ?? badBody('exchangeInfo with symbols')
  return { kind: 'rows', rows: symbols.map(read).filter((row) => row !== undefined) }
}

/** `contractType` PERPETUAL only: TRADIFI_PERPETUAL are shares and metals. `status` TRADING is the only live one. */
function readSymbol(row: unknown): Listed | undefined {
  if (!isRecord(row) || row['contractType'] !== 'PERPETUAL') return undefined
  const { symbol, status, baseAsset, quoteAsset, marginAsset } = row
  if (!isSymbol(symbol) || !isSymbol(baseAsset) || quoteAsset !== 'USDT' || marginAsset !== 'USDT') return undefined
  return scaledMarket(symbol, baseAsset, tickOf(row['filters']), status === 'TRADING')
}

/** The call that has the last price of every market. */
function pricesOf(path: string, cost: number): PriceList {
  return {
    first: { path, cost },
    parse(body) {
      if (!Array.isArray(body)) return refusal(body) ?? badBody('an array of prices')
      return { kind: 'rows', rows: body.map(readPrice).filter((row) => row !== undefined) }
    },
  }
}

function tickOf(filters: unknown): number | null {
  if (!Array.isArray(filters)) return null
  const filter: unknown = filters.find((entry) => isRecord(entry) && entry['filterType'] === 'PRICE_FILTER')
  const tick = isRecord(filter) ? filter['tickSize'] : undefined
  return isDecimal(tick) ? Number(tick) : null
}

function readPrice(row: unknown): ListedPrice | undefined {
  if (!isRecord(row) || !isSymbol(row['symbol']) || !isDecimal(row['price'])) return undefined
  return { symbol: row['symbol'], price: Number(row['price']) }
}

/**
 * Spot pairs in USDT, USDC among their bases. Weight 20; without the permission sets, which nobody here reads, the answer
 * is a fraction of its size. Prices of all symbols: weight 4.
 */
export const spotListing: Listing = {
  first: { path: '/api/v3/exchangeInfo?showPermissionSets=false', cost: 20 },
  parse: (body) => parseSymbols(body, readPair),
  seed: spotSeed,
  fromSymbol,
  prices: pricesOf('/api/v3/ticker/price', 4),
}

/** TRADING is the only live `status`; BREAK, HALT and CANCEL_ONLY are not. */
function readPair(row: unknown): Listed | undefined {
  if (!isRecord(row)) return undefined
  const { symbol, status, baseAsset, quoteAsset, isSpotTradingAllowed } = row
  if (!isSymbol(baseAsset) || quoteAsset !== 'USDT' || symbol !== `${baseAsset}USDT`) return undefined
  return scaledMarket(symbol, baseAsset, tickOf(row['filters']), status === 'TRADING' && isSpotTradingAllowed !== false)
}
