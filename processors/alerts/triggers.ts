import type { AlertState, DeliveryOrder, Trigger } from '../../schemas/alerts.ts'
import type { CompositePrice, Micros } from '../../schemas/records.ts'
import { asDecimal } from '../prices/decimal.ts'
import { priceSources, type Cause } from './cause.ts'

/** Where a trigger comes from in the log. */
export interface Origin {
  /** Id of the record that caused it. */
  readonly record: string
  readonly v: number
}

/** The delivery that a trigger asks for; the same input makes the same id. */
export function triggerOf(alert: AlertState, cause: Cause, { record, v }: Origin): Trigger {
  const { risk } = cause
  return {
    ...common(alert),
    trigger_id: `${alert.alert_id}_${alert.trigger_count}`,
    severity: risk === null ? 'medium' : risk.cascade_risk,
    test: false,
    current_price: cause.price,
    condition_met: textOf(alert, cause),
    oi_at_risk_usd: risk?.at_risk_5_usd ?? null,
    oi_at_risk_pct: risk?.at_risk_5_pct ?? null,
    cascade_risk: risk?.cascade_risk ?? null,
    sources: cause.sources,
    quality: cause.quality,
    late: cause.late,
    record,
    time: cause.time,
    v,
  }
}

/** A test event of an alert: marked, with the newest price there is, and nothing triggered. */
export function testOf(
  alert: AlertState,
  { request, price, now }: { request: string; price: CompositePrice | undefined; now: Micros },
  { record, v }: Origin,
): Trigger {
  const isLiquidation = alert.kind === 'liquidation'
  return {
    ...common(alert),
    trigger_id: `${alert.alert_id}_test_${request}`,
    severity: isLiquidation ? 'low' : 'medium',
    test: true,
    current_price: price?.price ?? alert.target_price ?? 0,
    condition_met: 'This is a test event: nothing was triggered.',
    oi_at_risk_usd: isLiquidation ? 0 : null,
    oi_at_risk_pct: isLiquidation ? 0 : null,
    cascade_risk: isLiquidation ? 'low' : null,
    sources: priceSources(price?.sources ?? []),
    quality: price?.quality ?? 'degraded',
    late: false,
    record,
    time: now,
    v,
  }
}

/** Ends the deliveries of a cancelled alert. */
export function stopOf(alert: AlertState, request: string | null, time: Micros, v: number): DeliveryOrder {
  return {
    order: 'stop',
    alert_id: alert.alert_id,
    receiver: alert.receiver,
    trigger_id: null,
    trigger_partition: null,
    trigger_offset: null,
    request_id: request,
    time,
    v,
  }
}

function common(
  alert: AlertState,
): Pick<
  Trigger,
  | 'alert_id'
  | 'kind'
  | 'asset'
  | 'symbol'
  | 'receiver'
  | 'webhook'
  | 'key_version'
  | 'target_price'
  | 'condition'
  | 'threshold_pct'
  | 'trigger_count'
> {
  const { alert_id, kind, asset, symbol, receiver, webhook, key_version } = alert
  const { target_price, condition, threshold_pct, trigger_count } = alert
  return {
    alert_id,
    kind,
    asset,
    symbol,
    receiver,
    webhook,
    key_version,
    target_price,
    condition,
    threshold_pct,
    trigger_count,
  }
}

const verbs: Readonly<Record<string, string>> = {
  above: 'rose above',
  below: 'fell below',
  crosses_above: 'crossed upward through',
  crosses_below: 'crossed downward through',
}

/** What a person should know of the evidence stands in the text too. */
function textOf(alert: AlertState, cause: Cause): string {
  const { risk, quality, late } = cause
  const met = risk === null ? priceText(alert, cause.price) : riskText(alert, risk.at_risk_5_pct, risk.at_risk_5_usd)
  const passed = late ? '; it was so while no price source was there' : ''
  const doubt = quality === 'good' ? '' : `; quality ${quality}: one source only, or sources over 1 % apart`
  return met + passed + doubt
}

function priceText({ symbol, condition, target_price: target }: AlertState, price: number): string {
  return `${symbol} ${verbs[condition] ?? condition} ${String(target)} USD: at ${asDecimal(price)} USD`
}

function riskText({ symbol, threshold_pct: threshold }: AlertState, pct: number, usd: number): string {
  const share = `${pct.toFixed(2)} % of ${symbol} open interest (${Math.round(usd)} USD)`
  return `${share} is at risk of liquidation within 5 % of the price, over the threshold of ${String(threshold)} %`
}
