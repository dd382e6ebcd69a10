import { emptyFields } from '../../schemas/codec.ts'
import type { CompositePrice, DeliveryOrder, Micros, Trigger } from '../../schemas/records.ts'
import type { AlertKind, Cause, Evidence, Kinds, StoredAlert } from './kinds/kind.ts'
import { priceSources } from './kinds/price.ts'
import { overId } from './parts.ts'
import type { AlertsState, Origin } from './state.ts'

/** The delivery that a trigger asks for; the same input makes the same id. */
export function triggerOf(kinds: Kinds, alert: StoredAlert, cause: Cause, origin: Origin): Trigger {
  const { alert_id: id, symbol, terms, trigger_count: count } = alert
  const kind = kinds.of(terms)
  const text = kind.describeCause(terms, symbol, cause) + doubts(cause)
  return makeTrigger(
    kind,
    alert,
    {
      ...cause,
      id: cause.isOver === true ? overId(`${id}_${count}`) : `${id}_${count}`,
      text,
      evidence: kind.evidence(terms, cause),
    },
    origin,
  )
}

/** A test event of an alert: marked, with the newest price there is, and nothing triggered. */
export function testOf(
  kinds: Kinds,
  alert: StoredAlert,
  { request, price, now }: { request: string; price: CompositePrice | undefined; now: Micros },
  origin: Origin,
): Trigger {
  const { alert_id: id, terms } = alert
  const kind = kinds.of(terms)
  const event = {
    id: `${id}_test_${request}`,
    text: 'This is a test event: nothing was triggered.',
    evidence: kind.evidence(terms, undefined),
    test: true,
    price: price?.price ?? kind.write(terms).target_price ?? 0,
    sources: priceSources(price?.sources ?? []),
    quality: price?.quality ?? 'degraded',
    late: false,
    time: now,
  }
  return makeTrigger(kind, alert, event, origin)
}

interface Event extends Cause {
  readonly id: string
  readonly text: string
  readonly evidence: Evidence
  readonly test?: boolean
}

/** Field by field: copies of copies are what a trigger would cost most. */
function makeTrigger(kind: AlertKind, alert: StoredAlert, event: Event, { record, v }: Origin): Trigger {
  const wire = kind.write(alert.terms)
  const { evidence } = event
  return {
    trigger_id: event.id,
    alert_id: alert.alert_id,
    kind: wire.kind,
    asset: alert.asset,
    symbol: alert.symbol,
    receiver: alert.receiver,
    webhook: alert.webhook,
    key_version: alert.key_version,
    severity: evidence.severity,
    test: event.test ?? false,
    current_price: event.price,
    target_price: wire.target_price,
    condition: evidence.condition ?? wire.condition,
    condition_met: event.text,
    oi_at_risk_usd: evidence.oi_at_risk_usd,
    oi_at_risk_pct: evidence.oi_at_risk_pct,
    cascade_risk: evidence.cascade_risk,
    threshold_pct: wire.threshold_pct,
    sources: event.sources,
    quality: event.quality,
    late: event.late,
    trigger_count: alert.trigger_count,
    record,
    delivery: alert.delivery,
    time: event.time,
    v,
  }
}

/** Ends the deliveries of a cancelled alert. */
export function stopOf(alert: StoredAlert, request: string | null, time: Micros, v: number): DeliveryOrder {
  return {
    ...emptyFields('delivery_order'),
    order: 'stop',
    alert_id: alert.alert_id,
    receiver: alert.receiver,
    request_id: request,
    time,
    v,
  }
}

/** What a person should know of the evidence stands in the text too. */
function doubts({ quality, late }: Cause): string {
  const passed = late ? '; it was so while no price source was there' : ''
  return quality === 'good' ? passed : `${passed}; quality ${quality}: one source only, or sources over 1 % apart`
}

/** What rang is known this long, so that a trigger which the log lost can be written again: longer than a power cut loses. */
const REMEMBERED: Micros = 10 * 60_000_000

/** An alert has rung. */
export function remember(
  state: AlertsState,
  { alert_id, trigger_count }: StoredAlert,
  cause: Cause,
  origin: Origin,
): void {
  const key = [
    origin.v,
    cause.price,
    ...(cause.key === undefined ? [] : [cause.key]),
    ...(cause.isOver === true ? ['over'] : []),
  ].join('|')
  const rung = state.rung.get(key) ?? { ...origin, cause, time: state.time, alerts: [] }
  rung.alerts.push([alert_id, trigger_count])
  state.rung.set(key, rung)
  state.changed.rung.add(key)
}

/** Forgets what rang long ago; they lie in the order of their time. */
export function forgetRecentTriggers({ rung, changed, time }: AlertsState): void {
  for (const [key, { time: at }] of rung) {
    if (at >= time - REMEMBERED) return
    rung.delete(key)
    changed.rung.add(key)
  }
}

/** The triggers of the last minutes, as they were. */
export function triggersAgain({ kinds, rung, alerts }: AlertsState): Trigger[] {
  return [...rung.values()].flatMap(({ record, v, cause, alerts: rang }) =>
    rang.flatMap(([id, count]) => {
      const alert = alerts.get(id)
      return alert === undefined ? [] : [triggerOf(kinds, { ...alert, trigger_count: count }, cause, { record, v })]
    }),
  )
}

/** The ends of deliveries of the last minutes. */
export function stopsAgain({ alerts, time }: AlertsState, v: number): DeliveryOrder[] {
  const recent = [...alerts.values()].filter(
    ({ status, ended_at: ended }) => status === 'cancelled' && ended >= time - REMEMBERED,
  )
  return recent.map((alert) => stopOf(alert, null, alert.ended_at, v))
}
