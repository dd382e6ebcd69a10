import type { Logger } from '../../../infra/log.ts'
import type { PastProgress } from '../facts/backfill-plan.ts'
import type { BackfillDays } from './backfill.ts'

/** What a row takes in the log (90) and in ClickHouse (23), bytes; measured on 140,000 simulated ones of all kinds. */
const ROW_BYTES = 113
/** The pace is that of so long until now, milliseconds: series of one venue differ. */
const PACE_MS = 30_000
/** So much of the disk is left for what is told of now. */
export const FREE_BYTES_MIN = 1_000_000_000
/** How often it is told how far it is, milliseconds. */
const TELL_MS = 10_000
/** Fewer than this many are the hour that has just passed, and not worth a word. */
const WORTH_TELLING = 500

/** How the reading back of the past is. */
interface PastHealth {
  /** `starting`: it is not known yet what the log has. `paused`: the disk has too little room for it. */
  readonly state: 'off' | 'starting' | 'running' | 'paused' | 'done'
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

  /**
   * `progress`: of each venue whose past is read here, as far as it is known. `now`: milliseconds. `free`: bytes of the
   * disk that it goes to.
   */
  look(progress: readonly PastProgress[], now: number, free = Infinity): void {
    const wanted = sumOf(progress, 'wanted')
    const missing = sumOf(progress, 'missing')
    if (wanted === 0) return
    const begun = this.#beginning(missing, now)
    this.#paces = [...this.#paces, { at: now, missing: progress.map((one) => one.missing) }].filter(
      ({ at, missing: each }) => at >= Math.max(now - PACE_MS, begun.at) && each.length === progress.length,
    )
    const bytes = Math.ceil(missing * ROW_BYTES)
    const state = missing === 0 ? 'done' : free < bytes + FREE_BYTES_MIN ? 'paused' : 'running'
    if ((state === 'paused') !== (this.#health.state === 'paused')) this.#tellRoom(state, bytes, free)
    this.#health = { state, wanted, missing, bytes_left: bytes, seconds_left: secondsLeft(this.#paces) }
    if (begun.missing >= WORTH_TELLING) this.#tell(begun.missing, now)
    if (missing === 0) this.#begun = undefined
  }

  #tellRoom(state: PastHealth['state'], bytes: number, free: number): void {
    const megabytes = { left: Math.ceil(bytes / 1e6), free: Math.floor(free / 1e6), kept: FREE_BYTES_MIN / 1e6 }
    if (state !== 'paused') return this.#log.info({ megabytes }, 'the disk has room: the past is read back again')
    const mend = 'free some room, or read less back: BACKFILL_DAYS, npm run backfill -- --cancel; it goes on by itself'
    this.#log.error({ megabytes, mend }, 'the disk has too little room for the past: nothing more is read back')
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
