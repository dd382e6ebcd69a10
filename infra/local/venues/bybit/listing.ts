import { fixedNumber, powerText, shortNumber } from '../amounts.ts'
import type { PerpMarket, SpotMarket } from '../economy.ts'
import { RATE_DECIMALS } from './tickers.ts'

/** `instruments-info` of the linear category: what trades, and what a reader of crypto perpetuals has to leave out. */
export function instruments(markets: readonly PerpMarket[]): { symbol: string; status: string }[] {
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

function row(market: PerpMarket) {
  const lot = powerText(-market.sizeDecimals)
  // BTC is written with two decimals although its tick is 0.1.
  const tick = market.priceDecimals === 2 && market.asset === 'BTC' ? '0.10' : powerText(-market.priceDecimals)
  return {
    symbol: market.symbol,
    contractType: 'LinearPerpetual',
    status: 'Trading',
    baseCoin: market.symbol.replace(/USDT$/, ''),
    quoteCoin: 'USDT',
    launchTime: '1584230400000',
    deliveryTime: '0',
    deliveryFeeRate: '',
    priceScale: String(market.priceDecimals),
    leverageFilter: { minLeverage: '1', maxLeverage: fixedNumber(market.maxLeverage, 2), leverageStep: '0.01' },
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
    fundingInterval: market.intervalHours * 60,
    settleCoin: 'USDT',
    copyTrading: 'both',
    upperFundingRate: shortNumber(market.cap, RATE_DECIMALS),
    lowerFundingRate: shortNumber(market.floor, RATE_DECIMALS),
    isPreListing: false,
    preListingInfo: null,
    riskParameters: { priceLimitRatioX: '0.01', priceLimitRatioY: '0.02' },
    displayName: '',
    symbolType: '',
    forbidUplWithdrawal: false,
    symbolId: 5,
  }
}

/** `instruments-info` of the spot category; it has no pages. */
export function spotInstruments(markets: readonly SpotMarket[]): { symbol: string; status: string }[] {
  const [first] = markets
  if (first === undefined) return []
  const traded = new Set(markets.map(({ symbol }) => symbol))
  const like = (symbol: string, more: object): ReturnType<typeof spotRow> => ({ ...spotRow(first), symbol, ...more })
  const decoys = [
    like('ETHBTC', { baseCoin: 'ETH', quoteCoin: 'BTC' }),
    like('BTCEUR', { baseCoin: 'BTC', quoteCoin: 'EUR' }),
    like('TSLAXUSDT', { baseCoin: 'TSLAX', quoteCoin: 'USDT', symbolType: 'xstocks' }),
    like('BTC3LUSDT', { baseCoin: 'BTC3L', quoteCoin: 'USDT', innovation: '1' }),
  ]
  return [...markets.map(spotRow), ...decoys.filter(({ symbol }) => !traded.has(symbol))]
}

function spotRow(market: SpotMarket) {
  const lot = powerText(-market.sizeDecimals)
  return {
    symbolId: 9,
    symbol: market.symbol,
    baseCoin: market.base,
    quoteCoin: market.quote,
    innovation: '0',
    status: 'Trading',
    marginTrading: 'utaOnly',
    stTag: '0',
    lotSizeFilter: {
      basePrecision: lot,
      quotePrecision: '0.0000001',
      minOrderQty: lot,
      maxOrderQty: '230',
      minOrderAmt: '5',
      maxOrderAmt: '8000000',
      maxLimitOrderQty: '230',
      maxMarketOrderQty: '120',
      postOnlyMaxLimitOrderSize: '1150',
    },
    priceFilter: { tickSize: powerText(-market.priceDecimals) },
    riskParameters: { priceLimitRatioX: '0.005', priceLimitRatioY: '0.01' },
    symbolType: '',
    xstockMultiplier: '1',
  }
}
