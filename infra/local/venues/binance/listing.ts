import { powerText } from '../amounts.ts'
import type { PerpMarket } from '../economy.ts'

/** `/fapi/v1/exchangeInfo`: what trades, and some that a reader has to leave out. */
export function exchangeInfo(markets: readonly PerpMarket[], nowMs: number): object {
  const traded = new Set(markets.map(({ symbol }) => symbol))
  return {
    timezone: 'UTC',
    serverTime: nowMs,
    futuresType: 'U_MARGINED',
    rateLimits: [
      { rateLimitType: 'REQUEST_WEIGHT', interval: 'MINUTE', intervalNum: 1, limit: 2400 },
      { rateLimitType: 'ORDERS', interval: 'MINUTE', intervalNum: 1, limit: 1200 },
    ],
    exchangeFilters: [],
    assets: [{ asset: 'USDT', marginAvailable: true, autoAssetExchange: '-10000' }],
    symbols: [
      ...markets.map((market) => row(market, {})),
      ...decoys(markets).filter(({ symbol }) => !traded.has(symbol)),
    ],
  }
}

/** A perpetual in tether dollars that is listed as trading, whether anything is ever said of it or not. */
export function isListed(markets: readonly PerpMarket[], symbol: string): boolean {
  const rows: readonly Listed[] = [...markets.map((market) => row(market, {})), ...decoys(markets)]
  return rows.some((listed) => {
    return listed.symbol === symbol && listed.status === 'TRADING' && listed.contractType === 'PERPETUAL'
  })
}

/** Listed, but not for us: a name with digits, a stock, a delisted one, a dated future, another quote. */
function decoys(markets: readonly PerpMarket[]): Listed[] {
  const [btc] = markets
  if (btc === undefined) return []
  const like = (symbol: string, baseAsset: string, more: object): Listed => ({
    ...row(btc, { pair: symbol, baseAsset, ...more }),
    symbol,
  })
  return [
    like('1INCHUSDT', '1INCH', {}),
    like('TSLAUSDT', 'TSLA', { contractType: 'TRADIFI_PERPETUAL', underlyingType: 'EQUITY' }),
    like('XAUUSDT', 'XAU', { contractType: 'TRADIFI_PERPETUAL', underlyingType: 'COMMODITY' }),
    like('TONUSDT', 'TON', { status: 'SETTLING' }),
    like('MATICUSDT', 'MATIC', { status: 'SETTLING' }),
    like('BTCUSDT_261225', 'BTC', {
      pair: 'BTCUSDT',
      contractType: 'CURRENT_QUARTER',
      deliveryDate: 1_798_185_600_000,
    }),
    like('BTCUSDC', 'BTC', { quoteAsset: 'USDC', marginAsset: 'USDC' }),
  ]
}

type Listed = ReturnType<typeof row>

function row(market: PerpMarket, more: object) {
  const lot = powerText(-market.sizeDecimals)
  // BTC is written with two decimals although its tick is 0.1.
  const tick = market.priceDecimals === 2 && market.asset === 'BTC' ? '0.10' : powerText(-market.priceDecimals)
  return {
    symbol: market.symbol,
    pair: market.symbol,
    contractType: 'PERPETUAL',
    deliveryDate: 4_133_404_800_000,
    onboardDate: 1_569_398_400_000,
    status: 'TRADING',
    maintMarginPercent: '2.5000',
    requiredMarginPercent: '5.0000',
    baseAsset: market.symbol.replace(/USDT$/, ''),
    quoteAsset: 'USDT',
    marginAsset: 'USDT',
    pricePrecision: market.priceDecimals,
    quantityPrecision: market.sizeDecimals,
    baseAssetPrecision: 8,
    quotePrecision: 8,
    underlyingType: 'COIN',
    underlyingSubType: ['PoW'],
    triggerProtect: '0.0500',
    liquidationFee: '0.012500',
    marketTakeBound: '0.05',
    maxMoveOrderLimit: 10_000,
    filters: [
      { filterType: 'PRICE_FILTER', minPrice: tick, maxPrice: '4529764', tickSize: tick },
      { filterType: 'LOT_SIZE', minQty: lot, maxQty: '1000', stepSize: lot },
      { filterType: 'MARKET_LOT_SIZE', minQty: lot, maxQty: '120', stepSize: lot },
      { filterType: 'MAX_NUM_ORDERS', limit: 200 },
      { filterType: 'MAX_NUM_ALGO_ORDERS', limit: 10 },
      { filterType: 'MIN_NOTIONAL', notional: '5' },
      { filterType: 'PERCENT_PRICE', multiplierUp: '1.0500', multiplierDown: '0.9500', multiplierDecimal: '4' },
    ],
    orderTypes: ['LIMIT', 'MARKET', 'STOP', 'STOP_MARKET', 'TAKE_PROFIT', 'TAKE_PROFIT_MARKET', 'TRAILING_STOP_MARKET'],
    timeInForce: ['GTC', 'IOC', 'FOK', 'GTX', 'GTD'],
    permissionSets: ['GRID', 'COPY'],
    ...more,
  }
}
