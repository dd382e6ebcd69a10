/** Numbers as people read them. Every function is pure; null and undefined are shown as a dash: not said. */

export type Maybe = number | null | undefined

export const DASH = '–'
const MINUS = '−'
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A price with as many digits as its size needs: 64,123.4 and 0.00001234. */
export function price(value: Maybe): string {
  if (value === null || value === undefined) return DASH
  const size = Math.abs(value)
  const digits = size >= 10_000 ? 1 : size >= 100 ? 2 : size >= 1 ? 4 : 0
  return size >= 1 || size === 0
    ? grouped(value, digits)
    : value.toLocaleString('en-US', { minimumSignificantDigits: 4, maximumSignificantDigits: 4 })
}

/** With so many digits behind the point. */
export function grouped(value: number, digits: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** 1,234,567 as 1.23M: three digits that matter. */
export function compact(value: Maybe): string {
  if (value === null || value === undefined) return DASH
  const size = Math.abs(value)
  const sign = value < 0 ? MINUS : ''
  if (size >= 1_000)
    return (
      sign +
      size
        .toLocaleString('en-US', { notation: 'compact', minimumSignificantDigits: 3, maximumSignificantDigits: 3 })
        .replaceAll(' ', '')
    )
  return sign + (size === 0 ? '0' : size.toLocaleString('en-US', { maximumSignificantDigits: 3 }))
}

/** With its sign, so that colour is not needed to tell buying from selling. */
export function signed(value: Maybe, text: (value: Maybe) => string = compact): string {
  if (value === null || value === undefined) return DASH
  return value > 0 ? `+${text(value)}` : text(value).replace('-', MINUS)
}

/** A fraction as percent. */
export function percent(fraction: Maybe, digits: number): string {
  return fraction === null || fraction === undefined ? DASH : inPercent(fraction * 100, digits)
}

/** What is percent already. */
export function inPercent(value: Maybe, digits: number): string {
  if (value === null || value === undefined) return DASH
  const text = `${grouped(Math.abs(value), digits)} %`
  const isZero = !/[1-9]/.test(text)
  return isZero ? text : value > 0 ? `+${text}` : `${MINUS}${text}`
}

/** How long something lasts or is off, in its largest two units. */
export function duration(ms: Maybe): string {
  if (ms === null || ms === undefined) return DASH
  const left = Math.max(0, ms)
  if (left < MINUTE) return `${Math.floor(left / 1000)} s`
  if (left < HOUR) return `${Math.floor(left / MINUTE)} min ${Math.floor((left % MINUTE) / 1000)} s`
  if (left < DAY) return `${Math.floor(left / HOUR)} h ${Math.floor((left % HOUR) / MINUTE)} min`
  return `${Math.floor(left / DAY)} d ${Math.floor((left % DAY) / HOUR)} h`
}

/** From this share on a period counts as covered: its oldest bucket is always leaving. */
const COVERED = 0.98

/** How long the covered part of a period is, in its largest unit; undefined where all of it is covered, or nothing is known. */
export function coveredPart(share: Maybe, periodMs: number): string | undefined {
  return share === null || share === undefined || share >= COVERED ? undefined : age(share * periodMs)
}

/** How old something is: in its largest unit. */
export function age(ms: Maybe): string {
  if (ms === null || ms === undefined) return DASH
  const old = Math.max(0, ms)
  if (old < MINUTE) return `${Math.floor(old / 1000)} s`
  if (old < HOUR) return `${Math.floor(old / MINUTE)} min`
  if (old < DAY) return `${Math.floor(old / HOUR)} h`
  return `${Math.floor(old / DAY)} d`
}

/** Milliseconds of a latency. */
export function latency(ms: Maybe): string {
  if (ms === null || ms === undefined) return DASH
  return ms < 1_000
    ? `${grouped(ms, ms < 10 && ms % 1 !== 0 ? 1 : 0)} ms`
    : `${grouped(ms / 1000, ms < 100_000 ? 2 : 0)} s`
}

/** HH:MM:SS in UTC. */
export function clock(ms: Maybe): string {
  return ms === null || ms === undefined ? DASH : new Date(ms).toISOString().slice(11, 19)
}

/** 2026-01-02 03:04 in UTC. */
export function moment(ms: Maybe): string {
  return ms === null || ms === undefined ? DASH : new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
}

export function count(value: Maybe): string {
  return value === null || value === undefined ? DASH : value.toLocaleString('en-US')
}

/** `buy` where it is above zero, `sell` below; the class names of the two colours. */
export function side(value: Maybe): 'buy' | 'sell' | '' {
  return value === null || value === undefined || value === 0 ? '' : value > 0 ? 'buy' : 'sell'
}

/** The side that a written figure says by its sign: one that is written as 0 has none, however small it is. */
export function sideOf(text: string): 'buy' | 'sell' | '' {
  return text.startsWith('+') ? 'buy' : text.startsWith(MINUS) ? 'sell' : ''
}
