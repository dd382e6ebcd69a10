import type { Micros } from '../../schemas/records.ts'
import type { Input } from './kinds/kind.ts'
import { inputOf, lookBackOf, MISSED_MAX, Series, InputFigures, type SavedSeries } from './series.ts'
import { fresh } from './state.ts'

/** Samples of a series at most; a spike has 160. */
const SAMPLES_MAX = 192
/** Series of one rule at most. */
const SERIES_MAX = 64

/** What the series of a rule that began at `since` would have seen before. */
export interface Past {
  readonly since: Micros
  readonly series: readonly (readonly [name: string, saved: SavedSeries])[]
}

/** Makes it of the records before the creation, in their order, by the code that makes what lies behind it. */
export class PastReader {
  readonly #names: readonly string[]
  readonly #since: Micros
  readonly #made = new Map<string, Series>()
  readonly #newest = new Map<string, Micros>()

  constructor(names: readonly string[], since: Micros) {
    this.#names = names
    this.#since = since
  }

  get told(): Past {
    return { since: this.#since, series: [...this.#made].map(([name, series]) => [name, series.saved()]) }
  }

  feed(message: Input): void {
    const told = new InputFigures(message)
    const teller = message.type === 'metric' ? message.value.core : message.type
    if (told.time <= (this.#newest.get(teller) ?? 0)) return
    this.#newest.set(teller, told.time)
    for (const name of this.#names) {
      if (inputOf(name) !== told.input || told.time < this.#since - 1.1 * lookBackOf(name)) continue
      const series = this.#made.get(name) ?? new Series(name, fresh(told.time))
      this.#made.set(name, series)
      series.take(told)
    }
  }
}

export function pastText(past: Past): string {
  return JSON.stringify(past)
}

/** The log is anyone's input; undefined: it is not whole, or too much. */
export function readPast(text: string): Past | undefined {
  let past: unknown
  try {
    past = JSON.parse(text)
  } catch {
    return undefined
  }
  return isPast(past) ? past : undefined
}

function isPast(value: unknown): value is Past {
  if (!isObject(value) || !Number.isFinite(value['since'])) return false
  const { series } = value
  return Array.isArray(series) && series.length <= SERIES_MAX && series.every(isNamed)
}

function isNamed(value: unknown): boolean {
  return Array.isArray(value) && typeof value[0] === 'string' && isSaved(value[1])
}

function isSaved(value: unknown): boolean {
  if (!isObject(value)) return false
  const { since, samples, time, venues, missed = [], others } = value
  if (others !== undefined && !isSaved(others)) return false
  const isWhole = Number.isFinite(since) && Number.isFinite(time) && typeof venues === 'string'
  return isWhole && areSamples(samples, SAMPLES_MAX) && areSamples(missed, MISSED_MAX)
}

function areSamples(value: unknown, most: number): boolean {
  return Array.isArray(value) && value.length <= most && value.every(isSample)
}

function isSample(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isFinite)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
