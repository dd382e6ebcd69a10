import { cascadeReason, cascadeRisk } from '../../processors/liquidations/cascade.ts'
import { asDecimal } from '../../processors/prices/decimal.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Services } from '../services.ts'
import { FUNDING_STALE } from '../views/perpetuals.ts'
import { readObserved, readRisk, type RiskRow } from '../views/risk.ts'
import { iso } from '../views/time.ts'
import { noData, type About, type Built } from './answers.ts'

const FIRST_DAY: Micros = 86_400_000_000

/** `/liquidation/heatmap/:symbol`: the model's levels, and how much of what it expected has been seen. */
export async function buildHeatmap(services: Services, { asset, symbol }: About): Promise<Built> {
  const risk = await readRisk(services.database, asset)
  if (risk === undefined || risk.exchanges.length === 0) throw noData(`open interest of ${symbol}`)
  const observed = await readObserved(services.database, asset, { since: risk.since, until: risk.time })
  const cascade = cascadeRisk(risk.atRisk5Pct, risk.atRisk10Pct)
  const body = {
    symbol,
    current_price: risk.price,
    open_interest_usd: risk.openInterestUsd,
    cascade_risk: cascade,
    estimated: true,
    levels_since: iso(risk.since),
    leverage_clusters: risk.clusters.map((cluster) => clusterOf(cluster, risk.price)),
    levels: risk.levels.map(({ price, longUsd, shortUsd }) => ({
      price: asDecimal(price),
      long_usd: longUsd,
      short_usd: shortUsd,
    })),
    risk_summary: {
      total_oi_at_risk_usd: risk.atRisk5Usd,
      oi_at_risk_pct: risk.atRisk5Pct,
      total_oi_at_risk_10pct_usd: risk.atRisk10Usd,
      oi_at_risk_10pct_pct: risk.atRisk10Pct,
      cascade_risk: cascade,
      cascade_risk_reason: reasonOf(risk),
    },
    exchanges: Object.fromEntries(risk.exchanges.map((venue) => [venue.exchange, venueOf(venue)])),
    calibration: calibrationOf(risk, observed),
  }
  const asOf = Math.max(...risk.exchanges.map(({ time }) => time))
  return { body, asOf, freshUntil: asOf + FUNDING_STALE }
}

function clusterOf({ leverage, side, price, usd }: RiskRow['clusters'][number], current: number): object {
  return {
    leverage: `${leverage}x`,
    liquidation_price: asDecimal(price),
    distance_pct: asDecimal(((price - current) / current) * 100),
    oi_at_risk_usd: usd,
    side,
  }
}

function venueOf({ openInterestUsd, mark, time }: RiskRow['exchanges'][number]): object {
  return { open_interest_usd: openInterestUsd, mark_price: mark, as_of: iso(time) }
}

/** Within a day of its start a model knows little of when open interest was opened: then the reason says so. */
function reasonOf({ atRisk5Pct, atRisk10Pct, since, time }: RiskRow): string {
  const reason = cascadeReason(atRisk5Pct, atRisk10Pct)
  if (time - since >= FIRST_DAY) return reason
  return `${reason} The levels start where the service started, at ${iso(since)}: what was open before is only assumed.`
}

/** Swept: what the model had at the prices that the mark has crossed; observed: what venues reported since. */
function calibrationOf(risk: RiskRow, observed: { longUsd: number; shortUsd: number }): object {
  const swept = risk.sweptLongUsd + risk.sweptShortUsd
  const seen = observed.longUsd + observed.shortUsd
  return {
    since: iso(risk.since),
    swept_long_usd: risk.sweptLongUsd,
    swept_short_usd: risk.sweptShortUsd,
    observed_long_usd: asDecimal(observed.longUsd),
    observed_short_usd: asDecimal(observed.shortUsd),
    observed_to_swept: swept === 0 ? null : seen / swept,
  }
}
