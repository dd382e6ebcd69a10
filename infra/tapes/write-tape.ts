import { isCompacted, topicOf, topics, type TopicName } from '../../schemas/topics.ts'
import type { LogRecord } from '../kafka/seam.ts'
import { encodeSegment } from './avro-segment.ts'
import {
  noteSegment,
  partitionName,
  readHeader,
  readSegments,
  writeHeader,
  type Segment,
  type SegmentWriter,
  type TapeHeader,
  TAPE_VERSION,
  type Format,
  whileWriting,
} from './folder.ts'
import { readMessage } from './message.ts'
import { checkSameLog } from './same-log.ts'
import { segmentName, timesOf, writeFile } from './segment-file.ts'
import { TapeError, type Span, type Tape, type TimeRange } from './tape.ts'
import { mapHash } from '../../schemas/catalogue.ts'

/** A segment is kept in memory until it is whole. */
const SEGMENT_RECORDS_MAX = 200_000
const SEGMENT_BYTES_MAX = 64 * 1024 * 1024

interface WriteOptions {
  readonly tape: Tape
  readonly folder: string
  readonly header: TapeHeader
  readonly write: SegmentWriter
  /** An export that is there already goes on to the ends that the header has; default: to those that it was begun with. */
  readonly grow?: boolean
  /** Records of a segment; default 200,000. */
  readonly segmentRecords?: number
  /** Told of each segment that is written. */
  readonly onProgress: (segment: Segment) => void
  /** Aborted: the writing ends at the next batch; what is no segment by then is read again when it goes on. */
  readonly stop: AbortSignal
}

/** Avro files, the records' bytes as they are. */
export function avroWriter(tape: Tape, folder: string): SegmentWriter {
  return (span, records) => {
    const name = `${segmentName(span.topic, span.partition, span.from)}.avro`
    return Promise.resolve([writeFile(folder, name, encodeSegment(tape.codec, span.topic, name, records))])
  }
}

/**
 * Writes the header's spans into the folder, segment by segment, but for records that cannot be read. What is there already of the same export is kept: a
 * segment counts when its files are on the disk and its line is written. Gives whether all is there.
 * Throws `TapeError` `refused` while another process writes into the folder.
 */
export function writeTape(options: WriteOptions): Promise<boolean> {
  return whileWriting(options.folder, () => writeSpans(options))
}

async function writeSpans(options: WriteOptions): Promise<boolean> {
  const { folder, tape } = options
  const opened = await openFolder(options)
  const spans = [...opened.spans]
  const there = readSegments(folder)
  for (const [index, planned] of opened.spans.entries()) {
    const from = there.get(partitionName(planned.topic, planned.partition))?.at(-1)?.to ?? planned.from
    if (from >= planned.to) continue
    const span = await upToNow(tape, planned)
    spans[index] = span
    if (span.to > planned.to) writeHeader(folder, { ...opened, spans })
    if (!(await writeSpan(options, { ...span, from }))) return isWhole(folder, spans)
  }
  return true
}

/** Of a compacted topic also what was written since it was planned: it may have replaced what lay in the span. */
async function upToNow(tape: Tape, span: Span): Promise<Span> {
  if (!isCompacted(span.topic)) return span
  const { to } = await tape.span(span.topic, span.partition, { from: 0, to: Infinity })
  return { ...span, to: Math.max(span.to, to) }
}

function isWhole(folder: string, spans: readonly Span[]): boolean {
  const there = readSegments(folder)
  return spans.every(
    ({ topic, partition, from, to }) => (there.get(partitionName(topic, partition))?.at(-1)?.to ?? from) >= to,
  )
}

/** The header of an export that goes on, or a new one. Throws `TapeError` where the folder holds another tape. */
async function openFolder({ tape, folder, header, grow = false }: WriteOptions): Promise<TapeHeader> {
  const known = readHeader(folder)
  if (known === undefined) {
    writeHeader(folder, header)
    return header
  }
  const same = ['format', 'partitions', 'map', 'source'] as const
  const isSame = same.every((name) => known[name] === header[name])
  const topics = ({ spans }: TapeHeader): string => [...new Set(spans.map(({ topic }) => topic))].join(' ')
  if (!isSame || topics(known) !== topics(header) || JSON.stringify(known.range) !== JSON.stringify(header.range))
    throw new TapeError('refused', `${folder} holds another export; name an empty folder, or the same topics and range`)
  if (grow || !isWhole(folder, known.spans)) await checkSameLog(tape, folder, known)
  if (!grow) return known
  const there = readSegments(folder)
  const spans: Span[] = []
  for (const [index, span] of known.spans.entries()) {
    const end = there.get(partitionName(span.topic, span.partition))?.at(-1)?.to ?? span.from
    spans.push(await grownSpan({ tape, folder }, end, span, header.spans[index]))
  }
  const grown = { ...known, spans }
  writeHeader(folder, grown)
  return grown
}

/** `end`: of the folder's last segment. Throws `TapeError` where the log does not have any more what follows on it. */
async function grownSpan(
  { tape, folder }: Pick<WriteOptions, 'tape' | 'folder'>,
  end: number,
  known: Span,
  now: Span | undefined,
): Promise<Span> {
  const { topic, partition } = known
  if (now?.topic !== topic || now.partition !== partition) return known
  // The range may begin further on: where it has no record yet, at the end of the log.
  const start = isCompacted(topic) ? 0 : (await tape.span(topic, partition, { from: 0, to: Infinity })).from
  if (start > end) {
    const lost = `${start - end} offsets of ${topic}/${partition} behind the end of ${folder} were deleted from the log`
    throw new TapeError('refused', `${lost}; begin another folder, and grow it more often or raise RETENTION_BYTES`)
  }
  return { ...known, to: Math.max(known.to, now.to) }
}

/** Gives whether to go on. */
async function writeSpan(options: WriteOptions, span: Span): Promise<boolean> {
  const { topic, partition } = span
  let records: LogRecord[] = []
  let unreadable: number[] = []
  let bytes = 0
  let from = span.from
  const recordsMax = options.segmentRecords ?? SEGMENT_RECORDS_MAX
  const close = async (to: number): Promise<void> => {
    const files = await options.write({ ...span, from, to }, records)
    const missing = unreadable.length > 0 ? { unreadable } : {}
    const segment = { topic, partition, from, to, records: records.length, ...timesOf(records), files, ...missing }
    noteSegment(options.folder, segment)
    records = []
    unreadable = []
    bytes = 0
    from = to
    options.onProgress(segment)
  }
  for await (const batch of options.tape.read(span)) {
    if (options.stop.aborted) return false
    for (const record of batch) {
      if (await isReadable(options.tape, topic, record)) records.push(record)
      else unreadable.push(record.offset)
      bytes += (record.value?.length ?? 0) + (record.key?.length ?? 0)
      if (records.length + unreadable.length >= recordsMax || bytes >= SEGMENT_BYTES_MAX) await close(record.offset + 1)
    }
  }
  // Behind the last record offsets may follow that no record has.
  if (from < span.to) await close(span.to)
  return !options.stop.aborted
}

async function isReadable(tape: Tape, topic: TopicName, { value }: LogRecord): Promise<boolean> {
  return value === null || (await readMessage(tape, topic, value)) !== undefined
}

/**
 * A topic that several processors write has their records side by side, each with the time of the input that it follows
 * from: where one lags behind another by less, all that follows from a range stands before this much later, milliseconds.
 */
export const LAG_MS = 3_600_000

interface Wanted {
  readonly format: Format
  /** Record times, milliseconds; null: all that is there. */
  readonly from: number
  readonly to: number | null
}

/** A replay goes by all of it, however short the range: what it tells of offsets counts from there on. */
const JOURNAL = 'control.gaps'

/** What a backtest reads or is compared with, of what the tape has. */
export function exportedTopics(tape: Tape): TopicName[] {
  const names = topics.map(({ name }) => name).filter((name) => tape.topics.has(name))
  return names.filter((name) => name === JOURNAL || /^(?:market|derived|alerts)\./.test(name))
}

/** What an export of these topics, each once, is to hold. Throws `TapeError` where that is nothing. */
export async function planExport(tape: Tape, names: readonly TopicName[], wanted: Wanted): Promise<TapeHeader> {
  const { format, from } = wanted
  // A tape of a range that is written in another format stays one.
  const to = wanted.to ?? tape.until ?? null
  const range = { from, to }
  if (to !== null && from >= to)
    throw new TapeError('refused', `the range begins at ${isoOf(from)}, but ends at ${isoOf(to)}`)
  const spans: Span[] = []
  for (const topic of new Set(names)) {
    const count = topicOf(topic).partitions === 'one' ? 1 : tape.partitions
    for (let partition = 0; partition < count; partition++) {
      spans.push(await tape.span(topic, partition, partOf(topic, range)))
    }
  }
  const isAlone = names.every((name) => name === JOURNAL)
  if (spans.every((span) => span.from >= span.to || (span.topic === JOURNAL && !isAlone)))
    throw new TapeError('no-data', `${tape.name} has no records of ${names.join(', ')} in that range`)
  const { partitions, name } = tape
  return { version: TAPE_VERSION[format], format, partitions, map: mapHash(), source: name, range, spans }
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}

/** Of compacted topics all from its begin on: what came later has replaced what lay in the range. */
function partOf(topic: TopicName, range: TapeHeader['range']): TimeRange {
  if (topic === JOURNAL) return { from: 0, to: Infinity }
  const [from, to] = [range.from, range.to ?? Infinity]
  if (isCompacted(topic)) return { from, to: Infinity }
  return { from, to: topic.startsWith('market.') ? to : to + LAG_MS }
}
