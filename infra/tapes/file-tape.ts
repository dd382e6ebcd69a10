import { setImmediate as turn } from 'node:timers/promises'
import type { Codec } from '../../schemas/codec.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { LogRecord } from '../kafka/seam.ts'
import { decodeSegment } from './avro-segment.ts'
import { fileCodec, type FileCodec } from './envelope.ts'
import { partitionName, readHeader, readSegments, type Segment, type SegmentReader, type TapeHeader } from './folder.ts'
import { parquetReader } from './parquet-segment.ts'
import { readChecked } from './segment-file.ts'
import { TapeError, type Span, type Tape, type TimeRange } from './tape.ts'

/** An export as a tape. Throws `TapeError` where the folder holds none, or one that is not complete. */
export function fileTape(folder: string): Tape {
  const header = readHeader(folder)
  if (header === undefined) throw new TapeError('no-tape', `${folder} holds no tape: there is no tape.json in it`)
  const segments = readSegments(folder)
  for (const span of header.spans) checkComplete(folder, span, segments)
  const { codec, read } = openFiles(folder, header)
  return {
    name: folder,
    partitions: header.partitions,
    topics: new Set(header.spans.map(({ topic }) => topic)),
    ...(header.range.to === null ? {} : { until: header.range.to }),
    codec,
    lookUp: () => Promise.resolve(false),
    span: (topic, partition, range) => spanOf({ header, segments, read }, topic, partition, range),
    read: (span) => readSpan(segments.get(partitionName(span.topic, span.partition)) ?? [], read, span),
    close: () => Promise.resolve(),
  }
}

/** Reads segments, with values in the wire format of `codec`. */
export interface OpenFiles {
  readonly codec: Codec
  readonly read: SegmentReader
}

/** The files of an export, complete or not. */
export function openFiles(folder: string, { format }: TapeHeader): OpenFiles {
  const files = fileCodec()
  const read = format === 'avro' ? avroReader(files, folder) : parquetReader(files.codec, folder)
  return { codec: files.codec, read }
}

function avroReader(files: FileCodec, folder: string): SegmentReader {
  return function* (segment) {
    for (const file of segment.files) yield* decodeSegment(files, segment.topic, file.path, readChecked(folder, file))
  }
}

function checkComplete(folder: string, span: Span, segments: ReadonlyMap<string, readonly Segment[]>): void {
  let next = span.from
  for (const segment of segments.get(partitionName(span.topic, span.partition)) ?? []) {
    if (segment.from !== next)
      throw new TapeError(
        'corrupt',
        `${folder}: of ${span.topic}/${span.partition} offsets ${next} to ${segment.from} are missing`,
      )
    next = segment.to
  }
  if (next >= span.to) return
  const hint = 'run the export again with the same flags, and it goes on there'
  throw new TapeError(
    'no-tape',
    `${folder} is not complete: ${span.topic}/${span.partition} ends at ${next} of ${span.to}; ${hint}`,
  )
}

interface Opened {
  readonly header: TapeHeader
  readonly segments: ReadonlyMap<string, readonly Segment[]>
  readonly read: SegmentReader
}

async function spanOf(
  { header, segments, read }: Opened,
  topic: TopicName,
  partition: number,
  range: TimeRange,
): Promise<Span> {
  const whole = header.spans.find((span) => span.topic === topic && span.partition === partition)
  if (whole === undefined) return { topic, partition, from: 0, to: 0, isWhole: false }
  const own = segments.get(partitionName(topic, partition)) ?? []
  const from = await firstAt(own, read, range.from, whole)
  const to = await firstAt(own, read, range.to, whole)
  return { topic, partition, from, to: Math.max(from, to), isWhole: whole.isWhole && from === whole.from }
}

/** Offset of the first record at or after `time`; past the data: the end. As a broker says it. */
async function firstAt(segments: readonly Segment[], read: SegmentReader, time: number, whole: Span): Promise<number> {
  if (time <= 0) return whole.from
  const segment = segments.find(({ lastTime }) => lastTime >= time)
  if (segment === undefined) return whole.to
  if (segment.from === whole.from && segment.firstTime >= time) return whole.from
  for await (const records of read(segment)) {
    const found = records.find((record) => record.time >= time)
    if (found !== undefined) return found.offset
  }
  return segment.to
}

async function* readSpan(
  segments: readonly Segment[],
  read: SegmentReader,
  { from, to }: Span,
): AsyncGenerator<readonly LogRecord[]> {
  for (const segment of segments) {
    if (segment.to <= from || segment.from >= to) continue
    const isInside = segment.from >= from && segment.to <= to
    for await (const records of read(segment)) {
      await turn() // files are read in one go: signals and timers get their turn between batches
      const wanted = isInside ? records : records.filter(({ offset }) => offset >= from && offset < to)
      if (wanted.length > 0) yield wanted
    }
  }
}
