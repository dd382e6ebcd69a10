import { createHash } from 'node:crypto'
import type { LogReader, LogRecord, OutRecord, Position, Slice } from '../../infra/kafka/seam.ts'
import type { Micros, Stood } from '../../schemas/records.ts'
import { isCompacted, type TopicName } from '../../schemas/topics.ts'
import type { Clock } from './ports.ts'
import type { ProcessorRow } from './processor.ts'

/** What lies before a record of a log can be of times so much later than it: clocks differ, and what waited is sent late. */
export const DISORDER: Micros = 60_000_000
/** Enough for one batch, whatever its size: a broker gives at least one. */
const ONE = { maxWaitMs: 0, maxBytesPerPartition: 1 }
const TRIES_MAX = 100
const RETRY_MS = 100
const PRINT_BYTES = 6
const UNKNOWN = -1

/**
 * Whether the log is still the one that was read, or written, up to a position, and where to go on where it is not.
 * - `retention`: what lies at the position was deleted; the log begins at `next`;
 * - `cut`: the log lost its tail from `next` on, and what lies there now was written after that;
 * - `replaced`: it is another log, or nobody knows where it differs; it ends at `next`.
 */
export type Finding =
  { readonly is: 'there' } | { readonly is: 'retention' | 'cut' | 'replaced'; readonly next: number }

const there: Finding = { is: 'there' }

/** Nothing was read yet. */
const NOWHERE = -1
/** Enough for all that claims have left in a partition that nobody has written to. */
const SOME = { maxWaitMs: 0, maxBytesPerPartition: 64 * 1024 }
/** A record is looked for this far before a place; what lies between is what nobody reads. */
const BEFORE_MAX = 1_000

/** Of a reader that begins at the log's start, `now` (ms): whatever lies before its position, it has read none of it. */
export function stoodNowhere(now: number): Stood {
  return { offset: NOWHERE, epoch: UNKNOWN, print: 0, time: now }
}

export function isNowhere(stood: Stood | undefined): boolean {
  return stood?.offset === NOWHERE
}

function isSomewhere(stood: Stood | undefined): stood is Stood {
  return stood !== undefined && stood.offset !== NOWHERE
}

/** Of a reader whose last record it is: by its leader epoch and hash the log is known again. */
export function stoodOn(record: Pick<LogRecord, 'offset' | 'time' | 'key' | 'value' | 'epoch'>): Stood {
  const { offset, time, epoch = UNKNOWN } = record
  return { offset, epoch, print: printOf(record), time: Math.trunc(time) }
}

/** 48 bits of a hash over what a record says; the offset is told beside it. */
export function printOf({ time, key, value }: Pick<OutRecord, 'time' | 'key' | 'value'>): number {
  const hash = createHash('sha1').update(`${time} ${key?.length ?? UNKNOWN} ${value?.length ?? UNKNOWN} `)
  if (key !== null) hash.update(key)
  if (value !== null) hash.update(value)
  return hash.digest().readUIntBE(0, PRINT_BYTES)
}

/** For who follows a topic: where the log goes on that is not the one that was read up to a position. */
export function otherLogFrom(
  reader: LogReader,
  delay: (ms: number) => Promise<void>,
): (position: Position, last: LogRecord) => Promise<number | undefined> {
  return async (position, last) => {
    const finding = await checkPosition(reader, position, stoodOn(last), delay)
    return finding.is === 'there' ? undefined : finding.next
  }
}

/**
 * Checks whether the log under a position is the one that was read up to it. `stood`: the record before it; undefined
 * where there was none, or a former release did not say. One fetch where nothing is amiss.
 */
export async function checkPosition(
  reader: LogReader,
  position: Position,
  stood: Stood | undefined,
  delay: (ms: number) => Promise<void>,
): Promise<Finding> {
  const slice = await settledAt(reader, position, stood, delay)
  const { start, end } = slice
  if (position.offset < start) return { is: 'retention', next: start }
  if (isNowhere(stood)) return lookBetween(reader, start, position, end, delay)
  if (stood === undefined || stood.offset < start) return position.offset > end ? { is: 'replaced', next: end } : there
  const verdict = verdictOf(slice, stood, isCompacted(position.topic as TopicName))
  if (verdict === 'same') return lookBetween(reader, stood.offset + 1, position, end, delay)
  const { topic, partition } = position
  const epochEnd = stood.epoch < 0 ? undefined : await reader.endOfEpoch(topic, partition, stood.epoch)
  if (epochEnd !== undefined && epochEnd <= stood.offset) return { is: 'cut', next: Math.max(epochEnd, start) }
  // a new leader may not yet say how far its followers are
  if (epochEnd !== undefined && slice.error === undefined && stood.offset >= end) return there
  return { is: 'replaced', next: end }
}

/**
 * What lies at the last record, or the position where there was none. A new leader does not know at first how far its
 * followers are, and shows less than it has; it tells no end before it knows.
 */
async function settledAt(
  reader: LogReader,
  position: Position,
  stood: Stood | undefined,
  delay: (ms: number) => Promise<void>,
): Promise<Slice> {
  const at = isSomewhere(stood) ? { ...position, offset: stood.offset } : position
  const slice = await fetchAt(reader, at, delay)
  if (slice.error === undefined && slice.end >= position.offset) return slice
  await reader.offsets(position.topic, [position.partition], 'end')
  return fetchAt(reader, at, delay)
}

/**
 * Between the last record that was read and the position lay only what nobody reads, such as a claim's marks. What is there
 * now came after a tail was lost.
 */
async function lookBetween(
  reader: LogReader,
  from: number,
  position: Position,
  end: number,
  delay: (ms: number) => Promise<void>,
): Promise<Finding> {
  const [first] = await recordsFrom(reader, { ...position, offset: from }, Math.min(position.offset, end), delay)
  const next = first?.offset ?? end
  return next < position.offset ? { is: 'cut', next } : there
}

/** Whether a record is where it was, by a slice that begins there. Of a compacted topic it may be gone. */
function verdictOf({ records, end }: Slice, stood: Stood, mayBeGone: boolean): 'same' | 'other' {
  const found = records.find(({ offset }) => offset === stood.offset)
  if (found === undefined) return mayBeGone && stood.offset < end ? 'same' : 'other'
  return printOf(found) === stood.print ? 'same' : 'other'
}

/** The last record before a position; undefined: there is none, or it is further away than `most`. */
export async function recordBefore(
  reader: LogReader,
  position: Position,
  delay: (ms: number) => Promise<void>,
  most = BEFORE_MAX,
): Promise<LogRecord | undefined> {
  const { start } = await fetchAt(reader, position, delay)
  const from = Math.max(start, position.offset - most)
  return (await recordsFrom(reader, { ...position, offset: from }, position.offset, delay)).at(-1)
}

/** The records from a position up to an offset. */
async function recordsFrom(
  reader: LogReader,
  { topic, partition, offset }: Position,
  to: number,
  delay: (ms: number) => Promise<void>,
): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for (let at = offset; at < to;) {
    const slice = await fetchAt(reader, { topic, partition, offset: at }, delay, SOME)
    records.push(...slice.records.filter((record) => record.offset < to))
    if (slice.next <= at) break
    at = slice.next
  }
  return records
}

/** From when on the log has all that the rows of a time follow from, in each input; 0: it was not cut. */
export async function wholeSince(
  reader: LogReader,
  { inputs, retold }: Pick<ProcessorRow, 'inputs' | 'retold'>,
  partition: number,
  { now, delay }: Pick<Clock, 'now' | 'delay'>,
): Promise<Micros> {
  let since: Micros = 0
  for (const topic of retold === undefined ? [] : inputs) {
    const start = (await reader.offsets(topic, [partition], 'start')).get(partition) ?? 0
    if (start === 0) continue
    const [first] = (await fetchAt(reader, { topic, partition, offset: start }, delay)).records
    since = Math.max(since, (first?.time ?? now()) * 1_000 + DISORDER)
  }
  return since
}

/** What lies at a position, and is there at once. Rejects where no broker answers for long. */
export async function fetchAt(
  reader: LogReader,
  position: Position,
  delay: (ms: number) => Promise<void>,
  options = ONE,
): Promise<Slice> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const [slice] = await reader.fetch([position], options)
    if (slice !== undefined && slice.error !== 'moved') return slice
    await delay(RETRY_MS)
  }
  throw new Error(`${position.topic}/${position.partition} could not be read at ${position.offset}`)
}
