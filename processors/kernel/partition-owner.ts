import type { Membership, Position, Slice } from '../../infra/kafka/seam.ts'
import { FatalError, isFenced, RecordFailure } from './errors.ts'
import type { OwnedPartition } from './owned-partition.ts'
import type { Ports } from './ports.ts'

/** A new owner that has just claimed must not be claimed from at once by the one that it replaced. */
const REOPEN_AFTER_MS = 1_000
/** Where nobody deals partitions out, an owner that loses its claim so often in a row shares it with another process. */
const FENCES_MAX = 5
/** A claim that was held for longer was not taken by whoever took the one before. */
const HELD_MS = 600_000

/** What is done with a partition that is owned; another takes its place after a failure. Calls of `work` never overlap. */
export interface PartitionWork {
  readonly owned: OwnedPartition
  /** Whether it can take records. Left out: always. */
  readonly hasRoom?: boolean
  /** Whether it is to work although a fetch brought nothing. */
  readonly isDue?: boolean
  /** Takes in what a fetch brought. */
  work(slices: readonly Slice[]): Promise<void>
  /** What its time has come for; after each fetch. */
  tick?(): void
  /** A clean end: what it knows is in the log then. */
  finish?(): Promise<void>
  /** Its own counts, by name. */
  counts?(): Readonly<Record<string, number>>
}

/** `waiting`: after a failure, until it is opened again. `dropped`: for good. */
export type OwnerState = 'opening' | 'idle' | 'busy' | 'waiting' | 'dropped'

export interface OwnerOptions<Work> {
  /** Of the processor or service. */
  readonly name: string
  readonly membership: Membership
  readonly ports: Pick<Ports, 'clock' | 'meter' | 'report'>
  /** Claims the partition, restores and begins; `after`: what the work before it failed of, if it was a record. */
  readonly open: (partition: number, after: RecordFailure | undefined) => Promise<Work>
  /** Called when it wants records again. */
  readonly onWant: () => void
  /** Called after work: what was worked on, and where its inputs are now. */
  readonly onWorked: (slices: readonly Slice[], positions: readonly Position[]) => void
  /** Called once, when opening again cannot help. */
  readonly onFatal: (error: FatalError) => void
}

/**
 * Owns a partition of one reader for as long as it is assigned: opens its work, hands records to it, opens it again after a
 * failure. A failure stays within it. One batch may wait while another is worked on, so that the next fetch is under way
 * while outputs are being written; more never pile up.
 */
export class PartitionOwner<Work extends PartitionWork> {
  readonly name: string
  readonly partition: number
  readonly #options: OwnerOptions<Work>
  #state: OwnerState = 'opening'
  #work: Work | undefined
  /** What was last asked for; what comes for anything else comes too late. */
  #wanted: readonly Position[] | undefined
  /** Where to read on behind all that was handed over; undefined where only the work will know. */
  #ahead: readonly Position[] | undefined
  #waiting: readonly Slice[] | undefined
  #running: Promise<void> = Promise.resolve()
  /** When it was last known to work, milliseconds of the steady clock. */
  #goodAt: number
  /** Since a failure nothing has succeeded, even if its work is open. */
  #isSuspect = false
  #after: RecordFailure | undefined
  #openedAt: number
  /** Claims lost in a row. */
  #fences = 0

  constructor(partition: number, options: OwnerOptions<Work>) {
    this.name = options.name
    this.partition = partition
    this.#options = options
    this.#goodAt = options.ports.clock.steady()
    this.#openedAt = this.#goodAt
    void this.#open()
  }

  get state(): OwnerState {
    return this.#state
  }

  /** Undefined while it is being opened. */
  get work(): Work | undefined {
    return this.#work
  }

  /** Milliseconds since it was last known to work, 0 while it does. */
  failingMs(now: number): number {
    return this.#state === 'idle' && !this.#isSuspect ? 0 : now - this.#goodAt
  }

  /** From where it wants records; undefined while it can take none. */
  wants(): readonly Position[] | undefined {
    if (this.#waiting !== undefined || this.#work?.hasRoom === false) return undefined
    if (this.#state === 'idle') this.#wanted = this.#work?.owned.positions()
    else this.#wanted = this.#state === 'busy' ? this.#ahead : undefined
    return this.#wanted
  }

  /** Takes what a fetch brought for `wanted`, as `wants` gave it; its own topics and partition only. */
  offer(wanted: readonly Position[], slices: readonly Slice[]): void {
    const work = this.#work
    if (wanted !== this.#wanted || work === undefined) return // other work has taken the place of the one that asked
    const isNews = slices.some((slice, index) => slice.error !== undefined || slice.next !== wanted[index]?.offset)
    if (!isNews && work.isDue !== true) {
      if (this.#state === 'idle') this.#isSuspect = false
      return this.#options.onWorked(slices, wanted)
    }
    this.#ahead = behind(slices)
    if (this.#state === 'idle') this.#start(work, slices)
    else this.#waiting = slices
  }

  /** A broker was away: the log may be another when it is back. */
  interrupted(): void {
    this.#work?.owned.interrupted()
  }

  /** The partition is no longer ours: what is in flight will be refused by the new owner's claim. */
  drop(): void {
    this.#state = 'dropped'
    this.#close()
  }

  /** A clean end: what is running finishes, what is known is written, so that the next owner has nothing to repeat. */
  async stop(): Promise<void> {
    this.#waiting = undefined
    if (this.#state === 'busy') await this.#running
    const work = this.#work // none after a failure
    this.#state = 'dropped'
    try {
      await work?.finish?.()
    } catch (error) {
      this.#warn('could not write the state at the end; the next owner repeats a little', error)
    }
    this.#close()
  }

  async #open(): Promise<void> {
    while (this.#state !== 'dropped') {
      try {
        const work = await this.#options.open(this.partition, this.#after)
        if (this.#isDropped()) return void work.owned.close().catch(() => undefined) // it never had anything in flight
        this.#openedAt = this.#options.ports.clock.steady()
        void work.owned.failed.then((error) => this.#fail(work, error))
        return this.#idle(work)
      } catch (error) {
        if (!this.#mayRetry(error)) return
        await this.#options.ports.clock.delay(REOPEN_AFTER_MS)
      }
    }
  }

  #idle(work: Work): void {
    this.#work = work
    this.#state = 'idle'
    this.#options.onWant()
  }

  #start(work: Work, slices: readonly Slice[]): void {
    const { clock } = this.#options.ports
    if (!this.#isSuspect) this.#goodAt = clock.steady()
    this.#state = 'busy'
    // Work fills the processor until its outputs are sent; the fetch for what comes next goes out before that.
    const working = clock.turn().then(() => work.work(slices))
    this.#running = working.then(
      () => this.#succeed(work, slices),
      (error: unknown) => this.#fail(work, error),
    )
  }

  #succeed(work: Work, slices: readonly Slice[]): void {
    if (work !== this.#work) return
    this.#isSuspect = false
    this.#after = undefined
    const positions = work.owned.positions()
    this.#options.onWorked(slices, positions)
    const waiting = this.#waiting
    this.#waiting = undefined
    const isBack = isBehind(positions, slices)
    if (isBack) this.#wanted = undefined // what was asked for ahead of it is of no use
    if (waiting === undefined || isBack) return this.#idle(work)
    this.#start(work, waiting)
    this.#options.onWant()
  }

  /** That work is of no use any more; other work takes its place in a moment. */
  #fail(work: Work, error: unknown): void {
    if (work !== this.#work) return
    if (this.#state === 'idle' && !this.#isSuspect) this.#goodAt = this.#options.ports.clock.steady()
    if (this.#mayRetry(error)) void this.#options.ports.clock.delay(REOPEN_AFTER_MS).then(() => this.#open())
  }

  /** Drops the work after a failure and says whether other work may be opened later. */
  #mayRetry(error: unknown): boolean {
    this.#close()
    if (this.#isDropped()) return false
    this.#state = 'waiting'
    this.#isSuspect = true
    this.#after = error instanceof RecordFailure ? error : this.#after
    const fatal = error instanceof FatalError ? error : this.#twoOwners(error)
    if (fatal !== undefined) {
      this.#options.onFatal(fatal)
      return false
    }
    const { meter } = this.#options.ports
    if (isFenced(error)) meter.fenced(this.name)
    else meter.failed(this.name)
    const what = isFenced(error) ? 'another instance has claimed the partition' : 'the partition’s work failed'
    this.#warn(`${what}; it is opened again`, error)
    return true
  }

  /** Where partitions are fixed nobody else may have this one: an owner that is replaced ends, or another process runs. */
  #twoOwners(error: unknown): FatalError | undefined {
    const { membership, ports } = this.#options
    if (!isFenced(error)) return undefined
    this.#fences = ports.clock.steady() - this.#openedAt < HELD_MS ? this.#fences + 1 : 1
    if (!membership.isFixed || this.#fences < FENCES_MAX) return undefined
    return new FatalError(
      'two-owners',
      `partition ${this.partition} of ${this.name} was claimed ${this.#fences} times by another process: two run with ` +
        'MEMBERSHIP=fixed and the same partitions. End one of them; to share the partitions start all with MEMBERSHIP=group',
      { cause: error },
    )
  }

  #close(): void {
    this.#work?.owned.close().catch(() => undefined) // nothing of it is used any more
    this.#work = undefined
    this.#wanted = undefined
    this.#waiting = undefined
  }

  /** A method, because the state changes while others wait. */
  #isDropped(): boolean {
    return this.#state === 'dropped'
  }

  #warn(message: string, error: unknown): void {
    const { name, partition } = this
    this.#options.ports.report.warn({ processor: name, partition, err: error }, message)
  }
}

/** Where to read on behind these; unknown where a position was not there. */
function behind(slices: readonly Slice[]): readonly Position[] | undefined {
  if (slices.some((slice) => slice.error !== undefined)) return undefined
  return slices.map(({ topic, partition, next }) => ({ topic, partition, offset: next }))
}

/** Whether less was taken in than these bring: what a log has lost is read again from where it was cut. */
function isBehind(positions: readonly Position[], slices: readonly Slice[]): boolean {
  const next = new Map(positions.map(({ topic, offset }) => [topic, offset]))
  return slices.some((slice) => (next.get(slice.topic) ?? Infinity) < slice.next)
}
