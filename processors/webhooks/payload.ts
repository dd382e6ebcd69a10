import type { Trigger, TriggerSource } from '../../schemas/alerts.ts'
import type { Micros } from '../../schemas/records.ts'

/**
 * The bytes of a trigger's webhook: serialised once, so that what is signed is what is sent. The fields are those of the
 * service's specification; beside them `trigger_id` and, in `data`, what lets the reader check it. `test` and `demo` are
 * there only where they are true.
 */
export function payloadOf(trigger: Trigger, mode: string): Buffer {
  const { kind, alert_id, symbol, severity, trigger_id, test, time } = trigger
  const isLiquidation = kind === 'liquidation'
  // A field that is undefined is not written.
  const body = {
    event: isLiquidation ? 'liquidation_alert' : 'price_alert',
    alert_id,
    symbol,
    severity,
    trigger_id,
    test: test || undefined,
    demo: mode === 'demo' || undefined,
    data: isLiquidation ? liquidationData(trigger) : priceData(trigger),
    timestamp: iso(time),
  }
  return Buffer.from(JSON.stringify(body), 'utf8')
}

function priceData(trigger: Trigger): object {
  const { test, current_price, target_price, condition, condition_met } = trigger
  const { quality, trigger_count, late, record } = trigger
  const sources = told(trigger.sources, priceSource)
  const data = { triggered: !test, current_price, target_price, condition, condition_met }
  return { ...data, sources, quality, trigger_count, late, record }
}

function liquidationData(trigger: Trigger): object {
  const { test, current_price, oi_at_risk_usd, oi_at_risk_pct, cascade_risk, threshold_pct } = trigger
  const { quality, trigger_count, late, record } = trigger
  const sources = told(trigger.sources, interestSource)
  const data = { triggered: !test, current_price, oi_at_risk_usd, oi_at_risk_pct, cascade_risk, threshold_pct }
  return { ...data, sources, quality, trigger_count, late, record }
}

/** A source that has no figure of the kind says nothing here. */
function told(sources: readonly TriggerSource[], say: (source: TriggerSource) => object | undefined): object[] {
  const all: object[] = []
  for (const source of sources) {
    const one = say(source)
    if (one !== undefined) all.push(one)
  }
  return all
}

function priceSource({ exchange, price, time }: TriggerSource): object | undefined {
  return price === null ? undefined : { exchange, price, timestamp: iso(time) }
}

function interestSource({ exchange, open_interest_usd, time }: TriggerSource): object | undefined {
  return open_interest_usd === null ? undefined : { exchange, open_interest_usd, timestamp: iso(time) }
}

const DAY_MS = 86_400_000

/** What `Date.toISOString` gives; the day's part of it is the same in nearly every time of a trigger. */
function iso(time: Micros): string {
  const ms = Math.floor(time / 1_000)
  const day = Math.floor(ms / DAY_MS)
  const rest = ms - day * DAY_MS
  const [hours, minutes] = [Math.floor(rest / 3_600_000), Math.floor(rest / 60_000) % 60]
  const [seconds, millis] = [Math.floor(rest / 1_000) % 60, rest % 1_000]
  return `${dateOf(day)}T${two(hours)}:${two(minutes)}:${two(seconds)}.${millis < 100 ? '0' : ''}${two(millis)}Z`
}

function two(value: number): string {
  return value < 10 ? `0${value}` : `${value}`
}

let lastDay = { day: NaN, text: '' }

function dateOf(day: number): string {
  if (day !== lastDay.day) lastDay = { day, text: new Date(day * DAY_MS).toISOString().slice(0, 10) }
  return lastDay.text
}
