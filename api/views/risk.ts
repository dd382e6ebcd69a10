import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql, timeParam } from './time.ts'

/** Estimated liquidations of an asset, USD. */
export interface RiskRow {
  readonly price: number
  readonly openInterestUsd: number
  readonly exchanges: readonly { exchange: string; openInterestUsd: number; mark: number; time: Micros }[]
  /** Nearest first. */
  readonly levels: readonly { price: number; longUsd: number; shortUsd: number }[]
  readonly clusters: readonly { leverage: number; side: string; price: number; usd: number }[]
  readonly atRisk5Usd: number
  readonly atRisk5Pct: number
  readonly atRisk10Usd: number
  readonly atRisk10Pct: number
  readonly sweptLongUsd: number
  readonly sweptShortUsd: number
  /** Since when the model counts what was swept. */
  readonly since: Micros
  readonly time: Micros
}

const riskSql = `SELECT price, open_interest_usd, levels, clusters,
  arrayMap(e -> (e.exchange, e.open_interest_usd, e.mark, ${microsSql('e.time')})
    ::Tuple(exchange String, open_interest_usd Float64, mark Float64, time_us Int64), exchanges) AS venues,
  at_risk_5_usd, at_risk_5_pct, at_risk_10_usd, at_risk_10_pct, swept_long_usd, swept_short_usd,
  ${microsSql('since')} AS since_us, ${microsSql('time')} AS time_us FROM latest_risk WHERE asset = {asset:String}`

/** The newest liquidation risk of an asset, if there is one. */
export async function readRisk(database: Database, asset: string): Promise<RiskRow | undefined> {
  const [raw] = await database.query(riskSql, { asset })
  if (raw === undefined) return undefined
  const row = new Row(raw)
  return {
    price: row.number('price'),
    openInterestUsd: row.number('open_interest_usd'),
    exchanges: row.rows('venues').map((venue) => ({
      exchange: venue.text('exchange'),
      openInterestUsd: venue.number('open_interest_usd'),
      mark: venue.number('mark'),
      time: venue.number('time_us'),
    })),
    levels: row.rows('levels').map((level) => ({
      price: level.number('price'),
      longUsd: level.number('long_usd'),
      shortUsd: level.number('short_usd'),
    })),
    clusters: row.rows('clusters').map((cluster) => ({
      leverage: cluster.number('leverage'),
      side: cluster.text('side'),
      price: cluster.number('price'),
      usd: cluster.number('usd'),
    })),
    atRisk5Usd: row.number('at_risk_5_usd'),
    atRisk5Pct: row.number('at_risk_5_pct'),
    atRisk10Usd: row.number('at_risk_10_usd'),
    atRisk10Pct: row.number('at_risk_10_pct'),
    sweptLongUsd: row.number('swept_long_usd'),
    sweptShortUsd: row.number('swept_short_usd'),
    since: row.number('since_us'),
    time: row.number('time_us'),
  }
}

const observedSql = `SELECT sumIf(value, side = 'long') AS long_usd, sumIf(value, side = 'short') AS short_usd
  FROM liquidations WHERE asset = {asset:String} AND time >= ${timeParam('since')} AND time <= ${timeParam('until')}`

/** What was liquidated in that time, USD, as far as venues say so. */
export async function readObserved(
  database: Database,
  asset: string,
  { since, until }: { since: Micros; until: Micros },
): Promise<{ longUsd: number; shortUsd: number }> {
  const [raw] = await database.query(observedSql, { asset, since, until })
  const row = new Row(raw)
  return { longUsd: row.number('long_usd'), shortUsd: row.number('short_usd') }
}
