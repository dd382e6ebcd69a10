import { powerText } from '../amounts.ts'
import type { SpotMarket } from '../economy.ts'

/** `/products`: what trades, and what a reader of USD books has to leave out. */
export function products(markets: readonly SpotMarket[]): { id: string; status: string; trading_disabled: boolean }[] {
  const [btc] = markets
  if (btc === undefined) return []
  const like = (id: string, more: object): ReturnType<typeof row> => {
    const [base_currency = '', quote_currency = ''] = id.split('-')
    return { ...row(btc), id, base_currency, quote_currency, display_name: id.replace('-', '/'), ...more }
  }
  const traded = new Set(markets.map(({ symbol }) => symbol))
  const decoys = [
    like('1INCH-USD', {}),
    like('BTC-EUR', {}),
    like('USDT-USD', { fx_stablecoin: true }),
    like('USDT-USDC', { fx_stablecoin: true }),
    like('MATIC-USD', { status: 'delisted', trading_disabled: true }),
    like('TON-USD', { status: 'offline', trading_disabled: true }),
    like('NEWCOIN-USD', { trading_disabled: true }),
  ]
  return [...markets.map(row), ...decoys.filter(({ id }) => !traded.has(id))]
}

/** `/currencies`, which general-purpose clients load beside the products. */
export function currencies(markets: readonly SpotMarket[]): object[] {
  return [...markets.map(({ base }) => base), 'USD'].map((id) => ({
    id,
    name: id,
    min_size: '0.00000001',
    status: 'online',
    message: '',
    max_precision: '0.00000001',
    convertible_to: [],
    details: {
      type: id === 'USD' ? 'fiat' : 'crypto',
      symbol: null,
      network_confirmations: 0,
      sort_order: 0,
      display_name: id,
    },
    default_network: '',
    supported_networks: [],
    display_name: id,
  }))
}

function row(market: SpotMarket) {
  const quote_currency: string = market.quote
  return {
    id: market.symbol,
    base_currency: market.base,
    quote_currency,
    quote_increment: powerText(-market.priceDecimals),
    base_increment: powerText(-market.sizeDecimals),
    display_name: market.symbol.replace('-', '/'),
    min_market_funds: '1',
    margin_enabled: false,
    post_only: false,
    limit_only: false,
    cancel_only: false,
    status: 'online',
    status_message: '',
    trading_disabled: false,
    fx_stablecoin: market.base === 'USDT' || market.base === 'USDC',
    max_slippage_percentage: '0.02000000',
    auction_mode: false,
    high_bid_limit_percentage: '',
  }
}
