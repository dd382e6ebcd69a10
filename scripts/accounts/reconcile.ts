import { setTimeout as delay } from 'node:timers/promises'
import type { Clickhouse } from '../../infra/clickhouse/client.ts'
import type { LogReader } from '../../infra/kafka/seam.ts'
import type { Codec } from '../../schemas/codec.ts'
import { compare, openGaps, stretchesOf, sum, type Row } from './compare.ts'
import { FlowAccount } from './flow-account.ts'
import { LogAccount } from './log-account.ts'
import { clickhouseTotals } from './read-clickhouse.ts'
import { TopicFollower } from './read-topic.ts'
import type { Source } from './source.ts'
import { merged, nothing, type Stretch, type Totals, type Window } from './totals.ts'

const LOOK_EVERY_MS = 1_000
/** Accounts that differ and have not moved for this long, and this often, will not come together any more. */
const STILL_MS = 15_000
const STILL_LOOKS = 10

/** Where the accounts are read. */
export interface Books {
  readonly reader: LogReader
  readonly codec: Codec
  readonly partitions: number
  readonly clickhouse: Clickhouse
  readonly source: Source
}

export interface Report {
  readonly window: Window
  readonly rows: readonly Row[]
  /** Records of the log that were already covered, and that overlapped; both are counted nowhere. */
  readonly duplicates: number
  readonly refused: number
  /** Keys of `derived.flow` whose last record is not their newest version. */
  readonly stale: number
  /** Hours of an instrument that do not hold as many trades as their closed buckets. */
  readonly hoursOff: number
}

/** Whether nothing differs that no recorded gap explains. */
export function isSound(report: Report): boolean {
  return report.stale === 0 && report.hoursOff === 0 && report.rows.every((row) => row.verdict !== 'WRONG')
}

/**
 * Compares the accounts until they agree, or have stood still for `stillMs`, or `withinMs` is over: what is on its way,
 * and a gap that is being repaired, arrive meanwhile.
 */
export async function reconcile(books: Books, window: Window, withinMs: number, stillMs = STILL_MS): Promise<Report> {
  const deadline = performance.now() + withinMs
  const topics = followers(books)
  const flow = new FlowAccount()
  const log = new LogAccount(window)
  const holes = new Holes(books, window)
  let last = ''
  let movedAt = performance.now()
  let looks = 0
  for (;;) {
    await topics.trades.advance((_key, message) => log.add(message))
    await topics.flow.advance((key, message) => flow.add(key, message))
    const report = await reportOf(books, window, { log, flow, holes })
    const now = performance.now()
    const state = fingerprint(report)
    if (state !== last) [movedAt, looks] = [now, 0]
    last = state
    looks++
    const isStill = now - movedAt > stillMs && looks > STILL_LOOKS
    if (isDrained(report) || now > deadline || isStill) return report
    await delay(LOOK_EVERY_MS)
  }
}

function followers({ reader, codec, partitions }: Books): { trades: TopicFollower; flow: TopicFollower } {
  return {
    trades: new TopicFollower(reader, codec, 'market.trades', partitions),
    flow: new TopicFollower(reader, codec, 'derived.flow', partitions),
  }
}

/** Nothing differs and no repair is under way. */
function isDrained(report: Report): boolean {
  return isSound(report) && report.rows.every((row) => row.gaps.every((gap) => gap.state !== 'opened'))
}

function fingerprint({ rows, hoursOff }: Report): string {
  const counts = rows.map((row) => [row.log.count, row.clickhouse.count, row.flow.count, row.gaps.length].join())
  return [hoursOff, ...counts].join(';')
}

interface Folds {
  readonly log: LogAccount
  readonly flow: FlowAccount
  readonly holes: Holes
}

async function reportOf(books: Books, window: Window, { log, flow, holes }: Folds): Promise<Report> {
  const source = await books.source.totals(window, log.instruments)
  const clickhouse = await clickhouseTotals(books.clickhouse, window)
  const flows = flow.totals((instrument) => log.instruments.get(instrument)?.places ?? 0, window)
  const gaps = await holes.of(log)
  const names = new Set([...source.keys(), ...log.instruments.keys(), ...clickhouse.keys(), ...flows.keys()])
  const rows = [...names].sort().map((instrument) =>
    compare({
      instrument,
      source: source.get(instrument),
      log: log.instruments.get(instrument)?.totals ?? nothing,
      clickhouse: clickhouse.get(instrument) ?? nothing,
      flow: flows.get(instrument) ?? nothing,
      gaps: openGaps(log.instruments.get(instrument)?.gaps.values() ?? []),
      inGaps: gaps.get(instrument) ?? { source: nothing, log: nothing },
    }),
  )
  const accounts = [...log.instruments.values()]
  return {
    window,
    rows,
    duplicates: accounts.reduce((total, account) => total + account.duplicates, 0),
    refused: accounts.reduce((total, account) => total + account.refused, 0),
    stale: flow.stale,
    hoursOff: flow.hoursOff,
  }
}

interface Hole {
  readonly source: Totals
  readonly log: Totals
}

/** What lies within each instrument's open gaps, by the source and by our log, which is read once more for it. */
class Holes {
  readonly #books: Books
  readonly #window: Window
  #known = ''
  #holes = new Map<string, Hole>()

  constructor(books: Books, window: Window) {
    this.#books = books
    this.#window = window
  }

  /** Asks again only when a gap or the log has changed. */
  async of(log: LogAccount): Promise<ReadonlyMap<string, Hole>> {
    const stretches = stretchesByInstrument(log, this.#books.source, this.#window)
    const key = JSON.stringify([[...stretches], [...log.instruments.values()].map((account) => account.totals.count)])
    if (key !== this.#known) this.#holes = stretches.size === 0 ? new Map() : await this.#read(stretches)
    this.#known = key
    return this.#holes
  }

  async #read(stretches: ReadonlyMap<string, Stretch[]>): Promise<Map<string, Hole>> {
    const again = new LogAccount(this.#window, stretches)
    await followers(this.#books).trades.advance((_key, message) => again.add(message))
    const holes = new Map<string, Hole>()
    for (const [instrument, gaps] of stretches) {
      const parts = await Promise.all(gaps.map((gap) => this.#books.source.within(instrument, gap)))
      holes.set(instrument, { source: sum(parts), log: again.instruments.get(instrument)?.leftOut ?? nothing })
    }
    return holes
  }
}

function stretchesByInstrument(log: LogAccount, source: Source, window: Window): Map<string, Stretch[]> {
  const found = new Map<string, Stretch[]>()
  for (const [instrument, account] of log.instruments) {
    const cut = stretchesOf(openGaps(account.gaps.values())).flatMap((gap) => {
      const { from, to } = source.align(gap)
      const part = { from: Math.max(from, window.from), to: Math.min(to, window.to - 1) }
      return part.from <= part.to ? [part] : []
    })
    if (cut.length > 0) found.set(instrument, merged(cut))
  }
  return found
}

const BUCKET_MICROS = 10_000_000
/** What traded this recently may still be on its way. */
const YOUNG_MICROS = 15_000_000

/** A window that ends at a bucket's end far enough in the past for everything in it to have arrived. */
export function settledWindow(nowMicros: number, reachMicros: number): Window {
  const to = Math.floor((nowMicros - YOUNG_MICROS) / BUCKET_MICROS) * BUCKET_MICROS
  return { from: Math.max(0, to - reachMicros), to }
}

const MINUTE_MICROS = 60_000_000
/** Venues close a candle some seconds late. */
const LATE_MICROS = 30_000_000
const DAY_MICROS = 86_400_000_000

/** The whole minutes that a source of candles can tell, of the last day at most. */
export function wholeMinutes(firstMicros: number, nowMicros: number): Window {
  const to = Math.floor((nowMicros - LATE_MICROS) / MINUTE_MICROS) * MINUTE_MICROS
  const from = Math.max(Math.ceil(firstMicros / MINUTE_MICROS) * MINUTE_MICROS, to - DAY_MICROS)
  if (from >= to) throw new Error('no whole minute has passed since the first trade: try again in two minutes')
  return { from, to }
}
