import type { Logger } from '../../../infra/log.ts'
import type { PastProgress } from '../facts/backfill-plan.ts'
import type { BackfillDays } from './backfill.ts'

/** What a row takes in the log (90) and in ClickHouse (23), bytes; measured on 140,000 simulated ones of all kinds. */
const ROW_BYTES = 113
/** The pace is that of so long until now, milliseconds: series of one venue differ. */
const PACE_MS = 30_000
/** How often it is told how far it is, milliseconds. */
const TELL_MS = 10_000
/** Fewer than this many are the hour that has just passed, and not worth a word. */
const WORTH_TELLING = 500

/** How the reading back of the past is. */
interface PastHealth {
  /** `starting`: it is not known yet what the log has. */
  readonly state: 'off' | 'starting' | 'running' | 'done'
  /** Rows that are wanted, and those that are not in the log yet. */
  readonly wanted: number
  readonly missing: number
  /** What those will take in the log and in ClickHouse, estimated. */
  readonly bytes_left: number
  /** Until the last venue has all, each at its pace of the last half minute; null: one has none. */
  readonly seconds_left: number | null
}

/** Tells a person how far the past has been read back. */
export class PastWatch {
  readonly #log: Logger
  readonly #days: BackfillDays
  #begun: { readonly at: number; readonly missing: number } | undefined
  /** Of the last half minute, what was missing of each venue; oldest first. */
  #paces: readonly Pace[] = []
  #toldAt = 0
  #health: PastHealth

  constructor(log: Logger, days: BackfillDays) {
    this.#log = log
    this.#days = days
    this.#health = {
      state: days.hours + days.minutes + days.archives === 0 ? 'off' : 'starting',
      wanted: 0,
      missing: 0,
      bytes_left: 0,
      seconds_left: null,
    }
  }

  get health(): PastHealth {
    return this.#health
  }

  /** `progress`: of each venue whose past is read here, as far as it is known. `now`: milliseconds. */
  look(progress: readonly PastProgress[], now: number): void {
    const wanted = sumOf(progress, 'wanted')
    const missing = sumOf(progress, 'missing')
    if (wanted === 0) return
    const begun = this.#beginning(missing, now)
    this.#paces = [...this.#paces, { at: now, missing: progress.map((one) => one.missing) }].filter(
      ({ at, missing: each }) => at >= Math.max(now - PACE_MS, begun.at) && each.length === progress.length,
    )
    this.#health = {
      state: missing === 0 ? 'done' : 'running',
      wanted,
      missing,
      bytes_left: Math.ceil(missing * ROW_BYTES),
      seconds_left: secondsLeft(this.#paces),
    }
    if (begun.missing >= WORTH_TELLING) this.#tell(begun.missing, now)
    if (missing === 0) this.#begun = undefined
  }

  /** It begins anew where all was there, or more is wanted than before. */
  #beginning(missing: number, now: number): { readonly at: number; readonly missing: number } {
    const known = this.#begun
    if (known !== undefined && missing <= known.missing) return known
    if (missing >= WORTH_TELLING) {
      const megabytes = Math.ceil((missing * ROW_BYTES) / 1e6)
      this.#log.info(
        { days_of: this.#days, rows: missing, megabytes },
        'reading the past back: candles, funding, open interest, ratios, archives of trades',
      )
      this.#toldAt = now
    }
    this.#begun = { at: now, missing }
    return this.#begun
  }

  #tell(all: number, now: number): void {
    const { state, missing, seconds_left } = this.#health
    const seconds = Math.round((now - (this.#begun?.at ?? now)) / 1_000)
    if (state === 'done') this.#log.info({ rows: all, seconds }, 'the past is read back')
    else if (now - this.#toldAt >= TELL_MS) {
      this.#toldAt = now
      this.#log.info(
        { rows: all - missing, of: all, percent: Math.floor((100 * (all - missing)) / all), seconds_left },
        'the past is being read back',
      )
    }
  }
}

interface Pace {
  readonly at: number
  /** By venue. */
  readonly missing: readonly number[]
}

function secondsLeft(paces: readonly Pace[]): number | null {
  const [first, last] = [paces[0], paces.at(-1)]
  if (first === undefined || last === undefined) return null
  const left = last.missing.map((missing, venue) => {
    const done = (first.missing[venue] ?? 0) - missing
    return missing === 0 ? 0 : done > 0 ? (missing * (last.at - first.at)) / done / 1_000 : Infinity
  })
  const most = Math.ceil(Math.max(0, ...left))
  return Number.isFinite(most) ? most : null
}

function sumOf(progress: readonly PastProgress[], name: keyof PastProgress): number {
  return progress.reduce((sum, one) => sum + one[name], 0)
}
