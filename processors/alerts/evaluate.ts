import type { AlertState, TriggerSource } from '../../schemas/alerts.ts'
import type { CompositePrice, LiquidationRisk, Micros } from '../../schemas/records.ts'
import type { Book } from './book.ts'
import { bookOf, COOLDOWN, isCrossing, put, timersOf, type AlertsState } from './state.ts'

/** Why an alert rang, in figures. */
export interface Cause {
  /** The price or the share that met the condition. */
  readonly price: number
  readonly risk: LiquidationRisk | null
  readonly sources: readonly TriggerSource[]
  readonly quality: string
  readonly late: boolean
  readonly time: Micros
}

/** What became of an alert by a price, a risk or the time alone. */
export type Moved =
  | { readonly event: 'triggered'; readonly alert: AlertState; readonly cause: Cause }
  | { readonly event: 'rearmed' | 'expired'; readonly alert: AlertState }

type Report = (moved: Moved) => void

/**
 * Evaluates all alerts of an asset at a composite price and the low and high since the one before.
 *
 * The order of low and high within one record is not known. So what was ready before it rings at either of them, but
 * what only becomes ready by it (a crossing that was not armed, a return after the trigger) goes by its last price.
 */
export function applyPrice(state: AlertsState, price: CompositePrice, report: Report): void {
  const book = bookOf(state, price.asset)
  const returned = [...book.take('back-below', price.low), ...book.take('back-above', price.high)]
  const beyond = [...book.take('above', price.high), ...book.take('below', price.low)]
  for (const alert of beyond) {
    if (!isDecided(alert, price.time)) book.place(alert)
    else ring(state, alert, causeOf(alert, price), isBeyond(alert, price.price), report)
  }
  for (const alert of returned) {
    if (!isDecided(alert, price.time)) book.place(alert)
    else if (!isCrossing(alert.condition)) rearm(state, alert, report)
    else if (isBeyond(alert, price.price)) ring(state, alert, causeOf(alert, price), true, report)
    else put(state, { ...alert, armed: true })
  }
}

/** The same for liquidation alerts, which are levels on two figures at once. */
export function applyRisk(state: AlertsState, risk: LiquidationRisk, report: Report): void {
  const book = bookOf(state, risk.asset)
  settle(state, book, risk, report)
  for (const alert of book.take('risk', risk.at_risk_5_pct)) {
    const rings = isDecided(alert, risk.time) && isAtRisk(alert, risk)
    if (rings) ring(state, alert, riskCause(risk), true, report)
    else book.place(alert)
  }
}

/** Those that rang before: back in calm, or not yet. */
function settle(state: AlertsState, book: Book, risk: LiquidationRisk, report: Report): void {
  for (const alert of book.take('calm', 0)) {
    if (isDecided(alert, risk.time) && !isAtRisk(alert, risk)) rearm(state, alert, report)
    else book.place(alert)
  }
}

/** Whether a fact of `time` counts for the alert: not from before its creation, not from after its end. */
function isDecided({ created_at: created, expires_at: expires }: AlertState, time: Micros): boolean {
  return time >= created && time < expires
}

function isBeyond({ condition, target_price: target }: AlertState, price: number): boolean {
  if (target === null) return false
  return condition === 'above' || condition === 'crosses_above' ? price > target : price < target
}

function isAtRisk({ threshold_pct: threshold, min_value_usd: least }: AlertState, risk: LiquidationRisk): boolean {
  return risk.at_risk_5_pct > (threshold ?? Infinity) && risk.at_risk_5_usd >= (least ?? 0)
}

/** `stays`: beyond its target still at the end of the record; otherwise the return has been seen with it. */
function ring(state: AlertsState, alert: AlertState, cause: Cause, stays: boolean, report: Report): void {
  const ends = isCrossing(alert.condition)
  const rung: AlertState = {
    ...alert,
    status: 'triggered',
    trigger_count: alert.trigger_count + 1,
    last_triggered: Math.max(state.time, alert.created_at),
    armed: !ends && !stays,
    ended_at: ends ? Math.max(state.time, alert.created_at) : 0,
  }
  put(state, rung)
  report({ event: 'triggered', alert: rung, cause })
}

/** The price has been back: active again at once where the minute is over, else when it is. */
function rearm(state: AlertsState, alert: AlertState, report: Report): void {
  if (state.time < alert.last_triggered + COOLDOWN) put(state, { ...alert, armed: true })
  else activate(state, alert, report)
}

function activate(state: AlertsState, alert: AlertState, report: Report): void {
  const active: AlertState = { ...alert, status: 'active', armed: false }
  put(state, active)
  report({ event: 'rearmed', alert: active })
}

/** Lets time pass: cooldowns end, lifetimes end, what has ended long ago is forgotten. */
export function advance(
  state: AlertsState,
  time: Micros,
  on: { moved: Report; purged: (alert: AlertState) => void },
): void {
  state.time = time
  for (let timer = state.timers.peek(); timer !== undefined && timer.key <= time; timer = state.timers.peek()) {
    state.timers.pop()
    if (timer.what === 'request') forgetRequest(state, timer.id)
    else if (timer.what === 'creation') state.creations.delete(timer.id)
    else {
      const alert = state.alerts.get(timer.id)
      if (alert !== undefined) due(state, alert, timer, on)
    }
  }
}

function due(
  state: AlertsState,
  alert: AlertState,
  { key, what }: { key: Micros; what: string },
  on: { moved: Report; purged: (alert: AlertState) => void },
): void {
  const timer = timersOf(alert).find((now) => now.what === what && now.key === key)
  if (timer === undefined) return // the alert has moved on since
  switch (timer.what) {
    case 'cooled':
      activate(state, alert, on.moved)
      return
    case 'expires':
      expire(state, alert, on.moved)
      return
    case 'purged':
      state.alerts.delete(alert.alert_id)
      state.changed.alerts.add(alert.alert_id)
      on.purged(alert)
  }
}

/** An active alert expires; a triggered one keeps its state and is evaluated no more. */
function expire(state: AlertsState, alert: AlertState, report: Report): void {
  const ended: AlertState = { ...alert, ended_at: alert.expires_at }
  if (alert.status === 'active') {
    const expired: AlertState = { ...ended, status: 'expired' }
    put(state, expired)
    report({ event: 'expired', alert: expired })
  } else put(state, ended)
}

function forgetRequest(state: AlertsState, id: string): void {
  state.requests.delete(id)
  state.changed.requests.add(id)
}

function causeOf(alert: AlertState, price: CompositePrice): Cause {
  const rises = alert.condition === 'above' || alert.condition === 'crosses_above'
  return {
    price: isBeyond(alert, price.price) ? price.price : rises ? price.high : price.low,
    risk: null,
    sources: price.sources.map((source) => ({
      exchange: source.exchange,
      price: source.price,
      open_interest_usd: null,
      time: source.time,
    })),
    quality: price.quality,
    late: price.late,
    time: price.time,
  }
}

function riskCause(risk: LiquidationRisk): Cause {
  const sources = risk.exchanges.map(({ exchange, open_interest_usd, time }) => ({
    exchange,
    price: null,
    open_interest_usd,
    time,
  }))
  const quality = sources.length > 1 ? 'good' : 'degraded'
  return { price: risk.price, risk, sources, quality, late: false, time: risk.time }
}
