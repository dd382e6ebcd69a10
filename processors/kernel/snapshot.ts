import type { LogRecord, OutRecord } from '../../infra/kafka/seam.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Snapshot, Stood } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { FatalError } from './errors.ts'
import type { PartitionTime } from './partition-clock.ts'

/** Key of the record that says how far the state has come; parts of a processor never begin with @. */
export const POSITION_KEY = '@position'
/**
 * A snapshot is one batch, because only a batch is written as a whole; state topics take 34 MiB. Beyond this the task
 * stops: splitting would tear state and position apart. Processors keep their parts small instead: one record may change
 * some 40,000 alerts.
 */
export const SNAPSHOT_BYTES_MAX = 32_000_000
/** Of what is written in several batches. */
const ERASED_PER_SEND_MAX = 2_000
const BYTES_PER_SEND_MAX = 8_000_000
/** Lengths, delta offset, delta time and header count of a record in a batch, at most. */
const RECORD_OVERHEAD_BYTES = 24

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
}

export type PartChange = readonly [key: string, part: Buffer | null]

/** The batch that takes the state topic from the last snapshot to this one. Throws `FatalError` when it is too large. */
export function snapshotBatch(
  codec: Codec,
  owner: StateOwner,
  position: StatePosition,
  changes: Iterable<PartChange>,
  recordTime: number,
): OutRecord[] {
  const { name: processor, generation } = owner
  const encode = (fields: Pick<Snapshot, 'state'> & Partial<StatePosition>): Buffer =>
    codec.encode(owner.state, 'snapshot', { ...NOWHERE, processor, generation, time: position.time, ...fields })
  const batch: OutRecord[] = []
  for (const [key, part] of changes) {
    batch.push({ key, value: part && encode({ state: part }), time: recordTime })
  }
  batch.push({ key: POSITION_KEY, value: encode({ ...position, state: EMPTY }), time: recordTime })
  checkSize(batch, owner)
  return batch
}

const EMPTY = Buffer.alloc(0)
const NOWHERE = { applied: {}, clocks: {}, failures: [], stood: {}, told: -1 }

function checkSize(batch: readonly OutRecord[], owner: StateOwner): void {
  const bytes = batchBytes(batch)
  if (bytes <= SNAPSHOT_BYTES_MAX) return
  throw new FatalError(
    'snapshot-too-large',
    `a snapshot of ${owner.name} has ${bytes} bytes in ${batch.length} parts, over the limit of ${SNAPSHOT_BYTES_MAX}; ` +
      'snapshot more often (SNAPSHOT_SECONDS) or make its parts smaller',
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
  | { readonly kind: 'none'; readonly stale: readonly string[]; readonly writtenBy: number | undefined }
  | { readonly kind: 'state'; readonly position: StatePosition; readonly parts: ReadonlyMap<string, Buffer> }

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
    if (position !== undefined && position.generation > owner.generation) throw newerState(owner, position)
    this.#latest.delete(POSITION_KEY)
    if (position === undefined || position.generation < owner.generation || !isWhole(position)) {
      return { kind: 'none', stale: [...this.#latest.keys()], writtenBy: position?.generation }
    }
    const parts = new Map([...this.#latest].map(([key, { state }]) => [key, state] as const))
    const { applied, time, clocks, failures, stood, told } = position
    return { kind: 'state', position: { applied, time, clocks, failures, stood, told }, parts }
  }
}

function newerState(owner: StateOwner, found: Snapshot): FatalError {
  return new FatalError(
    'newer-state',
    `the state of ${owner.name} was written by generation ${found.generation}, this code is generation ` +
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
  codec: Codec,
  owner: StateOwner,
  stale: readonly string[],
  recordTime: number,
): Iterable<OutRecord[]> {
  yield snapshotBatch(codec, owner, { ...NOWHERE, time: 0 }, [], recordTime)
  for (let at = 0; at < stale.length; at += ERASED_PER_SEND_MAX)
    yield stale.slice(at, at + ERASED_PER_SEND_MAX).map((key) => ({ key, value: null, time: recordTime }))
}

/** The whole of a state, in batches: behind the last of them it stands. */
export function* wholeState(
  codec: Codec,
  owner: StateOwner,
  { parts, position }: Pick<Extract<Found, { kind: 'state' }>, 'parts' | 'position'>,
  recordTime: number,
): Iterable<OutRecord[]> {
  let batch: PartChange[] = []
  let bytes = 0
  for (const [key, part] of parts) {
    if (bytes + part.length > BYTES_PER_SEND_MAX && batch.length > 0) {
      yield snapshotBatch(codec, owner, { ...NOWHERE, time: 0 }, batch, recordTime)
      batch = []
      bytes = 0
    }
    batch.push([key, part])
    bytes += part.length
  }
  yield snapshotBatch(codec, owner, position, batch, recordTime)
}
