import type { Micros } from '../../schemas/records.ts'

/** Hours of each day in which nothing is told, in a time zone: from `from` (included) to `to`, minutes of the day. */
export interface QuietHours {
  readonly from: number
  readonly to: number
  /** IANA name. */
  readonly zone: string
}

/** How an alert's messages come; what is left out is as its channel has it. */
export interface DeliveryTerms {
  readonly quiet_hours?: QuietHours
  readonly digest?: boolean
}

const shape = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d) ([A-Za-z][\w+/-]{1,63})$/

/** Reads `22:00-07:00 Europe/Berlin`; undefined where it is none. */
export function readQuietHours(text: string): QuietHours | undefined {
  const [, fromHour, fromMinute, toHour, toMinute, zone = ''] = shape.exec(text) ?? []
  const quiet = { from: minutes(fromHour, fromMinute), to: minutes(toHour, toMinute), zone }
  return zone !== '' && quiet.from !== quiet.to && isZone(zone) ? quiet : undefined
}

/** Reads `delivery` of an alert or a trigger. What this version cannot read is as if nothing was said: told at once. */
export function readDeliveryTerms(delivery: string | null): DeliveryTerms {
  if (delivery === null) return {}
  const known = read.get(delivery)
  if (known !== undefined) return known
  const { quiet_hours, digest } = parsed(delivery)
  const quiet = typeof quiet_hours === 'string' ? readQuietHours(quiet_hours) : undefined
  const terms = { ...(quiet && { quiet_hours: quiet }), ...(typeof digest === 'boolean' && { digest }) }
  if (read.size >= READ_MAX) read.clear()
  read.set(delivery, terms)
  return terms
}

/** Texts that were read; the same few come with each trigger. */
const READ_MAX = 10_000
const read = new Map<string, DeliveryTerms>()

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(text) as object) }
  } catch {
    return {} // the log is anyone's input
  }
}

const MINUTE: Micros = 60_000_000
const DAY_MINUTES = 1_440

/** When the quiet hours that `now` lies in end; undefined: it lies in none. */
export function quietEnd({ from, to, zone }: QuietHours, now: Micros): Micros | undefined {
  const local = minuteOfDay(zone, now)
  const isQuiet = from < to ? local >= from && local < to : local >= from || local < to
  if (!isQuiet) return undefined
  const begun = now - (now % MINUTE)
  const planned = begun + wrap(to - local) * MINUTE
  // Where the clocks change in between, the day is longer or shorter.
  const off = wrap(to - minuteOfDay(zone, planned) + DAY_MINUTES / 2) - DAY_MINUTES / 2
  const end = planned + off * MINUTE
  return minuteOfDay(zone, end) === to ? end : changeOf(zone, Math.min(end, planned), Math.max(end, planned))
}

/** When the clocks change, after `before` and not after `after`, whole minutes less than a day apart. */
function changeOf(zone: string, before: Micros, after: Micros): Micros {
  const local = minuteOfDay(zone, before)
  let [last, first] = [before, after]
  while (first - last > MINUTE) {
    const middle = last + Math.floor((first - last) / MINUTE / 2) * MINUTE
    if (wrap(minuteOfDay(zone, middle) - local) === (middle - before) / MINUTE) last = middle
    else first = middle
  }
  return first
}

/** From 0 to a day. */
function wrap(of: number): number {
  return ((of % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES
}

/**
 * One format a zone: making one costs a thousand times as much as using it. By its name in lower case: Intl takes a name in
 * any case, and of all spellings there are millions.
 */
const formats = new Map<string, Intl.DateTimeFormat>()

function minuteOfDay(zone: string, time: Micros): number {
  const key = zone.toLowerCase()
  const format =
    formats.get(key) ??
    new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  formats.set(key, format)
  const [hour, minute] = format.format(time / 1_000).split(':')
  return minutes(hour, minute)
}

function isZone(zone: string): boolean {
  try {
    minuteOfDay(zone, 0)
    return true
  } catch {
    return false // RangeError: there is no such zone
  }
}

function minutes(hour: string | undefined, minute: string | undefined): number {
  return Number(hour) * 60 + Number(minute)
}
