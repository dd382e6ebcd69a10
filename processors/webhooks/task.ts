import type { Claim, LogRecord, Position, Slice } from '../../infra/kafka/seam.ts'
import type { DeliveryOrder, Pending, Trigger } from '../../schemas/alerts.ts'
import { UndecodableError } from '../../schemas/codec.ts'
import type { Message, Micros } from '../../schemas/records.ts'
import { claimed } from '../kernel/claimed.ts'
import { causeOf, DEAD_LETTERS, DeadLetters } from '../kernel/dead-letters.ts'
import type { Decoder } from '../kernel/decoder.ts'
import { FatalError } from '../kernel/errors.ts'
import type { Ports } from '../kernel/ports.ts'
import { Deliveries } from './deliveries.ts'
import type { Delivery } from './delivery.ts'
import { Journal } from './journal.ts'
import type { Loader } from './loader.ts'
import type { Result } from './results.ts'

export const TRIGGERS = 'alerts.triggers'
const OWNER = 'webhooks'
/** Beyond it nothing more is taken in until the log has some of it. */
const UNWRITTEN_MAX = 20_000

export interface TaskOptions {
  readonly ports: Ports
  readonly decoder: Decoder
  readonly loader: Loader
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
  #next: number
  #isClosed = false

  /** Claims the partition, then reads what is pending to the end, then knows where to read on. */
  static async open(partition: number, options: TaskOptions): Promise<Task> {
    const { log, reader, clock, meter } = options.ports
    const startedAt = clock.now()
    const topics = ['webhooks.attempts', 'webhooks.pending', DEAD_LETTERS]
    const targets = topics.map((topic) => ({ topic, partition }))
    return claimed(log, `${OWNER}-${partition}`, targets, async (claim) => {
      const deliveries = new Deliveries(partition, (await readPending(partition, options)).values())
      const start = async (): Promise<number> =>
        (await reader.offsets(TRIGGERS, [partition], 'start')).get(partition) ?? 0
      const task = new Task(partition, options, { claim, deliveries, next: deliveries.position ?? (await start()) })
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
    const { codec, clock, meter } = options.ports
    this.#journal = new Journal({
      partition,
      claim,
      codec,
      clock,
      onWritten: (topic, records) => meter.outputs(OWNER, topic, records),
      onFailed: (error) => this.#fail(error),
    })
    deliveries.settle(this.#now(), this.#journal.said)
    this.#journal.write()
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
    if (slice.error === 'moved') return
    if (slice.error === 'out-of-range') return this.#skipTo(slice)
    const startedAt = this.#options.ports.clock.now()
    let applied = 0
    for (const record of slice.records) {
      if (record.offset < this.#next) continue
      const message = await this.#read(record)
      if (message !== undefined) await this.#apply(message, record.offset)
      applied += 1
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
    this.#options.ports.report.error({ partition, trigger: delivery.id, offset: delivery.offset }, 'no such trigger')
    this.#deliveries.lost(delivery, this.#now(), this.#journal.said)
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
    if (message.type === 'trigger') return this.#trigger(message.value, offset)
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
    this.#deliveries.moveTo(offset, this.#now(), this.#journal.said)
    this.#journal.write()
  }

  /** The record; undefined for one that cannot be read: set aside, never in the way of the others. */
  async #read(record: LogRecord): Promise<Message | undefined> {
    if (record.value === null) return undefined
    try {
      return await this.#options.decoder.decodeOrAsk(record.value)
    } catch (error) {
      if (!(error instanceof UndecodableError)) throw error
      this.#dead.add(TRIGGERS, record, causeOf(error))
      await this.#dead.write(this.#claim)
      return undefined
    }
  }

  #skipTo({ start }: Slice): void {
    const { meter, report } = this.#options.ports
    const { partition } = this
    report.error({ partition, position: this.#next, start }, 'position is gone; going on at the log’s start')
    meter.skipped(OWNER, TRIGGERS, Math.max(0, start - this.#next))
    this.#moveTo(start)
  }

  #fail(error: unknown): void {
    if (!this.#isClosed) this.#options.onFailed(this, error)
  }

  #now(): Micros {
    return this.#options.ports.clock.now() * 1_000
  }
}

/** The last record of each key. */
async function readPending(
  partition: number,
  { ports, decoder }: Pick<TaskOptions, 'ports' | 'decoder'>,
): Promise<Map<string, Pending>> {
  const pending = new Map<string, Pending>()
  for await (const records of ports.reader.toEnd('webhooks.pending', partition)) {
    for (const { key, value } of records) {
      const name = key?.toString() ?? ''
      pending.delete(name)
      const message = value === null ? undefined : await readState(partition, decoder, value)
      if (message?.type === 'pending') pending.set(name, message.value)
    }
  }
  return pending
}

async function readState(partition: number, decoder: Decoder, value: Buffer): Promise<Message> {
  try {
    return decoder.decode(value) ?? (await decoder.decodeOrAsk(value))
  } catch (error) {
    if (!(error instanceof UndecodableError)) throw error
    const message = `partition ${partition} of webhooks.pending cannot be read: ${error.message}`
    throw new FatalError('unreadable-state', message, { cause: error })
  }
}
