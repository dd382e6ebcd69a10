import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { alertKinds } from '../../processors/alerts/kinds/kinds.ts'
import { isEverywhere } from '../../processors/alerts/parts.ts'
import { PastReader, pastText, type Past } from '../../processors/alerts/past.ts'
import { lookBackOf } from '../../processors/alerts/series.ts'
import { OFFSETS } from '../../processors/kernel/version.ts'
import type { AlertEvent, Command, Micros } from '../../schemas/records.ts'
import type { Database } from '../views/database.ts'
import { inputsOf, readInputs } from '../views/what-if.ts'
import { commandOf } from './creation.ts'

const SECOND: Micros = 1_000_000
const DAY: Micros = 86_400 * SECOND
/** What is read at once: some thousand records, so that no other answer waits. */
const PAGE: Micros = 3_600 * SECOND
/** How far a window is filled; the spike of a day would need 25 of them. */
const LOOKS_BACK = 7 * DAY
/** Records of one rule at most; five prices a second for a day are 430,000. */
const ROWS_MAX = 1_000_000
/** Rules whose windows wait to be filled; one beyond them begins cold. */
const WAITING_MAX = 20
/** ClickHouse has what the log had at the creation after some seconds: so often it is asked, so long apart, milliseconds. */
const TRIES = 24
const TRY_EVERY_MS = 5_000

/** What the filling needs: history, and how a command is sent. */
export interface WarmingNeeds {
  readonly database: Database
  /** Host's clock, milliseconds. */
  readonly now: () => number
  readonly log: { warn: (about: object, message: string) => void }
  readonly send: (command: Command) => Promise<unknown>
}

/** Fills the windows of new rules from history, reading for one at a time; what fails leaves the rule as it is: cold. */
export class Warming {
  readonly #tasks = new Set<Promise<void>>()
  #last: Promise<void> = Promise.resolve()
  readonly #pause: () => Promise<unknown>

  constructor(pause: () => Promise<unknown> = () => delay(TRY_EVERY_MS, undefined, { ref: false })) {
    this.#pause = pause
  }

  /** Settles when all that was asked for is done. */
  async done(): Promise<void> {
    await Promise.all(this.#tasks)
  }

  /** `event`: a creation or an edit. */
  of({ event, alert, time, v }: AlertEvent, needs: WarmingNeeds): void {
    if (alert === null || (event !== 'created' && event !== 'edited') || isEverywhere(alert.asset)) return
    const names = namesOf(alert)
    if (names.length === 0) return
    if (this.#tasks.size >= WAITING_MAX) {
      needs.log.warn({ alert: alert.alert_id }, 'the windows of a rule begin empty: too many others wait to be filled')
      return
    }
    const wanted = { alertId: alert.alert_id, asset: alert.asset, names, since: time, before: v % OFFSETS }
    const task = this.#fill(needs, wanted)
      .catch((error: unknown) => {
        needs.log.warn({ err: error, alert: alert.alert_id }, 'the windows of a rule begin empty: no history was read')
      })
      .finally(() => this.#tasks.delete(task))
    this.#tasks.add(task)
  }

  async #fill({ database, now, log, send }: WarmingNeeds, wanted: Wanted): Promise<void> {
    if (!(await this.#hasAll(database, wanted))) {
      const about = { alert: wanted.alertId, waitedMs: TRIES * TRY_EVERY_MS }
      log.warn(about, 'the windows of a rule begin empty: ClickHouse is behind the log')
      return
    }
    const reading = this.#last.then(() => readPastOf(database, wanted))
    this.#last = reading.then(nothing, nothing) // who asked gets the failure
    const past = await reading
    if (past.series.length === 0) return
    const { asset, alertId } = wanted
    const command = commandOf({ request: randomUUID(), action: 'warm', asset, alertId, now: now() })
    await send({ ...command, past: pastText(past) })
  }

  /** Whether each table has a later record than the creation: then it has all before it, too. */
  async #hasAll(database: Database, { asset, names, since, before }: Wanted): Promise<boolean> {
    const open = new Set(inputsOf(names).tables)
    for (let tries = 0; tries < TRIES; tries += 1) {
      for (const table of open) {
        const range = { asset, from: since - 2 * SECOND, to: since + 600 * SECOND, limit: 10_000 }
        const { seen } = await readInputs(database, range, { tables: [table], withVenues: false })
        if (seen.some(({ offset }) => offset > before)) open.delete(table)
      }
      if (open.size === 0) return true
      await this.#pause()
    }
    return false
  }
}

function nothing(): void {
  // Only that it is over counts.
}

interface Wanted {
  readonly alertId: string
  readonly asset: string
  readonly names: readonly string[]
  readonly since: Micros
  /** Offset of the creation: what lies behind it, the series sees itself. */
  readonly before: number
}

function namesOf(alert: NonNullable<AlertEvent['alert']>): readonly string[] {
  const terms = alertKinds.read(alert)
  if (terms === undefined) return []
  return [...new Set(alertKinds.of(terms).series?.(terms) ?? [])].filter((name) => lookBackOf(name) > 0)
}

/** What the series of a rule would have seen up to its creation; nothing where that is too much. */
async function readPastOf(database: Database, { asset, names, since, before }: Wanted): Promise<Past> {
  const back = Math.min(LOOKS_BACK, Math.max(...names.map(lookBackOf)) * 1.1)
  const end = since + 60 * SECOND
  const past = new PastReader(names, since)
  let rows = 0
  for (let from = since - back; from < end; from += PAGE) {
    const range = { asset, from, to: Math.min(from + PAGE, end), limit: ROWS_MAX - rows }
    const page = await readInputs(database, range, inputsOf(names))
    rows += page.records
    if (page.cut || rows >= ROWS_MAX) return { since, series: [] }
    for (const { offset, message } of page.seen) if (offset < before) past.feed(message)
  }
  return past.told
}
