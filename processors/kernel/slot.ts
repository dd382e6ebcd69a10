import type { Slice } from '../../infra/kafka/seam.ts'
import { FatalError, isFenced } from './errors.ts'
import type { ProcessorRow } from './processor.ts'
import { Task, type TaskOptions } from './task.ts'

/** A new owner that has just claimed must not be claimed from at once by the one that it replaced. */
const REOPEN_AFTER_MS = 1_000

/** `waiting`: after a failure, until it is opened again. `dropped`: for good. */
export type SlotState = 'opening' | 'idle' | 'busy' | 'waiting' | 'dropped'

export interface SlotOptions extends TaskOptions {
  /** Called when a task is ready for records. */
  readonly onIdle: () => void
  /** Called once, when no restart of the task can help. */
  readonly onFatal: (error: FatalError) => void
}

/**
 * An assigned partition of one processor: opens its task, hands records to it, opens another after a failure, for as
 * long as the partition is assigned. A failure stays within it.
 */
export class Slot {
  readonly row: ProcessorRow
  readonly partition: number
  /** Records not yet applied, of each input, as of the last fetch. */
  readonly lag = new Map<string, number>()
  readonly #options: SlotOptions
  #state: SlotState = 'opening'
  #task: Task | undefined
  #running: Promise<void>
  /** When work last succeeded, host's clock, milliseconds. */
  #goodAt: number
  /** Since a failure no work has succeeded, even if a task is open. */
  #isSuspect = false

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

  /** The task that can be fed now, if there is one. */
  get idleTask(): Task | undefined {
    return this.#state === 'idle' ? this.#task : undefined
  }

  get task(): Task | undefined {
    return this.#task
  }

  /** Milliseconds since it was last known to work, 0 while it does. */
  failingMs(now: number): number {
    return this.#state === 'idle' && !this.#isSuspect ? 0 : now - this.#goodAt
  }

  /** Feeds the idle task; resolves when it is idle again or given up. Never rejects. */
  work(slices: readonly Slice[]): Promise<void> {
    const task = this.idleTask
    if (task === undefined) return Promise.resolve()
    this.#state = 'busy'
    this.#running = task.work(slices).then(
      () => this.#succeed(task),
      (error: unknown) => {
        // The wait before the next opening is not part of this work: the others go on meanwhile.
        this.#running = this.#giveUp(error)
      },
    )
    return this.#running
  }

  /** The partition is no longer ours: what is in flight will be refused by the new owner's claim. */
  drop(): void {
    this.#state = 'dropped'
    this.#closeTask()
  }

  /** A clean end: what is running finishes, the state is written, so that the next owner has nothing to repeat. */
  async stop(): Promise<void> {
    const wasOpen = this.#state === 'idle' || this.#state === 'busy'
    if (wasOpen) await this.#running
    const task = this.idleTask
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
        const task = await Task.open(this.row, this.partition, this.#options)
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
    this.#options.onIdle()
  }

  #succeed(task: Task): void {
    this.#goodAt = this.#options.ports.clock.now()
    this.#isSuspect = false
    this.#idle(task)
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
  }

  /** A method, because the state changes while others wait. */
  #isDropped(): boolean {
    return this.#state === 'dropped'
  }

  #warn(message: string, error: unknown): void {
    const { row, partition } = this
    this.#options.ports.report.warn({ processor: row.name, partition, err: error }, message)
  }
}
