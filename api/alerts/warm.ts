import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { alertKinds } from '../../processors/alerts/kinds/kinds.ts'
import { everywhereIn } from '../../processors/alerts/parts.ts'
import { PastReader, pastText, type Past } from '../../processors/alerts/past.ts'
import { inputOf, lookBackOf, slotOf } from '../../processors/alerts/series.ts'
import { OFFSETS } from '../../processors/kernel/version.ts'
import type { AlertEvent, Command, Micros } from '../../schemas/records.ts'
import type { Database } from '../views/database.ts'
import { inputsOf, readInputs, readNewest, type InputsWanted } from '../views/what-if.ts'
import { commandOf } from './creation.ts'

const SECOND: Micros = 1_000_000
const MINUTE: Micros = 60 * SECOND
const DAY: Micros = 86_400 * SECOND
/** What is read at once is some thousand records, so that no other answer waits: of prices of single venues an hour's. */
const HOUR: Micros = 3_600 * SECOND
const PAGE: Micros = 6 * HOUR
/** How far a window is filled; the spike of a day would need 25 of them. */
const LOOKS_BACK = 7 * DAY
/** Records of one asset at most; five prices a second of a single venue are 430,000 a day. */
const ROWS_MAX = 1_000_000
/** Rules whose windows wait to be filled; one beyond them begins cold. */
const WAITING_MAX = 20
/** ClickHouse has what the log had at the creation after some seconds: so often it is asked, so long apart, milliseconds. */
const TRIES = 24
const TRY_EVERY_MS = 5_000

/** What the filling needs: history, whose it may be, and how a command is sent. */
export interface WarmingNeeds {
  readonly database: Database
  /** The assets of a partition, for a rule for all symbols. */
  readonly assetsIn: (partition: number) => readonly string[]
  /** Host's clock, milliseconds. */
  readonly now: () => number
  readonly log: { warn: (fields: object, message: string) => void }
  readonly send: (command: Command) => Promise<unknown>
}

/** Fills the windows of new rules from history, reading for one asset at a time; what fails leaves the rule as it is: cold. */
export class Warming {
  readonly #tasks = new Set<Promise<unknown>>()
  #last: Promise<void> = Promise.resolve()
  readonly #pause: () => Promise<unknown>

  constructor(pause: () => Promise<unknown> = () => delay(TRY_EVERY_MS, undefined, { ref: false })) {
    this.#pause = pause
  }

  /** Settles when all that was asked for is done. */
  async done(): Promise<void> {
    await Promise.all(this.#tasks)
  }

  /** `events`: the creation or the edit of a rule, the extension of one that had ended, or those of its parts. */
  of(events: readonly AlertEvent[], needs: WarmingNeeds): void {
    const wanted = events.flatMap(wantedOf)
    const [first] = wanted
    if (first === undefined) return
    if (this.#tasks.size >= WAITING_MAX) {
      needs.log.warn({ alert: first.alertId }, 'the windows of a rule begin empty: too many others wait to be filled')
      return
    }
    const task = Promise.all(wanted.map((one) => this.#try(needs, one))).finally(() => this.#tasks.delete(task))
    this.#tasks.add(task)
  }

  async #try(needs: WarmingNeeds, wanted: Wanted): Promise<void> {
    try {
      await this.#fill(needs, wanted)
    } catch (error) {
      needs.log.warn(
        { err: error, alert: wanted.alertId },
        'the windows of a rule begin empty: its history was not read, or not taken',
      )
    }
  }

  async #fill(needs: WarmingNeeds, wanted: Wanted): Promise<void> {
    const { alertId } = wanted
    const partition = everywhereIn(wanted.asset)
    const assets = partition === undefined ? [wanted.asset] : needs.assetsIn(partition)
    if (!(await this.#hasAll(needs.database, wanted, assets))) {
      const details = { alert: alertId, waitedMs: TRIES * TRY_EVERY_MS }
      needs.log.warn(details, 'the windows of a rule begin empty: ClickHouse is behind the log')
      return
    }
    for (const asset of assets) {
      const reading = this.#last.then(() =>
        readPastOf(needs.database, { ...wanted, asset, end: wanted.since + MINUTE }),
      )
      this.#last = reading.then(nothing, nothing) // who asked gets the failure
      const past = await reading
      if (past.series.length === 0) continue
      const command = commandOf({ request: randomUUID(), action: 'warm', asset, alertId, now: needs.now() })
      await needs.send({ ...command, past: pastText(past) })
    }
  }

  /** Whether each table has a later record than the creation: then it has all of its partition before it, too. */
  async #hasAll(database: Database, { names, since, before }: Wanted, assets: readonly string[]): Promise<boolean> {
    const open = new Set(inputsOf(names).tables)
    const range = { assets, from: since - 2 * SECOND, to: since + 600 * SECOND }
    for (let tries = 0; tries < TRIES && assets.length > 0; tries += 1) {
      for (const table of open) if ((await readNewest(database, table, range)) > before) open.delete(table)
      if (open.size === 0) return true
      await this.#pause()
    }
    return assets.length === 0
  }
}

function nothing(): void {
  // Only that it is over counts.
}

interface Wanted {
  readonly alertId: string
  /** Of a rule for all symbols what stands for those of its partition. */
  readonly asset: string
  readonly names: readonly string[]
  readonly since: Micros
  /** Offset of the creation: what lies behind it, the series sees itself. */
  readonly before: number
}

/** What a rule begins to look by; an extension where it had ended. */
const begins: ReadonlySet<AlertEvent['event']> = new Set(['created', 'edited', 'extended'])

function wantedOf({ event, alert, time, v }: AlertEvent): readonly Wanted[] {
  if (alert === null || !begins.has(event)) return []
  const names = namesOf(alert)
  const { alert_id: alertId, asset } = alert
  return names.length === 0 ? [] : [{ alertId, asset, names, since: time, before: v % OFFSETS }]
}

function namesOf(alert: NonNullable<AlertEvent['alert']>): readonly string[] {
  const terms = alertKinds.read(alert)
  if (terms === undefined) return []
  return [...new Set(alertKinds.of(terms).series?.(terms) ?? [])].filter((name) => lookBackOf(name) > 0)
}

/** Of prices over all venues each slot's first is enough: slots of all windows are parts of one another. */
function recordsOf(names: readonly string[]): InputsWanted {
  const prices = names.filter((name) => inputOf(name) === 'composite_price')
  return { ...inputsOf(names), ...(prices.length > 0 && { every: Math.min(...prices.map(slotOf)) }) }
}

interface PastWanted extends Omit<Wanted, 'alertId'> {
  /** No record of a later time is read. */
  readonly end: Micros
}

/** How far back it is read for these series. */
export function backOf(names: readonly string[]): Micros {
  return Math.min(LOOKS_BACK, Math.max(...names.map(lookBackOf)) * 1.1)
}

/** What the series of a rule would have seen up to its creation; nothing where that is too much. */
export async function readPastOf(database: Database, wanted: PastWanted): Promise<Past> {
  const { asset, names, since, before, end } = wanted
  const past = new PastReader(names, since)
  const inputs = recordsOf(names)
  const page = inputs.withVenues ? HOUR : PAGE
  let rows = 0
  for (let from = since - backOf(names); from < end; from += page) {
    const range = { asset, from, to: Math.min(from + page, end), limit: ROWS_MAX - rows }
    const { records, cut, seen } = await readInputs(database, range, inputs)
    rows += records
    if (cut || rows >= ROWS_MAX) return { since, series: [] }
    for (const { offset, message } of seen) if (offset < before) past.feed(message)
  }
  return past.told
}
