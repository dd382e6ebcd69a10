import { setTimeout as delay } from 'node:timers/promises'
import { partitionOf } from '../../schemas/catalogue.ts'
import type { LogGap } from '../../schemas/records.ts'
import { clickhouseBuckets, compareBuckets, noBuckets } from './buckets.ts'
import { compare, noHole, openGaps, stretchesOf, sum, withBuckets, type Hole, type Row } from './compare.ts'
import { type Books, TopicFollower, lostTimes, readLogGaps, clickhouseTotals } from './books.ts'
import { FlowAccount } from './flow-account.ts'
import { LogAccount } from './log-account.ts'
import { BUCKET_MICROS, merged, nothing, without, type Stretch, type Totals, type Window } from './totals.ts'

const LOOK_EVERY_MS = 1_000
/**
 * Accounts that differ and have not moved for this long, and this often, will not come together any more: ClickHouse reads
 * again what it may have missed, and that takes longer than any other repair.
 */
const STILL_MS = 40_000
const STILL_LOOKS = 10
/**
 * So far back the simulator answers ranges of time, and buckets are held of a window that ends: a day of them would not fit
 * in memory.
 */
const REACH_MICROS = 5 * 3_600_000_000

export interface Report {
  readonly window: Window
  readonly rows: readonly Row[]
  /** Records of the log that were already covered, and that overlapped; both are counted nowhere. */
  readonly duplicates: number
  readonly refused: number
  /** Keys of `derived.flow` whose last record is not their newest version. */
  readonly stale: number
  /** Hours of an instrument that do not hold what their closed buckets hold, or are not there. */
  readonly sumsOff: number
  /** What readers of the log could not read of it, or found to be lost. */
  readonly logGaps: readonly LogGap[]
}

/** Whether anything was compared, and nothing differs that no recorded gap explains. */
export function isSound({ rows, stale, sumsOff }: Report): boolean {
  return rows.length > 0 && stale === 0 && sumsOff === 0 && rows.every((row) => row.verdict !== 'WRONG')
}

/**
 * Compares the accounts until they agree, or have stood still for `stillMs`, or `withinMs` is over: what is on its way,
 * and a gap that is being repaired, arrive meanwhile.
 */
export async function reconcile(books: Books, window: Window, withinMs: number, stillMs = STILL_MS): Promise<Report> {
  const deadline = performance.now() + withinMs
  const trades = new TopicFollower(books, 'market.trades')
  const flows = new TopicFollower(books, 'derived.flow')
  const flow = new FlowAccount()
  const held = bucketWindow(window)
  const log = new LogAccount(window, new Map(), held.from)
  const holes = new Holes(books, window)
  const look = async (): Promise<Report> => {
    await trades.advance((message) => log.add(message))
    await flows.advance((message, { key }) => flow.add(key, message))
    return reportOf(books, window, { log, flow, holes })
  }
  let last = ''
  let movedAt = performance.now()
  let looks = 0
  for (;;) {
    const report = await patiently(look, deadline)
    const now = performance.now()
    const state = fingerprint(report)
    if (state !== last) [movedAt, looks] = [now, 0]
    last = state
    looks++
    const isOver = now > deadline || (now - movedAt > stillMs && looks > STILL_LOOKS)
    if (isDrained(report) || isOver) {
      const judged = await patiently(() => byBucket(books, held, report, { log, flow, holes }), deadline)
      if (isDrained(judged) || isOver) return judged
    }
    await delay(LOOK_EVERY_MS)
  }
}

/** A store that is too busy to answer is asked again. */
async function patiently<Answer>(ask: () => Promise<Answer>, deadline: number): Promise<Answer> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await delay(LOOK_EVERY_MS)
    }
  }
}

/** One that ends nowhere is as long as its caller says. */
function bucketWindow({ from, to }: Window): Window {
  return { from: Number.isFinite(to) ? Math.max(from, to - REACH_MICROS) : from, to }
}

/** Nothing differs and no repair is under way. */
function isDrained(report: Report): boolean {
  return isSound(report) && report.rows.every((row) => row.gaps.every((gap) => gap.state !== 'opened'))
}

function fingerprint({ rows, sumsOff }: Report): string {
  const counts = rows.map((row) => [row.log.count, row.clickhouse.count, row.flow.count, row.gaps.length].join())
  return [sumsOff, ...counts].join(';')
}

interface Folds {
  readonly log: LogAccount
  readonly flow: FlowAccount
  readonly holes: Holes
}

async function reportOf(books: Books, window: Window, { log, flow, holes }: Folds): Promise<Report> {
  const source = await books.source.totals(window, log.instruments)
  const clickhouse = await clickhouseTotals(books.clickhouse, window)
  const flows = flow.totals(placesOf(log), window)
  const logGaps = await readLogGaps(books)
  const unread = new Set([...source].flatMap(([instrument, totals]) => (totals === 'unread' ? [instrument] : [])))
  const gaps = await holes.of({ log, flow, clickhouse, unread }, logGaps)
  const names = new Set([...source.keys(), ...log.instruments.keys(), ...clickhouse.keys(), ...flows.keys()])
  const rows = [...names].sort().map((instrument) =>
    compare({
      instrument,
      source: source.get(instrument),
      log: log.instruments.get(instrument)?.totals ?? nothing,
      clickhouse: clickhouse.get(instrument) ?? nothing,
      flow: flows.get(instrument) ?? nothing,
      gaps: openGaps(log.instruments.get(instrument)?.gaps.values() ?? []),
      leftOut: gaps.get(instrument)?.leftOut ?? [],
      inGaps: gaps.get(instrument)?.hole ?? noHole,
      inFeedGaps: gaps.get(instrument)?.inFeedGaps,
    }),
  )
  const accounts = [...log.instruments.values()]
  return {
    window,
    rows,
    duplicates: accounts.reduce((total, account) => total + account.duplicates, 0),
    refused: accounts.reduce((total, account) => total + account.refused, 0),
    stale: flow.stale,
    sumsOff: flow.sumsOff,
    logGaps,
  }
}

/** The same report with what the buckets of this window say. */
async function byBucket(books: Books, window: Window, report: Report, { log, flow, holes }: Folds): Promise<Report> {
  const accounts = {
    log: log.buckets,
    flow: flow.buckets(window),
    clickhouse: (part: Window) => clickhouseBuckets(books.clickhouse, part),
    source: books.source.buckets,
    places: placesOf(log),
    leftOut: (instrument: string) => holes.cuts(instrument)?.leftOut ?? [],
    gaps: (instrument: string) => holes.cuts(instrument)?.gaps ?? [],
    uncounted: (instrument: string) => holes.cuts(instrument)?.uncounted ?? [],
  }
  const buckets = await compareBuckets(accounts, window)
  return { ...report, rows: report.rows.map((row) => withBuckets(row, buckets.get(row.instrument) ?? noBuckets)) }
}

function placesOf(log: LogAccount): (instrument: string) => number {
  return (instrument) => log.instruments.get(instrument)?.places ?? 0
}

/** An instrument's times that are taken out of the comparison. */
interface Cuts {
  /** Recorded by the feeds: what could not be had from the venue. */
  readonly gaps: readonly Stretch[]
  /** Before the first trade that the source counts. */
  readonly uncounted: readonly Stretch[]
  /** Lost by the log itself. */
  readonly leftOut: readonly Stretch[]
}

interface Ours {
  readonly log: LogAccount
  readonly flow: FlowAccount
  readonly clickhouse: ReadonlyMap<string, Totals>
  /** Instruments that the source cannot tell. */
  readonly unread: ReadonlySet<string>
}

interface Found extends Cuts {
  readonly hole: Hole
  readonly inFeedGaps: Pick<Hole, 'source' | 'log'>
}

/**
 * What lies within each instrument's open gaps, by the source and by our log, which is read once more for it; and within
 * the times of which the log itself has lost something, by every account.
 */
class Holes {
  readonly #books: Books
  readonly #window: Window
  #known = ''
  #holes = new Map<string, Found>()

  constructor(books: Books, window: Window) {
    this.#books = books
    this.#window = window
  }

  /** What was taken out of an instrument's accounts when they were last asked for. */
  cuts(instrument: string): Cuts | undefined {
    return this.#holes.get(instrument)
  }

  /** Asks again only when a gap or an account has changed. */
  async of(ours: Ours, logGaps: readonly LogGap[]): Promise<ReadonlyMap<string, Found>> {
    const { log, flow, clickhouse } = ours
    const cuts = this.#cuts(log, logGaps, await this.#books.source.begins())
    const counts = [...log.instruments].map(([name, { totals }]) => [totals.count, clickhouse.get(name)?.count ?? 0])
    const key = JSON.stringify([[...cuts], counts, flow.version])
    if (key !== this.#known) this.#holes = cuts.size === 0 ? new Map() : await this.#read(cuts, ours)
    this.#known = key
    return this.#holes
  }

  async #read(cuts: ReadonlyMap<string, Cuts>, { log, flow, unread }: Ours): Promise<Map<string, Found>> {
    const places = placesOf(log)
    const stretches = (which: keyof Cuts) => new Map([...cuts].map(([instrument, cut]) => [instrument, cut[which]]))
    const kinds = [stretches('gaps'), stretches('uncounted'), stretches('leftOut')]
    const [inGaps, inUncounted, inLost] = await this.#readLog(kinds)
    const others = new Map<string, { flow: Map<string, Totals>; clickhouse: Map<string, Totals> }>()
    for (const { from, to } of [...cuts.values()].flatMap(({ leftOut }) => leftOut)) {
      if (others.has(`${from} ${to}`)) continue
      const window = { from, to: to + 1 }
      const clickhouse = await clickhouseTotals(this.#books.clickhouse, window)
      others.set(`${from} ${to}`, { flow: flow.totals(places, window), clickhouse })
    }
    const found = new Map<string, Found>()
    for (const [instrument, cut] of cuts) {
      const { gaps, uncounted, leftOut } = cut
      const within = async (asked: readonly Stretch[]): Promise<Totals> => {
        if (unread.has(instrument)) return nothing
        return sum(await Promise.all(asked.map((stretch) => this.#books.source.within(instrument, stretch))))
      }
      const inFeedGaps = { source: await within(gaps), log: inGaps?.get(instrument) ?? nothing }
      const source = sum([inFeedGaps.source, await within([...uncounted, ...leftOut])])
      const known = sum([inFeedGaps.log, inUncounted?.get(instrument) ?? nothing])
      const of = (account: 'flow' | 'clickhouse'): Totals =>
        sum([
          known,
          ...leftOut.map(({ from, to }) => others.get(`${from} ${to}`)?.[account].get(instrument) ?? nothing),
        ])
      const logged = sum([known, inLost?.get(instrument) ?? nothing])
      const hole = { source, log: logged, flow: of('flow'), clickhouse: of('clickhouse') }
      found.set(instrument, { ...cut, hole, inFeedGaps })
    }
    return found
  }

  /** What the log has within the times of each kind, read once for all. */
  async #readLog(kinds: readonly ReadonlyMap<string, readonly Stretch[]>[]): Promise<Map<string, Totals>[]> {
    const again = kinds.map((stretches) => new LogAccount(this.#window, stretches))
    const wanted = again.filter((_, kind) => [...(kinds[kind]?.values() ?? [])].some((some) => some.length > 0))
    await new TopicFollower(this.#books, 'market.trades').advance((message) => {
      for (const account of wanted) account.add(message)
    })
    return again.map(({ instruments }) => {
      return new Map([...instruments].map(([instrument, { leftOut }]) => [instrument, leftOut]))
    })
  }

  /** What a feed filled back to when it asked for a subscription may be older than the first trade that the source counts. */
  #cuts(log: LogAccount, logGaps: readonly LogGap[], begins: ReadonlyMap<string, number>): Map<string, Cuts> {
    const found = new Map<string, Cuts>()
    for (const [instrument, account] of log.instruments) {
      const leftOut = this.#within(lostTimes(logGaps, partitionOf(account.asset, this.#books.partitions)))
      const begin = begins.get(instrument) ?? 0
      const early = this.#within(account.firstTime < begin ? [{ from: 0, to: begin - 1 }] : [])
      const uncounted = without(early, leftOut)
      const known = this.#within(stretchesOf(openGaps(account.gaps.values())))
      const gaps = without(known, merged([...early, ...leftOut]))
      if (gaps.length + uncounted.length + leftOut.length > 0) found.set(instrument, { gaps, uncounted, leftOut })
    }
    return found
  }

  /** As the source can tell them, within the window. */
  #within(stretches: readonly Stretch[]): Stretch[] {
    const { source } = this.#books
    const parts = stretches.map((stretch) => {
      const { from, to } = source.align(stretch)
      return { from: Math.max(from, this.#window.from), to: Math.min(to, this.#window.to - 1) }
    })
    return merged(parts.filter(({ from, to }) => from <= to))
  }
}

/** What traded this recently may still be on its way. */
const YOUNG_MICROS = 15_000_000

/** A window that ends at a bucket's end far enough in the past for everything in it to have arrived. */
export function settledWindow(nowMicros: number): Window {
  const to = Math.floor((nowMicros - YOUNG_MICROS) / BUCKET_MICROS) * BUCKET_MICROS
  return { from: Math.max(0, to - REACH_MICROS), to }
}

/** Of a market that stands still: to its last trade, and no further back than the source answers ranges of time. */
export function stillWindow(nowMicros: number): Window {
  const now = Math.floor(nowMicros / BUCKET_MICROS) * BUCKET_MICROS
  return { from: Math.max(0, now - REACH_MICROS), to: Infinity }
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
