import type { AlertEvent, AlertState, Command } from '../../schemas/alerts.ts'
import type { Mark, Micros } from '../../schemas/records.ts'
import { recordId } from '../../schemas/record-id.ts'
import type { Context, Entry, Output, Processor } from '../kernel/processor.ts'
import { applyCommand, nowOf, type Outcome } from './commands.ts'
import { advance, applyPrice, applyRisk, type Moved } from './evaluate.ts'
import { loadState, saveState } from './save.ts'
import { emptyState, type AlertsState } from './state.ts'
import { stopOf, testOf, triggerOf, type Origin } from './triggers.ts'

type Emitted = Output<'alerts.events' | 'alerts.state' | 'alerts.triggers'>
type Emit = (output: Emitted) => void

/** Name in the topology and in the marks that it forwards. */
export const ALERTS = 'alerts'

/**
 * The only one that decides about alerts: commands, prices, risk and time, in the one order of their log, become events,
 * the alerts' new states, and triggers for the dispatcher.
 */
export const alerts: Processor<AlertsState, Emitted> = {
  empty: emptyState,

  apply(state, entry: Entry, context: Context, emit) {
    const { message } = entry
    const out = new Voice(entry, context, emit)
    switch (message.type) {
      case 'command':
        follow(state, message.value, out)
        return
      case 'composite_price':
        if (!message.value.late) {
          state.prices.set(message.value.asset, message.value)
          state.changed.prices.add(message.value.asset)
        }
        applyPrice(state, message.value, (moved) => out.moved(moved, state.time))
        return
      case 'liquidation_risk':
        applyRisk(state, message.value, (moved) => out.moved(moved, state.time))
        return
      case 'mark':
        if (message.value.time > state.time) tick(state, message.value.time, out)
        return
      default:
        return
    }
  },

  save: saveState,
  load: loadState,

  counts: (state) => ({ alerts: state.alerts.size, waiting: waiting(state) }),
}

function waiting(state: AlertsState): number {
  return [...state.books.values()].reduce((sum, book) => sum + book.size, 0)
}

function follow(state: AlertsState, command: Command, out: Voice): void {
  const outcome = applyCommand(state, command)
  if (outcome === undefined) return
  const now = nowOf(state, command)
  out.outcome(outcome, command, now)
  const { alert } = outcome
  if (alert === null) return
  if (outcome.event === 'tested') {
    const price = state.prices.get(alert.asset)
    out.trigger(testOf(alert, { request: command.request_id, price, now }, out.origin))
  } else if (outcome.event === 'resent')
    out.order({ ...stopOf(alert, command.request_id, now, out.v), ...resend(command) })
  else if (outcome.event === 'cancelled') out.order(stopOf(alert, command.request_id, now, out.v))
}

function resend(
  command: Command,
): Pick<Parameters<Voice['order']>[0], 'order' | 'trigger_id' | 'trigger_partition' | 'trigger_offset'> {
  const { trigger_id, trigger_partition, trigger_offset } = command
  return { order: 'resend', trigger_id, trigger_partition, trigger_offset }
}

function tick(state: AlertsState, time: Micros, out: Voice): void {
  advance(state, time, {
    moved: (moved) => out.moved(moved, time),
    purged: ({ alert_id: id }) => out.purged(id),
  })
  out.mark({ writer: ALERTS, run: 0, time, venues: [], changes: [] })
}

/** Says what follows from one record of the log. */
class Voice {
  readonly v: number
  readonly origin: Origin
  readonly #emit: Emit

  constructor({ topic, offset }: Entry, { partition, v }: Context, emit: Emit) {
    this.v = v
    this.origin = { record: recordId({ topic, partition, offset }), v }
    this.#emit = emit
  }

  moved(moved: Moved, time: Micros): void {
    const { event, alert } = moved
    const trigger = moved.event === 'triggered' ? triggerOf(alert, moved.cause, this.origin) : undefined
    this.#event({ event, alert, trigger_id: trigger?.trigger_id ?? null, request_id: null }, time)
    if (trigger !== undefined) this.trigger(trigger)
  }

  outcome(outcome: Outcome, command: Command, time: Micros): void {
    const { request_id, trigger_id } = command
    const { event, alert } = outcome
    const isRejected = outcome.event === 'rejected'
    const said = isRejected ? { error: outcome.error, message: outcome.message } : {}
    const tested = event === 'tested' ? `${command.alert_id}_test_${request_id}` : trigger_id
    const isChange = !isRejected && event !== 'repeated' && event !== 'tested' && event !== 'resent'
    this.#event({ event, alert, trigger_id: tested, request_id, ...said }, time, command.alert_id, isChange)
  }

  trigger(value: ReturnType<typeof triggerOf>): void {
    const { trigger_id: key, receiver } = value
    this.#emit({ topic: 'alerts.triggers', key, message: { type: 'trigger', value }, receiver })
  }

  order(value: ReturnType<typeof stopOf>): void {
    const { alert_id: key, receiver } = value
    this.#emit({ topic: 'alerts.triggers', key, message: { type: 'delivery_order', value }, receiver })
  }

  purged(id: string): void {
    this.#emit({ topic: 'alerts.state', key: id, message: null })
  }

  mark(value: Mark): void {
    this.#emit({ topic: 'alerts.events', key: ALERTS, message: { type: 'mark', value } })
  }

  /** The event, and, where it changed the alert, what API instances hold of it. */
  #event(
    said: Pick<AlertEvent, 'event' | 'alert' | 'request_id' | 'trigger_id'> & Partial<AlertEvent>,
    time: Micros,
    id = said.alert?.alert_id ?? '',
    isChange = true,
  ): void {
    const value: AlertEvent = { error: null, message: null, alert_id: id, time, v: this.v, ...said }
    this.#emit({ topic: 'alerts.events', key: id, message: { type: 'alert_event', value } })
    if (isChange && said.alert !== null) this.#state(said.alert, time)
  }

  #state(alert: AlertState, time: Micros): void {
    const value = { ...alert, time, v: this.v }
    this.#emit({ topic: 'alerts.state', key: alert.alert_id, message: { type: 'alert', value } })
  }
}
