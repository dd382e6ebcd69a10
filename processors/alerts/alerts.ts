import type { AlertEvent, Command, DeliveryOrder, Trigger } from '../../schemas/alerts.ts'
import type { Mark, Micros } from '../../schemas/records.ts'
import { recordId } from '../../schemas/record-id.ts'
import type { Context, Entry, Output, Processor } from '../kernel/processor.ts'
import { applyCommand, nowOf, type Outcome } from './commands.ts'
import { applyPrice, applyRisk, type Moved } from './evaluate.ts'
import type { Held } from './held.ts'
import { forgetRung, remember, stopsAgain, triggersAgain } from './rung.ts'
import { loadState, saveState } from './save.ts'
import { emptyState, type AlertsState } from './state.ts'
import { advance } from './time.ts'
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
        applyPrice(state, message.value, (moved) => say(state, moved, out))
        return
      case 'liquidation_risk':
        applyRisk(state, message.value, (moved) => say(state, moved, out))
        return
      case 'mark':
        if (message.value.time > state.time) tick(state, message.value.time, out)
        return
      default:
        return
    }
  },

  restate(state, output, { v }, emit) {
    if (output === 'alerts.triggers') {
      for (const trigger of triggersAgain(state)) emitTrigger(trigger, emit)
      for (const order of stopsAgain(state, v)) emitOrder(order, emit)
    } else if (output === 'alerts.state') {
      for (const alert of state.alerts.values()) emitAlert(alert, { time: state.time, v }, emit)
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
    const price = state.prices.get(alert.asset)?.price
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

function say(state: AlertsState, moved: Moved, out: Voice): void {
  out.moved(moved, state.time)
  if (moved.event === 'triggered') remember(state, moved.alert, moved.cause, out.origin)
}

function tick(state: AlertsState, time: Micros, out: Voice): void {
  advance(state, time, {
    moved: (moved) => out.moved(moved, time),
    purged: ({ alert_id: id }) => out.purged(id),
  })
  forgetRung(state)
  out.mark({ writer: ALERTS, run: 0, time, venues: [], changes: [], venue_time: null })
}

/** Says what follows from one record of the log. */
class Voice {
  readonly v: number
  readonly #entry: Entry
  readonly #partition: number
  readonly #emit: Emit

  constructor(entry: Entry, { partition, v }: Context, emit: Emit) {
    this.v = v
    this.#entry = entry
    this.#partition = partition
    this.#emit = emit
  }

  /** Made when something rings: most records move nothing. */
  get origin(): Origin {
    const { topic, offset } = this.#entry
    return { record: recordId({ topic, partition: this.#partition, offset }), v: this.v }
  }

  moved(moved: Moved, time: Micros): void {
    const { event, alert } = moved
    if (event === 'ended') {
      this.#state(alert, time) // it keeps what it is called: nothing has happened that a journal would tell
      return
    }
    if (event !== 'triggered') {
      this.#event({ event, alert, trigger_id: null, request_id: null }, time)
      return
    }
    const trigger = triggerOf(alert, moved.cause, this.origin)
    this.#event({ event, alert, trigger_id: trigger.trigger_id, request_id: null }, alert.last_triggered)
    this.trigger(trigger)
  }

  outcome(outcome: Outcome, { request_id, trigger_id, alert_id: asked }: Command, time: Micros): void {
    const { event, alert } = outcome
    if (outcome.event === 'rejected') {
      const { error, message } = outcome
      this.#event({ event, alert, trigger_id: null, request_id, error, message }, time, asked)
      return
    }
    const told = { event, request_id, trigger_id: triggerIdOf(event, asked, { request_id, trigger_id }) }
    const isChange = event === 'created' || event === 'extended' || event === 'cancelled'
    this.#event({ ...told, alert }, time, asked, isChange)
  }

  trigger(value: Trigger): void {
    emitTrigger(value, this.#emit)
  }

  order(value: DeliveryOrder): void {
    emitOrder(value, this.#emit)
  }

  purged(id: string): void {
    this.#emit({ topic: 'alerts.state', key: id, message: null })
  }

  mark(value: Mark): void {
    this.#emit({ topic: 'alerts.events', key: ALERTS, message: { type: 'mark', value } })
  }

  /** The event, and, where it changed the alert, what API instances hold of it. */
  #event(
    { alert, ...said }: Pick<AlertEvent, 'event' | 'request_id' | 'trigger_id'> & Partial<AlertEvent> & About,
    time: Micros,
    asked = '',
    isChange = said.event !== 'rejected',
  ): void {
    const id = alert?.alert_id ?? asked
    const value: AlertEvent = { error: null, message: null, ...said, alert_id: id, alert, time, v: this.v }
    this.#emit({ topic: 'alerts.events', key: id, message: { type: 'alert_event', value } })
    if (isChange && alert !== null) this.#state(alert, time)
  }

  #state(alert: Held, time: Micros): void {
    emitAlert(alert, { time, v: this.v }, this.#emit)
  }
}

function emitTrigger(value: Trigger, emit: Emit): void {
  const { trigger_id: key, receiver } = value
  emit({ topic: 'alerts.triggers', key, message: { type: 'trigger', value }, receiver })
}

function emitOrder(value: DeliveryOrder, emit: Emit): void {
  const { alert_id: key, receiver } = value
  emit({ topic: 'alerts.triggers', key, message: { type: 'delivery_order', value }, receiver })
}

function emitAlert(alert: Held, when: { readonly time: Micros; readonly v: number }, emit: Emit): void {
  emit({ topic: 'alerts.state', key: alert.alert_id, message: { type: 'alert', value: { ...alert, ...when } } })
}

interface About {
  readonly alert: Held | null
}

function triggerIdOf(
  event: Outcome['event'],
  alert: string,
  { request_id, trigger_id }: Pick<Command, 'request_id' | 'trigger_id'>,
): string | null {
  if (event === 'tested') return `${alert}_test_${request_id}`
  return event === 'resent' ? trigger_id : null
}
