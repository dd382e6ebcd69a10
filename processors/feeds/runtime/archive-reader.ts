import { rmSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import type { Instrument, Micros, Trade, VenueCandle } from '../../../schemas/records.ts'
import { TapeError } from '../../../infra/tapes/tape.ts'
import { ArchiveFold, type PastFlow } from '../../cvd/archive.ts'
import { type ArchiveDay, ArchivePlan, startsEarly, type Wanted } from '../facts/archive-plan.ts'
import { fromImport, normaliser } from '../trades/stream.ts'
import { type Download, download } from '../transport/archive-download.ts'
import { linesOf } from '../transport/archive-lines.ts'
import type { TradeArchive } from '../venues/venue.ts'
import { pastKey } from './market-log.ts'
import { type KnownPast, PastJob, type PastParts, type PastReport, RETRY_MS } from './past-job.ts'
import { hostNow, ticks } from './process-clock.ts'

const DAY: Micros = 86_400_000_000
/** After a file that failed, the next file is asked for this much later, milliseconds. */
const PAUSE_MS = 1_000
/** A day that the venue did not have is asked for again when this long has passed. */
const ABSENT: Micros = DAY
/** A trade may be this much older than one before it: the core knows two hours. */
const DISORDER_MAX: Micros = 3_600_000_000
/** Beyond this share of lines that are no trade of the day a file is taken for something else. */
const REFUSED_SHARE_MAX = 0.01

/** The part of `control.backfill` that is about a day's archive. */
function seriesOf(date: string): string {
  return `archive_${date}`
}

interface ArchiveParts extends PastParts {
  readonly archive: TradeArchive
  /** Without a slash at its end. */
  readonly base: string
  /** Where a file lies while it is read; without its extension. */
  readonly file: string
  /** How many of the newest days are read of each symbol that is streamed. */
  readonly days: number
  readonly instrumentOf: (symbol: string) => Instrument | undefined
  readonly report: ArchiveReport
}

/** Hears how it goes. */
export interface ArchiveReport extends PastReport {
  /** A day is not in the log, for now or for good. */
  readonly left: (what: string, details: Readonly<Record<string, unknown>>) => void
}

/**
 * Reads a venue's archives of trades: file by file, each checked, and folded by the core that counts live trades. Of each
 * day is known until when it is not asked for, microseconds.
 */
export class ArchiveReader extends PastJob<ArchiveDay, Micros> {
  protected readonly plan: ArchivePlan
  readonly #parts: ArchiveParts
  #wanted: ReadonlyMap<string, Wanted> = new Map()

  constructor(parts: ArchiveParts) {
    super(parts)
    this.#parts = parts
    const isDone = (symbol: string, date: string): boolean =>
      hostNow() * 1_000 < (this.known?.get(this.#keyOf(symbol, date)) ?? 0)
    this.plan = new ArchivePlan(parts.days, isDone, startsEarly(parts.archive))
  }

  want(wanted: ReadonlyMap<string, Wanted>): void {
    this.#wanted = wanted
    if (this.isKnown) this.updatePlan()
  }

  protected updatePlan(): void {
    this.plan.want(this.#wanted, hostNow())
  }

  protected knownOf(all: KnownPast): Map<string, Micros> {
    return new Map([...all].map(([key, { rows, time }]) => [key, doneUntil(rows, time)]))
  }

  protected async take(day: ArchiveDay): Promise<void> {
    const { archive, base, instrumentOf } = this.#parts
    const instrument = instrumentOf(day.symbol)
    if (instrument === undefined) return this.later(RETRY_MS)
    const filePath = archive.path(day.symbol, day.date)
    const file = `${this.#parts.file}${filePath.slice(filePath.lastIndexOf('.'))}`
    const checksumUrl = archive.checksumOf && `${base}${archive.checksumOf(filePath)}`
    try {
      const outcome = await download({ url: base + filePath, checksumUrl, file, stop: this.stopped.signal })
      if (this.isStopped) return
      if (outcome.kind !== 'file') return this.#failed(day, instrument, outcome)
      const { rows, from } = await this.#fold(day, instrument, file)
      if (rows !== undefined) await this.#write(day, instrument, { rows, from })
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      const isDamaged = error instanceof TapeError
      this.#failed(day, instrument, isDamaged ? { kind: 'damaged', why } : { kind: 'failed', message: why })
    } finally {
      rmSync(file, { force: true })
    }
  }

  #failed(day: ArchiveDay, instrument: Instrument, outcome: Exclude<Download, { kind: 'file' }>): void {
    const details = { instrument: instrument.instrument, date: day.date }
    switch (outcome.kind) {
      case 'absent':
        if (!this.plan.absent(day, hostNow(), ticks())) return
        this.#parts.report.left('the venue has no archive of the day: it is asked again in a day', details)
        return this.#tell(day, instrument, { from: day.from, rows: 0 })
      case 'damaged': {
        const isGivenUp = this.plan.damaged(day, ticks())
        const what = isGivenUp
          ? 'an archive is damaged each time: it is left out until the next start'
          : 'an archive is damaged'
        return this.#parts.report.left(what, { ...details, why: outcome.why })
      }
      case 'wait':
        // Who is asked too often is left alone; a file that is refused is one file.
        if (outcome.status === 418 || outcome.status === 429) this.later(outcome.waitMs)
        else this.#dayLater(day, outcome.waitMs)
        return this.#trouble('the venue’s archive lets us wait', { ...details, ...outcome })
      case 'failed':
        this.#dayLater(day)
        return this.#trouble('an archive could not be fetched', { ...details, why: outcome.message })
    }
  }

  /** What the core says of the day; no rows where we are to stop. Throws `TapeError` of a file that is no archive of the day. */
  async #fold(
    day: ArchiveDay,
    instrument: Instrument,
    file: string,
  ): Promise<{ rows: PastFlow[] | undefined; from: Micros }> {
    const { archive, report } = this.#parts
    const normalise = normaliser(instrument)
    const checked = new DayCheck(archive, day)
    const fold = new ArchiveFold()
    for await (const lines of linesOf(file)) {
      for (const line of lines) {
        const found = archive.read(line.split(','), day.symbol)
        const trade = typeof found === 'string' ? found : normalise(found, found.time, fromImport)
        const isOurs = checked.take(trade)
        if (isOurs && typeof trade !== 'string') fold.add(trade)
      }
      await turn() // live trades go first
      if (this.isStopped) return { rows: undefined, from: 0 }
    }
    for (const [reason, count] of Object.entries({ ...checked.refused, ...fold.refused }))
      if (count > 0) report.refused(`archive-${reason}`, count)
    return { rows: fold.end(), from: checked.from }
  }

  async #write(
    day: ArchiveDay,
    instrument: Instrument,
    { rows, from }: { rows: PastFlow[]; from: Micros },
  ): Promise<void> {
    const { log, report } = this.#parts
    const received = hostNow() * 1_000
    for (const row of rows) log.past('venue_candle', candleOf(row, instrument, received), received)
    await this.drained({ instrument: instrument.instrument, date: day.date })
    if (this.isStopped) return
    report.written(rows.length)
    this.#tell(day, instrument, { from, rows: rows.length })
  }

  #tell(day: ArchiveDay, { instrument }: Instrument, { from, rows }: { from: Micros; rows: number }): void {
    const time = hostNow() * 1_000
    const series = seriesOf(day.date)
    this.known?.set(pastKey({ instrument, series }), doneUntil(rows, time))
    this.plan.done(day)
    const covered = { covered_from: from, covered_to: from + DAY, rows, time }
    this.#parts.log.record('backfill', { instrument, series, ...covered }, time)
  }

  #keyOf(symbol: string, date: string): string {
    const instrument = this.#parts.instrumentOf(symbol)?.instrument ?? ''
    return pastKey({ instrument, series: seriesOf(date) })
  }

  /** Other files go on. */
  #dayLater(day: ArchiveDay, leastMs = 0): void {
    this.plan.failed(day, ticks(), leastMs)
    this.later(PAUSE_MS)
  }

  #trouble(what: string, details: Readonly<Record<string, unknown>>): void {
    this.#parts.report.trouble(what, details)
  }
}

/** What the log has is there for good; that the venue has nothing is true for a day. */
function doneUntil(rows: number, time: Micros): Micros {
  return rows > 0 ? Infinity : time + ABSENT
}

/** Whether what a file holds are trades of the day that it is named after. */
class DayCheck {
  readonly #archive: TradeArchive
  readonly #day: ArchiveDay
  #from: Micros | undefined
  #latest = 0
  #lines = 0
  readonly refused: Record<string, number> = {}

  constructor(archive: TradeArchive, day: ArchiveDay) {
    this.#archive = archive
    this.#day = day
  }

  /** Where the file's day begins. */
  get from(): Micros {
    return this.#from ?? this.#day.from
  }

  /** Takes a line's trade, or why it is none; whether it counts. Throws `TapeError`. */
  take(trade: Trade | string): boolean {
    this.#lines += 1
    if (trade === 'header' && this.#lines === 1) return false
    if (typeof trade === 'string') return this.#refuse(trade)
    this.#from ??= this.#beginOf(trade.time)
    if (trade.time < this.#latest - DISORDER_MAX) return this.#refuse('disorder')
    this.#latest = Math.max(this.#latest, trade.time)
    return (trade.time >= this.#from && trade.time < this.#from + DAY) || this.#refuse('other-day')
  }

  #refuse(reason: string): false {
    this.refused[reason] = (this.refused[reason] ?? 0) + 1
    const all = Object.values(this.refused).reduce((sum, count) => sum + count, 0)
    if (all > 10 && all > this.#lines * REFUSED_SHARE_MAX)
      throw new TapeError('corrupt', `line ${this.#lines}: ${reason}; it is no archive of ${this.#day.date}`)
    return false
  }

  /** The latest of the days that it may be of in which its first trade lies. */
  #beginOf(first: Micros): Micros {
    const begins = this.#archive.begins.map((ms) => this.#day.from + ms * 1_000).toSorted((a, b) => a - b)
    return begins.findLast((begin) => begin <= first) ?? begins[0] ?? this.#day.from
  }
}

function candleOf(row: PastFlow, { instrument, asset }: Instrument, received: Micros): VenueCandle {
  const { start, seconds, open, high, low, close, buy, sell, buy_quote, sell_quote, buy_count, sell_count } = row
  return {
    instrument,
    asset,
    start,
    seconds,
    open,
    high,
    low,
    close,
    volume: buy + sell,
    taker_buy: buy,
    quote: buy_quote + sell_quote,
    taker_buy_quote: buy_quote,
    trades: buy_count + sell_count,
    source: 'archive',
    received,
  }
}
