import { fixedNumber, powerText, shortNumber, shortPrice } from '../amounts.ts'
import type { SpotMarket, SpotMinute, SpotState } from '../economy.ts'
import { trimmedText } from '../decimal.ts'
import type { History } from '../history.ts'
import { timeText } from './frames.ts'

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

/** `GET /products/<id>/ticker`. */
export function tickerRow(shown: Shown): object {
  const { market, state, history } = shown
  return {
    ask: shortPrice(market, state.ask),
    bid: shortPrice(market, state.bid),
    volume: fixedNumber(state.volume24h, 8),
    trade_id: history?.newest?.id ?? 0,
    price: shortPrice(market, state.last),
    size: lastSize(shown),
    time: timeText(history?.newest?.time ?? state.time),
    rfq_volume: '0',
  }
}

/** `GET /products/<id>/stats`. */
export function statsRow({ market, state }: Shown): object {
  return {
    open: shortPrice(market, state.open24h),
    high: shortPrice(market, state.high24h),
    low: shortPrice(market, state.low24h),
    last: shortPrice(market, state.last),
    volume: fixedNumber(state.volume24h, 8),
    volume_30day: fixedNumber(30 * state.volume24h, 8),
  }
}

/** `[time in seconds, low, high, open, close, volume]`, numbers. */
export function minuteRow(market: SpotMarket, { start, low, high, open, close, volume }: SpotMinute): number[] {
  const prices = [low, high, open, close].map((price) => Number(shortPrice(market, price)))
  return [start / 1_000_000, ...prices, Number(shortNumber(volume, market.sizeDecimals))]
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

/** `GET /api/v3/brokerage/market/products/<id>/ticker`; sides are the maker's and in capitals. */
export function advancedTicker({ market, state, history }: Shown, limit: number): object {
  const rows = history?.rows
  const trades = rows === undefined ? [] : rows.read(Math.max(rows.begin, rows.end - limit), rows.end).reverse()
  return {
    trades: trades.map((trade) => ({
      trade_id: String(trade.id),
      product_id: market.symbol,
      price: trimmedText(trade.price, history?.market.priceDecimals ?? 0),
      size: trimmedText(trade.size, history?.market.sizeDecimals ?? 0),
      time: timeText(trade.time),
      side: trade.buy ? 'SELL' : 'BUY',
      bid: '',
      ask: '',
      exchange: 'coinbase',
    })),
    best_bid: shortPrice(market, state.bid),
    best_ask: shortPrice(market, state.ask),
  }
}

function lastSize({ market, state, history }: Shown): string {
  if (history?.newest !== undefined) return trimmedText(history.newest.size, history.market.sizeDecimals)
  return shortNumber(100 / state.last, market.sizeDecimals)
}
