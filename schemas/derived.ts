/** What processors derive beside flow and signals. Documented field by field in `records/*.avsc`. */
import type { Micros } from './micros.ts'

export interface FundingView {
  readonly exchange: string
  readonly instrument: string
  readonly rate: number | null
  readonly rate_time: Micros | null
  readonly next_settlement: Micros | null
  readonly interval_hours: number
  readonly mark: number | null
  readonly index: number | null
  readonly mark_time: Micros | null
  readonly premium: number | null
  readonly premium_time: Micros | null
  readonly average_premium: number | null
  readonly samples: number
  readonly expected: number
  readonly predicted: number | null
  readonly settled_rate: number | null
  readonly settled_time: Micros | null
  readonly open_interest: number | null
  readonly open_interest_time: Micros | null
}

export interface Funding {
  readonly asset: string
  readonly exchanges: readonly FundingView[]
  readonly time: Micros
  readonly v: number
}

export interface PriceSource {
  readonly exchange: string
  readonly instrument: string
  readonly price: number
  readonly low: number
  readonly high: number
  readonly time: Micros
}

export interface CompositePrice {
  readonly asset: string
  readonly price: number
  readonly low: number
  readonly high: number
  readonly change_24h: number | null
  readonly sources: readonly PriceSource[]
  readonly quality: 'unknown' | 'good' | 'degraded'
  readonly late: boolean
  readonly time: Micros
  readonly v: number
}

export interface RiskExchange {
  readonly exchange: string
  readonly open_interest_usd: number
  readonly mark: number
  readonly time: Micros
}

export interface RiskLevel {
  readonly price: number
  readonly long_usd: number
  readonly short_usd: number
}

export interface LeverageCluster {
  readonly leverage: number
  readonly side: 'unknown' | 'long' | 'short'
  readonly price: number
  readonly usd: number
}

export interface LiquidationRisk {
  readonly asset: string
  readonly price: number
  readonly open_interest_usd: number
  readonly exchanges: readonly RiskExchange[]
  readonly levels: readonly RiskLevel[]
  readonly clusters: readonly LeverageCluster[]
  readonly at_risk_5_usd: number
  readonly at_risk_5_pct: number
  readonly at_risk_10_usd: number
  readonly at_risk_10_pct: number
  readonly cascade_risk: 'unknown' | 'low' | 'medium' | 'high'
  readonly swept_long_usd: number
  readonly swept_short_usd: number
  readonly since: Micros
  readonly time: Micros
  readonly v: number
}

export interface Audit {
  readonly instrument: string
  readonly asset: string
  readonly minute: Micros
  readonly ours_volume: number
  readonly theirs_volume: number
  readonly volume_difference: number
  readonly ours_delta: number
  readonly theirs_delta: number | null
  readonly delta_difference: number | null
  readonly ours_trades: number
  readonly theirs_trades: number | null
  readonly state: 'unknown' | 'equal' | 'different'
  readonly time: Micros
  readonly v: number
}
