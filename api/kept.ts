import type { Micros } from '../schemas/records.ts'
import { iso } from './views/time.ts'

/** A data answer as it is kept: the text that no longer changes, and what the rest follows from. */
export interface Kept {
  /** JSON text up to where the fields of each answer go. */
  readonly open: string
  /** The braces that are still open there. */
  readonly close: '}' | '}}'
  /** Time of the newest input. */
  readonly asOf: Micros
  /** From here on the answer is stale. */
  readonly freshUntil: Micros
  /** Further fields that depend on the clock. */
  readonly perAnswer?: (clock: Micros) => object
}

/** `text`: a JSON object up to where the fields of each answer go; it is not empty. */
export function keptOf(text: string, close: Kept['close'], times: Omit<Kept, 'open' | 'close'>): Kept {
  // One flat piece: what is put together from slices would be put together anew for each answer.
  const open = Buffer.from(`${text},"as_of":"${iso(times.asOf)}"`).toString()
  return { ...times, open, close }
}

/** The whole answer at `clock`; `timestamp`: when it is given. */
export function textOf(
  kept: Kept,
  clock: Micros,
  { timestamp, cached }: { timestamp: string; cached: boolean },
): string {
  const { open, close, asOf, freshUntil, perAnswer } = kept
  const more = perAnswer === undefined ? '' : `,${JSON.stringify(perAnswer(clock)).slice(1, -1)}`
  const ageMs = Math.round(Math.max(0, clock - asOf) / 1000)
  const age = `"age_ms":${ageMs},"stale":${clock > freshUntil}`
  return `${open}${more},${age},"timestamp":"${timestamp}","cached":${cached}${close}`
}
