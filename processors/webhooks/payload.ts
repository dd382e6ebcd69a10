import type { Micros, Trigger, TriggerSource } from '../../schemas/records.ts'
import type { Kinds } from '../alerts/kinds/kind.ts'
import type { Digest } from './channels/channel.ts'
import { alertKinds } from '../alerts/kinds/kinds.ts'
import { ownersId } from '../alerts/parts.ts'

/**
 * The bytes of a trigger's webhook: serialised once, so that what is signed is what is sent. The fields are those of the
 * service's specification; beside them `trigger_id` and, in `data`, what lets the reader check it. `test` and `demo` are
 * there only where they are true.
 */
export function payloadOf(trigger: Trigger, mode: string, kinds: Kinds = alertKinds): Buffer {
  return Buffer.from(JSON.stringify(eventOf(trigger, mode, kinds)), 'utf8')
}

/** The bytes of a digest: the events that it tells, each as it would have come by itself. */
export function digestPayload({ id, triggers }: Digest, mode: string): Buffer {
  const events = triggers.map((trigger) => eventOf(trigger, mode, alertKinds))
  const alert_id = ownersId(triggers[0]?.alert_id ?? '')
  const demo = mode === 'demo' || undefined
  const body = { event: 'digest', trigger_id: id, alert_id, demo, count: events.length, events }
  return Buffer.from(JSON.stringify(body), 'utf8')
}

function eventOf(trigger: Trigger, mode: string, kinds: Kinds): object {
  const { alert_id, symbol, severity, trigger_id, test, time, current_price } = trigger
  const { quality, trigger_count, late, record } = trigger
  const kind = kinds.ofWire(trigger)
  if (kind === undefined) throw new Error(`this version does not know the kind of alert ${alert_id}`)
  const sources = sourcesOf(trigger.sources, kind.sourceFigure)
  const own = kind.payload(trigger)
  // A field that is undefined is not written.
  return {
    event: kind.event,
    alert_id: ownersId(alert_id),
    symbol,
    severity,
    trigger_id,
    test: test || undefined,
    demo: mode === 'demo' || undefined,
    data: { triggered: !test, current_price, ...own, sources, quality, trigger_count, late, record },
    timestamp: iso(time),
  }
}

/** A source that has no figure of the kind is left out. */
function sourcesOf(sources: readonly TriggerSource[], figure: 'price' | 'open_interest_usd'): object[] {
  const shown: object[] = []
  for (const { exchange, time, ...figures } of sources) {
    const value = figures[figure]
    if (value !== null) shown.push({ exchange, [figure]: value, timestamp: iso(time) })
  }
  return shown
}

const DAY_MS = 86_400_000

/** What `Date.toISOString` gives; the day's part of it is the same in nearly every time of a trigger. */
export function iso(time: Micros): string {
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
