/** What feeds write beside trades. Documented field by field in `records/*.avsc`. */
import type { Micros } from './micros.ts'

export interface SpotTicker {
  readonly instrument: string
  readonly asset: string
  readonly bid: number | null
  readonly ask: number | null
  readonly last: number
  readonly price: number
  readonly low: number
  readonly high: number
  readonly change_24h: number | null
  readonly volume_24h: number | null
  readonly quote_volume_24h: number | null
  readonly quote: string
  readonly quote_usd: number
  readonly time: Micros
  readonly received: Micros
}

export interface PriceRange {
  readonly instrument: string
  readonly asset: string
  readonly from: Micros
  readonly to: Micros
  readonly low: number
  readonly high: number
  readonly quote: string
  readonly quote_usd: number
  readonly received: Micros
}

export interface DerivativeTicker {
  readonly instrument: string
  readonly asset: string
  readonly channel: string
  readonly rate: number | null
  readonly next_settlement: Micros | null
  readonly rate_time: Micros | null
  readonly mark: number | null
  readonly index: number | null
  readonly mark_time: Micros | null
  readonly premium: number | null
  readonly premium_time: Micros | null
  readonly open_interest: number | null
  readonly open_interest_time: Micros | null
  readonly received: Micros
}

export interface Settlement {
  readonly instrument: string
  readonly asset: string
  readonly settled_rate: number
  readonly mark: number | null
  readonly time: Micros
  readonly received: Micros
}

export interface LongShortRatio {
  readonly instrument: string
  readonly asset: string
  readonly cohort: 'unknown' | 'top_traders' | 'all'
  readonly basis: 'unknown' | 'positions' | 'accounts'
  readonly long_ratio: number
  readonly short_ratio: number
  readonly ls_ratio: number
  readonly time: Micros
  readonly received: Micros
}

export interface Liquidation {
  readonly instrument: string
  readonly asset: string
  readonly id: string
  readonly side: 'unknown' | 'long' | 'short'
  readonly size: number
  readonly price: number
  readonly price_kind: 'unknown' | 'bankruptcy' | 'order' | 'average_fill'
  readonly value: number
  readonly completeness: 'unknown' | 'all' | 'sampled'
  readonly time: Micros
  readonly received: Micros
}

export interface MarginTier {
  readonly up_to: number | null
  readonly rate: number
  readonly deduction: number
}

export interface ContractTerms {
  readonly instrument: string
  readonly asset: string
  readonly interval_hours: number
  readonly rate_cap: number | null
  readonly rate_floor: number | null
  readonly interest_daily: number | null
  readonly max_leverage: number | null
  readonly margin_tiers: readonly MarginTier[]
  readonly received: Micros
}

export interface Token {
  readonly id: string
  readonly asset: string | null
  readonly symbol: string
  readonly name: string
  readonly price: number | null
  readonly change_24h: number | null
  readonly change_7d: number | null
  readonly change_30d: number | null
  readonly volume_24h: number | null
  readonly market_cap: number | null
  readonly market_cap_rank: number | null
  readonly circulating_supply: number | null
  readonly total_supply: number | null
  readonly ath: number | null
  readonly ath_date: Micros | null
  readonly atl: number | null
  readonly atl_date: Micros | null
  readonly last_updated: Micros
  readonly received: Micros
}

export interface Candle {
  readonly instrument: string
  readonly asset: string
  readonly minute: Micros
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
  readonly taker_buy: number | null
  readonly trades: number | null
  readonly received: Micros
}
