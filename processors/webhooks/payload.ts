import type { Trigger, TriggerSource } from '../../schemas/alerts.ts'
import type { Micros } from '../../schemas/records.ts'

/**
 * The bytes of a trigger's webhook: serialised once, so that what is signed is what is sent. The fields are those of the
 * service's specification; beside them `trigger_id` and, in `data`, what lets the reader check it. `test` and `demo` are
 * there only where they are true.
 */
export function payloadOf(trigger: Trigger, mode: string): Buffer {
  const { kind, alert_id, symbol, severity, trigger_id, test, time } = trigger
  const body = {
    event: kind === 'liquidation' ? 'liquidation_alert' : 'price_alert',
    alert_id,
    symbol,
    severity,
    trigger_id,
    ...(test ? { test: true } : {}),
    ...(mode === 'demo' ? { demo: true } : {}),
    data: { ...(kind === 'liquidation' ? liquidationData(trigger) : priceData(trigger)), ...evidence(trigger) },
    timestamp: iso(time),
  }
  return Buffer.from(JSON.stringify(body), 'utf8')
}

function priceData({ test, current_price, target_price, condition, condition_met }: Trigger): object {
  return { triggered: !test, current_price, target_price, condition, condition_met }
}

function liquidationData(trigger: Trigger): object {
  const { test, current_price, oi_at_risk_usd, oi_at_risk_pct, cascade_risk, threshold_pct } = trigger
  return { triggered: !test, current_price, oi_at_risk_usd, oi_at_risk_pct, cascade_risk, threshold_pct }
}

function evidence({ kind, sources, quality, trigger_count, late, record }: Trigger): object {
  const told = sources.flatMap(kind === 'liquidation' ? interestSource : priceSource)
  return { sources: told, quality, trigger_count, late, record }
}

/** A source that has no figure of the kind says nothing here. */
function priceSource({ exchange, price, time }: TriggerSource): object[] {
  return price === null ? [] : [{ exchange, price, timestamp: iso(time) }]
}

function interestSource({ exchange, open_interest_usd, time }: TriggerSource): object[] {
  return open_interest_usd === null ? [] : [{ exchange, open_interest_usd, timestamp: iso(time) }]
}

function iso(time: Micros): string {
  return new Date(Math.floor(time / 1_000)).toISOString()
}
