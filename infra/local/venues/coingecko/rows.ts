import type { SimToken } from '../economy.ts'
import type { Micros } from '../trade.ts'

/** Windows that `price_change_percentage` may ask for, and the tokens' own figure for each. */
export const windows = {
  '24h': (token: SimToken) => token.change24h,
  '7d': (token: SimToken) => token.change7d,
  '30d': (token: SimToken) => token.change30d,
} as const
export type Window = keyof typeof windows

/** A row of `coins/markets` in dollars. */
export function marketRow(token: SimToken, wanted: readonly Window[]): object {
  const before = token.price / (1 + token.change24h / 100)
  const capBefore = token.marketCap / (1 + token.change24h / 100)
  return {
    id: token.id,
    symbol: token.symbol.toLowerCase(),
    name: token.name,
    image: `https://coin-images.coingecko.com/coins/images/1/large/${token.id}.png?1696501400`,
    current_price: token.price,
    market_cap: Math.round(token.marketCap),
    market_cap_rank: token.rank,
    fully_diluted_valuation: token.total === null ? null : Math.round(token.price * token.total),
    total_volume: Math.round(token.volume24h),
    high_24h: Math.max(token.price, before),
    low_24h: Math.min(token.price, before),
    price_change_24h: token.price - before,
    price_change_percentage_24h: token.change24h,
    market_cap_change_24h: token.marketCap - capBefore,
    market_cap_change_percentage_24h: token.change24h,
    circulating_supply: token.circulating,
    total_supply: token.total,
    max_supply: token.total,
    ath: token.ath,
    ath_change_percentage: (token.price / token.ath - 1) * 100,
    ath_date: timeText(token.athTime),
    atl: token.atl,
    atl_change_percentage: (token.price / token.atl - 1) * 100,
    atl_date: timeText(token.atlTime),
    roi: null,
    last_updated: timeText(token.updated),
    ...Object.fromEntries(
      wanted.map((window) => [`price_change_percentage_${window}_in_currency`, windows[window](token)]),
    ),
  }
}

/** A token of `simple/price`; figures that are not asked for are left out. */
export function priceRow(token: SimToken, asked: (figure: string) => boolean): object {
  return {
    usd: token.price,
    ...(asked('include_market_cap') ? { usd_market_cap: token.marketCap } : {}),
    ...(asked('include_24hr_vol') ? { usd_24h_vol: token.volume24h } : {}),
    ...(asked('include_24hr_change') ? { usd_24h_change: token.change24h } : {}),
    ...(asked('include_last_updated_at') ? { last_updated_at: Math.floor(token.updated / 1_000_000) } : {}),
  }
}

/** Symbols are not unique: these share theirs with a token that is meant. */
const namesakes = [
  { id: 'batcat', symbol: 'btc', name: 'batcat' },
  { id: 'gram-2', symbol: 'gram', name: 'Gram' },
  { id: 'matic-aave-usdc', symbol: 'pol', name: 'Matic Aave Interest Bearing USDC' },
]

export function listRows(tokens: readonly SimToken[]): object[] {
  return [...tokens.map(({ id, symbol, name }) => ({ id, symbol: symbol.toLowerCase(), name })), ...namesakes]
}

function timeText(time: Micros): string {
  return new Date(Math.floor(time / 1000)).toISOString()
}
