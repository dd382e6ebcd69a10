import type { Claim, LogRecord, Position, Slice } from '../../infra/kafka/seam.ts'
import type { Message, Micros } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { Careful } from './careful.ts'
import { claimed, targetsOf } from './claimed.ts'
import { DeadLetters, type Cause } from './dead-letters.ts'
import type { Decoder } from './decoder.ts'
import { guarded, type RecordFailure } from './errors.ts'
import { Fold } from './fold.ts'
import { Grounds } from './grounds.ts'
import { readGaps, type Told } from './log-gaps.ts'
import { openState, type Opened } from './open-state.ts'
import { Outputs } from './outputs.ts'
import type { LostLogPolicy, Ports, SnapshotPolicy } from './ports.ts'
import type { ProcessorRow } from './processor.ts'
import { Recovery } from './recovery.ts'
import { batchBytes, snapshotBatch } from './snapshot.ts'
import { Trims } from './trim.ts'

/**
 * A snapshot is due after this much input, whatever the policy says: when a backlog is worked off, states grow as fast as
 * it is read, at most some times its size, and a snapshot must fit into one batch.
 */
export const SNAPSHOT_INPUT_BYTES = 2_000_000

/** Behind records that were set aside the state is written this soon: what follows them is known to go on without them. */
const SNAPSHOT_LETTERS_MS = 1_000

export interface TaskOptions {
  /** Of every topic that is partitioned alike. */
  readonly partitions: number
  readonly ports: Ports
  readonly decoder: Decoder
  readonly snapshots: SnapshotPolicy
  readonly onLostLog: LostLogPolicy
  /** Limit of an input that its reader cuts, over all its partitions, bytes. */
  readonly retentionBytes: number
  /** What the task before this one failed of: this one takes records back that fail. */
  readonly after?: RecordFailure
}

/**
 * One processor on one partition, from its claim to its end.
 *
 * Order of writing: outputs acknowledged, then state and position as one batch, then the hint. So a crash anywhere loses
 * nothing: what was written beyond the last snapshot is written again with the same keys and values. After any error the
 * task is not usable; the runner drops it and opens another, whose claim shuts out what this one still has in flight.
 * Calls must not overlap.
 */
export class Task {
  readonly row: ProcessorRow
  readonly partition: number
  readonly #options: TaskOptions
  readonly #claim: Claim
  readonly #folded: Fold
  /** Offset to read next, of each input. */
  readonly #next: Map<TopicName, number>
  readonly #outputs: Outputs
  readonly #grounds: Grounds
  readonly #recovery: Recovery
  readonly #trims: Trims
  /** Once a record has failed, for a while. */
  #careful: Careful | undefined
  #unsaved = 0
  #unsavedBytes = 0
  #savedAt: number
  readonly #dead: DeadLetters
  #unsavedLetters = 0
  #refusedMarks = 0
  #hinting = false
  #failed = false

  /** Claims the partition, then reads its state to the end, then looks whether the log is the one that it stood on. */
  static async open(row: ProcessorRow, partition: number, options: TaskOptions): Promise<Task> {
    const { log, clock, meter } = options.ports
    const startedAt = clock.now()
    const targets = targetsOf(row, partition, options.partitions)
    return claimed(log, `${row.name}-${partition}`, targets, async (claim) => {
      const opened = await openState(row, partition, claim, options)
      const dead = new DeadLetters(row.name, partition, options.ports)
      const gaps = await readGaps(options.ports.reader, options.decoder, row.name, partition, dead)
      await dead.write(claim)
      const task = new Task(row, partition, options, claim, { ...opened, gaps, dead })
      await task.#look()
      meter.restored(row.name, clock.now() - startedAt)
      return task
    })
  }

  private constructor(
    row: ProcessorRow,
    partition: number,
    options: TaskOptions,
    claim: Claim,
    opened: Opened & { readonly gaps: readonly Told[]; readonly dead: DeadLetters },
  ) {
    this.row = row
    this.partition = partition
    this.#options = options
    this.#claim = claim
    const { next, parts, failures } = opened
    this.#folded = new Fold(row, partition, opened, opened.gaps)
    const { after, ports } = options
    if (after !== undefined || !failures.isEmpty)
      this.#careful = new Careful(this.#folded, parts, failures, after?.from === 'flush')
    this.#next = next
    this.#dead = opened.dead
    this.#outputs = new Outputs(options.ports.codec, row, { own: partition, partitions: options.partitions })
    this.#grounds = new Grounds({ reader: row.name, partition, ports, claim, policy: options.onLostLog }, opened.stood)
    const [folded, grounds, outputs] = [this.#folded, this.#grounds, this.#outputs]
    this.#recovery = new Recovery({ partition, ports, claim, grounds, folded, next, outputs })
    this.#trims = new Trims(row, options.retentionBytes / options.partitions, ports)
    this.#savedAt = options.ports.clock.now()
  }

  /** Where to read on. */
  positions(): Position[] {
    return [...this.#next].map(([topic, offset]) => ({ topic, partition: this.partition, offset }))
  }

  get partitionTime(): Micros {
    return this.#folded.partitionTime
  }

  /** Marks of feeds that time did not follow, since the task was opened. */
  get refusedMarks(): number {
    return this.#refusedMarks
  }

  /** Whether the next work writes the state, even if it brings no records. */
  get isSnapshotDue(): boolean {
    const { snapshots, ports } = this.#options
    if (this.#unsaved >= snapshots.everyRecords || this.#unsavedBytes >= SNAPSHOT_INPUT_BYTES) return true
    const everyMs = this.#unsavedLetters > 0 ? Math.min(snapshots.everyMs, SNAPSHOT_LETTERS_MS) : snapshots.everyMs
    return this.#unsaved > 0 && ports.clock.now() - this.#savedAt >= everyMs * (this.row.snapshotEvery ?? 1)
  }

  /** The processor's own counts. */
  counts(): Readonly<Record<string, number>> {
    return this.row.core.counts?.(this.#folded.state) ?? {}
  }

  /** Folds what a fetch brought, writes what follows and, when it is time, the state. */
  async work(slices: readonly Slice[]): Promise<void> {
    if (this.#failed) throw new Error(`task ${this.row.name}-${this.partition} has failed and must be dropped`)
    try {
      const startedAt = this.#options.ports.clock.now()
      let applied = 0
      guarded('flush', () => this.#careful?.checkpoint(this.#outputs))
      for (const slice of slices) applied += await this.#fold(slice)
      if (applied > 0) await this.#write(applied, startedAt)
      if (this.isSnapshotDue) await this.snapshot()
    } catch (error) {
      this.#failed = true
      throw error
    }
  }

  /** Writes state and position as one batch; nothing where nothing was applied since the last. */
  async snapshot(): Promise<void> {
    if (this.#unsaved === 0) return
    const { codec, clock, meter } = this.#options.ports
    const applied = Object.fromEntries([...this.#next].map(([topic, next]) => [topic, next - 1]))
    const batch = guarded('flush', () => {
      const changes = this.#careful?.save(this.#outputs) ?? this.row.core.save(this.#folded.state)
      const failures = this.#careful?.failures.saved() ?? []
      const position = { applied, ...this.#folded.moment(), failures, stood: this.#grounds.toSave() }
      return snapshotBatch(codec, this.row, position, changes, this.#outputs.time)
    })
    await this.#recovery.save(batch)
    meter.snapshot(this.row.name, batchBytes(batch))
    this.#unsaved = 0
    this.#unsavedBytes = 0
    this.#unsavedLetters = 0
    this.#savedAt = clock.now()
    if (this.#careful?.isOver === true) this.#careful = undefined
    this.#hint()
    this.#trims.cut(this.positions())
  }

  /** Lets go of the claim's resources; another owner may have it already. */
  async close(): Promise<void> {
    await this.#claim.close()
  }

  async #fold(slice: Slice): Promise<number> {
    // A slice holds the topics that were asked for, which are this row's inputs.
    const topic = slice.topic as TopicName
    let next = this.#next.get(topic) ?? 0
    if (slice.from > next) return 0 // asked for before the log was found to be another: what lies between comes first
    const begin = slice.records.find(({ offset }) => offset >= next)
    const isNew = begin !== undefined && this.#grounds.isNewEpoch(topic, this.partition, begin)
    if ((slice.error === 'out-of-range' || isNew) && (await this.#look())) return 0
    if (slice.error !== undefined) return 0
    this.#trims.saw(slice)
    let applied = 0
    let last: LogRecord | undefined
    for (const record of slice.records) {
      if (record.offset < next) continue
      const read = this.#read(topic, record)
      const message = read === 'ask' ? await this.#dead.read(this.#options.decoder, topic, record) : read // no await in the usual case: it is slow
      if (message !== undefined && this.#apply(topic, record, message) === 'failed')
        await this.#options.ports.clock.turn() // what it cost to take it back must not silence the host
      next = record.offset + 1
      applied += 1
      last = record
      this.#unsavedBytes += record.value?.length ?? 0
    }
    this.#next.set(topic, Math.max(next, slice.next))
    if (last !== undefined) this.#grounds.read(topic, this.partition, last)
    return applied
  }

  /** Why it was set aside, if it was. */
  #apply(topic: TopicName, record: LogRecord, message: Message): Cause['reason'] | undefined {
    this.#outputs.time = record.time
    if (this.#careful === undefined) {
      guarded('apply', () => this.#folded.apply(topic, record, message, this.#outputs.emit))
      return undefined
    }
    const careful = this.#careful
    const cause = guarded('flush', () => careful.apply({ topic, record, message }, this.#outputs))
    if (cause !== undefined) this.#dead.add(topic, record, cause)
    return cause?.reason
  }

  /** The record; undefined for one that cannot be read: set aside, never in the way of the others. */
  #read(topic: TopicName, record: LogRecord): Message | 'ask' | undefined {
    if (record.value === null) return undefined
    try {
      if (this.#options.decoder.skips(record.value, this.row.reads)) return undefined
      return this.#options.decoder.decode(record.value) ?? 'ask'
    } catch (error) {
      return this.#dead.setAside(topic, record, error)
    }
  }

  /** Looks whether the log is the one that was read and written so far; true: an input goes on elsewhere. */
  async #look(): Promise<boolean> {
    const isMoved = await this.#recovery.look()
    if (isMoved) this.#unsaved += 1
    return isMoved
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
    const { partition, partitionTime } = this
    const fields = { processor: this.row.name, partition, partitionTime, count }
    report.warn(fields, 'feeds’ marks are ahead of all that could confirm them; time does not follow')
  }

  async #write(applied: number, startedAt: number): Promise<void> {
    const { clock, meter } = this.#options.ports
    this.#unsaved += applied
    guarded('flush', () => this.#folded.flush(this.#outputs.emit))
    this.#unsavedLetters += await this.#dead.write(this.#claim)
    await this.#recovery.send()
    meter.applied(this.row.name, applied, clock.now() - startedAt)
    this.#tellRefused()
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
