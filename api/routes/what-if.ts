import type { Trigger } from '../../schemas/alerts.ts'
import type { Micros } from '../../schemas/records.ts'
import { readTerms } from '../alerts/creation.ts'
import { alertAsset } from '../alerts/symbols.ts'
import type { Trial } from '../alerts/what-if.ts'
import { ApiError } from '../errors.ts'
import type { Answer, Call } from '../route.ts'
import { iso } from '../views/time.ts'
import { partitionTime } from '../views/world.ts'
import { noData } from './answers.ts'

const SECOND: Micros = 1_000_000
const DAY: Micros = 86_400 * SECOND

/** Most triggers and gaps that an answer lists; the newest. All are counted. */
export const TRIGGERS_SHOWN = 100
const GAPS_SHOWN = 50
/** A week that begins this much later is whole: prices come by the second, estimates by the minute. */
const LATE_START: Micros = 300 * SECOND

/** How often an alert would have rung in the last 7 days, decided by the alerts' own core over the log's records. */
export async function whatIfAnswer({ services, body, caller }: Call): Promise<Answer> {
  if (body === undefined) throw new ApiError('invalid_body', 'Send the alert as a JSON object.')
  const terms = readTerms(body['condition'] === 'cascade_risk' ? 'liquidation' : 'price', body)
  const { asset } = await alertAsset(services, terms.symbol)
  const to = partitionTime(await services.world(), 'alerts.inputs', asset, services.partitions)
  if (to === undefined) throw noData(`history of ${terms.symbol}`)
  const { value: trial, cached } = await services.trials.of({ ...terms, asset }, to, caller)
  if (trial.seen === null) throw noData(`history of ${terms.symbol}`)
  const { symbol, condition } = terms
  const figures =
    terms.kind === 'price'
      ? { target_price: terms.target_price }
      : { threshold_pct: terms.threshold_pct, min_value_usd: terms.min_value_usd }
  const shown = { symbol, condition, ...figures, ...bodyOf(trial, trial.seen), as_of: iso(trial.seen.to) }
  return { kind: 'data', status: 200, body: shown, cached, freshForMs: 0 }
}

function bodyOf(trial: Trial, seen: NonNullable<Trial['seen']>): object {
  const { rang, records, gaps, asked, stopped } = trial
  const blind = gaps.reduce((sum, { from, to }) => sum + to - from, 0)
  const watched = Math.max(0, Math.max(seen.to, stopped === null ? asked.to : 0) - seen.from - blind)
  return {
    trigger_count: rang.length,
    triggers_per_day: watched < DAY ? null : (rang.length * DAY) / watched,
    triggers: rang.slice(-TRIGGERS_SHOWN).toReversed().map(triggerShown),
    records,
    coverage: {
      from: iso(seen.from),
      to: iso(stopped === null ? asked.to : seen.to),
      complete: seen.from - asked.from <= LATE_START && gaps.length === 0 && stopped === null,
      stopped_by: stopped,
      gap_count: gaps.length,
      gap_seconds: blind / SECOND,
      gaps: gaps
        .slice(-GAPS_SHOWN)
        .toReversed()
        .map(({ from, to }) => ({ from: iso(from), to: iso(to) })),
    },
    assumes: ASSUMES,
  }
}

const ASSUMES =
  'The alert is created 7 days ago and lives until now, whatever expires_in_hours says; ' +
  'crosses_* ring once, and are counted as if created again a minute after each time.'

function triggerShown({ time, current_price, condition_met, quality, late, record }: Trigger): object {
  return { time: iso(time), price: current_price, condition_met, quality, late, record }
}
