import { partitionOf } from '../../../schemas/catalogue.ts'
import type { Mark, Micros, SubscriptionChange, TradePosition, VenueState } from '../../../schemas/records.ts'

/** Changes kept for a partition that cannot be written to; beyond it the oldest go, the newest state is what counts. */
export const maxWaitingChanges = 1_000

/** What one feed process says in its marks: the state of its venues, and to each partition its own subscriptions. */
export class MarkBook {
  readonly #writer: string
  readonly #began: () => Micros
  readonly #partitions: number
  readonly #states = new Map<string, VenueState>()
  /** The newest change of each instrument: what a first mark lists. */
  readonly #known = new Map<string, SubscriptionChange>()
  readonly #waiting = new Map<number, SubscriptionChange[]>()
  readonly #started = new Set<number>()

  /** `began`: asked when it marks, since before that a clock may be wrong; the newest run of a writer is the one that counts. */
  constructor(writer: string, began: () => Micros, partitions: number) {
    this.#writer = writer
    this.#began = began
    this.#partitions = partitions
  }

  /** Notes a venue's state; `since` moves only when the state changes. */
  venue(venue: string, { state, sockets }: Pick<VenueState, 'state' | 'sockets'>, now: Micros): void {
    const old = this.#states.get(venue)
    this.#states.set(venue, { venue, state, sockets, since: old?.state === state ? old.since : now })
  }

  /** Notes a change; the same state again is none. */
  change(change: SubscriptionChange): void {
    if (this.#known.get(change.instrument)?.state === change.state) return
    if (change.state === 'ended') this.#known.delete(change.instrument)
    else this.#known.set(change.instrument, change)
    const partition = partitionOf(change.asset, this.#partitions)
    const waiting = this.#waiting.get(partition) ?? []
    waiting.push(change)
    if (waiting.length > maxWaitingChanges) waiting.shift()
    this.#waiting.set(partition, waiting)
  }

  /** The states as last noted. */
  get states(): readonly VenueState[] {
    return [...this.#states.values()]
  }

  /**
   * The next mark of a partition; its changes are handed out once. `venueTime`: what the time is by the venues;
   * `positions`: how far instruments are complete.
   */
  next(partition: number, time: Micros, venueTime: Micros | null, positions: readonly TradePosition[] = []): Mark {
    const changes = this.#started.has(partition) ? (this.#waiting.get(partition) ?? []) : this.#all(partition)
    this.#started.add(partition)
    this.#waiting.delete(partition)
    const [writer, run, venues] = [this.#writer, this.#began(), this.states]
    return { writer, run, time, venues, changes, venue_time: venueTime, positions }
  }

  #all(partition: number): SubscriptionChange[] {
    const own = [...this.#known.values()].filter(({ asset }) => partitionOf(asset, this.#partitions) === partition)
    const ended = (this.#waiting.get(partition) ?? []).filter(({ state }) => state === 'ended')
    return [...ended, ...own]
  }
}
