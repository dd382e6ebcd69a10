import type { Position, Slice } from '../../infra/kafka/seam.ts'
import type { Micros } from '../../schemas/records.ts'
import { FatalError, isFenced } from '../kernel/errors.ts'
import { Task, type TaskOptions } from './task.ts'

/** A new owner that has just claimed must not be claimed from at once by the one that it replaced. */
const REOPEN_AFTER_MS = 1_000

export interface PlaceOptions extends Omit<TaskOptions, 'onFailed'> {
  readonly onFatal: (error: FatalError) => void
}

/** A partition that is ours: opens its task, and another after a failure, for as long as it is ours. */
export class Place {
  readonly partition: number
  readonly #options: PlaceOptions
  #task: Task | undefined
  #isBusy = false
  #isDropped = false
  /** The end of the log was reached once: an order that stops a retry has been read before the retry is made. */
  #hasCaughtUp = false
  /** When it was last known to work, milliseconds. */
  #goodAt: number
  /** What the last task had not delivered, until the next one knows. */
  #oldest: Micros | undefined

  constructor(partition: number, options: PlaceOptions) {
    this.partition = partition
    this.#options = options
    this.#goodAt = options.ports.clock.now()
    void this.#open()
  }

  get task(): Task | undefined {
    return this.#task
  }

  /** Milliseconds since it was last known to work, 0 while it does. */
  failingMs(now: number): number {
    return this.#task === undefined ? now - this.#goodAt : 0
  }

  get wants(): Position | undefined {
    return this.#isBusy ? undefined : this.#task?.wants
  }

  oldest(): Micros | undefined {
    return this.#task === undefined ? this.#oldest : this.#task.oldest()
  }

  /** Takes what a fetch brought for `wanted`. */
  offer(wanted: Position, slice: Slice): void {
    const task = this.#task
    if (task === undefined || this.#isBusy || task.position.offset !== wanted.offset) return
    const isAtEnd = slice.error === undefined && slice.next >= slice.end
    if (slice.error === undefined && slice.next === wanted.offset) {
      this.#hasCaughtUp ||= isAtEnd
      return
    }
    void this.#take(task, slice, isAtEnd)
  }

  tick(): void {
    if (this.#hasCaughtUp || this.#task?.wants === undefined) this.#task?.tick()
  }

  /** The task is of no use any more; another takes its place in a moment. */
  fail(task: Task, error: unknown): void {
    if (task !== this.#task) return
    this.#goodAt = this.#options.ports.clock.now()
    this.#oldest = task.oldest()
    this.#closeTask()
    if (this.#mayRetry(error)) void this.#reopen()
  }

  /** No longer ours: what is under way will be refused by the new owner's claim. */
  drop(): void {
    this.#isDropped = true
    this.#closeTask()
  }

  /** A clean end: what was said is in the log, so that the next owner has nothing to repeat. */
  async stop(): Promise<void> {
    this.#isDropped = true
    await this.#task?.flushed()
    this.#closeTask()
  }

  async #take(task: Task, slice: Slice, isAtEnd: boolean): Promise<void> {
    this.#isBusy = true
    try {
      await task.take(slice)
      this.#hasCaughtUp ||= isAtEnd && task === this.#task
    } catch (error) {
      this.fail(task, error)
    }
    this.#isBusy = false
  }

  async #reopen(): Promise<void> {
    await this.#options.ports.clock.delay(REOPEN_AFTER_MS)
    await this.#open()
  }

  async #open(): Promise<void> {
    while (!this.#isDropped) {
      try {
        const task = await Task.open(this.partition, { ...this.#options, onFailed: (...why) => this.fail(...why) })
        if (this.#isOver()) return void task.close().catch(() => undefined) // it never had anything under way
        this.#task = task
        this.#hasCaughtUp = false
        this.#oldest = undefined
        return
      } catch (error) {
        if (!this.#mayRetry(error)) return
        await this.#options.ports.clock.delay(REOPEN_AFTER_MS)
      }
    }
  }

  /** A method, because it changes while others wait. */
  #isOver(): boolean {
    return this.#isDropped
  }

  #mayRetry(error: unknown): boolean {
    if (this.#isDropped) return false
    const { meter, report } = this.#options.ports
    if (error instanceof FatalError) {
      this.#options.onFatal(error)
      return false
    }
    const isOthers = isFenced(error)
    if (isOthers) meter.fenced('webhooks')
    else meter.failed('webhooks')
    const why = isOthers ? 'another instance has claimed the partition' : 'the partition’s task failed'
    report.warn({ partition: this.partition, err: error }, why)
    return true
  }

  #closeTask(): void {
    this.#task?.close().catch(() => undefined) // nothing of it is used any more
    this.#task = undefined
  }
}
