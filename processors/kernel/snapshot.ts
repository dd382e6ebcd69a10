import type { LogRecord, OutRecord } from '../../infra/kafka/seam.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Micros, Snapshot, Stood } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { FatalError } from './errors.ts'
import type { PartitionTime } from './partition-clock.ts'

/** Key of the record that says how far the state has come; parts of a processor never begin with @. */
export const POSITION_KEY = '@position'
/** Parts of a snapshot of several batches wait under their key behind this. */
const WAITING = '@next|'
/** While a record of this key is there, what waits is of the state; else it is of a snapshot that was not finished. */
const TAKEN_KEY = '@taken'
/**
 * Added to the generation of a position while a snapshot of several batches is not in its place: a release that knows of
 * snapshots of one batch alone would take what waits for parts, and refuses a higher generation.
 */
const UNSETTLED = 1_000
/**
 * Only a batch is written as a whole; state topics take 34 MiB. A snapshot beyond this, of some 40,000 alerts that one
 * price rings, is written in several; a part beyond it stops the task.
 */
export const SNAPSHOT_BYTES_MAX = 32_000_000
/** Of what is written in several batches. */
const ERASED_PER_SEND_MAX = 2_000
const BYTES_PER_SEND_MAX = 8_000_000
/** Lengths, delta offset, delta time and header count of a record in a batch, at most. */
const RECORD_OVERHEAD_BYTES = 24
/** What a part has beside its key and bytes: the record, and who wrote it. */
const PART_OVERHEAD_BYTES = RECORD_OVERHEAD_BYTES + 100

/** Who writes a state and in which form. */
export interface StateOwner {
  readonly name: string
  readonly generation: number
  readonly state: TopicName
}

/** How far a state has come. */
export interface StatePosition extends PartitionTime {
  /** Last offset applied of each input topic. */
  readonly applied: Readonly<Record<string, number>>
  /** What has failed lately. */
  readonly failures: Snapshot['failures']
  /** What each input and output was left at, by `topic/partition`. */
  readonly stood: Readonly<Record<string, Stood>>
  /** Offset in `control.gaps` of the last gap that the state has taken in; -1: none. */
  readonly told: number
  /** Rows of past times that begin before it are not told: the log that the state was built from begins too late; 0: all are. */
  readonly since: Micros
  /** False while it is built in an older generation's place, up to the end of the log that was found. */
  readonly built: boolean
}

export type PartChange = readonly [key: string, part: Buffer | null]

/** Where a snapshot goes. */
interface SnapshotTarget {
  readonly codec: Codec
  readonly owner: StateOwner
  readonly recordTime: number
}

/**
 * The batches that take the state topic from the last snapshot, which was `before`, to this one. One, where it has no more
 * than `bytesMax`. Else the parts are written first where they wait and count for nothing; then one batch says that they are
 * taken, and has the position; then they are put in their places. So whatever is cut off, the whole snapshot is there or
 * nothing of it; and all the while the state is of a newer release to those that know of one batch alone.
 */
export function* snapshotBatches(
  target: SnapshotTarget,
  position: StatePosition,
  changes: readonly PartChange[],
  { before = nowhere, bytesMax = SNAPSHOT_BYTES_MAX }: { before?: StatePosition | undefined; bytesMax?: number } = {},
): Iterable<OutRecord[]> {
  if (partBytes(changes) <= bytesMax) return yield snapshotBatch(target, position, changes)
  const sendMax = Math.min(bytesMax, BYTES_PER_SEND_MAX)
  const { owner } = target
  const unsettled = { ...target, owner: { ...owner, generation: owner.generation + UNSETTLED } }
  const waiting = changes.map(([key, part]): PartChange => [WAITING + key, part ?? EMPTY])
  for (const some of sendsOf(waiting, sendMax)) yield snapshotBatch(unsettled, before, some)
  yield snapshotBatch(unsettled, position, [[TAKEN_KEY, EMPTY]])
  yield* settlingBatches(target, position, { waiting: changes, isTaken: true }, sendMax)
}

/** What a snapshot of several batches left that is not in its place yet: parts, null for one that is gone. */
export interface Unsettled {
  readonly waiting: readonly PartChange[]
  readonly isTaken: boolean
}

/** Put what waits in its place, or, where it was not taken, away. The position stands behind all of it, as ever. */
export function* settlingBatches(
  target: SnapshotTarget,
  position: StatePosition,
  { waiting, isTaken }: Unsettled,
  sendMax = BYTES_PER_SEND_MAX,
): Iterable<OutRecord[]> {
  const moves = waiting.flatMap(([key, part]): PartChange[] => {
    const away: PartChange = [WAITING + key, null]
    return isTaken ? [[key, part], away] : [away]
  })
  for (const some of sendsOf(moves, sendMax)) yield partsBatch(target, position, some)
  yield snapshotBatch(target, position, [[TAKEN_KEY, null]])
}

/** Parts, and the position behind them. */
function snapshotBatch(target: SnapshotTarget, position: StatePosition, changes: readonly PartChange[]): OutRecord[] {
  const { codec, owner, recordTime: time } = target
  const { name: processor, generation } = owner
  const value = codec.encode(owner.state, 'snapshot', { processor, generation, ...position, state: EMPTY })
  return [...partsBatch(target, position, changes), { key: POSITION_KEY, value, time }]
}

const EMPTY = Buffer.alloc(0)
const nowhere: StatePosition = {
  applied: {},
  time: 0,
  clocks: {},
  failures: [],
  stood: {},
  told: -1,
  since: 0,
  built: true,
}

/** Throws `FatalError` when it is too large. */
function partsBatch(
  { codec, owner, recordTime }: SnapshotTarget,
  { time }: Pick<StatePosition, 'time'>,
  changes: readonly PartChange[],
): OutRecord[] {
  const { name: processor, generation } = owner
  const encode = (state: Buffer): Buffer =>
    codec.encode(owner.state, 'snapshot', { ...nowhere, processor, generation, time, state })
  const batch = changes.map(([key, part]) => ({ key, value: part && encode(part), time: recordTime }))
  const bytes = batchBytes(batch)
  if (bytes <= SNAPSHOT_BYTES_MAX) return batch
  throw new FatalError(
    'snapshot-too-large',
    `a part of ${owner.name} is in a batch of ${bytes} bytes, over the limit of ${SNAPSHOT_BYTES_MAX}`,
  )
}

/** Changes in sends of so many bytes, each of one at least. */
function* sendsOf(changes: Iterable<PartChange>, bytesMax: number): Iterable<PartChange[]> {
  let send: PartChange[] = []
  let bytes = 0
  for (const change of changes) {
    const more = partBytes([change])
    if (bytes + more > bytesMax && send.length > 0) {
      yield send
      send = []
      bytes = 0
    }
    send.push(change)
    bytes += more
  }
  if (send.length > 0) yield send
}

/** Size of parts in a batch, rounded up. */
function partBytes(changes: readonly PartChange[]): number {
  return changes.reduce(
    (sum, [key, part]) => sum + PART_OVERHEAD_BYTES + Buffer.byteLength(key) + (part?.length ?? 0),
    0,
  )
}

/** Size of records in a batch, rounded up. */
export function batchBytes(batch: readonly OutRecord[]): number {
  return batch.reduce((sum, { key, value }) => {
    return sum + RECORD_OVERHEAD_BYTES + Buffer.byteLength(key ?? '') + (value?.length ?? 0)
  }, 0)
}

/** What a state topic's partition says, by the last value of each key. */
export type Found =
  /** Nothing that this generation can go on from; `stale` are the parts that an older one, or a cut write, left. */
  | {
      readonly kind: 'none'
      readonly stale: readonly string[]
      readonly writtenBy: number | undefined
      /** False: it is an older generation's place, whose rows stand. */
      readonly built: boolean
    }
  | {
      readonly kind: 'state'
      readonly position: StatePosition
      readonly parts: ReadonlyMap<string, Buffer>
      /** Undefined: all is in its place. */
      readonly unsettled: Unsettled | undefined
    }

function change(parts: Map<string, Buffer>, key: string, part: Buffer | null): void {
  if (part === null) parts.delete(key)
  else parts.set(key, part)
}

/** Folds a state topic's partition, read from its start to its end. */
export class StateFold {
  readonly #latest = new Map<string, Snapshot>()
  readonly #decode: (value: Buffer) => Promise<Snapshot>

  constructor(decode: (value: Buffer) => Promise<Snapshot>) {
    this.#decode = decode
  }

  async add(records: readonly LogRecord[]): Promise<void> {
    for (const { key, value } of records) {
      if (key === null) continue
      if (value === null) this.#latest.delete(key.toString())
      else this.#latest.set(key.toString(), await this.#decode(value))
    }
  }

  /** Throws `FatalError` where newer code has written. */
  found(owner: StateOwner): Found {
    const position = this.#latest.get(POSITION_KEY)
    const generation = position && writerGeneration(position)
    if (generation !== undefined && generation > owner.generation) throw newerState(owner, generation)
    this.#latest.delete(POSITION_KEY)
    if (position === undefined || generation !== owner.generation || !isWhole(position)) {
      const built = position === undefined || (generation === owner.generation && position.built)
      return { kind: 'none', stale: [...this.#latest.keys()], writtenBy: generation, built }
    }
    const isTaken = this.#latest.delete(TAKEN_KEY)
    const all = [...this.#latest].map(([key, { state }]) => [key, state] as const)
    const parts = new Map(all.filter(([key]) => !key.startsWith(WAITING)))
    const waiting = all
      .filter(([key]) => key.startsWith(WAITING))
      .map(([key, state]): PartChange => [key.slice(WAITING.length), state.length === 0 ? null : state])
    if (isTaken) for (const [key, part] of waiting) change(parts, key, part)
    const { applied, time, clocks, failures, stood, told, since, built } = position
    const unsettled = position.generation === generation ? undefined : { waiting, isTaken }
    const own = { applied, time, clocks, failures, stood, told, since, built }
    return { kind: 'state', position: own, parts, unsettled }
  }
}

/** The generation that a position is of. */
export function writerGeneration({ generation }: Pick<Snapshot, 'generation'>): number {
  return generation % UNSETTLED
}

function newerState(owner: StateOwner, generation: number): FatalError {
  return new FatalError(
    'newer-state',
    `the state of ${owner.name} was written by generation ${generation}, this code is generation ` +
      `${owner.generation}; start the newer version`,
  )
}

/** A position that has applied nothing stands in front of a state that is not written to its end. */
export function isWhole({ applied }: Pick<Snapshot, 'applied'>): boolean {
  return Object.keys(applied).length > 0
}

/**
 * Takes an older generation's parts away, in batches. A position of this one comes first: whoever finds it knows that the
 * state is no longer the older one's, and, where the rest was cut off by a crash, not yet this one's.
 */
export function* erasure(
  target: SnapshotTarget,
  { stale, built }: Pick<Extract<Found, { kind: 'none' }>, 'stale' | 'built'>,
): Iterable<OutRecord[]> {
  yield snapshotBatch(target, { ...nowhere, built }, [])
  for (let at = 0; at < stale.length; at += ERASED_PER_SEND_MAX)
    yield stale.slice(at, at + ERASED_PER_SEND_MAX).map((key) => ({ key, value: null, time: target.recordTime }))
}

/** The whole of a state, in batches: behind the last of them it stands. */
export function* wholeState(
  target: SnapshotTarget,
  { parts, position }: Pick<Extract<Found, { kind: 'state' }>, 'parts' | 'position'>,
): Iterable<OutRecord[]> {
  for (const some of sendsOf(parts, BYTES_PER_SEND_MAX)) yield snapshotBatch(target, { ...nowhere, built: false }, some)
  yield snapshotBatch(target, position, [])
}
