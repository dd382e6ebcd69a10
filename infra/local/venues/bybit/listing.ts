import { fixedText } from '../decimal.ts'
import type { Market } from '../markets.ts'

/** `instruments-info` of the linear category: what trades, and what a reader of crypto perpetuals has to leave out. */
export function instruments(markets: readonly Market[]): { symbol: string; status: string }[] {
  const [btc] = markets
  if (btc === undefined) return []
  const like = (symbol: string, baseCoin: string, more: object): Listed => ({ ...row(btc), symbol, baseCoin, ...more })
  const traded = new Set(markets.map(({ symbol }) => symbol))
  const decoys = [
    like('1INCHUSDT', '1INCH', {}),
    like('TSLAUSDT', 'TSLA', { symbolType: 'stock' }),
    like('XAUUSDT', 'XAU', { symbolType: 'commodity' }),
    like('BTCPERP', 'BTC', { quoteCoin: 'USDC', settleCoin: 'USDC' }),
    like('BTCUSDT-25DEC26', 'BTC', {
      contractType: 'LinearFutures',
      deliveryTime: '1798185600000',
      fundingInterval: 0,
    }),
    like('TONUSDT', 'TON', { status: 'Closed' }),
  ]
  return [...markets.map(row), ...decoys.filter(({ symbol }) => !traded.has(symbol))]
}

type Listed = ReturnType<typeof row>

function row(market: Market) {
  const lot = fixedText(market.lot, market.sizeDecimals)
  const tick = fixedText(market.tick, market.priceDecimals)
  return {
    symbol: market.symbol,
    contractType: 'LinearPerpetual',
    status: 'Trading',
    baseCoin: market.symbol.replace(/USDT$/, ''),
    quoteCoin: market.quote,
    launchTime: '1584230400000',
    deliveryTime: '0',
    deliveryFeeRate: '',
    priceScale: String(market.priceDecimals),
    leverageFilter: { minLeverage: '1', maxLeverage: '100.00', leverageStep: '0.01' },
    priceFilter: { minPrice: tick, maxPrice: '1999999.80', tickSize: tick },
    lotSizeFilter: {
      maxOrderQty: '1500.000',
      minOrderQty: lot,
      qtyStep: lot,
      postOnlyMaxOrderQty: '1500.000',
      maxMktOrderQty: '150.000',
      minNotionalValue: '5',
    },
    unifiedMarginTrade: true,
    fundingInterval: 480,
    settleCoin: market.quote,
    copyTrading: 'both',
    upperFundingRate: '0.005',
    lowerFundingRate: '-0.005',
    isPreListing: false,
    preListingInfo: null,
    riskParameters: { priceLimitRatioX: '0.01', priceLimitRatioY: '0.02' },
    displayName: '',
    symbolType: '',
    forbidUplWithdrawal: false,
    symbolId: 5,
  }
}
