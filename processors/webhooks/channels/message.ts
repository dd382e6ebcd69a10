import type { Trigger } from '../../../schemas/records.ts'
import { ownersId } from '../../alerts/parts.ts'
import { alertKinds } from '../../alerts/kinds/kinds.ts'
import { asDecimal, decimalText } from '../../prices/decimal.ts'
import { iso } from '../payload.ts'
import type { ChannelEvent, Digest } from './channel.ts'

/** What is told, for people; a channel gives it its form. Texts are as long as they are: the channel cuts them. */
interface Message {
  /** On one line. */
  readonly title: string
  readonly text: string
  /** Name and value, each on one line. */
  readonly facts: readonly (readonly [string, string])[]
  /** By name, for templates and machines. */
  readonly fields: MessageFields
}

/** What a template can name. */
export interface MessageFields {
  readonly title: string
  readonly text: string
  readonly event: string
  /** `resolved`: what it told of is over. */
  readonly status: 'triggered' | 'resolved'
  readonly symbol: string
  readonly severity: string
  /** USD. */
  readonly current_price: number
  readonly alert_id: string
  readonly trigger_id: string
  readonly trigger_count: number
  /** The owner's own, of kinds that have one; else empty. */
  readonly note: string
  /** ISO 8601. */
  readonly timestamp: string
  readonly quality: string
  readonly late: boolean
  readonly record: string
  readonly test: boolean
  readonly demo: boolean
}

/** Puts a trigger, or a digest of several, into words. */
export function messageOf({ trigger, digest, mode }: Pick<ChannelEvent, 'trigger' | 'digest' | 'mode'>): Message {
  return digest === undefined ? oneOf(trigger, mode) : digestMessage(digest, mode)
}

/** Characters of a line of a digest. */
const LINE_MAX = 100

/** A line for each of them. */
function digestMessage({ id, triggers }: Digest, mode: string): Message {
  const messages = triggers.map((trigger) => oneOf(trigger, mode))
  const all = messages.map(({ fields }) => fields)
  const last = all.at(-1)
  const first = all[0]
  if (first === undefined || last === undefined) throw new Error('a digest has triggers')
  const symbols = [...new Set(all.map(({ symbol }) => symbol))]
  const title = `${mode === 'demo' ? 'Demo: ' : ''}${all.length} messages of alerts`
  const text = all.map(lineOf).join('\n')
  const severity = ['high', 'medium'].find((one) => all.some((fields) => fields.severity === one)) ?? first.severity
  return {
    title,
    text,
    facts: [
      ['From', first.timestamp],
      ['Until', last.timestamp],
    ],
    fields: {
      ...last,
      title,
      text,
      event: 'digest',
      status: 'triggered',
      symbol: symbols.length === 1 ? first.symbol : `${symbols.length} symbols`,
      severity,
      trigger_id: id,
      trigger_count: all.length,
      note: '',
    },
  }
}

/** `10:31:02Z BTC rose above 70000 USD: it is 70001.5 USD`. */
function lineOf({ timestamp, status, symbol, text }: MessageFields): string {
  const named = text.includes(symbol) ? text : `${symbol}: ${text}`
  return fit(oneLine(`${timestamp.slice(11, 19)}Z ${status === 'resolved' ? 'Resolved: ' : ''}${named}`), LINE_MAX)
}

function oneOf(trigger: Trigger, mode: string): Message {
  const kind = alertKinds.ofWire(trigger)
  if (kind === undefined) throw new Error(`this version does not know the kind of alert ${trigger.alert_id}`)
  const alert_id = ownersId(trigger.alert_id)
  const { trigger_id, trigger_count, quality, late, record, test } = trigger
  const [symbol, severity] = [oneLine(trigger.symbol), oneLine(trigger.severity)]
  const own = new Map(Object.entries(kind.payload(trigger)))
  const status = own.get('status') === 'resolved' ? 'resolved' : 'triggered' // a kind that tells of an end says so
  const note = wordOf(own.get('note'))
  const demo = mode === 'demo'
  const marks = [test ? 'Test: ' : '', demo ? 'Demo: ' : '', status === 'resolved' ? 'Resolved: ' : ''].join('')
  const title = `${marks}${symbol} ${kind.event.replaceAll('_', ' ')}`
  const text = trigger.condition_met.toWellFormed()
  const timestamp = iso(trigger.time)
  const price = trigger.current_price
  return {
    title,
    text: note === '' ? text : `${text}\n${note}`,
    facts: [
      ['Price', price === 0 ? 'not known' : `${decimalText(asDecimal(price))} USD`],
      ['Severity', severity],
      ['Time', timestamp],
      ['Alert', alert_id],
    ],
    fields: {
      title,
      text,
      event: kind.event,
      status,
      symbol,
      severity,
      current_price: price,
      alert_id,
      trigger_id,
      trigger_count,
      note,
      timestamp,
      quality,
      late,
      record,
      test,
      demo,
    },
  }
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value.toWellFormed() : ''
}

/** `Price: 5 USD` each on a line of its own. */
export function factLines({ facts }: Message): string {
  return facts.map(([name, value]) => `${name}: ${value}`).join('\n')
}

const CUT = '…'

/**
 * The longest beginning of a text that is at most `max` long as it is written, with an ellipsis where it was cut. `write`
 * escapes and must do so character by character, so that no escape is cut in two; `sizeOf` says how long what it wrote is.
 */
export function fit(
  text: string,
  max: number,
  write: (text: string) => string = (same) => same,
  sizeOf: (written: string) => number = (written) => written.length,
): string {
  const whole = write(text)
  if (sizeOf(whole) <= max) return whole
  let [kept, size] = ['', sizeOf(CUT)]
  for (const character of text) {
    const next = write(character)
    size += sizeOf(next)
    if (size > max) break
    kept += next
  }
  return kept + CUT
}

/** Bytes that a text takes within the quotes of JSON. */
export function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text), 'utf8') - 2
}

/** On one line and well-formed: what would break it becomes a space. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
}
