import type { Gap, Mark, Message, Micros, SubscriptionChange, Trade, TradePosition } from '../../../schemas/records.ts'
import { partsOf, tradeVenues } from '../../../schemas/venues.ts'
import { IdTracker } from './id-tracker.ts'
import { PageTracker } from './page-tracker.ts'

/** What the log has of one instrument. */
export type Covered = CoveredIds | CoveredTimes

interface Common {
  /** Gaps that are neither filled nor given up, by id. */
  readonly open: Map<number, Gap>
  /** Nothing was said but that it is subscribed since then; undefined: how far it is complete was. */
  since?: Micros | undefined
  /** `since` is when the feed process of that run asked: what the venue acknowledges is not before. */
  askedIn?: Micros | undefined
  /** A mark said how far it is complete. */
  stated?: true
}

export interface CoveredIds extends Common {
  readonly ids: 'contiguous'
  readonly tracker: IdTracker
}

export interface CoveredTimes extends Common {
  readonly ids: 'none'
  readonly tracker: PageTracker
}

/** A feed process as its marks tell of it. */
interface Run {
  /** Kafka time of its newest mark, milliseconds. */
  readonly time: number
  /** It states how far trades are complete. */
  readonly repairs: boolean
}

const orderOf = new Map<string, 'contiguous' | 'none'>(tradeVenues.map(({ venue, ids }) => [venue, ids]))

/**
 * Folds the last hour of `market.trades` into what each instrument has: the ids that are there, the gaps that are open
 * and those that were given up; of one without trades, how far it was stated to be complete, or since when it is
 * subscribed. A subscription that ended takes its instrument out: what follows is a new start.
 */
export class LogCoverage {
  readonly #instruments = new Map<string, Covered>()
  readonly #runs = new Map<Micros, Run>()

  /** Takes one record; `time`: its Kafka time, milliseconds. */
  apply(message: Message, time: number): void {
    switch (message.type) {
      case 'trade':
        this.#trade(message.value, time)
        return
      case 'gap':
        this.#gap(message.value)
        return
      case 'mark':
        for (const change of message.value.changes) this.#change(change, message.value.run)
        for (const position of message.value.positions) this.#state(position)
        this.#heard(message.value, time)
        return
      default: // no other record is in the topic
    }
  }

  /**
   * When the log last heard of a process that had read it back, Kafka time, milliseconds: such a process states positions.
   * Undefined: of none.
   */
  get repairedUntil(): number | undefined {
    const times = [...this.#runs.values()].filter(({ repairs }) => repairs).map(({ time }) => time)
    return times.length === 0 ? undefined : Math.max(...times)
  }

  /** From here on a process streamed that had begun anew and ended before it had read the log: nobody looked what was missing. */
  get doubtedFrom(): Micros {
    const until = this.repairedUntil
    if (until === undefined) return Infinity
    const isDoubted = [...this.#runs].some(([run, { repairs }]) => !repairs && run > until * 1_000)
    return isDoubted ? until * 1_000 : Infinity
  }

  /** What the log has of `instrument`; undefined: nothing. */
  of(instrument: string): Covered | undefined {
    return this.#instruments.get(instrument)
  }

  /** An instrument is complete up to there. */
  stand({ instrument, last_id: id, time }: TradePosition): void {
    const covered = this.#covered(instrument)
    if (covered === undefined) return
    // Of ids that go up by one there is one, as soon as it is known with which the subscription began.
    covered.since = covered.ids === 'contiguous' && id === null ? time : undefined
    covered.askedIn = undefined
    if (covered.ids === 'none') covered.tracker.stand(time)
    else if (id !== null) covered.tracker.stand(id, time)
  }

  get instruments(): Iterable<string> {
    return this.#instruments.keys()
  }

  #state(position: TradePosition): void {
    this.stand(position)
    const covered = this.#covered(position.instrument)
    if (covered !== undefined) covered.stated = true
  }

  #heard({ run, positions }: Mark, time: number): void {
    const repairs = positions.length > 0 || this.#runs.get(run)?.repairs === true
    this.#runs.set(run, { time, repairs })
  }

  #change({ instrument, state, time }: SubscriptionChange, run: Micros): void {
    const known = this.#instruments.get(instrument)
    const isOwn = known?.askedIn === run
    const isNew = known === undefined && (state === 'asked' || state === 'acknowledged')
    if (state === 'ended' || (state === 'refused' && isOwn)) this.#instruments.delete(instrument)
    if (!isNew && !(state === 'acknowledged' && isOwn)) return
    const covered = this.#covered(instrument)
    if (covered === undefined) return
    covered.since = time
    covered.askedIn = state === 'asked' ? run : undefined
  }

  #trade(trade: Trade, time: number): void {
    const covered = this.#covered(trade.instrument)
    if (covered === undefined) return
    if (covered.ids === 'none') covered.tracker.observe(trade.first_id, trade.time)
    else {
      covered.tracker.observe(trade.first_id, trade.time, time)
      if (trade.last_id > trade.first_id) covered.tracker.seen(trade.first_id, trade.last_id, trade.time)
    }
  }

  #gap(gap: Gap): void {
    const covered = this.#instruments.get(gap.instrument)
    if (covered === undefined) return
    if (gap.state === 'opened') covered.open.set(gap.gap_id, gap)
    else covered.open.delete(gap.gap_id)
    if (gap.state !== 'unfillable' || covered.ids === 'none' || gap.from_id === null || gap.to_id === null) return
    const from = Math.max(gap.from_id, covered.tracker.floor)
    if (from <= gap.to_id) covered.tracker.lose(from, gap.to_id, gap.from_time)
  }

  #covered(instrument: string): Covered | undefined {
    const known = this.#instruments.get(instrument)
    if (known !== undefined) return known
    const ids = orderOf.get(partsOf(instrument).venue)
    if (ids === undefined) return undefined
    const open = new Map<number, Gap>()
    const covered: Covered =
      ids === 'none' ? { ids, tracker: new PageTracker(), open } : { ids, tracker: new IdTracker(), open }
    this.#instruments.set(instrument, covered)
    return covered
  }
}
