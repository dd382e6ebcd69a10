import type { Command, Micros, NewAlert } from '../../schemas/records.ts'
import { resumed } from './evaluate.ts'
import type { AlertKind, Cause, StoredAlert } from './kinds/kind.ts'
import { isEverywhere } from './parts.ts'
import { readPast } from './past.ts'
import { storedAlert } from './record.ts'
import {
  AHEAD_MAX,
  ALERTS_MAX,
  begin,
  cooldownOf,
  FOREVER_HOURS,
  hasTooManySeries,
  IDEMPOTENT,
  NEVER,
  partsOf,
  PAYMENT_KNOWN,
  put,
  REQUEST_KNOWN,
  REQUESTS_MAX,
  sightOf,
} from './state.ts'
import type { AlertsState } from './state.ts'

const HOUR: Micros = 3_600_000_000

/** Why a command was not followed, as the error identifiers of the interface. */
type Rejection =
  | 'invalid_body'
  | 'invalid_add_hours'
  | 'invalid_until'
  | 'alert_not_found'
  | 'alert_not_active'
  | 'idempotency_conflict'
  | 'overloaded'

/** What a command that was followed became: its event. */
type Done =
  'created' | 'repeated' | 'extended' | 'cancelled' | 'tested' | 'resent' | 'edited' | 'paused' | 'resumed' | 'warmed'

/** A ring that is over: the alert as it rang, and what it tells of it. */
interface Over {
  readonly alert: StoredAlert
  readonly cause: Cause
}

/** What became of a command. */
export type Outcome =
  | {
      readonly event: Done
      readonly alert: StoredAlert
      /** Of a rule for all symbols: its symbols' parts that were changed with it. */
      readonly parts?: readonly StoredAlert[]
      /** Rings that are over by it, of which that is to be told. */
      readonly over?: readonly Over[]
    }
  | {
      readonly event: 'rejected'
      readonly alert: StoredAlert | null
      readonly error: Rejection
      readonly message: string
    }

/**
 * Follows a command once, however often it is in the log, and a payment once, whatever command brings it again;
 * undefined: it was handled before.
 */
export function applyCommand(state: AlertsState, command: Command): Outcome | undefined {
  const { request_id: request } = command
  if (state.requests.has(request)) return undefined
  const now = nowOf(state, command)
  rememberRequest(state, request, now)
  const bought = command.payment === null ? undefined : state.payments.get(command.payment)
  if (bought !== undefined) return repeat(state, bought.alert_id)
  const outcome = followAll(state, command, now)
  const isBought = outcome.event === 'created' || outcome.event === 'extended'
  if (command.payment !== null && isBought) rememberPayment(state, command.payment, outcome.alert.alert_id, now)
  return outcome
}

/** What a rule for all symbols is told, its symbols' parts are: those that have not ended. */
function followAll(state: AlertsState, command: Command, now: Micros): Outcome {
  const outcome = follow(state, command, now)
  if (outcome.event === 'rejected' || outcome.event === 'repeated' || !isEverywhere(outcome.alert.asset)) return outcome
  if (outcome.event === 'tested' || outcome.event === 'resent' || outcome.event === 'warmed') return outcome
  // What the rule was extended by, they are: whatever they have rung.
  const toPart = { ...command, payment: command.payment ?? 'its rule' }
  const followed = partsOf(state, command.alert_id).flatMap(({ alert_id }) => {
    const one = follow(state, { ...toPart, alert_id }, now)
    return one.event === 'rejected' ? [] : [one]
  })
  begin(state, outcome.alert)
  return { ...outcome, parts: followed.map(({ alert }) => alert), over: followed.flatMap(({ over }) => over ?? []) }
}

function repeat(state: AlertsState, id: string): Outcome {
  const alert = state.alerts.get(id)
  return alert === undefined ? notFound(id) : { event: 'repeated', alert }
}

function follow(state: AlertsState, command: Command, now: Micros): Outcome {
  const { action } = command
  if (action === 'create') return create(state, command, now)
  const alert = state.alerts.get(command.alert_id)
  if (alert === undefined) return notFound(command.alert_id)
  switch (action) {
    case 'extend':
      return extend(state, alert, command, now)
    case 'cancel':
      return cancel(state, alert, now)
    case 'test':
      return alert.status === 'cancelled' ? cancelledAlready(alert) : { event: 'tested', alert }
    case 'resend':
      return resend(alert, command)
    case 'edit':
      return edit(state, alert, command.alert, now)
    case 'pause':
      return pause(state, alert, command.until ?? NEVER, now)
    case 'resume':
      return resume(state, alert, now)
    case 'warm':
      return warm(state, alert, command)
    case 'unknown':
      return rejected(alert, 'invalid_body', 'This version does not know the command.')
  }
}

/** Once for the same request; the oldest are forgotten, by time or by their number. */
function rememberRequest(state: AlertsState, id: string, now: Micros): void {
  state.requests.set(id, now)
  state.changed.requests.add(id)
  state.timers.set('request', now + REQUEST_KNOWN, id)
  if (state.requests.size <= REQUESTS_MAX) return
  const oldest = state.timers.oldest('request')
  if (oldest !== undefined) forgetRequest(state, oldest)
}

export function forgetRequest(state: AlertsState, id: string): void {
  state.requests.delete(id)
  state.changed.requests.add(id)
}

/** What a payment bought, so that it never buys anything twice. */
function rememberPayment(state: AlertsState, payment: string, alertId: string, now: Micros): void {
  state.payments.set(payment, { alert_id: alertId, at: now })
  state.changed.payments.add(payment)
  state.timers.set('payment', now + PAYMENT_KNOWN, payment)
}

export function forgetPayment(state: AlertsState, payment: string): void {
  state.payments.delete(payment)
  state.changed.payments.add(payment)
}

/** Partition time; before the first mark the caller's clock. */
export function nowOf(state: AlertsState, { created }: Pick<Command, 'created'>): Micros {
  return state.time === 0 ? created : state.time
}

function create(state: AlertsState, { alert: asked, alert_id: id, asset, created }: Command, now: Micros): Outcome {
  const terms = asked === null ? undefined : state.kinds.read(asked)
  if (asked === null || terms === undefined || !isLifetime(asked.expires_in_hours, state.kinds.of(terms)))
    return rejected(null, 'invalid_body', 'The alert is not complete.')
  if (isEverywhere(asset) && state.kinds.of(terms).stand === undefined)
    return rejected(null, 'invalid_body', 'Only a rule can be for all symbols.')
  const known = knownCreation(state, asked, id)
  if (known !== undefined) {
    return known.body_hash === asked.body_hash
      ? { event: 'repeated', alert: known }
      : rejected(known, 'idempotency_conflict', 'This Idempotency-Key was used for another alert; choose a new one.')
  }
  if (state.alerts.size >= ALERTS_MAX || hasTooManySeries(state, asset, terms))
    return rejected(null, 'overloaded', 'There are too many alerts; try again later.')
  const born = lifeFrom(created, now)
  const alert = storedAlert(terms, {
    ...asked,
    alert_id: id,
    asset,
    status: 'active',
    created_at: born,
    expires_at: asked.expires_in_hours === FOREVER_HOURS ? NEVER : born + asked.expires_in_hours * HOUR,
    ended_at: 0,
    trigger_count: 0,
    last_triggered: 0,
    armed: false,
    since: now,
    held: 0,
    paused_until: 0,
    taken: takenAt(state, created, now),
  })
  put(state, alert)
  if (asked.idempotency !== null) remember(state, asked.idempotency, alert)
  return { event: 'created', alert }
}

/** A mark comes every second: where a caller's clock is further ahead of the last one, it is wrong or no mark comes. */
const CLOCK_AHEAD_MAX: Micros = 2_000_000

/**
 * When the log took a creation. Partition time stands still for a second, so within it the caller's clock tells which of
 * two assets' alerts was first; within the partition the log alone does.
 */
function takenAt({ taken }: AlertsState, created: Micros, now: Micros): Micros {
  return Math.max(taken + 1, now, Math.min(created, now + CLOCK_AHEAD_MAX))
}

/**
 * When a life begins that is asked for now: while feeds are down partition time stands, but its caller's does not. A clock
 * that is wrong gives that much more of life, 30 days at most, and hides no record: what counts is by partition time.
 */
function lifeFrom(created: Micros, now: Micros): Micros {
  return created > now + CLOCK_AHEAD_MAX ? Math.min(created, now + AHEAD_MAX) : now
}

/** Finds a creation again for a day: by its idempotency key. */
function remember(state: AlertsState, idempotency: string, alert: StoredAlert): void {
  state.creations.set(idempotency, alert.alert_id)
  state.timers.set('creation', alert.created_at + IDEMPOTENT, idempotency)
}

function knownCreation(state: AlertsState, { idempotency }: NewAlert, id: string): StoredAlert | undefined {
  const byKey = idempotency === null ? undefined : state.creations.get(idempotency)
  return state.alerts.get(byKey ?? id)
}

/** The interface has checked it, but the log is anyone's input. */
function isLifetime(hours: number, { mayLastForever }: AlertKind): boolean {
  return hours === FOREVER_HOURS ? mayLastForever === true : hours >= 1 && hours * HOUR <= AHEAD_MAX
}

/**
 * A paid extension that was valid when it was checked is applied even if the alert triggered or expired meanwhile; only
 * the owner's cancel refuses it. Without a payment it takes an active alert.
 */
function extend(state: AlertsState, alert: StoredAlert, command: Command, now: Micros): Outcome {
  const { add_hours: hours, payment, created } = command
  const from = lifeFrom(created, now)
  if (hours === null || !(hours >= 1)) return rejected(alert, 'invalid_add_hours', 'add_hours must be 1 or more.')
  if (alert.status === 'cancelled' || (payment === null && alert.status !== 'active')) {
    return rejected(alert, 'alert_not_active', `The alert is ${alert.status}; only an active one can be extended.`)
  }
  if (alert.expires_at === NEVER)
    return rejected(alert, 'invalid_add_hours', 'The alert has no end that could be later.')
  const until = Math.max(from, alert.expires_at) + hours * HOUR
  if (payment === null && until > from + AHEAD_MAX) {
    return rejected(alert, 'invalid_add_hours', 'An alert may end at most 30 days from now; choose fewer hours.')
  }
  const isBack = alert.status === 'expired'
  const extended: StoredAlert = {
    ...alert,
    expires_at: Math.min(until, Math.max(alert.expires_at, from + AHEAD_MAX)),
    status: isBack ? 'active' : alert.status,
    armed: isBack ? false : alert.armed,
    since: isBack ? now : alert.since,
    held: isBack ? 0 : alert.held,
    ended_at: isOver(state, alert) ? alert.ended_at : 0,
  }
  put(state, extended)
  return { event: 'extended', alert: extended }
}

/** What rings once and has rung stays so: its end was its trigger, whatever lifetime is added. */
function isOver({ kinds }: AlertsState, { status, terms }: StoredAlert): boolean {
  return status === 'triggered' && kinds.of(terms).ringsOnce(terms)
}

function cancel(state: AlertsState, alert: StoredAlert, now: Micros): Outcome {
  if (alert.status !== 'active' && alert.status !== 'triggered') {
    return rejected(alert, 'alert_not_active', `The alert is ${alert.status} already.`)
  }
  const cancelled: StoredAlert = { ...alert, status: 'cancelled', ended_at: now, paused_until: 0 }
  put(state, cancelled)
  return { event: 'cancelled', alert: cancelled }
}

/**
 * Gives it other terms of its kind, and nothing else: it waits anew, as if created now. One that rang less than its
 * cooldown ago is active again when that is over; what it rang is over now.
 */
function edit(state: AlertsState, alert: StoredAlert, asked: NewAlert | null, now: Micros): Outcome {
  const terms = asked === null ? undefined : state.kinds.read(asked)
  if (terms?.kind !== alert.terms.kind)
    return rejected(alert, 'invalid_body', 'The terms are not complete, or of another kind.')
  if (alert.ended_at > 0) return rejected(alert, 'alert_not_active', 'The alert has ended; make another one.')
  if (hasTooManySeries(state, alert.asset, terms))
    return rejected(alert, 'overloaded', 'There are too many alerts; try again later.')
  const cools = alert.last_triggered > 0 && now < alert.last_triggered + cooldownOf(state, { terms })
  const edited: StoredAlert = {
    ...alert,
    terms,
    delivery: asked?.delivery ?? null,
    status: cools ? 'triggered' : 'active',
    armed: cools,
    anew: cools,
    held: 0,
    since: now,
  }
  const over = overBy(state, alert, now)
  put(state, edited)
  return { event: 'edited', alert: edited, over }
}

/** What rang by other terms is over, seen or not: nothing looks at those any more. */
function overBy(state: AlertsState, alert: StoredAlert, now: Micros): readonly Over[] {
  const { status, armed, terms } = alert
  const kind = state.kinds.of(terms)
  if (status !== 'triggered' || armed || kind.resolves?.(terms) !== true) return []
  const cause = kind.causeNow?.(terms, sightOf(state, alert.asset), now)
  return cause === undefined ? [] : [{ alert, cause: { ...cause, isOver: true, isChanged: true } }]
}

/** It rests: nothing moves it but its end and its owner. */
function pause(state: AlertsState, alert: StoredAlert, until: Micros, now: Micros): Outcome {
  if (alert.ended_at > 0) return rejected(alert, 'alert_not_active', 'The alert has ended; make another one.')
  if (!(until > now)) return rejected(alert, 'invalid_until', 'until must be later than now.')
  const paused: StoredAlert = { ...alert, paused_until: Math.min(until, NEVER) }
  put(state, paused)
  return { event: 'paused', alert: paused }
}

/** One that does not rest goes on as it is. */
function resume(state: AlertsState, alert: StoredAlert, now: Micros): Outcome {
  if (alert.ended_at > 0) return rejected(alert, 'alert_not_active', 'The alert has ended; make another one.')
  if (alert.paused_until === 0) return { event: 'resumed', alert }
  const awake = resumed(state, alert, now)
  put(state, awake)
  return { event: 'resumed', alert: awake }
}

/** What its windows saw before it; a series that began at another time knows more, or was not meant. */
function warm(state: AlertsState, alert: StoredAlert, { past: text, asset: named }: Command): Outcome {
  const past = text === null ? undefined : readPast(text)
  const asset = isEverywhere(alert.asset) ? named : alert.asset // of a rule for all symbols it is one's at a time
  if (past === undefined) return rejected(alert, 'invalid_body', 'The past of its figures is not complete.')
  for (const [name, saved] of past.series) {
    const series = state.series.get(asset)?.get(name)
    if (series?.since !== past.since || series.maker !== alert.alert_id) continue
    series.warm(saved)
    state.changed.series.add(`${asset}|${name}`)
  }
  return { event: 'warmed', alert }
}

/** Only a delivery of the alert itself: its owner has no say over others. */
function resend(alert: StoredAlert, { trigger_id, trigger_partition, trigger_offset }: Command): Outcome {
  if (alert.status === 'cancelled') return cancelledAlready(alert)
  const isNamed = trigger_id !== null && trigger_partition !== null && trigger_offset !== null
  if (isNamed && trigger_id.startsWith(`${alert.alert_id}_`)) return { event: 'resent', alert }
  return rejected(alert, 'invalid_body', 'Name a delivery of this alert.')
}

function cancelledAlready(alert: StoredAlert): Outcome {
  return rejected(alert, 'alert_not_active', 'The alert is cancelled; nothing is sent for it any more.')
}

function notFound(id: string): Outcome {
  return rejected(null, 'alert_not_found', `There is no alert ${id}.`)
}

function rejected(alert: StoredAlert | null, error: Rejection, message: string): Outcome {
  return { event: 'rejected', alert, error, message }
}
