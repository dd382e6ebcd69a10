import type { Claim, Log, OutRecord, Slice } from '../../../infra/kafka/seam.ts'
import type { Codec } from '../../../schemas/codec.ts'
import type { Message } from '../../../schemas/records.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import { Decoder } from '../decoder.ts'
import { isFenced, RecordFailure } from '../errors.ts'
import { MemoryBroker, stillClock } from './memory-log.ts'
import type { Ports } from '../ports.ts'
import type { ProcessorRow } from '../processor.ts'
import { quietMeter, quietReport } from '../quiet.ts'
import { Task } from '../task.ts'

/**
 * What befalls the instance at its `at`-th contact with the log in a step (claims and writes, from 0). A step with fewer
 * contacts passes unharmed.
 * - `crash`: it is gone, the contact not made (`before`) or made but never heard of (`after`);
 * - `freeze`: it stands still before the contact until it is thawed, as a process that was stopped;
 * - `stop`: it ends cleanly after the step; `drop`: it loses its partitions after the step, writing nothing.
 */
export type InjectedFault =
  | { readonly kind: 'none' | 'stop' | 'drop' }
  | { readonly kind: 'crash'; readonly at: number; readonly when: 'before' | 'after' }
  | { readonly kind: 'freeze'; readonly at: number }

/** One fetch of one partition by whoever owns it; after it frozen instances may wake. */
export interface Step {
  readonly partition: number
  /** Records taken at most. */
  readonly take: number
  /** Records before the position that are delivered once more. */
  readonly again: number
  readonly fault: InjectedFault
  readonly thaw: boolean
}

export interface DriverOptions {
  readonly row: ProcessorRow
  readonly codec: Codec
  readonly partitions: number
  readonly instances: number
  /** A snapshot after this many records. */
  readonly snapshotRecords: number
  /** A snapshot of more bytes is written in several batches. */
  readonly snapshotBytes?: number | undefined
}

/** Drives the real task over a log in memory, one step after the other, with the accidents that the steps ask for. */
export class Driver {
  readonly broker = new MemoryBroker(stillClock)
  readonly #options: DriverOptions
  readonly #owners: number[]
  #instances: Instance[]
  #frozen: Frozen[] = []

  constructor(options: DriverOptions) {
    this.#options = options
    this.#instances = Array.from({ length: options.instances }, () => this.#instance())
    this.#owners = Array.from({ length: options.partitions }, (_, partition) => partition % options.instances)
  }

  /** Appends an input record; `time` in milliseconds. */
  feed(topic: TopicName, partition: number, key: string, message: Message, time: number): void {
    this.feedBytes(topic, partition, key, this.#options.codec.encode(topic, message.type, message.value), time)
  }

  feedBytes(topic: TopicName, partition: number, key: string, value: Buffer | null, time: number): void {
    this.broker.append(topic, partition, [{ key, value, time }])
  }

  async step({ partition, take, again, fault, thaw }: Step): Promise<void> {
    const owner = this.#owners[partition] ?? 0
    const instance = this.#instances[owner]
    if (instance === undefined) throw new Error('a driver has at least one instance')
    const gate = instance.meet(fault)
    const work = instance.work(partition, take, again)
    const outcome = await Promise.race([work, gate])
    if (outcome === 'frozen') this.#frozen.push({ instance, work })
    if (outcome !== 'done') this.#replace(owner)
    else if (fault.kind === 'stop' || fault.kind === 'drop') {
      if (fault.kind === 'stop') await instance.stop()
      this.#replace(owner)
    }
    if (thaw) await this.thaw()
  }

  /** Lets all frozen instances go on; each must be refused by the log or have had nothing more to write. */
  async thaw(): Promise<void> {
    const frozen = this.#frozen
    this.#frozen = []
    for (const { instance, work } of frozen) {
      instance.thaw()
      await work
    }
  }

  /**
   * Has every partition read to its end, without further accidents. All are opened anew first: an instance that was
   * thawed within its claim may have fenced an owner that had nothing left to write and so would never hear of it. In
   * life the next mark, a second later, tells it.
   */
  async drain(): Promise<void> {
    await this.thaw()
    for (const owner of this.#instances.keys()) this.#replace(owner)
    for (let behind = await this.#behind(); behind !== undefined; behind = await this.#behind()) {
      await this.step({ partition: behind, take: 1_000, again: 0, fault: { kind: 'none' }, thaw: false })
    }
  }

  /** The records of a topic, decoded, partition by partition in log order. */
  outputs(topic: TopicName): { partition: number; offset: number; key: string; message: Message }[] {
    return Array.from({ length: this.#options.partitions }, (_, partition) =>
      this.broker.records(topic, partition).flatMap(({ offset, key, value }) => {
        if (value === null) return []
        return [{ partition, offset, key: key?.toString() ?? '', message: this.#options.codec.decode(value) }]
      }),
    ).flat()
  }

  /** The task of a partition, opened where it was not. */
  task(partition: number): Promise<Task> {
    const instance = this.#instances[this.#owners[partition] ?? 0]
    if (instance === undefined) throw new Error('a driver has at least one instance')
    void instance.meet({ kind: 'none' })
    return instance.task(partition)
  }

  /** A partition that is not at its end, if there is one. */
  async #behind(): Promise<number | undefined> {
    for (let partition = 0; partition < this.#options.partitions; partition++) {
      const task = await this.task(partition)
      const isBehind = task.positions().some(({ topic, offset }) => offset < this.broker.at(topic, partition).end)
      if (isBehind) return partition
    }
    return undefined
  }

  /** A fresh instance takes the place of one that is gone; its partitions move on to the next. */
  #replace(owner: number): void {
    this.#instances = this.#instances.map((instance, index) => (index === owner ? this.#instance() : instance))
    for (const [partition, index] of this.#owners.entries()) {
      if (index === owner) this.#owners[partition] = (index + 1) % this.#instances.length
    }
  }

  #instance(): Instance {
    return new Instance(this.#options, this.broker)
  }
}

interface Frozen {
  readonly instance: Instance
  readonly work: Promise<Outcome>
}

type Outcome = 'done' | 'crashed' | 'refused' | 'frozen'

class Crash extends Error {}

/** One process: its tasks, and what befalls it. */
class Instance {
  readonly #options: DriverOptions
  readonly #broker: MemoryBroker
  readonly #ports: Ports
  readonly #decoder: Decoder
  /** By partition; a task that failed of a record leaves what it failed of, as in a slot. */
  readonly #tasks = new Map<number, Task | RecordFailure>()
  #fault: InjectedFault = { kind: 'none' }
  #contacts = 0
  #isDead = false
  #onFrozen: () => void = () => undefined
  #onThawed: () => void = () => undefined

  constructor(options: DriverOptions, broker: MemoryBroker) {
    this.#options = options
    this.#broker = broker
    const log = this.#accidental(broker.connect())
    const { codec } = options
    this.#ports = { ...quietPorts, log, reader: log.reader(), codec }
    this.#decoder = new Decoder(codec, (id) => this.#ports.lookUp(id))
  }

  /** Sets the fault of the next step; resolves when it stands frozen. */
  meet(fault: InjectedFault): Promise<Outcome> {
    this.#fault = fault
    this.#contacts = 0
    return new Promise((resolve) => {
      this.#onFrozen = () => resolve('frozen')
    })
  }

  thaw(): void {
    this.#onThawed()
  }

  async task(partition: number): Promise<Task> {
    const known = this.#tasks.get(partition)
    if (known instanceof Task) return known
    const { row, snapshotRecords, snapshotBytes, partitions } = this.#options
    const bytes = snapshotBytes === undefined ? {} : { bytesMax: snapshotBytes }
    const snapshots = { everyMs: Infinity, everyRecords: snapshotRecords, ...bytes }
    const options = {
      ports: this.#ports,
      decoder: this.#decoder,
      snapshots,
      partitions,
      onLostLog: 'go-on',
      retentionBytes: 1e12,
    } as const
    const made = await Task.open(row, partition, { ...options, ...(known && { after: known }) })
    this.#tasks.set(partition, made)
    return made
  }

  async work(partition: number, take: number, again: number): Promise<Outcome> {
    try {
      const task = await this.task(partition)
      const positions = task.positions().map((position) => {
        const { start } = this.#broker.at(position.topic, position.partition)
        return { ...position, offset: Math.max(start, position.offset - again) }
      })
      await task.work(positions.map((position) => this.#slice(position, take + again)))
      return 'done'
    } catch (error) {
      if (error instanceof Crash) return 'crashed'
      if (isFenced(error)) return 'refused'
      if (!(error instanceof RecordFailure)) throw error
      this.#tasks.set(partition, error)
      return 'done'
    }
  }

  async stop(): Promise<void> {
    for (const task of this.#tasks.values()) {
      if (!(task instanceof Task)) continue
      await task.snapshot().catch((error: unknown) => {
        if (!isFenced(error)) throw error // a thawed instance may have claimed meanwhile
      })
    }
  }

  #slice(position: { topic: string; partition: number; offset: number }, take: number): Slice {
    return cut(this.#broker.at(position.topic, position.partition).slice(position, Infinity), take)
  }

  /** The log, with what befalls this instance at each contact. */
  #accidental(log: Log): Log {
    return {
      ...log,
      claim: async (owner, targets) => {
        const claim = await this.#contact(() => log.claim(owner, targets))
        const send = (topic: string, partition: number, records: readonly OutRecord[]): Promise<number | undefined> =>
          this.#contact(() => claim.send(topic, partition, records))
        return { epoch: claim.epoch, lost: claim.lost, send, close: () => claim.close() } satisfies Claim
      },
    }
  }

  async #contact<Value>(make: () => Promise<Value>): Promise<Value> {
    if (this.#isDead) throw new Crash()
    const fault = this.#fault
    if (!('at' in fault) || fault.at !== this.#contacts++) return make()
    if (fault.kind === 'freeze') {
      await this.#stand()
      return make()
    }
    this.#isDead = true
    if (fault.when === 'after') await make()
    throw new Crash()
  }

  async #stand(): Promise<void> {
    const thawed = new Promise<void>((resolve) => {
      this.#onThawed = resolve
    })
    this.#onFrozen()
    await thawed
  }
}

function cut(slice: Slice, take: number): Slice {
  if (slice.records.length <= take) return slice
  const records = slice.records.slice(0, take)
  return { ...slice, records, next: (records.at(-1)?.offset ?? slice.next - 1) + 1 }
}

const quietPorts: Omit<Ports, 'log' | 'reader' | 'codec'> = {
  lookUp: () => Promise.resolve(false),
  hint: () => Promise.resolve(),
  clock: stillClock,
  meter: quietMeter,
  report: quietReport,
}
