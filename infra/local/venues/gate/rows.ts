import { fixedNumber, powerText, shortNumber } from '../amounts.ts'
import type { PerpMarket, PerpState, SettledRate, SimLiquidation } from '../economy.ts'
import type { Micros } from '../trade.ts'

/** Rates are shown with so many decimals. */
const RATE_DECIMALS = 6
/** Positions of the top traders in all, contracts: what the ratios are made of. */
const TOP_SIZE = 50_000_000
const TOP_ACCOUNTS = 200

/** A contract; `quanto_multiplier` is the base currency that one is worth, `position_size` counts both sides. */
export function contractRow(market: PerpMarket, state: PerpState): ContractRow {
  return {
    name: market.symbol,
    type: 'direct',
    quanto_multiplier: powerText(market.factor),
    ref_discount_rate: '0',
    order_price_deviate: '0.04',
    maintenance_rate: shortNumber(market.tiers[0]?.rate ?? 0.005, 6),
    mark_type: 'index',
    last_price: price(market, state.last),
    mark_price: price(market, state.mark),
    index_price: price(market, state.index),
    funding_rate_indicative: shortNumber(state.rate, RATE_DECIMALS),
    mark_price_round: powerText(-market.priceDecimals),
    funding_offset: 0,
    in_delisting: false,
    risk_limit_base: '200000',
    interest_rate: '0.0003',
    order_price_round: powerText(-market.priceDecimals),
    order_size_min: 1,
    ref_rebate_rate: '0.2',
    funding_interval: market.intervalHours * 3600,
    risk_limit_step: '1499800000',
    leverage_min: '1',
    leverage_max: shortNumber(market.maxLeverage, 0),
    risk_limit_max: '1500000000',
    maker_fee_rate: '-0.00005',
    taker_fee_rate: '0.00075',
    funding_rate: shortNumber(state.rate, RATE_DECIMALS),
    order_size_max: 15_000_000,
    funding_next_apply: seconds(state.nextSettlement),
    short_users: 11_585,
    config_change_time: 1_770_798_325,
    trade_size: contracts(market, state.volume24h),
    position_size: contracts(market, state.openInterest),
    long_users: 14_765,
    funding_impact_value: '30000',
    orders_limit: 100,
    trade_id: 724_267_229,
    orderbook_id: 108_769_531_316,
    enable_bonus: true,
    enable_credit: true,
    create_time: 1_574_035_200,
    funding_cap_ratio: '0.75',
    status: 'trading',
    launch_time: 1_574_035_200,
    contract_type: '',
    cross_leverage_default: '10',
    enable_circuit_breaker: false,
    enable_decimal: false,
    funding_rate_limit: shortNumber(market.cap, RATE_DECIMALS),
    is_pre_market: false,
    market_order_size_max: '10000000',
    market_order_slip_ratio: '0.02',
    voucher_leverage: '2',
  }
}

export type ContractRow = Readonly<Record<string, string | number | boolean>>

export function tickerRow(market: PerpMarket, state: PerpState): object {
  const change = state.last - state.open24h
  const tick = Number(`1e${-market.priceDecimals - market.priceFactor}`)
  return {
    contract: market.symbol,
    last: price(market, state.last),
    change_percentage: fixedNumber((change / state.open24h) * 100, 2),
    total_size: String(contracts(market, state.openInterest)),
    low_24h: price(market, state.low24h),
    high_24h: price(market, state.high24h),
    volume_24h: String(contracts(market, state.volume24h)),
    volume_24h_base: shortNumber(state.volume24h, 0),
    volume_24h_quote: shortNumber(state.quoteVolume24h, 0),
    volume_24h_settle: shortNumber(state.quoteVolume24h, 0),
    mark_price: price(market, state.mark),
    funding_rate: shortNumber(state.rate, RATE_DECIMALS),
    funding_rate_indicative: shortNumber(state.rate, RATE_DECIMALS),
    index_price: price(market, state.index),
    quanto_multiplier: powerText(market.factor),
    highest_bid: price(market, state.last - tick),
    highest_size: String(contracts(market, 1000 / state.last)),
    lowest_ask: price(market, state.last),
    lowest_size: String(contracts(market, 2000 / state.last)),
    change_price: price(market, change),
  }
}

/** `t` is a second or two late, as the venue has it. */
export function settledRow({ time, rate }: SettledRate): object {
  return { t: seconds(time) + 1, r: shortNumber(rate, RATE_DECIMALS) }
}

interface Period {
  readonly time: Micros
  readonly ratios: { readonly positions: number; readonly accounts: number }
  /** One-sided, base units. */
  readonly openInterest: number
  readonly mark: number
  readonly liquidations: readonly SimLiquidation[]
}

/** `top_lsr_size` is the top traders' long over short by size of positions, `top_lsr_account` by heads. */
export function statsRow(market: PerpMarket, { time, ratios, openInterest, mark, liquidations }: Period): object {
  const { positions, accounts } = ratios
  const users = { long: Math.round((24_000 * accounts) / (1 + accounts)), all: 24_000 }
  const heads = Math.round((TOP_ACCOUNTS * accounts) / (1 + accounts))
  const size = Math.round((TOP_SIZE * positions) / (1 + positions))
  return {
    time: seconds(time),
    lsr_taker: 1,
    lsr_account: users.long / (users.all - users.long),
    ...liquidated(market, 'long', liquidations),
    ...liquidated(market, 'short', liquidations),
    open_interest: contracts(market, openInterest),
    open_interest_usd: Number((openInterest * mark).toFixed(4)),
    top_lsr_account: accounts,
    top_lsr_size: positions,
    mark_price: Number(price(market, mark)),
    top_long_size: size,
    top_short_size: TOP_SIZE - size,
    long_taker_size: 100_000,
    short_taker_size: 100_000,
    top_long_account: heads,
    top_short_account: TOP_ACCOUNTS - heads,
    long_users: users.long,
    short_users: users.all - users.long,
  }
}

function liquidated(market: PerpMarket, side: 'long' | 'short', liquidations: readonly SimLiquidation[]): object {
  const own = liquidations.filter((one) => one.side === side)
  const base = own.reduce((sum, one) => sum + one.size, 0)
  const usd = Number(own.reduce((sum, one) => sum + one.size * one.fillPrice, 0).toFixed(4))
  return {
    [`${side}_liq_size`]: contracts(market, base),
    [`${side}_liq_amount`]: base,
    [`${side}_liq_usd`]: usd,
    [`${side}_liq_usd_new`]: usd,
  }
}

/** `size` is signed as the position was: positive for a long one; the order has the other sign. */
export function liquidationRow(
  market: PerpMarket,
  { time, side, size, bankruptcyPrice, fillPrice }: SimLiquidation,
): object {
  const signed = contracts(market, size) * (side === 'long' ? 1 : -1)
  return {
    time: seconds(time),
    contract: market.symbol,
    size: signed,
    order_size: -signed,
    order_price: price(market, bankruptcyPrice),
    fill_price: price(market, fillPrice),
    left: 0,
  }
}

/** Whole contracts. */
function contracts(market: PerpMarket, base: number): number {
  return Math.round(base / Number(`1e${market.factor}`))
}

/** The venue writes prices as short as they are. */
function price(market: PerpMarket, value: number): string {
  return shortNumber(value, market.priceDecimals + market.priceFactor)
}

export function seconds(time: Micros): number {
  return Math.floor(time / 1_000_000)
}
