import { fixedNumber, powerText } from '../amounts.ts'
import type { SpotMarket } from '../economy.ts'

/** Spot writes all prices and sizes with 8 decimals. */
const DECIMALS = 8

/** `/api/v3/exchangeInfo`: what trades, and some that a reader has to leave out. */
export function exchangeInfo(markets: readonly SpotMarket[], nowMs: number): object & { symbols: Listed[] } {
  const listed = new Set(markets.map(({ symbol }) => symbol))
  const info = {
    timezone: 'UTC',
    serverTime: nowMs,
    rateLimits: [
      { rateLimitType: 'REQUEST_WEIGHT', interval: 'MINUTE', intervalNum: 1, limit: 6000 },
      { rateLimitType: 'RAW_REQUESTS', interval: 'MINUTE', intervalNum: 5, limit: 61_000 },
    ],
    exchangeFilters: [],
    symbols: [...markets.map(symbolRow), ...decoys(markets).filter(({ symbol }) => !listed.has(symbol))],
  }
  return info
}

/** Other quotes, and what no longer trades. */
function decoys(markets: readonly SpotMarket[]): Listed[] {
  const [first] = markets
  if (first === undefined) return []
  const like = (symbol: string, baseAsset: string, more: object): Listed => {
    return { ...symbolRow(first), symbol, baseAsset, ...more }
  }
  return [
    like('ETHBTC', 'ETH', { quoteAsset: 'BTC' }),
    like('BTCUSDC', 'BTC', { quoteAsset: 'USDC' }),
    like('BTCEUR', 'BTC', { quoteAsset: 'EUR' }),
    like('MATICUSDT', 'MATIC', { status: 'BREAK' }),
    like('TONUSDT', 'TON', { status: 'BREAK' }),
    like('OLDUSDT', 'OLD', { status: 'CANCEL_ONLY' }),
  ]
}

type Listed = ReturnType<typeof symbolRow>

function symbolRow(market: SpotMarket) {
  const tick = fixedNumber(Number(powerText(-market.priceDecimals)), DECIMALS)
  const lot = fixedNumber(Number(powerText(-market.sizeDecimals)), DECIMALS)
  return {
    symbol: market.symbol,
    status: 'TRADING',
    baseAsset: market.base,
    baseAssetPrecision: 8,
    quoteAsset: market.quote as string,
    quotePrecision: 8,
    quoteAssetPrecision: 8,
    baseCommissionPrecision: 8,
    quoteCommissionPrecision: 8,
    orderTypes: ['LIMIT', 'LIMIT_MAKER', 'MARKET', 'STOP_LOSS_LIMIT', 'TAKE_PROFIT_LIMIT'],
    icebergAllowed: true,
    ocoAllowed: true,
    otoAllowed: true,
    quoteOrderQtyMarketAllowed: true,
    allowTrailingStop: true,
    cancelReplaceAllowed: true,
    isSpotTradingAllowed: true,
    isMarginTradingAllowed: true,
    filters: [
      { filterType: 'PRICE_FILTER', minPrice: tick, maxPrice: '1000000.00000000', tickSize: tick },
      { filterType: 'LOT_SIZE', minQty: lot, maxQty: '9000.00000000', stepSize: lot },
      { filterType: 'NOTIONAL', minNotional: '5.00000000', applyMinToMarket: true, maxNotional: '9000000.00000000' },
    ],
    permissions: [],
    permissionSets: [['SPOT', 'MARGIN']],
    defaultSelfTradePreventionMode: 'EXPIRE_MAKER',
    allowedSelfTradePreventionModes: ['EXPIRE_TAKER', 'EXPIRE_MAKER', 'EXPIRE_BOTH'],
  }
}
