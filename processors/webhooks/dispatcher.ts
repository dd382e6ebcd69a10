import type { LogReader, Membership, Position, Slice } from '../../infra/kafka/seam.ts'
import type { Attempt } from '../../schemas/records.ts'
import type { Micros } from '../../schemas/records.ts'
import { Decoder } from '../kernel/decoder.ts'
import type { LostLogPolicy, Ports } from '../kernel/ports.ts'
import { Watch, type StopReason } from '../kernel/watch.ts'
import type { Send } from './deliver.ts'
import type { Delivery } from './delivery.ts'
import { Lanes, type LaneLimits } from './lanes.ts'
import { Loader } from './loader.ts'
import { Place } from './place.ts'
import type { Result } from './results.ts'
import { TRIGGERS, type Task } from './task.ts'

/** Longest wait of a fetch for a first trigger; it also bounds how late a retry is. */
const FETCH_WAIT_MS = 100
/** While a partition cannot take triggers its turn must come soon after. */
const FETCH_WAIT_BUSY_MS = 3
const FETCH_RETRY_MS = 100
const FETCH_BYTES_PER_PARTITION = 256 * 1024
/** A receiver that takes longer is slow. */
const SLOW_MS = 1_000
/** At a clean end attempts may take this long to finish; what does not is made again by the next owner. */
const FINISH_MS = 5_000
const FINISH_STEP_MS = 20
const HINT_MS = 5_000

/** What the dispatcher counts; `trigger` to `sent` in milliseconds. */
export interface DeliveryMeter {
  attempted(outcome: Attempt['outcome'], error: string | null, ms: number): void
  sent(latencyMs: number): void
}

export interface DispatcherOptions {
  readonly membership: Membership
  readonly ports: Ports
  readonly send: Send
  readonly limits: LaneLimits
  readonly deliveries: DeliveryMeter
  /** A membership that gave no sign of life for this long plus 5 s ends the process. */
  readonly sessionMs: number
  readonly onLostLog: LostLogPolicy
}

export interface DispatcherHealth {
  readonly ok: boolean
  readonly partitions: { readonly running: number; readonly waiting: number }
  /** Deliveries that are not finished, those of them in line for a slot, and those under way. */
  readonly open: number
  readonly queued: number
  readonly inFlight: number
}

interface UnderWay {
  readonly receiver: string
  readonly startedAt: number
}

/** Reads triggers of all partitions that are ours, makes their attempts, each receiver within its own limits. */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #reader: LogReader
  readonly #decoder: Decoder
  readonly #loader: Loader
  readonly #places = new Map<number, Place>()
  readonly #lanes: Lanes<{ readonly task: Task; readonly delivery: Delivery }>
  /** In the order of their start. */
  readonly #underWay = new Set<UnderWay>()
  readonly #ends = new Map<number, number>()
  readonly #watch: Watch
  readonly #loop: Promise<void>
  #isStopping = false
  #hintedAt = 0
  #fail: (reason: StopReason) => void = () => undefined
  /** Resolves when the process must end: why, and with which exit code. Never on a clean stop. */
  readonly failed: Promise<StopReason>

  constructor(options: DispatcherOptions) {
    const { membership, ports, limits, sessionMs } = options
    this.#options = options
    this.#reader = ports.log.reader()
    this.#decoder = new Decoder(ports.codec, (id) => ports.lookUp(id))
    this.#loader = new Loader({ reader: ports.log.reader(), decoder: this.#decoder, clock: ports.clock })
    this.#lanes = new Lanes(limits)
    this.failed = new Promise((resolve) => {
      this.#fail = resolve
    })
    this.#watch = new Watch({ sessionMs, rows: [{ membership }] }, ports.clock.now())
    membership.onChange((partitions) => this.#assign(partitions))
    this.#loop = this.#run()
  }

  /** A clean end: no new attempt; those under way may finish; what came of them is written; the membership is left. */
  async stop(): Promise<void> {
    const { clock } = this.#options.ports
    this.#isStopping = true
    const giveUpAt = clock.now() + FINISH_MS
    while (this.#underWay.size > 0 && clock.now() < giveUpAt) await clock.delay(FINISH_STEP_MS)
    await this.#loop
    await Promise.all([...this.#places.values()].map((place) => place.stop()))
    this.#places.clear()
    await Promise.all([this.#reader.close(), this.#loader.close(), this.#options.membership.leave()])
  }

  health(): DispatcherHealth {
    const places = [...this.#places.values()]
    const running = places.filter(({ task }) => task !== undefined).length
    return {
      ok: this.#watch.isWell(places, this.#options.ports.clock.now()),
      partitions: { running, waiting: places.length - running },
      open: places.reduce((sum, { task }) => sum + (task?.open ?? 0), 0),
      queued: this.#lanes.waiting,
      inFlight: this.#lanes.inFlight,
    }
  }

  /** Trigger time of the oldest that is not delivered, over all partitions, whatever its receiver and its attempts. */
  oldest(): Micros | undefined {
    const times = [...this.#places.values()].flatMap((place) => place.oldest() ?? [])
    return times.length === 0 ? undefined : times.reduce((a, b) => Math.min(a, b))
  }

  /** What the log has not acknowledged. */
  unwritten(): number {
    return [...this.#places.values()].reduce((sum, { task }) => sum + (task?.unwritten ?? 0), 0)
  }

  /** Triggers and orders that are not taken in, by partition, as of the last fetch. */
  lags(): Map<number, number> {
    return new Map(
      [...this.#places].flatMap(([partition, { task }]) => {
        const end = this.#ends.get(partition)
        return task === undefined || end === undefined ? [] : [[partition, Math.max(0, end - task.position.offset)]]
      }),
    )
  }

  #assign(partitions: readonly number[]): void {
    if (this.#isStopping) return
    const assigned = new Set(partitions)
    for (const [partition, place] of this.#places) {
      if (assigned.has(partition)) continue
      place.drop()
      this.#places.delete(partition)
    }
    for (const partition of assigned) {
      if (!this.#places.has(partition)) this.#places.set(partition, this.#place(partition))
    }
    this.#options.ports.report.info({ partitions: [...assigned] }, 'partitions assigned')
  }

  #place(partition: number): Place {
    return new Place(partition, {
      ports: this.#options.ports,
      decoder: this.#decoder,
      loader: this.#loader,
      onLostLog: this.#options.onLostLog,
      onReady: (task, delivery) => {
        this.#lanes.offer(delivery.receiver, { task, delivery })
        this.#pump()
      },
      onFatal: (error) => this.#fail({ exitCode: 4, code: error.code, message: error.message }),
    })
  }

  async #run(): Promise<void> {
    const { clock } = this.#options.ports
    while (!this.#isStopping) {
      const asking = [...this.#places.values()].flatMap((place) => place.wants ?? [])
      if (asking.length === 0) await clock.delay(FETCH_WAIT_BUSY_MS)
      else await this.#fetch(asking)
      this.#tick()
      const reason = this.#watch.check(this.#places.values(), clock.now())
      if (reason !== undefined) this.#fail(reason)
    }
  }

  async #fetch(asking: readonly Position[]): Promise<void> {
    const { clock, report } = this.#options.ports
    const maxWaitMs = asking.length < this.#places.size ? FETCH_WAIT_BUSY_MS : FETCH_WAIT_MS
    try {
      const slices = await this.#reader.fetch(asking, { maxWaitMs, maxBytesPerPartition: FETCH_BYTES_PER_PARTITION })
      const there = slices.filter(({ error }) => error !== 'moved')
      if (there.length < slices.length) await clock.delay(FETCH_RETRY_MS)
      if (there.length > 0) this.#watch.fetched('triggers', clock.now())
      else if (this.#watch.isFirstFailure('triggers')) report.warn({}, 'no broker answers; trying again')
      for (const slice of there) this.#offer(asking, slice)
    } catch (error) {
      if (this.#watch.isFirstFailure('triggers')) report.warn({ err: error }, 'fetch failed; trying again')
      await clock.delay(FETCH_RETRY_MS)
    }
  }

  #offer(asking: readonly Position[], slice: Slice): void {
    this.#ends.set(slice.partition, slice.end)
    const wanted = asking.find(({ partition }) => partition === slice.partition)
    if (wanted === undefined) return
    const end = slice.next > wanted.offset ? wanted.offset : slice.end
    this.#watch.at(inputOf(slice.partition), wanted.offset, end, this.#options.ports.clock.now())
    this.#places.get(slice.partition)?.offer(wanted, slice)
  }

  #tick(): void {
    const now = this.#options.ports.clock.now()
    for (const { receiver, startedAt } of this.#underWay) {
      if (now - startedAt < SLOW_MS) break // all others began later
      this.#lanes.know(receiver, 'slow')
    }
    for (const place of this.#places.values()) {
      place.tick()
      if (place.wants === undefined) this.#watch.at(inputOf(place.partition), 0, 0, now) // it was not asked for
    }
    this.#pump()
    if (now - this.#hintedAt < HINT_MS) return
    this.#hintedAt = now
    const positions = [...this.#places.values()].flatMap(({ task }) => task?.position ?? [])
    void this.#options.membership.hint(positions).catch(() => undefined) // only for displays of lag
  }

  /** Starts what may start. */
  #pump(): void {
    while (!this.#isStopping) {
      const next = this.#lanes.take()
      if (next === undefined) return
      const { receiver, item } = next
      if (item.task.start(item.delivery)) void this.#attempt(item.task, item.delivery)
      else this.#lanes.release(receiver) // it has ended, or its task has
    }
  }

  async #attempt(task: Task, delivery: Delivery): Promise<void> {
    const { receiver } = delivery
    const underWay = { receiver, startedAt: this.#options.ports.clock.now() }
    this.#underWay.add(underWay)
    try {
      const result = await this.#send(task, delivery)
      if (result !== undefined) this.#conclude(task, delivery, result)
    } catch (error) {
      this.#places.get(task.partition)?.fail(task, error)
    } finally {
      this.#underWay.delete(underWay)
      this.#lanes.release(receiver)
      this.#pump()
    }
  }

  /** Undefined: nothing was sent, and that was told. */
  async #send(task: Task, delivery: Delivery): Promise<Result | undefined> {
    const trigger = await task.load(delivery)
    if (trigger === undefined) {
      task.lost(delivery)
      return undefined
    }
    const isFirst = delivery.attempts === 0 // the answer may be here before it is told that all was sent
    return this.#options.send(trigger, delivery.attempts + 1, (at) => {
      if (isFirst) this.#options.deliveries.sent((at - delivery.triggered) / 1_000)
    })
  }

  #conclude(task: Task, delivery: Delivery, result: Result): void {
    const ms = (result.finished - result.started) / 1_000
    const isUntold = result.is === 'failed' && result.error === 'url_unreadable'
    if (!isUntold) this.#lanes.know(delivery.receiver, ms < SLOW_MS ? 'good' : 'slow')
    const outcome = task.attempted(delivery, result)
    if (outcome === undefined) return
    this.#options.deliveries.attempted(outcome, result.is === 'failed' ? result.error : null, ms)
  }
}

function inputOf(partition: number): string {
  return `webhooks ${TRIGGERS}-${partition}`
}
