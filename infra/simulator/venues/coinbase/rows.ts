import type { Candle } from '../../ledger/candles.ts'
import type { History } from '../../ledger/history.ts'
import {
  fixedNumber,
  fixedText,
  powerText,
  shortNumber,
  shortPrice,
  trimmedText,
  timeText,
  uuidOf,
} from '../../market/text.ts'
import type { SpotMarket, SpotState } from '../../market/economy.ts'
import type { Market } from '../../market/markets.ts'
import { firstIds } from '../../market/markets.ts'
import type { Micros, Trade } from '../../market/trade.ts'
import { listedRows } from '../rest.ts'

/** A match. `side` is the maker's: where the taker bought, a resting sell order was hit. */
export function matchFrame(market: Market, trade: Trade, type: 'match' | 'last_match'): string {
  const size = trimmedText(trade.size, market.sizeDecimals)
  const price = trimmedText(trade.price, market.priceDecimals)
  return `{"type":"${type}","trade_id":${trade.id},"maker_order_id":"${uuidOf(trade.first, 1)}","taker_order_id":"${uuidOf(trade.last, 2)}","side":"${makerSide(trade)}","size":"${size}","price":"${price}","product_id":"${market.symbol}","sequence":${trade.sequence},"time":"${timeText(trade.time)}"}`
}

/** One a second and product; it proves that nothing was missed in a quiet market. */
export function heartbeatFrame(product: string, newest: Trade | undefined, time: Micros): string {
  return `{"type":"heartbeat","last_trade_id":${newest?.id ?? firstIds.coinbase},"product_id":"${product}","sequence":${newest?.sequence ?? 0},"time":"${timeText(time)}"}`
}

/** A row of the REST pages, which show eight decimals. */
export function tradeRow(market: Market, trade: Trade): object {
  return {
    trade_id: trade.id,
    side: makerSide(trade),
    size: eight(trade.size, market.sizeDecimals),
    price: eight(trade.price, market.priceDecimals),
    time: timeText(trade.time),
  }
}

function eight(units: number, decimals: number): string {
  return decimals >= 8 ? fixedText(units, decimals) : fixedText(BigInt(units) * 10n ** BigInt(8 - decimals), 8)
}

function makerSide(trade: Trade): string {
  return trade.buy ? 'sell' : 'buy'
}

/** What a product shows: its prices, and its newest trade where any is simulated. */
export interface Shown {
  readonly market: SpotMarket
  readonly state: SpotState
  readonly history: History | undefined
}

/** A message of the `ticker` channel. `side` is the taker's here, unlike in `matches`. */
export function tickerFrame({ market, state, history }: Shown): string {
  const newest = history?.newest
  return JSON.stringify({
    type: 'ticker',
    sequence: newest?.sequence ?? 0,
    product_id: market.symbol,
    price: shortPrice(market, state.last),
    open_24h: shortPrice(market, state.open24h),
    volume_24h: fixedNumber(state.volume24h, 8),
    low_24h: shortPrice(market, state.low24h),
    high_24h: shortPrice(market, state.high24h),
    volume_30d: fixedNumber(30 * state.volume24h, 8),
    best_bid: shortPrice(market, state.bid),
    best_bid_size: fixedNumber(1000 / state.bid, 8),
    best_ask: shortPrice(market, state.ask),
    best_ask_size: fixedNumber(2000 / state.ask, 8),
    side: newest?.buy === false ? 'sell' : 'buy',
    time: timeText(newest?.time ?? state.time),
    trade_id: newest?.id ?? 0,
    last_size: lastSize({ market, state, history }),
  })
}

/** `[time in seconds, low, high, open, close, volume]`, numbers. */
export function candleRow({ priceDecimals, sizeDecimals }: SpotMarket, candle: Candle): number[] {
  const { startMs, low, high, open, close, buy, sell } = candle
  const prices = [low, high, open, close].map((price) => Number(trimmedText(price, priceDecimals)))
  return [startMs / 1000, ...prices, Number(trimmedText(buy + sell, sizeDecimals))]
}

/** A product of Advanced Trade; `price_percentage_change_24h` is in percent. */
export function advancedProduct({ market, state }: Shown): AdvancedProduct {
  const { symbol, base, quote } = market
  // A USD book and its USDC name are one; the stable coins themselves have no second name.
  const doubled = quote === 'USD' && base !== 'USDT' && base !== 'USDC'
  return {
    product_id: symbol,
    price: shortPrice(market, state.last),
    price_percentage_change_24h: shortNumber((state.last / state.open24h - 1) * 100, 14),
    volume_24h: shortNumber(state.volume24h, 8),
    volume_percentage_change_24h: '0',
    base_increment: powerText(-market.sizeDecimals),
    quote_increment: powerText(-market.priceDecimals),
    quote_min_size: '1',
    quote_max_size: '150000000',
    base_min_size: powerText(-market.sizeDecimals),
    base_max_size: '3400',
    base_name: base,
    quote_name: quote === 'USD' ? 'US Dollar' : quote,
    watched: false,
    is_disabled: false,
    new: false,
    status: 'online',
    cancel_only: false,
    limit_only: false,
    post_only: false,
    trading_disabled: false,
    auction_mode: false,
    product_type: 'SPOT',
    quote_currency_id: quote,
    base_currency_id: base,
    fcm_trading_session_details: null,
    mid_market_price: '',
    alias: '',
    alias_to: doubled ? [`${base}-USDC`] : [],
    base_display_symbol: base,
    quote_display_symbol: quote,
    view_only: false,
    price_increment: powerText(-market.priceDecimals),
    display_name: symbol,
    product_venue: 'CBE',
    approximate_quote_24h_volume: shortNumber(state.quoteVolume24h, 2),
    new_at: '2023-01-01T00:00:00Z',
    market_cap: '',
    base_cbrn: '',
    quote_cbrn: '',
    product_cbrn: '',
    icon_color: '',
    icon_url: '',
    display_name_overwrite: '',
    is_alpha_testing: false,
    about_description: '',
    best_bid_price: '',
    best_ask_price: '',
    high_24h: shortPrice(market, state.high24h),
    low_24h: shortPrice(market, state.low24h),
  }
}

export type AdvancedProduct = Readonly<Record<string, string | boolean | null | readonly string[]>>

/** The product, and the USDC name of its book beside it. */
export function withAlias(product: AdvancedProduct): AdvancedProduct[] {
  const { product_id, alias_to, base_currency_id } = product
  const [alias] = Array.isArray(alias_to) ? alias_to : []
  if (typeof alias !== 'string') return [product]
  const second = { product_id: alias, display_name: alias, quote_name: 'USDC', quote_currency_id: 'USDC' }
  const shown = { ...second, quote_display_symbol: 'USDC', alias: product_id ?? '', alias_to: [] }
  return [product, { ...product, ...shown, base_currency_id: base_currency_id ?? '' }]
}

function lastSize({ market, state, history }: Shown): string {
  if (history?.newest !== undefined) return trimmedText(history.newest.size, history.market.sizeDecimals)
  return shortNumber(100 / state.last, market.sizeDecimals)
}

/** `/products`: what trades, and what a reader of USD books has to leave out. */
export function products(markets: readonly SpotMarket[]): { id: string; status: string; trading_disabled: boolean }[] {
  const named = (id: string) => {
    const [base_currency = '', quote_currency = ''] = id.split('-')
    return { id, base_currency, quote_currency, display_name: id.replace('-', '/') }
  }
  return listedRows(
    markets.map(productRow),
    ({ id }) => id,
    (first) => [
      { ...first, ...named('1INCH-USD') },
      { ...first, ...named('BTC-EUR') },
      { ...first, ...named('USDT-USD'), fx_stablecoin: true },
      { ...first, ...named('USDT-USDC'), fx_stablecoin: true },
      { ...first, ...named('MATIC-USD'), status: 'delisted', trading_disabled: true },
      { ...first, ...named('TON-USD'), status: 'offline', trading_disabled: true },
      { ...first, ...named('NEWCOIN-USD'), trading_disabled: true },
    ],
  )
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

function productRow(market: SpotMarket) {
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
