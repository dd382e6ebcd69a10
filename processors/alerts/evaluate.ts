import type { CompositePrice, LiquidationRisk, Micros } from '../../schemas/records.ts'
import { riskCause, priceCause, type Cause } from './cause.ts'
import { isCrossing, isRising, type Held } from './held.ts'
import { COOLDOWN, put, type AlertsState } from './state.ts'
import { notePrice, windowStart } from './window.ts'

/** What became of an alert by a price, a risk or the time alone. `ended`: it rang before and its lifetime is over. */
export type Moved =
  | { readonly event: 'triggered'; readonly alert: Held; readonly cause: Cause }
  | { readonly event: 'rearmed' | 'expired' | 'ended'; readonly alert: Held }

export type Report = (moved: Moved) => void

/** What one record says to one alert: its last price (null: none), and the lowest and highest that count for it. */
interface View {
  readonly last: number | null
  readonly low: number
  readonly high: number
}

/**
 * Evaluates all alerts of an asset at a composite price with the low and high of the time that it looks back on.
 *
 * The order of low and high within one record is not known. So what was ready before it rings at either of them, but
 * what only becomes ready by it (a crossing that was not armed, a return after the trigger) goes by its last price.
 */
export function applyPrice(state: AlertsState, price: CompositePrice, report: Report): void {
  const from = windowStart(state, price)
  notePrice(state, price)
  const book = state.books.get(price.asset)
  if (book === undefined) return
  const returned = [...book.take('back-below', price.low), ...book.take('back-above', price.high)]
  const beyond = [...book.take('above', price.high), ...book.take('below', price.low)]
  for (const alert of beyond) {
    const view = viewOf(alert, price, from)
    if (view === undefined || !isReached(alert, view)) book.restore(alert)
    else ring(state, alert, priceCause(alert, price), view.last !== null && !isBeyond(alert, view.last), report)
  }
  for (const alert of returned) {
    const view = viewOf(alert, price, from)
    if (view === undefined || !isBack(alert, view)) book.restore(alert)
    else if (!isCrossing(alert.condition)) rearm(state, alert, price.time, report)
    else if (view.last !== null && isBeyond(alert, view.last))
      ring(state, alert, priceCause(alert, price), false, report)
    else put(state, { ...alert, armed: true, since: price.time })
  }
}

/** The same for liquidation alerts, which are levels on two figures at once. */
export function applyRisk(state: AlertsState, risk: LiquidationRisk, report: Report): void {
  const book = state.books.get(risk.asset)
  if (book === undefined) return
  const ringing = book.ringing()
  for (const alert of book.takeRisk(risk.at_risk_5_pct, risk.at_risk_5_usd)) {
    if (isOfItsTime(alert, risk.time) && isAtRisk(alert, risk)) ring(state, alert, riskCause(risk), false, report)
    else book.restore(alert, risk.at_risk_5_usd < (alert.min_value_usd ?? 0))
  }
  for (const alert of ringing) {
    if (isOfItsTime(alert, risk.time) && !isAtRisk(alert, risk)) rearm(state, alert, risk.time, report)
  }
}

/** Whether a fact of `time` counts for the alert: not from before it began to wait, not from after its end. */
function isOfItsTime({ since, expires_at: expires }: Held, time: Micros): boolean {
  return time >= since && time < expires
}

/**
 * A low or high may be from anywhere in the time that the record looks back on: it counts for an alert that waited for it
 * all that time. A late record has no last price, only bounds.
 */
function viewOf(alert: Held, { price, low, high, time, late }: CompositePrice, from: Micros): View | undefined {
  if (!isOfItsTime(alert, time)) return undefined
  if (from >= alert.since) return { last: late ? null : price, low, high }
  return late ? undefined : { last: price, low: price, high: price }
}

function isReached(alert: Held, { low, high }: View): boolean {
  return isBeyond(alert, isRising(alert.condition) ? high : low)
}

function isBack(alert: Held, { low, high }: View): boolean {
  return !isBeyond(alert, isRising(alert.condition) ? low : high)
}

function isBeyond({ condition, target_price: target }: Held, price: number): boolean {
  if (target === null) return false
  return isRising(condition) ? price > target : price < target
}

function isAtRisk({ threshold_pct: threshold, min_value_usd: least }: Held, risk: LiquidationRisk): boolean {
  return risk.at_risk_5_pct > (threshold ?? Infinity) && risk.at_risk_5_usd >= (least ?? 0)
}

/** `isBackAlready`: the record that it rings at ends on the other side again, so that the return has been seen. */
function ring(state: AlertsState, alert: Held, cause: Cause, isBackAlready: boolean, report: Report): void {
  const ends = isCrossing(alert.condition)
  // A price may be some moments ahead of the last mark: the minute counts from the later of the two.
  const now = Math.max(state.time, cause.time)
  const rung: Held = {
    ...alert,
    status: 'triggered',
    trigger_count: alert.trigger_count + 1,
    last_triggered: now,
    armed: !ends && isBackAlready,
    ended_at: ends ? now : 0,
    since: cause.time,
  }
  put(state, rung)
  report({ event: 'triggered', alert: rung, cause })
}

/** The price has been back: active again at once where the minute is over, else when it is. */
function rearm(state: AlertsState, alert: Held, time: Micros, report: Report): void {
  const cooled = alert.last_triggered + COOLDOWN
  if (state.time < cooled) put(state, { ...alert, armed: true, since: time })
  else activate(state, alert, Math.max(time, cooled), report)
}

function activate(state: AlertsState, alert: Held, since: Micros, report: Report): void {
  const active: Held = { ...alert, status: 'active', armed: false, since }
  put(state, active)
  report({ event: 'rearmed', alert: active })
}

/** The minute of a level that has been back is over. */
export function cool(state: AlertsState, alert: Held, report: Report): void {
  activate(state, alert, alert.last_triggered + COOLDOWN, report)
}

/** An active alert expires; a triggered one keeps its state and is evaluated no more. */
export function expire(state: AlertsState, alert: Held, report: Report): void {
  const isActive = alert.status === 'active'
  const ended: Held = { ...alert, ended_at: alert.expires_at, status: isActive ? 'expired' : alert.status }
  put(state, ended)
  report({ event: isActive ? 'expired' : 'ended', alert: ended })
}
