import type { Position, Slice } from '../../infra/kafka/seam.ts'
import { FatalError, isFenced, RecordFailure } from './errors.ts'
import type { ProcessorRow } from './processor.ts'
import { Task, type TaskOptions } from './task.ts'

/** A new owner that has just claimed must not be claimed from at once by the one that it replaced. */
const REOPEN_AFTER_MS = 1_000

/** `waiting`: after a failure, until it is opened again. `dropped`: for good. */
export type SlotState = 'opening' | 'idle' | 'busy' | 'waiting' | 'dropped'

export interface SlotOptions extends TaskOptions {
  /** Called when it wants records again. */
  readonly onWant: () => void
  /** Called after work: what was worked on, and where its inputs are now. */
  readonly onWorked: (slices: readonly Slice[], positions: readonly Position[]) => void
  /** Called once, when no restart of the task can help. */
  readonly onFatal: (error: FatalError) => void
}

/**
 * An assigned partition of one processor: opens its task, hands records to it, opens another after a failure, for as
 * long as the partition is assigned. A failure stays within it. One batch may wait while another is worked on, so that
 * the next fetch is under way while outputs are being written; more never pile up.
 */
export class Slot {
  readonly row: ProcessorRow
  readonly partition: number
  readonly #options: SlotOptions
  #state: SlotState = 'opening'
  #task: Task | undefined
  /** What was last asked for; what comes for anything else comes too late. */
  #wanted: readonly Position[] | undefined
  /** Where to read on behind all that was handed over; undefined where only the task will know. */
  #ahead: readonly Position[] | undefined
  #waiting: readonly Slice[] | undefined
  #running: Promise<void>
  /** When work last succeeded, host's clock, milliseconds. */
  #goodAt: number
  /** Since a failure no work has succeeded, even if a task is open. */
  #isSuspect = false
  /** What the last task failed of, if it was a record: the next one takes records back that fail. */
  #failed: RecordFailure | undefined

  constructor(row: ProcessorRow, partition: number, options: SlotOptions) {
    this.row = row
    this.partition = partition
    this.#options = options
    this.#goodAt = options.ports.clock.now()
    this.#running = this.#open()
  }

  get state(): SlotState {
    return this.#state
  }

  get task(): Task | undefined {
    return this.#task
  }

  /** Milliseconds since it was last known to work, 0 while it does. */
  failingMs(now: number): number {
    return this.#state === 'idle' && !this.#isSuspect ? 0 : now - this.#goodAt
  }

  /** From where it wants records; undefined while it can take none. */
  wants(): readonly Position[] | undefined {
    if (this.#waiting !== undefined) return undefined
    if (this.#state === 'idle') this.#wanted = this.#task?.positions()
    else this.#wanted = this.#state === 'busy' ? this.#ahead : undefined
    return this.#wanted
  }

  /** Takes what a fetch brought for `wanted`, as `wants` gave it; its own topics and partition only. */
  offer(wanted: readonly Position[], slices: readonly Slice[]): void {
    if (wanted !== this.#wanted || this.#task === undefined) return // another task has taken the place of the one that asked
    this.#wanted = undefined
    const isNews = slices.some((slice, index) => slice.error !== undefined || slice.next !== wanted[index]?.offset)
    if (!isNews && !this.#task.isSnapshotDue) return this.#options.onWorked(slices, wanted)
    this.#ahead = behind(slices)
    if (this.#state === 'idle') this.#work(this.#task, slices)
    else this.#waiting = slices
  }

  /** The partition is no longer ours: what is in flight will be refused by the new owner's claim. */
  drop(): void {
    this.#state = 'dropped'
    this.#closeTask()
  }

  /** A clean end: what is running finishes, the state is written, so that the next owner has nothing to repeat. */
  async stop(): Promise<void> {
    this.#waiting = undefined
    if (this.#state === 'busy') await this.#running
    const task = this.#isIdle() ? this.#task : undefined
    this.#state = 'dropped'
    try {
      await task?.snapshot()
    } catch (error) {
      this.#warn('could not write the state at the end; the next owner repeats a little', error)
    }
    this.#closeTask()
  }

  async #open(): Promise<void> {
    while (this.#state !== 'dropped') {
      try {
        const after = this.#failed
        const task = await Task.open(this.row, this.partition, { ...this.#options, ...(after && { after }) })
        if (this.#isDropped()) return void task.close().catch(() => undefined) // it never had anything in flight
        return this.#idle(task)
      } catch (error) {
        if (!this.#mayRetry(error)) return
        await this.#options.ports.clock.delay(REOPEN_AFTER_MS)
      }
    }
  }

  #idle(task: Task): void {
    if (this.#isDropped()) return
    this.#task = task
    this.#state = 'idle'
    this.#options.onWant()
  }

  #work(task: Task, slices: readonly Slice[]): void {
    this.#state = 'busy'
    // Work fills the processor until its outputs are sent; the fetch for what comes next goes out before that.
    const work = this.#options.ports.clock.turn().then(() => task.work(slices))
    this.#running = work.then(
      () => this.#succeed(task, slices),
      (error: unknown) => {
        // The wait before the next opening is not part of this work.
        this.#running = this.#giveUp(error)
      },
    )
  }

  #succeed(task: Task, slices: readonly Slice[]): void {
    this.#goodAt = this.#options.ports.clock.now()
    this.#isSuspect = false
    this.#failed = undefined
    if (this.#isDropped()) return
    this.#options.onWorked(slices, task.positions())
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting === undefined) return this.#idle(task)
    this.#work(task, waiting)
    this.#options.onWant()
  }

  async #giveUp(error: unknown): Promise<void> {
    if (this.#isDropped() || !this.#mayRetry(error)) return
    await this.#options.ports.clock.delay(REOPEN_AFTER_MS)
    await this.#open()
  }

  /** Drops the task after a failure and says whether another may be opened later. */
  #mayRetry(error: unknown): boolean {
    this.#closeTask()
    if (this.#isDropped()) return false
    this.#state = 'waiting'
    this.#isSuspect = true
    this.#failed = error instanceof RecordFailure ? error : this.#failed
    const { meter } = this.#options.ports
    if (error instanceof FatalError) {
      this.#options.onFatal(error)
      return false
    }
    if (isFenced(error)) meter.fenced(this.row.name)
    else meter.failed(this.row.name)
    this.#warn(isFenced(error) ? 'another instance has claimed the partition' : 'the task failed', error)
    return true
  }

  #closeTask(): void {
    this.#task?.close().catch(() => undefined) // nothing of it is used any more
    this.#task = undefined
    this.#wanted = undefined
    this.#waiting = undefined
  }

  /** A method, because the state changes while others wait. */
  #isDropped(): boolean {
    return this.#state === 'dropped'
  }

  #isIdle(): boolean {
    return this.#state === 'idle'
  }

  #warn(message: string, error: unknown): void {
    const { row, partition } = this
    this.#options.ports.report.warn({ processor: row.name, partition, err: error }, message)
  }
}

/** Where to read on behind these; unknown where a position was not there. */
function behind(slices: readonly Slice[]): readonly Position[] | undefined {
  if (slices.some((slice) => slice.error !== undefined)) return undefined
  return slices.map(({ topic, partition, next }) => ({ topic, partition, offset: next }))
}
