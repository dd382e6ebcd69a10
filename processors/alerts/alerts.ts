import { emptyFields } from '../../schemas/codec.ts'
import type { AlertEvent, Command, DeliveryOrder, Mark, Micros, Trigger } from '../../schemas/records.ts'
import { recordId } from '../../schemas/record-id.ts'
import { isRareMark } from '../kernel/partition-clock.ts'
import type { Context, Entry, Output, Processor } from '../kernel/processor.ts'
import { applyCommand, nowOf, type Outcome } from './commands.ts'
import { applyInput, type Moved } from './evaluate.ts'
import { isInput, type Input, type Kinds, type StoredAlert } from './kinds/kind.ts'
import { alertKinds } from './kinds/kinds.ts'
import { recordOf, type AlertRecord } from './record.ts'
import { forgetRecentTriggers, remember, stopsAgain, triggersAgain, stopOf, testOf, triggerOf } from './triggers.ts'
import { loadState, saveState } from './save.ts'
import { emptyState, noteTold, type AlertsState, type Origin } from './state.ts'
import { advance } from './time.ts'

type Emitted = Output<'alerts.events' | 'alerts.state' | 'alerts.triggers'>
type Emit = (output: Emitted) => void

/** Name in the topology and in the marks that it forwards. */
export const ALERTS = 'alerts'

/** The alerts processor of a table of kinds. */
export function alertsOf(kinds: Kinds): Processor<AlertsState, Emitted> {
  return {
    empty: () => emptyState(kinds),

    apply(state, entry: Entry, context: Context, emit) {
      const { message } = entry
      const out = new Emitter(state, { entry, context, emit })
      switch (message.type) {
        case 'command':
          follow(state, message.value, out)
          return
        case 'mark':
          noteTold(state, message.value)
          if (message.value.time > state.time) tick(state, message.value.time, out)
          return
        default:
          if (isInput(message)) evaluate(state, message, out)
      }
    },

    restate(state, output, { v }, emit) {
      if (output === 'alerts.triggers') {
        for (const trigger of triggersAgain(state)) emitTrigger(trigger, emit)
        for (const order of stopsAgain(state, v)) emitOrder(order, emit)
      } else if (output === 'alerts.state') {
        for (const alert of state.alerts.values()) emitAlert(recordOf(kinds, alert), { time: state.time, v }, emit)
      }
    },

    save: saveState,
    load: (parts) => loadState(kinds, parts),

    counts: (state) => ({ alerts: state.alerts.size, waiting: waiting(state) }),
  }
}

/**
 * The only one that decides about alerts: commands, prices, risk and time, in the one order of their log, become events,
 * the alerts' new states, and triggers for the dispatcher.
 */
export const alerts = alertsOf(alertKinds)

function waiting({ books }: AlertsState): number {
  let sum = 0
  for (const ofKind of books.values()) for (const book of ofKind.values()) sum += book.size
  return sum
}

function follow(state: AlertsState, command: Command, out: Emitter): void {
  const outcome = applyCommand(state, command)
  if (outcome === undefined) return
  const now = nowOf(state, command)
  out.outcome(outcome, command, now)
  const { alert } = outcome
  if (alert === null) return
  if (outcome.event !== 'rejected') {
    for (const part of outcome.parts ?? []) out.part(part, outcome.event, now)
    for (const over of outcome.over ?? []) tell(state, { event: 'resolved', ...over }, out)
  }
  if (outcome.event === 'tested') {
    const price = state.prices.get(alert.asset)
    out.trigger(testOf(state.kinds, alert, { request: command.request_id, price, now }, out.origin))
  } else if (outcome.event === 'resent') {
    const { trigger_id, trigger_partition, trigger_offset } = command
    const which = { order: 'resend', trigger_id, trigger_partition, trigger_offset } as const
    out.order({ ...stopOf(alert, command.request_id, now, out.v), ...which })
  } else if (outcome.event === 'cancelled') out.order(stopOf(alert, command.request_id, now, out.v))
}

function evaluate(state: AlertsState, input: Input, out: Emitter): void {
  applyInput(state, input, (moved) => tell(state, moved, out))
}

/** What rings, or is over, is remembered, so that it can be told again. */
function tell(state: AlertsState, moved: Moved, out: Emitter): void {
  out.moved(moved, state.time)
  if (moved.event === 'triggered' || moved.event === 'resolved') remember(state, moved.alert, moved.cause, out.origin)
}

/** Nobody waits for a mark of the journal: it is told of whether alerts go on, and how far ClickHouse is. */
function tick(state: AlertsState, time: Micros, out: Emitter): void {
  const isRare = isRareMark(state.time, time)
  advance(state, time, {
    moved: (moved) => tell(state, moved, out),
    purged: ({ alert_id: id }) => out.purged(id),
  })
  forgetRecentTriggers(state)
  if (isRare) out.mark({ ...emptyFields('mark'), writer: ALERTS, run: 0, time })
}

/** Emits what follows from one record of the log. */
class Emitter {
  readonly v: number
  readonly #kinds: Kinds
  readonly #entry: Entry
  readonly #partition: number
  readonly #emit: Emit

  constructor({ kinds }: AlertsState, from: { readonly entry: Entry; readonly context: Context; readonly emit: Emit }) {
    this.v = from.context.v
    this.#kinds = kinds
    this.#entry = from.entry
    this.#partition = from.context.partition
    this.#emit = from.emit
  }

  /** Made when something rings: most records move nothing. */
  get origin(): Origin {
    const { topic, offset } = this.#entry
    return { record: recordId({ topic, partition: this.#partition, offset }), v: this.v }
  }

  moved(moved: Moved, time: Micros): void {
    const { event, alert } = moved
    if (event === 'ended') {
      this.#state(alert, time) // its status stays: nothing has happened that a journal would tell
      return
    }
    if (event === 'resolved') {
      this.trigger(triggerOf(this.#kinds, alert, moved.cause, this.origin))
      return
    }
    if (event !== 'triggered') {
      this.#event({ event, alert, trigger_id: null, request_id: null }, time)
      return
    }
    const trigger = triggerOf(this.#kinds, alert, moved.cause, this.origin)
    this.#event({ event, alert, trigger_id: trigger.trigger_id, request_id: null }, alert.last_triggered)
    this.trigger(trigger)
  }

  outcome(outcome: Outcome, { request_id, trigger_id, alert_id: named }: Command, time: Micros): void {
    const { event, alert } = outcome
    if (outcome.event === 'rejected') {
      const { error, message } = outcome
      this.#event({ event, alert, trigger_id: null, request_id, error, message }, time, named)
      return
    }
    const isChange = event !== 'repeated' && event !== 'tested' && event !== 'resent' && event !== 'warmed'
    const id = triggerIdOf(event, named, { request_id, trigger_id })
    this.#event({ event, request_id, trigger_id: id, alert }, time, named, isChange)
  }

  /** What became of a symbol's part with its rule: its state, and the end of its deliveries. */
  part(part: StoredAlert, event: Outcome['event'], time: Micros): void {
    this.#state(part, time)
    if (event === 'cancelled') this.order(stopOf(part, null, time, this.v))
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

  /** The event, and, where it changed the alert, what API instances hold of it. `named`: the alert that a command names. */
  #event({ alert, ...event }: Event, time: Micros, named = '', isChange = event.event !== 'rejected'): void {
    const id = alert?.alert_id ?? named
    const record = alert === null ? null : recordOf(this.#kinds, alert)
    const value = { error: null, message: null, ...event, alert_id: id, alert: record, time, v: this.v }
    this.#emit({ topic: 'alerts.events', key: id, message: { type: 'alert_event', value } })
    if (isChange && record !== null) emitAlert(record, { time, v: this.v }, this.#emit)
  }

  #state(alert: StoredAlert, time: Micros): void {
    emitAlert(recordOf(this.#kinds, alert), { time, v: this.v }, this.#emit)
  }
}

type Event = Pick<AlertEvent, 'event' | 'request_id' | 'trigger_id'> &
  Partial<Pick<AlertEvent, 'error' | 'message'>> & { readonly alert: StoredAlert | null }

function emitTrigger(value: Trigger, emit: Emit): void {
  const { trigger_id: key, receiver } = value
  emit({ topic: 'alerts.triggers', key, message: { type: 'trigger', value }, receiver })
}

function emitOrder(value: DeliveryOrder, emit: Emit): void {
  const { alert_id: key, receiver } = value
  emit({ topic: 'alerts.triggers', key, message: { type: 'delivery_order', value }, receiver })
}

function emitAlert(record: AlertRecord, { time, v }: { readonly time: Micros; readonly v: number }, emit: Emit): void {
  emit({ topic: 'alerts.state', key: record.alert_id, message: { type: 'alert', value: { ...record, time, v } } })
}

function triggerIdOf(
  event: Outcome['event'],
  alert: string,
  { request_id, trigger_id }: Pick<Command, 'request_id' | 'trigger_id'>,
): string | null {
  if (event === 'tested') return `${alert}_test_${request_id}`
  return event === 'resent' ? trigger_id : null
}
