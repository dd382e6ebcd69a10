import type { Gap, Micros, TradePosition } from '../../../schemas/records.ts'
import { type Covered, type CoveredIds, type CoveredTimes, LogCoverage } from './coverage.ts'
import { type GapReason, gapOf, type NoRows, tradesOf, troubleOf, waitAfter } from './gaps.ts'
import { type Hole, reorderGraceMs } from './id-tracker.ts'
import { findStart } from './first-id.ts'
import { PageRepair } from './page-repair.ts'
import { failureBackoff, IdRepair, maxErrors, type RepairOptions } from './id-repair.ts'
import type { IdStream, PageStream, Stream } from './stream.ts'

/** A stream without trades or heartbeats for this long may have lost its last ones: the venue is asked. */
const quietAfterMs = 4_000
/** First and longest time between two such questions about one silent instrument. */
const probeEveryMs = { first: 10_000, max: 60_000 } as const
/** How often the log is told how far a stream is complete: well within the hour that is read at a restart. */
const stateEveryMs = 1_200_000
/** How often the gap of a market whose ids begin anew grows: by a bucket of what is derived. */
const growEveryMs = 10_000
/** A hole that shows so soon after a lost connection is the connection's. */
const reconnectMs = 60_000

/**
 * Keeps one venue's trades complete, as its one owner: takes over what the log has, opens gaps for what did not come,
 * and has them filled. A process that does not own the venue has none at work and only streams.
 */
export class TradeRepair {
  readonly #options: RepairOptions
  readonly #streams: () => Iterable<Stream>
  readonly #ids: IdRepair
  readonly #pages: PageRepair
  readonly #adopted = new Set<Stream>()
  readonly #probing = new Set<IdStream>()
  #placing = false
  #ready = false
  #stopped = false

  constructor(streams: () => Iterable<Stream>, options: RepairOptions) {
    this.#options = options
    this.#streams = streams
    this.#ids = new IdRepair(options)
    this.#pages = new PageRepair(options)
    // Such a page slides on while the log is read: what it has now is what can be saved.
    for (const stream of streams()) if (stream.ids === 'none') this.#pages.prefetch(stream)
  }

  /** Gaps that are neither filled nor given up. */
  get pending(): number {
    return this.#ids.pending
  }

  /**
   * Takes over the streams without ordered ids of which `recent` has how far they are complete: their REST reaches back a
   * short time only. Of the others their last trades may be all that it has, and what came right before these is not known;
   * nor does it reach back to where one was complete before the log lost something.
   */
  adoptTimes(recent: LogCoverage): void {
    for (const stream of this.#streams()) {
      const isEnough = safeOf(stream) === undefined && recent.of(stream.instrument.instrument)?.stated === true
      if (stream.ids === 'none' && isEnough) this.#adopt(stream, recent)
    }
  }

  /** Takes over all streams; one that `hour` does not know begins anew, and so does each that comes later. */
  adoptAll(hour: LogCoverage): void {
    for (const stream of this.#streams()) this.#adopt(stream, hour)
    this.#ready = true
  }

  /** Called often. `now`: ticks. */
  tick(now: number): void {
    if (this.#stopped) return
    this.#dropEnded()
    if (this.#ready) for (const stream of this.#streams()) this.#adopt(stream)
    for (const stream of this.#adopted) {
      if (stream.ids === 'none') continue
      this.#stateAnew(stream, now)
      for (const hole of stream.tracker.due(now)) this.#ids.open(stream, hole, reasonOf(stream, hole, now))
      // What it is known to lack is filled before it is asked what else there is.
      if (this.#ids.repairs(stream)) continue
      if (this.#isUnplaced(stream, now)) void this.#place(stream)
      else if (this.#isQuiet(stream, now)) void this.#probe(stream, now)
    }
    this.#pages.tick(now)
  }

  /**
   * What the next mark of a partition is to say: how far the streams are complete of which the log may hold no trade any
   * more, since it begins at another offset (`start`) than when it was said, or the last time was long ago.
   */
  positions(partition: number, start: number, now: number): TradePosition[] {
    const due = [...this.#adopted].filter(
      ({ partition: own, stated }) => own === partition && (stated?.start !== start || now - stated.at >= stateEveryMs),
    )
    return due.flatMap((stream) => {
      const { position, began } = stream.tracker
      if (stream.ids === 'contiguous' && typeof stream.since === 'number') {
        stream.stated = { at: now, start, position: { last_id: null, time: stream.since } }
        return [{ instrument: stream.instrument.instrument, ...stream.stated.position }]
      }
      if (position === undefined || began === undefined) return []
      stream.stated = { at: now, start, position, before: stream.stated?.position ?? began }
      return [{ instrument: stream.instrument.instrument, ...position }]
    })
  }

  stop(): void {
    this.#stopped = true
    this.#ids.stop()
    this.#pages.stop()
  }

  #dropEnded(): void {
    const streams = new Set(this.#streams())
    for (const stream of this.#adopted) {
      if (streams.has(stream)) continue
      this.#adopted.delete(stream)
      if (stream.ids === 'contiguous') this.#ids.drop(stream)
      else this.#pages.drop(stream)
    }
  }

  #adopt(stream: Stream, log: LogCoverage = new LogCoverage()): void {
    if (this.#adopted.has(stream)) return
    this.#adopted.add(stream)
    const covered = coveredBy(log, stream)
    if (stream.ids === 'contiguous') this.#adoptIds(stream, covered?.ids === 'contiguous' ? covered : undefined)
    else this.#adoptTimes(stream, covered?.ids === 'none' ? covered : undefined, log.doubtedFrom)
  }

  #adoptIds(stream: IdStream, covered: CoveredIds | undefined): void {
    if (covered === undefined) return
    const { tracker, open, since } = covered
    stream.since = since ?? 'placed'
    stream.resumedAt = tracker.top
    tracker.absorb(stream.tracker)
    stream.tracker = tracker
    for (const [gapId, gap] of open) this.#goOn(stream, gapId, gap)
    for (const hole of tracker.due(this.#options.ticks())) this.#ids.open(stream, hole, 'restart')
  }

  /** A gap that the log has as open goes on under its own id, in no other gap, or is said to be filled. */
  #goOn(stream: IdStream, gapId: number, gap: Gap): void {
    const { from_id: from, to_id: to, from_time: fromTime, to_time: toTime } = gap
    if (from === null || to === null) return
    const missing = stream.tracker.missing(from, to)
    const [first, last] = [missing[0], missing.at(-1)]
    if (first === undefined || last === undefined) {
      this.#ids.close(stream, gapId, { from, to, fromTime, toTime })
      return
    }
    stream.tracker.claim(first.from, last.to)
    this.#ids.open(stream, { from: first.from, to: last.to, fromTime, toTime }, 'restart', gapId)
  }

  #adoptTimes(stream: PageStream, covered: CoveredTimes | undefined, doubtedFrom: Micros): void {
    const open = [...(covered?.open.values() ?? [])].map((gap) => ({ fromTime: gap.from_time, toTime: gap.to_time }))
    if (covered !== undefined) {
      const { tracker, since } = covered
      if (since !== undefined) tracker.stand(since)
      const safe = safeOf(stream)?.time ?? Infinity
      tracker.resume(stream.tracker, Math.min(safe, doubtedFrom, ...open.map(({ fromTime }) => fromTime)))
      tracker.absorb(stream.tracker)
      stream.tracker = tracker
    }
    this.#pages.watch(stream, open)
  }

  #isUnplaced({ since, placeAt }: IdStream, now: number): boolean {
    const isKnown = typeof since !== 'number' || this.#options.clock.now() - since < quietAfterMs * 1_000
    return !isKnown && now >= placeAt && !this.#placing
  }

  /** Asks with which id a subscription began: what came since, and not by the stream, is missing. */
  async #place(stream: IdStream): Promise<void> {
    const { backfill, rest, ticks, random, report } = this.#options
    const { since, symbol, tracker } = stream
    if (typeof since !== 'number') return
    this.#placing = true
    const first = tracker.top === undefined ? undefined : tracker.floor
    const outcome = await findStart(backfill, rest, symbol, first, since)
    this.#placing = false
    if (this.#stopped || stream.since !== since) return
    if (outcome.kind === 'found') this.#placed(stream, outcome, since)
    else if (outcome.kind === 'none') stream.placeAt = ticks() + probeEveryMs.first
    else {
      report.trouble(troubleOf(outcome))
      stream.placeAt = ticks() + waitAfter(outcome, () => stream.refusals, random(), failureBackoff)
      if (++stream.refusals >= maxErrors && outcome.kind === 'error') this.#giveUp(stream, since)
    }
  }

  #placed(stream: IdStream, { id, newest }: Readonly<Record<'id' | 'newest', number>>, since: Micros): void {
    const { clock, ticks } = this.#options
    stream.tracker.stand(id - 1, since)
    stream.tracker.tell(newest, clock.now(), ticks())
    stream.toldAt = ticks()
    stream.since = 'placed'
    delete stream.stated
  }

  /** Nobody says whether something came before the first trade. */
  #giveUp(stream: IdStream, since: Micros): void {
    const { log, clock, feed, report } = this.#options
    const { tracker, instrument } = stream
    const toTime = Math.max(since, tracker.began?.time ?? clock.now())
    const gap = { gapId: since, state: 'unfillable', reason: 'refused', missing: null } as const
    log.gap(gapOf(instrument, gap, { fromTime: since, toTime }, { feed, time: clock.now() }))
    report.gap(gap.state, gap.reason, null, instrument.instrument)
    stream.since = 'placed'
    delete stream.stated
  }

  /** Trades under ids that others had before cannot be told from these, so the log has none of them. */
  #stateAnew(stream: IdStream, now: number): void {
    const { anew } = stream.tracker
    const { anew: stated, instrument } = stream
    if (anew === undefined || (stated !== undefined && (now - stated.at < growEveryMs || stated.to === anew.to))) return
    const { log, clock, feed, report } = this.#options
    const gap = { gapId: anew.from, state: 'unfillable', reason: 'ids_anew', missing: null } as const
    log.gap(gapOf(instrument, gap, { fromTime: anew.from, toTime: anew.to }, { feed, time: clock.now() }))
    if (stated?.from !== anew.from) report.anew(instrument.instrument)
    stream.anew = { ...anew, at: now }
  }

  #isQuiet(stream: IdStream, now: number): boolean {
    const heard = Math.max(stream.lastTradeAt, stream.toldAt)
    if (now - heard < quietAfterMs) {
      stream.probes = 0
      stream.probeAt = 0
      return false
    }
    return stream.tracker.top !== undefined && now >= stream.probeAt && !this.#probing.has(stream)
  }

  /** Asks for trades beyond the newest known one: the last ones before a silence show in no stream. */
  async #probe(stream: IdStream, now: number): Promise<void> {
    const { backfill, rest, clock, ticks } = this.#options
    const top = stream.tracker.top ?? 0
    this.#probing.add(stream)
    stream.probeAt = now + Math.min(probeEveryMs.max, probeEveryMs.first * 2 ** stream.probes++)
    const call = backfill.page(stream.symbol, top + 1, top + backfill.pageSize, stream.tracker.topTime)
    const outcome = await rest.get(call, (body) => backfill.parse(stream.symbol, body))
    this.#probing.delete(stream)
    if (this.#stopped) return
    if (outcome.kind !== 'rows') return this.#unanswered(stream, outcome)
    const last = tradesOf(outcome.rows).reduce((most, { id }) => Math.max(most, id), top)
    if (last === top) return
    stream.tracker.tell(last, clock.now(), ticks())
    const isFull =
      backfill.direction === 'since' ? outcome.rows.length >= backfill.pageSize : last >= top + backfill.pageSize
    // There may be more behind it: asked once these are holes, which are filled first.
    if (isFull) [stream.probes, stream.probeAt] = [0, ticks() + reorderGraceMs]
  }

  /** A question that was not answered says nothing of the silence: it is asked again when the venue takes questions. */
  #unanswered(stream: IdStream, outcome: NoRows): void {
    const { ticks, random, report } = this.#options
    report.trouble(troubleOf(outcome))
    stream.probeAt = ticks() + waitAfter(outcome, () => stream.probes, random(), failureBackoff)
  }
}

/** What the log has of a stream; where it has lost something, what it had for certain before. */
function coveredBy(log: LogCoverage, stream: Stream): Covered | undefined {
  const { instrument } = stream.instrument
  const safe = safeOf(stream)
  if (safe !== undefined) log.stand({ instrument, ...safe })
  return log.of(instrument)
}

/** Holds until a mark says how far the stream is complete, which it says of one whose loss was repaired. */
function safeOf({ safe, stated }: Stream): Stream['safe'] {
  return stated === undefined ? safe : undefined
}

function reasonOf(stream: IdStream, hole: Hole, now: number): GapReason {
  if (stream.resumedAt !== undefined && hole.from <= stream.resumedAt + 1) return 'restart'
  return now - stream.lostAt < reconnectMs ? 'reconnect' : 'missing_ids'
}
