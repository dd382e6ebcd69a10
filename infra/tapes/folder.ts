import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TopicName } from '../../schemas/topics.ts'
import type { LogRecord } from '../kafka/seam.ts'
import { takeLock } from '../local/lock.ts'
import { diskError, TapeError, type Span } from './tape.ts'

/** A folder of tape files: `tape.json` says what was asked for, `segments.jsonl` what is there, one line a file. */

export type Format = 'avro' | 'parquet'

/** Raised when what lies in a folder of that format changes its meaning. */
export const TAPE_VERSION: Readonly<Record<Format, number>> = { avro: 1, parquet: 3 }

export interface TapeHeader {
  readonly version: number
  readonly format: Format
  /** Of the topics that are partitioned by asset. */
  readonly partitions: number
  /** Asset-to-partition map, as in the log's layout. */
  readonly map: string
  /** Where it was taken from, for people. */
  readonly source: string
  /** Record times that were asked for, milliseconds; null: to the end as of then. */
  readonly range: { readonly from: number; readonly to: number | null }
  readonly spans: readonly Span[]
}

/** One file (of Parquet: one for each record type) with the records of a partition from `from` to before `to`. */
export interface Segment {
  readonly topic: TopicName
  readonly partition: number
  readonly from: number
  readonly to: number
  readonly records: number
  /** Largest record time in it, milliseconds; the smallest. */
  readonly lastTime: number
  readonly firstTime: number
  readonly files: readonly SegmentFile[]
  /** Offsets of records that could not be read and were left out; absent: there were none. */
  readonly unreadable?: readonly number[]
}

export interface SegmentFile {
  /** Below the folder, with forward slashes. */
  readonly path: string
  readonly bytes: number
  readonly sha256: string
}

/** Makes the files of one segment. */
export type SegmentWriter = (span: Span, records: readonly LogRecord[]) => Promise<Segment['files']>

/** Reads the records of one segment, in batches in the order of the log. */
export type SegmentReader = (segment: Segment) => AsyncIterable<readonly LogRecord[]> | Iterable<readonly LogRecord[]>

const HEADER = 'tape.json'
const SEGMENTS = 'segments.jsonl'

/** The folder's header; undefined where there is none. */
export function readHeader(folder: string): TapeHeader | undefined {
  const file = path.join(folder, HEADER)
  if (!existsSync(file)) return undefined
  const header = parse(file, readFileSync(file, 'utf8')) as TapeHeader
  const { format, version, source } = header
  const known = TAPE_VERSION[format]
  if (version > known)
    throw new TapeError('newer', `${file} has version ${version} of ${format}, this release knows up to ${known}`)
  if (version < known) {
    const hint = `export ${source} again, or make it Avro with the release that wrote it`
    throw new TapeError('older', `${file} has version ${version} of ${format}, which only older releases read; ${hint}`)
  }
  return header
}

export function writeHeader(folder: string, header: TapeHeader): void {
  mkdirSync(folder, { recursive: true })
  const file = path.join(folder, HEADER)
  writeFileSync(`${file}.part`, `${JSON.stringify(header, null, 2)}\n`, { flush: true })
  renameSync(`${file}.part`, file)
}

/** Runs `work` while no other process of this machine writes into the folder. Throws `TapeError` `refused` where one does. */
export async function whileWriting<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  const release = hold(path.join(folder, 'lock'))
  if (release === undefined) throw new TapeError('refused', `another export or import writes into ${folder}`)
  try {
    cutTorn(path.join(folder, SEGMENTS))
    return await work()
  } finally {
    release()
  }
}

function hold(lock: string): (() => void) | undefined {
  try {
    mkdirSync(path.dirname(lock), { recursive: true })
    return takeLock(lock)
  } catch (error) {
    throw diskError(lock, error)
  }
}

/** Takes away a last line that a crash has torn: the next one would be written behind it. */
function cutTorn(file: string): void {
  if (!existsSync(file)) return
  const bytes = readFileSync(file)
  const end = bytes.lastIndexOf('\n') + 1
  if (end < bytes.length) truncateSync(file, end)
}

/** Segments by topic and partition, in the order of the log. A last line that is not whole does not count. */
export function readSegments(folder: string): Map<string, Segment[]> {
  const file = path.join(folder, SEGMENTS)
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
  const segments = lines.map((line) => parse(file, line) as Segment)
  return Map.groupBy(segments, ({ topic, partition }) => partitionName(topic, partition))
}

/** Notes a segment whose files are on the disk. */
export function noteSegment(folder: string, segment: Segment): void {
  appendFileSync(path.join(folder, SEGMENTS), `${JSON.stringify(segment)}\n`, { flush: true })
}

export function partitionName(topic: TopicName, partition: number): string {
  return `${topic}/${partition}`
}

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new TapeError('corrupt', `${file} is damaged: a line of it is no JSON`, { cause: error })
  }
}
