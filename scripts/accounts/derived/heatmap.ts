import type { HeatmapAnswer } from './answers.ts'
import { perpVenues } from './funding.ts'
import { medianOf, rowOf, type LedgerState } from './ledger.ts'
import { atMost, near, oneOf, type DerivedRow } from './row.ts'

/** Open interest is whole contracts, marks have the venue's decimals. */
const INTEREST = { part: 2e-4 }
const SUM = { part: 1e-9 }
const LEVELS_REACH = 0.25
/** Entries of what was open at first sight are spread, so that some levels of 5x lie beyond. */
const LEVELS_OUTSIDE = 0.1

/** `/liquidation/heatmap/:symbol`: open interest as the ledger has it, and the sums that the model must keep. */
export function heatmapRows(answer: HeatmapAnswer, asset: string, ledger: LedgerState): DerivedRow[] {
  const { current_price: current, leverage_clusters: clusters, levels, risk_summary: risk } = answer
  const perps = perpVenues.flatMap((venue) => rowOf(ledger.perp, asset, venue) ?? [])
  const all = perps.reduce((sum, perp) => sum + perp.openInterest * perp.mark, 0)
  const within = (part: number): number =>
    levels
      .filter(({ price }) => Math.abs(price - current) <= part * current)
      .reduce((sum, { long_usd, short_usd }) => sum + long_usd + short_usd, 0)
  const live = clusters.reduce((sum, { oi_at_risk_usd }) => sum + oi_at_risk_usd, 0)
  const [in5, in10, seen] = [within(0.05), within(0.1), within(2 * LEVELS_REACH)]
  return [
    ...perps.map(({ venue, openInterest, mark }) =>
      near(
        'open interest, USD',
        `${asset} ${venue}`,
        answer.exchanges[venue]?.open_interest_usd,
        openInterest * mark,
        INTEREST,
      ),
    ),
    near('open interest of all, USD', asset, answer.open_interest_usd, all, INTEREST),
    near('median mark', asset, current, medianOf(perps.map(({ mark }) => mark)), { part: 1e-5 }),
    near('at risk within 5 %, USD', asset, risk.total_oi_at_risk_usd, in5, SUM),
    near('at risk within 10 %, USD', asset, risk.total_oi_at_risk_10pct_usd, in10, SUM),
    near('at risk within 5 %, %', asset, risk.oi_at_risk_pct, (100 * in5) / all, INTEREST),
    near('at risk within 10 %, %', asset, risk.oi_at_risk_10pct_pct, (100 * in10) / all, INTEREST),
    oneOf('cascade risk', asset, answer.cascade_risk, cascades((100 * in5) / all, (100 * in10) / all)),
    ...levelRows(asset, {
      live,
      seen,
      all,
      isWhole: clusters.every(({ liquidation_price: price }) => isNear(price, current)),
    }),
  ]
}

interface Sums {
  /** Of the clusters, of the levels, and open interest; USD. */
  readonly live: number
  readonly seen: number
  readonly all: number
  /** Every cluster's mean lies where levels are shown, with some room around it. */
  readonly isWhole: boolean
}

function levelRows(asset: string, { live, seen, all, isWhole }: Sums): DerivedRow[] {
  const shown = isWhole
    ? near('levels and clusters, USD', asset, seen, live, { part: LEVELS_OUTSIDE })
    : atMost('levels and clusters, USD', asset, seen, live)
  return [
    shown,
    atMost('levels within clusters, USD', asset, seen, live),
    atMost('clusters within open interest, USD', asset, live, all),
  ]
}

function isNear(price: number, current: number): boolean {
  return Math.abs(price - current) <= (LEVELS_REACH - 0.03) * current
}

/** The level, and beside a bound both. */
function cascades(within5: number, within10: number): string[] {
  const { part } = INTEREST
  return [
    ...new Set([
      cascade(within5 * (1 - part), within10 * (1 - part)),
      cascade(within5 * (1 + part), within10 * (1 + part)),
    ]),
  ]
}

function cascade(within5: number, within10: number): string {
  if (within5 > 10) return 'high'
  return within10 >= 5 ? 'medium' : 'low'
}
