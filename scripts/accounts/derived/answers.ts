import { setTimeout as delay } from 'node:timers/promises'

/** What the checks read of the API's answers; a number that is not known is null. */
export interface FundingAnswer extends Aged {
  readonly exchange: string
  readonly funding_rate: number
  readonly funding_rate_annualized: number
  readonly next_funding_time: string
  readonly mark_price: number
  readonly index_price: number
  readonly last_settled_rate: number | null
}

export interface CompareAnswer extends Aged {
  readonly exchanges: Readonly<Record<string, ComparedVenue>>
  readonly best_arb: null | {
    readonly long_exchange: string
    readonly short_exchange: string
    readonly rate_spread: number
    readonly annualized_spread_pct: number
  }
}

interface ComparedVenue {
  readonly funding_rate: number | null
  readonly annualized_pct: number | null
  readonly next_funding_time: string | null
  readonly as_of: string | null
}

export interface BasisAnswer extends Aged {
  readonly spot_price: number
  readonly exchanges: Readonly<
    Record<
      string,
      {
        readonly perp_price: number | null
        readonly basis_usd: number | null
        readonly basis_pct: number | null
        readonly basis_annualized_pct: number | null
        readonly direction: string | null
      }
    >
  >
  readonly best_carry_trade: null | {
    readonly exchange: string
    readonly annualized_yield_pct: number
    readonly funding_rate: number
    readonly next_funding_time: string
  }
}

export interface PredictedAnswer extends Aged {
  readonly exchange: string
  readonly current_funding_rate: number
  readonly predicted_funding_rate: number
  readonly predicted_annualized_pct: number
  readonly average_premium_index: number | null
  readonly premium_samples: number
  readonly premium_samples_expected: number
  readonly next_funding_time: string
  readonly funding_history: readonly { readonly time: string; readonly rate: number }[]
}

export interface HistoryAnswer extends Aged {
  readonly history: readonly {
    readonly time: string
    readonly funding_rate: number
    readonly annualized_pct: number | null
  }[]
}

export interface LongShortAnswer extends Aged {
  readonly exchanges: Readonly<
    Record<
      string,
      {
        readonly long_ratio: number | null
        readonly short_ratio: number | null
        readonly ls_ratio: number | null
        readonly as_of: string | null
      }
    >
  >
  readonly aggregate: { readonly avg_ls_ratio: number; readonly sentiment: string }
}

export interface PriceAnswer extends Aged {
  readonly price: number
  readonly change_24h: number | null
  readonly exchanges: Readonly<Record<string, { readonly price: number | null; readonly used: boolean }>>
}

export interface PricesAnswer {
  readonly data: Readonly<
    Record<
      string,
      {
        readonly price: number
        readonly change_24h: number | null
        readonly volume_24h: number | null
        readonly market_cap: number | null
        readonly source: string
      }
    >
  >
}

export interface MarketAnswer {
  readonly data: {
    readonly price: number
    readonly change_7d: number
    readonly change_30d: number
    readonly volume_24h: number
    readonly market_cap_rank: number
    readonly circulating_supply: number
    readonly total_supply: number | null
    readonly ath: number
    readonly ath_date: string
  }
}

export interface HeatmapAnswer extends Aged {
  readonly current_price: number
  readonly open_interest_usd: number
  readonly cascade_risk: string
  readonly leverage_clusters: readonly { readonly liquidation_price: number; readonly oi_at_risk_usd: number }[]
  readonly levels: readonly { readonly price: number; readonly long_usd: number; readonly short_usd: number }[]
  readonly risk_summary: {
    readonly total_oi_at_risk_usd: number
    readonly oi_at_risk_pct: number
    readonly total_oi_at_risk_10pct_usd: number
    readonly oi_at_risk_10pct_pct: number
  }
  readonly exchanges: Readonly<Record<string, { readonly open_interest_usd: number; readonly mark_price: number }>>
}

export interface CvdAnswer extends Aged {
  readonly buy_volume: number
  readonly sell_volume: number
  readonly signal: string
  readonly coverage: { readonly from: string; readonly to: string; readonly share: number }
}

export interface LiquidationsAnswer extends Aged {
  readonly count: number
  readonly events: readonly {
    readonly symbol: string
    readonly side: string
    readonly size: number
    readonly price: number
    readonly value_usd: number
    readonly timestamp: string
    readonly exchange: string
  }[]
  readonly stats: {
    readonly last_1h: {
      readonly total_events: number
      readonly long_liquidations: number
      readonly short_liquidations: number
      readonly total_value_usd: number
    }
    readonly last_24h: {
      readonly total_events: number
      readonly total_value_usd: number
      readonly since: string | null
    }
  }
}

export interface ExtremeAnswer extends Aged {
  readonly total_markets_scanned: number
  readonly extreme_markets: number
  readonly results: readonly {
    readonly symbol: string
    readonly exchange: string
    readonly funding_rate: number
    readonly annualized_pct: number
    readonly mark_price: number
  }[]
}

interface Aged {
  readonly as_of: string
}

/** Each route's answer, by a short name. */
export interface RouteAnswers {
  readonly cvd: CvdAnswer
  readonly price: PriceAnswer
  readonly funding: FundingAnswer
  readonly compare: CompareAnswer
  readonly basis: BasisAnswer
  readonly predicted: PredictedAnswer
  readonly history: HistoryAnswer
  readonly longShort: LongShortAnswer
  readonly prices: PricesAnswer
  readonly market: MarketAnswer
  readonly heatmap: HeatmapAnswer
  readonly liquidations: LiquidationsAnswer
  readonly extreme: ExtremeAnswer
}

/** Each route's answer, by a short name. */
export interface RouteAnswers {
  readonly price: PriceAnswer
  readonly funding: FundingAnswer
  readonly compare: CompareAnswer
  readonly basis: BasisAnswer
  readonly predicted: PredictedAnswer
  readonly history: HistoryAnswer
  readonly longShort: LongShortAnswer
  readonly prices: PricesAnswer
  readonly market: MarketAnswer
  readonly heatmap: HeatmapAnswer
  readonly liquidations: LiquidationsAnswer
  readonly extreme: ExtremeAnswer
}

/** Callers are limited to 20 a second where payments are off; and no more than some at a time. */
const APART_MS = 60
const AT_ONCE = 6
const ANSWER_MS = 30_000

/** Asks the API, no faster than it lets a caller. */
export class Answers {
  private readonly url: string
  private readonly slots: Promise<unknown>[] = Array.from({ length: AT_ONCE }, () => Promise.resolve())
  private next = 0

  constructor(url: string) {
    this.url = url
  }

  /** The answer, or why there is none. */
  ask<Answer>(path: string): Promise<Answer | string> {
    const slot = this.next % AT_ONCE
    this.next += 1
    const answer = (this.slots[slot] ?? Promise.resolve()).then(() => this.fetched<Answer>(path))
    this.slots[slot] = answer
    return answer
  }

  private async fetched<Answer>(path: string): Promise<Answer | string> {
    await delay(AT_ONCE * APART_MS)
    try {
      const answer = await fetch(this.url + path, { signal: AbortSignal.timeout(ANSWER_MS) })
      // The route says which answer it is.
      if (answer.status === 200) return (await answer.json()) as Answer
      return `${answer.status} ${(await answer.text()).slice(0, 120)}`
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
}
