import type { LogRecord, OutRecord, Position, Slice, TopicPartition } from '../../infra/kafka/seam.ts'
import type { Message, Micros } from '../../schemas/records.ts'
import { topicOf, type TopicName } from '../../schemas/topics.ts'
import type { Beside } from './beside.ts'
import { RevertibleFold } from './revertible-fold.ts'
import type { Cause } from './dead-letters.ts'
import { failureOf, guarded, type RecordFailure } from './errors.ts'
import { Fold } from './fold.ts'
import type { JournaledGap } from './log-gaps.ts'
import { openState, type Opened } from './open-state.ts'
import { Outputs, UnsavedOutputs } from './outputs.ts'
import { openOwned, type LostOutput, type OwnedOptions, type OwnedPartition } from './owned-partition.ts'
import type { PartitionWork } from './partition-owner.ts'
import type { SnapshotPolicy } from './ports.ts'
import { wholeSince } from './position-check.ts'
import type { ProcessorRow } from './processor.ts'
import { batchBytes, snapshotBatches, type StatePosition } from './snapshot.ts'
import { Trims } from './trim.ts'

/**
 * A snapshot is due after this much input, whatever the policy says: when a backlog is worked off, states grow as fast as
 * it is read, at most some times its size, and a snapshot must fit into one batch.
 */
export const SNAPSHOT_INPUT_BYTES = 2_000_000

/** Behind records that were set aside the state is written this soon: what follows them is known to go on without them. */
const SNAPSHOT_LETTERS_MS = 1_000

/** So much output is kept to be written again where the log loses it; then the state is written. */
const UNSAVED_OUTPUT_BYTES_MAX = 4_000_000

export interface TaskOptions extends Pick<OwnedOptions, 'ports' | 'decoder' | 'onLostLog'> {
  /** Of every topic that is partitioned alike. */
  readonly partitions: number
  readonly snapshots: SnapshotPolicy
  /** Limit of an input that its reader cuts, over all its partitions, bytes. */
  readonly retentionBytes: number
  /** What the task before this one failed of: this one takes records back that fail. */
  readonly after?: RecordFailure | undefined
  /** What has caught up beside the state of an older generation, if that is what there is. */
  readonly beside?: Beside | undefined
}

/**
 * One processor on one partition, from its claim to its end.
 *
 * Order of writing: outputs acknowledged, then state and position as one batch, then the hint. So a crash anywhere loses
 * nothing: what was written beyond the last snapshot is written again with the same keys and values. After any error the
 * task is not usable; its owner drops it and opens another, whose claim shuts out what this one still has in flight.
 * Calls must not overlap.
 */
export class Task implements PartitionWork {
  readonly row: ProcessorRow
  readonly owned: OwnedPartition
  readonly #options: TaskOptions
  readonly #folded: Fold
  readonly #outputs: Outputs
  readonly #unsavedOutputs = new UnsavedOutputs()
  readonly #trims: Trims
  /** Once a record has failed, for a while. */
  #revertible: RevertibleFold | undefined
  /** What stands with the state in the log. */
  #position: StatePosition | undefined
  /** Where each input ends, as it was found, while the state is built; else none. */
  readonly #ends = new Map<string, number>()
  #unsaved = 0
  #unsavedBytes = 0
  #savedAt: number
  #unsavedLetters = 0
  #refusedMarks = 0
  #hinting = false
  #failed = false

  /** Claims the partition, then reads its state to the end, then checks whether the log is the one that it was left at. */
  static async open(row: ProcessorRow, partition: number, options: TaskOptions): Promise<Task> {
    const { ports, decoder, onLostLog, partitions, beside } = options
    await beside?.catchUp()
    const { name, inputs } = row
    const outputs = outputsOf(row, partition, partitions)
    return openOwned({ name, partition, inputs, outputs, ports, decoder, onLostLog }, async (owned) => {
      const opened = await openState(row, partition, owned.claim, options)
      const task = new Task(row, owned, options, { ...opened, gaps: await owned.readGaps() })
      if (opened.position === undefined || !opened.built) await task.#build()
      await owned.begin(opened.next, opened.stood, {
        onGap: (told) => task.#folded.meet(told),
        onMoved: () => task.#moved(),
        onLostOutputs: (lost) => task.#writeAgain(lost),
      })
      if (opened.isUntold === true) await task.#tellAgain(row.outputs)
      return task
    })
  }

  private constructor(
    row: ProcessorRow,
    owned: OwnedPartition,
    options: TaskOptions,
    opened: Opened & { readonly gaps: readonly JournaledGap[] },
  ) {
    const { partition } = owned
    const { after, ports, partitions, retentionBytes } = options
    const { parts, failures, position } = opened
    this.row = row
    this.#position = position
    this.owned = owned
    this.#options = options
    this.#folded = new Fold(row, partition, opened, opened.gaps)
    if (after !== undefined || !failures.isEmpty)
      this.#revertible = new RevertibleFold(this.#folded, parts, failures, after?.from === 'flush')
    this.#outputs = new Outputs(ports.codec, row, { own: partition, partitions })
    this.#trims = new Trims(row, retentionBytes / partitions, ports)
    this.#savedAt = ports.clock.steady()
  }

  /** Where to read on. */
  positions(): Position[] {
    return this.owned.positions()
  }

  get partitionTime(): Micros {
    return this.#folded.partitionTime
  }

  /** Marks of feeds that time did not follow, since the task was opened. */
  get refusedMarks(): number {
    return this.#refusedMarks
  }

  /** Whether the next work writes the state, even if it brings no records. */
  get isDue(): boolean {
    const { snapshots, ports } = this.#options
    if (this.#unsaved >= snapshots.everyRecords || this.#unsavedBytes >= SNAPSHOT_INPUT_BYTES) return true
    if (this.#unsavedOutputs.bytes >= UNSAVED_OUTPUT_BYTES_MAX) return true
    const everyMs = this.#unsavedLetters > 0 ? Math.min(snapshots.everyMs, SNAPSHOT_LETTERS_MS) : snapshots.everyMs
    return this.#unsaved > 0 && ports.clock.steady() - this.#savedAt >= everyMs
  }

  /** The processor's own counts. */
  counts(): Readonly<Record<string, number>> {
    return this.row.core.counts?.(this.#folded.state) ?? {}
  }

  /** Folds what a fetch brought, writes what follows and, when it is time, the state. */
  async work(slices: readonly Slice[]): Promise<void> {
    if (this.#failed) throw new Error(`task ${this.row.name}-${this.owned.partition} has failed and must be dropped`)
    try {
      const startedAt = this.#options.ports.clock.steady()
      let applied = 0
      guarded('flush', () => this.#revertible?.checkpoint(this.#outputs))
      for (const slice of slices) applied += await this.#fold(slice)
      if (applied > 0) await this.#write(applied, startedAt)
      if (this.#ends.size > 0) await this.#endBuilding()
      if (this.isDue) await this.snapshot()
    } catch (error) {
      this.#failed = true
      throw error
    }
  }

  /** Writes state and position, all or nothing; nothing where nothing was applied since the last. */
  async snapshot(): Promise<void> {
    if (this.#unsaved === 0) return
    const { ports, snapshots } = this.#options
    const { codec, clock, meter } = ports
    const applied = Object.fromEntries(this.positions().map(({ topic, offset }) => [topic, offset - 1]))
    const changes = guarded('flush', () => [
      ...(this.#revertible?.save(this.#outputs) ?? this.row.core.save(this.#folded.state)),
    ])
    const failures = this.#revertible?.failures.saved() ?? []
    const position = { applied, ...this.#folded.moment(), failures, stood: this.owned.stood() }
    const target = { codec, owner: this.row, recordTime: this.#outputs.time }
    let bytes = 0
    for (const batch of snapshotBatches(target, position, changes, { ...snapshots, before: this.#position })) {
      await this.owned.send(this.row.state, this.owned.partition, batch)
      bytes += batchBytes(batch)
    }
    this.#position = position
    await this.owned.recover()
    meter.snapshot(this.row.name, bytes)
    this.#unsaved = 0
    this.#unsavedBytes = 0
    this.#unsavedLetters = 0
    this.#unsavedOutputs.clear()
    this.#savedAt = clock.steady()
    if (this.#revertible?.isOver === true) this.#revertible = undefined
    this.#hint()
    this.#trims.cut(this.positions())
  }

  /** At a clean end: so that the next owner has nothing to repeat. */
  finish(): Promise<void> {
    return this.snapshot()
  }

  /** Until it is where the inputs end now it is built. */
  async #build(): Promise<void> {
    const { partition } = this.owned
    for (const topic of this.row.retold === undefined ? [] : this.row.inputs)
      this.#ends.set(topic, (await this.#options.ports.reader.offsets(topic, [partition], 'end')).get(partition) ?? 0)
  }

  async #endBuilding(): Promise<void> {
    if (this.positions().some(({ topic, offset }) => offset < (this.#ends.get(topic) ?? 0))) return
    this.#ends.clear()
    if (this.#folded.built) return
    this.#folded.endBuilding()
    await this.#tellAgain(this.row.outputs)
    this.#unsaved += 1
  }

  /** An input goes on elsewhere: what retention takes of a state that is built is in no row of it. */
  async #moved(): Promise<void> {
    this.#unsaved += 1
    if (this.#ends.size === 0) return
    await this.#build()
    const { reader, clock } = this.#options.ports
    this.#folded.tellSince(await wholeSince(reader, this.row, this.owned.partition, clock))
  }

  async #fold(slice: Slice): Promise<number> {
    const records = await this.owned.accept(slice)
    if (records === undefined) return 0
    this.#trims.saw(slice)
    // A slice holds the topics that were asked for, which are this row's inputs.
    const topic = slice.topic as TopicName
    for (const record of records) {
      const { value } = record
      const read = this.#read(topic, record, value)
      const message = read === 'ask' ? await this.owned.letters.read(this.#options.decoder, topic, record) : read // no await in the usual case: it is slow
      const leftOut = message && this.#folded.leftOut(message)
      if (leftOut !== undefined) await this.owned.tellLeftOut(topic, record.offset, leftOut)
      if (message !== undefined && this.#apply(topic, record, message) === 'failed')
        await this.#options.ports.clock.turn() // what it cost to take it back must not silence the host
      this.#unsavedBytes += value?.length ?? 0
    }
    this.owned.moveTo(topic, slice.next, records.at(-1))
    return records.length
  }

  /** Why it was set aside, if it was. */
  #apply(topic: TopicName, record: LogRecord, message: Message): Cause['reason'] | undefined {
    this.#outputs.time = record.time
    if (this.#revertible === undefined) {
      try {
        this.#folded.apply(topic, record, message, this.#outputs.emit)
      } catch (error) {
        throw failureOf('apply', error)
      }
      return undefined
    }
    const revertible = this.#revertible
    const cause = guarded('flush', () => revertible.apply({ topic, record, message }, this.#outputs))
    if (cause !== undefined) this.owned.letters.add(topic, record, cause)
    return cause?.reason
  }

  /** The record; undefined for one that cannot be read: set aside, never in the way of the others. */
  #read(topic: TopicName, record: LogRecord, value: Buffer | null): Message | 'ask' | undefined {
    if (value === null) return undefined
    try {
      if (this.#options.decoder.skips(value, this.row.reads)) return undefined
      return this.#options.decoder.decode(value) ?? 'ask'
    } catch (error) {
      return this.owned.letters.setAside(topic, record, error)
    }
  }

  /** Says so the 1st, 2nd, 4th, 8th time: a clock that is wrong is so every second. */
  #tellRefused(): void {
    const { refusedMarks: count } = this.#folded
    if (count === this.#refusedMarks) return
    const { meter, report } = this.#options.ports
    meter.refusedMarks(this.row.name, count - this.#refusedMarks)
    const isTold = Math.floor(Math.log2(count)) === Math.floor(Math.log2(this.#refusedMarks))
    this.#refusedMarks = count
    if (isTold) return
    const { owned, partitionTime } = this
    const fields = { processor: this.row.name, partition: owned.partition, partitionTime, count }
    report.warn(fields, 'feeds’ marks are ahead of all that could confirm them; time does not follow')
  }

  async #write(applied: number, startedAt: number): Promise<void> {
    const { clock, meter } = this.#options.ports
    this.#unsaved += applied
    guarded('flush', () => this.#folded.flush(this.#outputs.emit))
    this.#unsavedLetters += await this.owned.letters.write(this.owned.claim)
    await this.#send()
    await this.owned.recover()
    meter.applied(this.row.name, applied, clock.steady() - startedAt)
    this.#tellRefused()
  }

  /** Writes what was emitted since the last call. */
  async #send(): Promise<void> {
    await Promise.all(
      this.#outputs.take().map(async ({ topic, partition, count, sends }) => {
        for (const records of sends) await this.#append(topic, partition, records)
        this.#options.ports.meter.outputs(this.row.name, topic, count)
      }),
    )
  }

  async #append(topic: TopicName, partition: number, records: readonly OutRecord[]): Promise<void> {
    this.#unsavedOutputs.wrote(topic, partition, await this.owned.send(topic, partition, records), records)
  }

  /**
   * Outputs have lost their tails. What was written since the state was, is written again as it was, since the state may
   * have let go of it; and what the state still knows of what it wrote before.
   */
  async #writeAgain(lost: readonly LostOutput[]): Promise<void> {
    if (lost.some(({ topic }) => topic === this.row.state)) throw new Error('the log of the state has lost its tail')
    for (const output of lost) {
      await this.owned.tell(output)
      if (output.by === 'check') this.#unsavedOutputs.lose(output)
    }
    for (const { topic, partition, records } of this.#unsavedOutputs.takeLost())
      await this.#append(topic, partition, records)
    await this.#tellAgain(new Set(lost.map((output) => output.topic as TopicName)))
    this.#unsaved += 1 // so that no later owner finds the same to be lost
  }

  /** What the state still knows of what it wrote to these. */
  async #tellAgain(topics: Iterable<TopicName>): Promise<void> {
    this.#outputs.time = this.#options.ports.clock.now()
    const next = this.positions()[0]?.offset ?? 0
    for (const topic of topics) this.#folded.restate(topic, next, this.#outputs.emit)
    await this.#send()
    await this.owned.recover()
  }

  /** Not waited for, one at a time: a slow group coordinator must not slow the partition. */
  #hint(): void {
    if (this.#hinting) return
    this.#hinting = true
    const hint = this.#options.ports.hint(this.row.name, this.positions()).catch(() => undefined)
    void hint.finally(() => {
      this.#hinting = false
    })
  }
}

/** What a task writes: its own partition of each topic, all of those that are partitioned otherwise. */
function outputsOf({ outputs, state }: ProcessorRow, own: number, partitions: number): TopicPartition[] {
  const all = Array.from({ length: partitions }, (_, partition) => partition)
  return [...outputs, state].flatMap((topic) =>
    (topicOf(topic).partitions === 'receiver' ? all : [own]).map((partition) => ({ topic, partition })),
  )
}
