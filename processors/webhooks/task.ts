import type { Claim, LogRecord, Position, Slice } from '../../infra/kafka/seam.ts'
import type { DeliveryOrder, Trigger } from '../../schemas/records.ts'
import type { Message, Micros } from '../../schemas/records.ts'
import { claimed } from '../kernel/claimed.ts'
import { DEAD_LETTERS, DeadLetters } from '../kernel/dead-letters.ts'
import type { Decoder } from '../kernel/decoder.ts'
import { stoodNowhere } from '../kernel/footing.ts'
import { Grounds } from '../kernel/grounds.ts'
import { GAPS, InputGaps, readGaps } from '../kernel/log-gaps.ts'
import type { LostLogPolicy, Ports } from '../kernel/ports.ts'
import { Deliveries } from './deliveries.ts'
import type { Delivery } from './delivery.ts'
import { Journal, tellLost } from './journal.ts'
import type { Loader } from './loader.ts'
import { ATTEMPTS, attemptsFrom, readPending, Recall } from './recall.ts'
import { FINISHED_KNOWN } from './limits.ts'
import type { Result } from './results.ts'

export const TRIGGERS = 'alerts.triggers'
const OWNER = 'webhooks'
/** Beyond it nothing more is taken in until the log has some of it. */
const UNWRITTEN_MAX = 20_000

export interface TaskOptions {
  readonly ports: Ports
  readonly decoder: Decoder
  readonly loader: Loader
  readonly onLostLog: LostLogPolicy
  /** A delivery that is to be made now. */
  readonly onReady: (task: Task, delivery: Delivery) => void
  /** Called once: the task is of no use any more. */
  readonly onFailed: (task: Task, error: unknown) => void
}

/** One partition of `alerts.triggers`, from its claim to its end. After a failure another is opened in its place. */
export class Task {
  readonly partition: number
  readonly #options: TaskOptions
  readonly #claim: Claim
  readonly #deliveries: Deliveries
  readonly #journal: Journal
  readonly #dead: DeadLetters
  readonly #grounds: Grounds
  readonly #gaps = new InputGaps()
  readonly #recall: Recall
  #next: number
  #isClosed = false

  /**
   * Claims the partition, then reads what is pending to the end, and what of the attempts was written behind it, then
   * looks whether the triggers are those that it stood on.
   */
  static async open(partition: number, options: TaskOptions): Promise<Task> {
    const { log, reader, clock, meter } = options.ports
    const startedAt = clock.now()
    const topics = [ATTEMPTS, 'webhooks.pending', DEAD_LETTERS, GAPS]
    const targets = topics.map((topic) => ({ topic, partition }))
    return claimed(log, `${OWNER}-${partition}`, targets, async (claim) => {
      const deliveries = new Deliveries(partition, (await readPending(reader, options.decoder, partition)).values())
      const start = async (): Promise<number> =>
        (await reader.offsets(TRIGGERS, [partition], 'start')).get(partition) ?? 0
      const task = new Task(partition, options, { claim, deliveries, next: deliveries.position ?? (await start()) })
      await task.#begin()
      void claim.lost.then((error) => task.#fail(error))
      meter.restored(OWNER, clock.now() - startedAt)
      return task
    })
  }

  private constructor(
    partition: number,
    options: TaskOptions,
    { claim, deliveries, next }: { claim: Claim; deliveries: Deliveries; next: number },
  ) {
    this.partition = partition
    this.#options = options
    this.#claim = claim
    this.#deliveries = deliveries
    this.#next = next
    this.#dead = new DeadLetters(OWNER, partition, options.ports)
    const { ports, decoder, onLostLog: policy } = options
    const { codec, clock, meter, reader } = ports
    const nowhere = { [`${TRIGGERS}/${partition}`]: stoodNowhere(clock.now()) }
    const stood = deliveries.position === undefined ? nowhere : deliveries.stood
    this.#grounds = new Grounds({ reader: OWNER, partition, ports, claim, policy }, stood)
    this.#recall = new Recall(partition, reader, decoder)
    this.#journal = new Journal({
      partition,
      claim,
      codec,
      clock,
      grounds: this.#grounds,
      onWritten: (topic, records) => meter.outputs(OWNER, topic, records),
      onFailed: (error) => this.#fail(error),
    })
  }

  get position(): Position {
    return { topic: TRIGGERS, partition: this.partition, offset: this.#next }
  }

  /** From where it wants triggers; undefined while it has enough. */
  get wants(): Position | undefined {
    return this.#deliveries.hasRoom && this.#journal.unwritten < UNWRITTEN_MAX ? this.position : undefined
  }

  get open(): number {
    return this.#deliveries.size
  }

  get unwritten(): number {
    return this.#journal.unwritten
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Trigger time of the oldest that is not delivered. */
  oldest(): Micros | undefined {
    return this.#deliveries.oldest()
  }

  /** Takes in what a fetch brought. Calls must not overlap. */
  async take(slice: Slice): Promise<void> {
    if (slice.error === 'moved' || slice.from > this.#next) return
    const begin = slice.records.find(({ offset }) => offset >= this.#next)
    const isNew = begin !== undefined && this.#grounds.isNewEpoch(TRIGGERS, this.partition, begin)
    if ((slice.error === 'out-of-range' || isNew) && (await this.#look())) return
    if (slice.error === 'out-of-range') return
    const startedAt = this.#options.ports.clock.now()
    let applied = 0
    for (const record of slice.records) {
      if (record.offset < this.#next) continue
      const message = await this.#read(record)
      if (message !== undefined) await this.#apply(message, record.offset)
      applied += 1
      this.#grounds.read(TRIGGERS, this.partition, record)
      this.#moveTo(record.offset + 1)
    }
    this.#moveTo(Math.max(this.#next, slice.next))
    if (applied > 0) this.#options.ports.meter.applied(OWNER, applied, this.#options.ports.clock.now() - startedAt)
  }

  /** What has become due by now; what has been known long enough is forgotten. */
  tick(): void {
    const now = this.#now()
    for (const delivery of this.#deliveries.due(now)) this.#options.onReady(this, delivery)
    this.#deliveries.forget(now, this.#journal.said)
    this.#journal.write()
  }

  /** Whether the attempt may be made now; then `attempted` or `lost` follows. */
  start(delivery: Delivery): boolean {
    return !this.#isClosed && this.#deliveries.start(delivery)
  }

  /** The trigger that is to be sent; undefined: the log does not have it. */
  load({ offset, id }: Delivery): Promise<Trigger | undefined> {
    return this.#options.loader
      .load(this.partition, offset)
      .then((trigger) => (trigger?.trigger_id === id ? trigger : undefined))
  }

  /** What an attempt came to; undefined where nobody is to know any more, since another owner makes it again. */
  attempted(delivery: Delivery, result: Result): ReturnType<Deliveries['attempted']> | undefined {
    if (this.#isClosed) return undefined
    const outcome = this.#deliveries.attempted(delivery, result, this.#journal.said)
    this.#journal.write()
    return outcome
  }

  lost(delivery: Delivery): void {
    if (this.#isClosed) return
    const { partition } = this
    const isOver = this.#deliveries.lost(delivery, this.#now(), this.#journal.said)
    const fields = { partition, trigger: delivery.id, offset: delivery.offset }
    if (isOver) this.#options.ports.report.error(fields, 'no such trigger')
    this.#journal.write()
  }

  /** All that was said is in the log, or never will be. */
  flushed(): Promise<void> {
    return this.#journal.flushed()
  }

  /** Lets go of the claim's resources; what is under way is nobody's any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#claim.close()
  }

  async #apply(message: Message, offset: number): Promise<void> {
    if (message.type === 'trigger') {
      const { trigger_id: id, time } = message.value
      if (!(await this.#recall.hasEnded(id, time, this.#now()))) this.#trigger(message.value, offset)
      return
    }
    if (message.type !== 'delivery_order') return
    const order = message.value
    if (order.order === 'stop') this.#deliveries.stop(order, this.#now(), this.#journal.said)
    if (order.order === 'resend') await this.#resend(order)
  }

  #trigger(trigger: Trigger, offset: number): void {
    const delivery = this.#deliveries.trigger(trigger, offset, this.#now(), this.#journal.said)
    if (delivery === undefined) return
    this.#options.loader.keep(this.partition, offset, trigger)
    this.#options.onReady(this, delivery)
  }

  async #resend(order: DeliveryOrder): Promise<void> {
    const { trigger_partition: partition, trigger_offset: offset } = order
    const isHere = partition === this.partition && offset !== null
    const trigger = isHere ? await this.#options.loader.load(partition, offset) : undefined
    const delivery = this.#deliveries.resend(order, trigger, this.#now(), this.#journal.said)
    if (delivery !== undefined) this.#options.onReady(this, delivery)
  }

  /** In the same turn in which what lies before it was said: the position can never get ahead of it. */
  #moveTo(offset: number): void {
    this.#next = offset
    const stood = this.#grounds.saved(TRIGGERS, this.partition)
    this.#deliveries.moveTo(offset, this.#now(), this.#journal.said, stood)
    this.#journal.write()
  }

  /** The record; one that cannot be read is never in the way of the others. */
  async #read(record: LogRecord): Promise<Message | undefined> {
    const message = await this.#dead.read(this.#options.decoder, TRIGGERS, record)
    await this.#dead.write(this.#claim)
    return message
  }

  /** What an earlier owner wrote last, and whether the log still has what it stood on. */
  async #begin(): Promise<void> {
    const { ports, decoder } = this.#options
    const { partition } = this
    const last = this.#grounds.of(ATTEMPTS, partition)
    const since = { time: ports.clock.now() - FINISHED_KNOWN / 1_000 }
    const recent = (await ports.reader.offsets(ATTEMPTS, [partition], since)).get(partition)
    const from = last === undefined ? recent : last.offset + 1
    for await (const attempt of attemptsFrom(ports.reader, decoder, partition, from)) {
      this.#deliveries.heard(attempt, this.#journal.said)
    }
    this.#deliveries.settle(this.#now(), this.#journal.said)
    for (const told of await readGaps(ports.reader, decoder, OWNER, partition, this.#dead)) {
      if (told.gap.topic === TRIGGERS) this.#gaps.add(told)
    }
    await this.#dead.write(this.#claim)
    await this.#look()
    this.#journal.write()
  }

  /**
   * Looks whether the log is the one that was read and written so far; true: the triggers go on elsewhere. It never goes
   * back to what was taken in: where they lost their tail, what lies there now is new, or known by its id.
   */
  async #look(): Promise<boolean> {
    const { position } = this
    const lost = await this.#grounds.look(position)
    if (lost !== undefined) {
      const { next } = lost
      if (!this.#gaps.knows(position.offset, next)) this.#gaps.add(await this.#grounds.tell(position, lost, 0))
      await this.#grounds.moveTo({ ...position, offset: next })
      this.#moveTo(next)
    }
    for (const output of await this.#grounds.lostOutputs((topic) => topic === TRIGGERS))
      await tellLost(this.#grounds, output)
    return lost !== undefined
  }

  #fail(error: unknown): void {
    if (!this.#isClosed) this.#options.onFailed(this, error)
  }

  #now(): Micros {
    return this.#options.ports.clock.now() * 1_000
  }
}
