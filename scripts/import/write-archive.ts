import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { encodeSegment } from '../../infra/tapes/avro-segment.ts'
import {
  noteSegment,
  partitionName,
  readHeader,
  readSegments,
  TAPE_VERSION,
  whileWriting,
  writeHeader,
} from '../../infra/tapes/folder.ts'
import { segmentName, timesOf, writeFile } from '../../infra/tapes/segment-file.ts'
import { TapeError, type Span } from '../../infra/tapes/tape.ts'
import type { LogRecord } from '../../infra/kafka/seam.ts'
import { mapHash, partitionOf } from '../../schemas/catalogue.ts'
import { localCodec, emptyFields } from '../../schemas/codec.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Market } from '../../schemas/venues.ts'
import { assetOf, mergeFiles, tradesOf, type ArchiveFile, type FileTrade, type Refusals } from './archive.ts'
import { MissingTime } from './missing-time.ts'

const TOPIC = 'market.trades'
const SECOND: Micros = 1_000_000
/** A bucket closes 2 s behind its 10 s. */
const MARKS_BEHIND = 13
/** From here on a silence is marked once a bucket, and between files it is a gap. */
const QUIET_SECONDS = 3_600
const BUCKET_SECONDS = 10
const SEGMENT_RECORDS_MAX = 200_000
const PLAN = 'import.json'
/** Of the records that the same files make, and their order: an import that another release began cannot go on. */
const PLAN_VERSION = 3

export interface ArchiveOptions {
  readonly files: readonly ArchiveFile[]
  readonly market: Market
  readonly partitions: number
  readonly folder: string
  readonly onProgress: (records: number, time: Micros) => void
  readonly stop: AbortSignal
}

export interface Imported {
  readonly records: number
  readonly refusals: Refusals
  readonly isDone: boolean
}

/**
 * Writes archives as a tape of `market.trades`: the trades in the order of their time, with a mark a second between them
 * as a feed would write it, and a gap for the time between files of an instrument that do not adjoin. Run again after a
 * stop it reads the files anew and writes what is missing. Throws `TapeError` `refused` while another process writes there.
 */
export function writeArchive(options: ArchiveOptions): Promise<Imported> {
  return whileWriting(options.folder, () => writePartitions(options))
}

async function writePartitions(options: ArchiveOptions): Promise<Imported> {
  const { folder, partitions } = options
  notePlan(options)
  const refusals: Refusals = new Map()
  if (readHeader(folder) !== undefined) return { records: 0, refusals, isDone: true }
  const byPartition = await partitionsOf(options)
  const spans: Span[] = []
  let records = 0
  for (const [partition, files] of byPartition) {
    const end = await writePartition(options, partition, files, refusals)
    if (end === undefined) return { records, refusals, isDone: false }
    records += end
    spans.push({ topic: TOPIC, partition, from: 0, to: end, isWhole: true })
  }
  const source = options.files.map(({ file }) => path.basename(file)).join(', ')
  const range = { from: 0, to: null }
  writeHeader(folder, { version: TAPE_VERSION.avro, format: 'avro', partitions, map: mapHash(), source, range, spans })
  return { records, refusals, isDone: true }
}

/** A folder takes one import: its files by name and size, so that another is not mixed into it. */
function notePlan({ files, market, partitions, folder }: ArchiveOptions): void {
  const named = files.map(({ layout, file }) => ({ layout, file: path.basename(file), bytes: statSync(file).size }))
  const plan = JSON.stringify({ version: PLAN_VERSION, files: named, market, partitions })
  const file = path.join(folder, PLAN)
  if (!existsSync(file)) {
    writeFile(folder, PLAN, Buffer.from(plan))
    return
  }
  if (readFileSync(file, 'utf8') !== plan)
    throw new TapeError(
      'refused',
      `${folder} holds another import, or one of another release; name an empty folder, or the same files`,
    )
}

async function partitionsOf({ files, market, partitions }: ArchiveOptions): Promise<Map<number, ArchiveFile[]>> {
  const found = new Map<number, ArchiveFile[]>()
  for (const file of files) {
    const partition = partitionOf(await assetOf(file, market), partitions)
    found.set(partition, [...(found.get(partition) ?? []), file])
  }
  return new Map([...found].sort(([a], [b]) => a - b))
}

/** Gives one past the last offset; undefined where it was stopped. */
async function writePartition(
  options: ArchiveOptions,
  partition: number,
  files: readonly ArchiveFile[],
  refusals: Refusals,
): Promise<number | undefined> {
  const { folder, market, partitions } = options
  const codec = localCodec()
  const done = readSegments(folder).get(partitionName(TOPIC, partition))?.at(-1)?.to ?? 0
  let records: LogRecord[] = []
  let next = 0
  let second = 0
  let time = 0
  const close = (): void => {
    const [first] = records
    if (first === undefined) return
    const name = `${segmentName(TOPIC, partition, first.offset)}.avro`
    const written = [writeFile(folder, name, encodeSegment(codec, TOPIC, name, records))]
    const bounds = { from: first.offset, to: next, records: records.length, ...timesOf(records) }
    noteSegment(folder, { topic: TOPIC, partition, ...bounds, files: written })
    options.onProgress(records.length, time)
    records = []
  }
  const add = (key: string, value: () => Buffer): void => {
    const offset = next++
    if (offset < done) return
    records.push({ offset, time: Math.floor(time / 1000), key: Buffer.from(key), value: value() })
    if (records.length >= SEGMENT_RECORDS_MAX) close()
  }
  const mark = (at: Micros): void => {
    time = Math.max(time, at)
    const value = { ...emptyFields('mark'), writer: 'import', run: 0, time: at }
    add('import', () => codec.encode(TOPIC, 'mark', value))
  }
  const missing = new MissingTime(files, QUIET_SECONDS * SECOND)
  const take = (found: FileTrade): void => {
    const { trade } = found
    const gap = missing.before(found)
    if (gap !== undefined) add(gap.asset, () => codec.encode(TOPIC, 'gap', gap))
    const now = Math.floor(trade.time / SECOND)
    // Windows slide on while nothing is traded; between files that lie far apart a mark a bucket will do.
    const step = now - second > QUIET_SECONDS ? BUCKET_SECONDS : 1
    for (let at = second === 0 ? now : second + step; at <= now; at += step) mark(at * SECOND)
    second = Math.max(second, now)
    time = Math.max(time, trade.time)
    add(trade.asset, () => codec.encode(TOPIC, 'trade', trade))
  }
  const belongs = (asset: string): boolean => partitionOf(asset, partitions) === partition
  for await (const found of mergeFiles(files.map((file) => tradesOf(file, market, refusals, belongs)))) {
    take(found)
    if (options.stop.aborted) return undefined
  }
  for (let ahead = 1; ahead <= MARKS_BEHIND; ahead++) mark((second + ahead) * SECOND)
  close()
  return next
}
