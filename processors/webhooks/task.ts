import type { LogRecord, OutRecord, Slice } from '../../infra/kafka/seam.ts'
import type { Attempt, DeliveryOrder, Trigger } from '../../schemas/records.ts'
import type { Message, Micros } from '../../schemas/records.ts'
import type { LostOutput, OwnedOptions, OwnedPartition } from '../kernel/owned-partition.ts'
import { openOwned } from '../kernel/owned-partition.ts'
import type { PartitionWork } from '../kernel/partition-owner.ts'
import { Deliveries } from './deliveries.ts'
import type { Delivery } from './delivery.ts'
import { Journal } from './journal.ts'
import type { Loader } from './loader.ts'
import { ATTEMPTS, attemptsFrom, PENDING, readPending, Recall } from './recall.ts'
import { FINISHED_KNOWN, type OpenLimits } from './limits.ts'
import type { Result } from './attempt.ts'

export const TRIGGERS = 'alerts.triggers'
export const OWNER = 'webhooks'
/** Beyond it nothing more is taken in until the log has some of it. */
const UNWRITTEN_MAX = 20_000

export interface TaskOptions extends Pick<OwnedOptions, 'ports' | 'decoder' | 'onLostLog'> {
  readonly loader: Loader
  readonly open?: OpenLimits
  /** Whether so much is in line that nothing more is to be read for now. */
  readonly isBusy: () => boolean
  /** A delivery that is to be made now. */
  readonly onReady: (task: Task, delivery: Delivery) => void
}

/** One partition of `alerts.triggers`, from its claim to its end. After a failure another is opened in its place. */
export class Task implements PartitionWork {
  readonly owned: OwnedPartition
  readonly #options: TaskOptions
  readonly #deliveries: Deliveries
  readonly #journal: Journal
  readonly #recall: Recall
  /** The end of the log was reached once: an order that stops a retry has been read before the retry is made. */
  #hasCaughtUp = false

  /**
   * Claims the partition, then reads what is pending to the end, and what of the attempts was written behind it, then
   * checks whether the triggers are those that it was left at.
   */
  static open(partition: number, options: TaskOptions): Promise<Task> {
    const { ports, decoder, onLostLog } = options
    const outputs = [ATTEMPTS, PENDING].map((topic) => ({ topic, partition }))
    const owning = { name: OWNER, partition, inputs: [TRIGGERS], outputs, ports, decoder, onLostLog } as const
    return openOwned(owning, async (owned) => {
      const pending = await readPending(ports.reader, decoder, partition)
      const deliveries = new Deliveries(partition, pending.values(), options.open)
      const task = new Task(owned, options, deliveries)
      await task.#begin()
      return task
    })
  }

  private constructor(owned: OwnedPartition, options: TaskOptions, deliveries: Deliveries) {
    const { partition } = owned
    const { ports, decoder } = options
    const { codec, clock, reader } = ports
    this.owned = owned
    this.#options = options
    this.#deliveries = deliveries
    this.#recall = new Recall(partition, reader, decoder)
    this.#journal = new Journal({
      codec,
      clock,
      attempted: () => owned.stood(ATTEMPTS),
      send: (topic, records) => this.#send(topic, records),
      onFailed: (error) => owned.fail(error),
    })
  }

  /** Whether more is read: not for what is slow to end, which a partition has its own limits for. */
  get hasRoom(): boolean {
    return !this.#options.isBusy() && this.#journal.unwritten < UNWRITTEN_MAX
  }

  /** Until it is known that nothing more lies behind what was taken in. */
  get isDue(): boolean {
    return !this.#hasCaughtUp
  }

  /** Deliveries that are not finished, and what the log has not acknowledged. */
  counts(): { readonly open: number; readonly unwritten: number } {
    return { open: this.#deliveries.size, unwritten: this.#journal.unwritten }
  }

  /** Trigger time of the oldest that is not delivered. */
  oldest(): Micros | undefined {
    return this.#deliveries.oldest()
  }

  /** Destinations that want to be left alone, and until when. */
  leftAlone(): ReadonlyMap<string, Micros> {
    return this.#deliveries.leftAlone()
  }

  /** Takes in what a fetch brought. */
  async work(slices: readonly Slice[]): Promise<void> {
    for (const slice of slices) await this.#take(slice)
  }

  /** What has become due by now; what has been known long enough is forgotten. */
  tick(): void {
    if (!this.#hasCaughtUp) return
    const now = this.#now()
    this.#deliveries.follow(now, this.#journal.batch)
    for (const delivery of this.#deliveries.due(now)) this.#options.onReady(this, delivery)
    this.#deliveries.forget(now, this.#journal.batch)
    this.#journal.write()
  }

  /** All that was said is in the log, or never will be. */
  finish(): Promise<void> {
    return this.#journal.flushed()
  }

  /** What the attempt is to tell; for each of it `attempted` or `lost` follows. Empty: it may not be made any more. */
  start(delivery: Delivery): readonly Delivery[] {
    return this.owned.signal.aborted ? [] : this.#deliveries.start(delivery)
  }

  /** The trigger that is to be sent; undefined: the log does not have it. */
  load({ offset, id }: Delivery): Promise<Trigger | undefined> {
    return this.#options.loader.load(this.owned.partition, offset, id)
  }

  /** What an attempt came to; undefined where nobody is to know any more, since another owner makes it again. */
  attempted(delivery: Delivery, result: Result): ReturnType<Deliveries['attempted']> | undefined {
    if (this.owned.signal.aborted) return undefined
    const outcome = this.#deliveries.attempted(delivery, result, this.#journal.batch)
    this.#journal.write()
    this.#report(delivery, result, outcome)
    return outcome
  }

  /** What was tested, under an id that holds its request's, and what ends undelivered; of the others the attempts tell. */
  #report({ id, alertId, test, attempts }: Delivery, result: Result, outcome: Attempt['outcome']): void {
    if (!test && outcome !== 'exhausted' && outcome !== 'cancelled') return
    const error = result.is === 'failed' ? result.error : null
    const fields = { trigger: id, alert: alertId, attempt: attempts, outcome, status: result.status, error }
    this.#options.ports.report.info(fields, 'a webhook was attempted')
  }

  lost(delivery: Delivery): void {
    if (this.owned.signal.aborted) return
    const { partition } = this.owned
    const isOver = this.#deliveries.lost(delivery, this.#now(), this.#journal.batch)
    const fields = { partition, trigger: delivery.id, offset: delivery.offset }
    if (isOver) this.#options.ports.report.error(fields, 'no such trigger')
    this.#journal.write()
  }

  async #take(slice: Slice): Promise<void> {
    const records = await this.owned.accept(slice)
    if (records === undefined) return
    const { clock, meter } = this.#options.ports
    const startedAt = clock.now()
    for (const record of records) {
      const message = await this.owned.read(TRIGGERS, record)
      if (message !== undefined) await this.#apply(message, record.offset)
      this.#moveTo(record.offset + 1, record)
    }
    this.#moveTo(slice.next)
    this.#hasCaughtUp ||= slice.next >= slice.end
    if (records.length > 0) meter.applied(OWNER, records.length, clock.now() - startedAt)
  }

  async #apply(message: Message, offset: number): Promise<void> {
    if (message.type === 'trigger') {
      const { trigger_id: id, time } = message.value
      if (!(await this.#recall.hasEnded(id, time, this.#now()))) this.#trigger(message.value, offset)
      return
    }
    if (message.type !== 'delivery_order') return
    const order = message.value
    if (order.order === 'stop') this.#deliveries.stop(order, this.#now(), this.#journal.batch)
    if (order.order === 'resend') await this.#resend(order)
  }

  #trigger(trigger: Trigger, offset: number): void {
    const delivery = this.#deliveries.trigger(trigger, offset, this.#now(), this.#journal.batch)
    if (delivery === undefined) return
    this.#options.loader.keep(this.owned.partition, offset, trigger)
    this.#options.onReady(this, delivery)
  }

  async #resend(order: DeliveryOrder): Promise<void> {
    const { trigger_partition: partition, trigger_offset: offset, trigger_id: id } = order
    const isHere = partition === this.owned.partition && offset !== null && id !== null
    const trigger = isHere ? await this.#options.loader.load(partition, offset, id) : undefined
    const delivery = this.#deliveries.resend(order, trigger, this.#now(), this.#journal.batch)
    if (delivery !== undefined) this.#options.onReady(this, delivery)
  }

  /** In the same turn in which what lies before it was said: the position can never get ahead of it. */
  #moveTo(offset: number, last?: LogRecord): void {
    this.owned.moveTo(TRIGGERS, offset, last)
    this.#sayPosition()
  }

  #sayPosition(): void {
    const offset = this.owned.position(TRIGGERS)
    this.#deliveries.moveTo(offset, this.#now(), this.#journal.batch, this.owned.stood(TRIGGERS))
    this.#journal.write()
  }

  /** Writes a batch to its own partition of a topic. */
  async #send(topic: typeof ATTEMPTS | typeof PENDING, records: readonly OutRecord[]): Promise<void> {
    await this.owned.send(topic, this.owned.partition, records)
    await this.owned.recover()
    this.#options.ports.meter.outputs(OWNER, topic, records.length)
  }

  /** What an earlier owner wrote last, and whether the log still has what it was left at. */
  async #begin(): Promise<void> {
    const { ports, decoder } = this.#options
    const { partition } = this.owned
    const { position, stood } = this.#deliveries
    const last = stood[`${ATTEMPTS}/${partition}`]
    const since = { time: ports.clock.now() - FINISHED_KNOWN / 1_000 }
    const recent = (await ports.reader.offsets(ATTEMPTS, [partition], since)).get(partition)
    const from = last === undefined ? recent : last.offset + 1
    for await (const attempt of attemptsFrom(ports.reader, decoder, partition, from)) {
      this.#deliveries.heard(attempt, this.#journal.batch)
    }
    this.#deliveries.follow(this.#now(), this.#journal.batch)
    this.#deliveries.settle(this.#now(), this.#journal.batch)
    await this.owned.readGaps()
    const next = new Map(position === undefined ? [] : [[TRIGGERS, position]])
    await this.owned.begin(next, stood, {
      onMoved: () => this.#sayPosition(), // never back to what was taken in: what lies there is new, or known by its id
      onLostOutputs: (lost) => this.#tellLost(lost),
    })
    this.#journal.write()
  }

  /** Of the attempts it is told; without what was pending nobody knows what is left to do, so it is read anew. */
  async #tellLost(lost: readonly LostOutput[]): Promise<void> {
    for (const output of lost) await this.owned.tell(output)
    if (lost.some(({ topic }) => topic === PENDING)) throw new Error(`${PENDING} has lost its tail`)
  }

  #now(): Micros {
    return this.#options.ports.clock.now() * 1_000
  }
}
