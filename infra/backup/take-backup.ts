import { isDeepStrictEqual } from 'node:util'
import type { RawReader } from '../kafka/raw-batches.ts'
import { boundsOf, printOf } from '../kafka/wire/record-batch.ts'
import { type TopicName, isCompacted, topicOf } from '../../schemas/topics.ts'
import { partitionsOf } from '../kafka/topic-settings.ts'
import { BackupError, type SealedWriter } from './sealed-file.ts'
import {
  BACKUP_FORMAT,
  type BackupFolder,
  type BackupIndex,
  type Extent,
  type LastBatch,
  type Piece,
} from './folder.ts'

/** How often the end of a compacted partition is taken anew that was compacted while it was read. */
const CUTS_MAX = 10

/** How the log is read. */
export interface RawLog {
  readonly batches: RawReader['batches']
  readonly reader: Pick<RawReader['reader'], 'offsets'>
}

/** The log that is backed up, live. */
export interface BackupSource {
  readonly raw: RawLog
  /** Every topic, in the order of `cutOrder`. */
  readonly topics: readonly TopicName[]
  /** Id of the log, and partitions of the topics that are partitioned by asset. */
  readonly log: string
  readonly partitions: number
  /** What is told in the index; read last, when all batches are there. */
  readonly about: () => Promise<Pick<BackupIndex, 'version' | 'mode' | 'schemas' | 'secrets'>>
}

/**
 * Writes what the log has beyond the last backup of the folder. Nothing is stopped. What there is is read first; then
 * the ends are taken, in an order in which nothing is ahead of what it follows from, and what came meanwhile is read.
 * Throws `BackupError` `other-log` where the folder is of another log.
 */
export async function takeBackup(folder: BackupFolder, source: BackupSource): Promise<BackupIndex> {
  const earlier = (await folder.indexes()).at(-1)
  if (earlier !== undefined && earlier.log !== source.log)
    throw new BackupError(
      'other-log',
      `${folder.path} holds backups of the log ${earlier.log}, this is ${source.log}: give another folder`,
    )
  const number = (earlier?.number ?? 0) + 1
  const pack = await folder.beginPack(number)
  try {
    const parts = await begin(source, earlier?.extents ?? [])
    const copy = new Copy(source.raw, pack)
    for (const part of parts) await copy.advance(part, await endOf(source.raw, part))
    await cut(source, parts, copy)
    copy.endAnew(parts)
    await pack.end()
    const { log, partitions } = source
    const extents = parts.map(({ topic, partition, start, at, last }) => ({ topic, partition, start, end: at, last }))
    const created = new Date().toISOString()
    const about = await source.about()
    const index = {
      format: BACKUP_FORMAT,
      number,
      created,
      log,
      partitions,
      ...about,
      extents,
      pieces: copy.pieces,
    } as const
    await folder.writeIndex(index)
    return index
  } catch (error) {
    // it may be closed by now, and what filled the disk must not keep the next one from it; the error above counts
    await pack.close().catch(() => undefined)
    await folder.clear(number).catch(() => undefined)
    throw error
  }
}

/** How far a partition has come. */
interface Part {
  readonly topic: TopicName
  readonly partition: number
  start: number
  /** Offset to read next. */
  at: number
  last: LastBatch | undefined
  /** The next piece does not go on from what earlier backups have. */
  anew: boolean
}

async function begin({ raw, topics, partitions }: BackupSource, extents: readonly Extent[]): Promise<Part[]> {
  const parts: Part[] = []
  const known = new Map(extents.map((extent) => [`${extent.topic}/${extent.partition}`, extent]))
  for (const topic of topics) {
    const numbers = Array.from({ length: partitionsOf(topicOf(topic), { partitions }) }, (_, partition) => partition)
    const starts = await raw.reader.offsets(topic, numbers, 'start')
    const ends = await raw.reader.offsets(topic, numbers, 'end')
    for (const partition of numbers) {
      const start = starts.get(partition) ?? 0
      const extent = known.get(`${topic}/${partition}`)
      const goesOn = extent !== undefined && (await isStillThere(raw, extent, ends.get(partition) ?? start))
      const { end, last } = goesOn ? extent : { end: start, last: undefined }
      parts.push({ topic, partition, start, at: end, last, anew: !goesOn })
    }
  }
  return parts
}

/**
 * Whether the log is the one that was backed up, and goes on behind it: the last batch is where it was. Neither its id nor
 * a leader's epoch tells, for a log that was restored has the same. Keys of a cache end by tombstones that compaction takes
 * away: what a backup has of it tells nothing of what is gone, so it is always read anew.
 */
async function isStillThere(raw: RawLog, { topic, partition, end, last }: Extent, logEnd: number): Promise<boolean> {
  if (topicOf(topic as TopicName).kind === 'cache' || last === undefined || end > logEnd) return false
  for await (const { bytes } of raw.batches(topic, partition, last.offset, end))
    return isDeepStrictEqual(lastOf(bytes), last)
  return false
}

function lastOf(bytes: Buffer): LastBatch | undefined {
  const batch = boundsOf(bytes).at(-1)
  return batch && { offset: batch.base, print: printOf(bytes.subarray(batch.at, batch.end)) }
}

async function endOf(raw: RawLog, { topic, partition, at }: Part): Promise<number> {
  return (await raw.reader.offsets(topic, [partition], 'end')).get(partition) ?? at
}

/**
 * Takes the ends of all topics, one behind the other within a moment, and reads up to them. A value of a compacted topic
 * may have been taken away for a later one, beyond the end: never where every offset since the last look is there.
 */
async function cut({ raw, topics }: BackupSource, parts: readonly Part[], copy: Copy): Promise<void> {
  const byTopic = Map.groupBy(parts, ({ topic }) => topic)
  for (let cuts = 0; cuts < CUTS_MAX; cuts += 1) {
    const ends: (readonly [Part, number, number])[] = []
    for (const topic of topics) {
      const own = byTopic.get(topic) ?? []
      const numbers = own.map(({ partition }) => partition)
      const found = await raw.reader.offsets(topic, numbers, 'end')
      const starts = await raw.reader.offsets(topic, numbers, 'start')
      for (const part of own)
        ends.push([part, found.get(part.partition) ?? part.at, starts.get(part.partition) ?? part.start])
    }
    let isSound = true
    for (const [part, end, start] of ends) {
      const isWhole = await copy.advance(part, end)
      part.start = Math.min(Math.max(part.start, start), end)
      isSound &&= isWhole || !isCompacted(part.topic)
    }
    if (isSound) return
  }
  throw new BackupError('busy', 'compacted topics were compacted at each try while they were read: try again')
}

/** Writes batches into a pack, and remembers where. */
class Copy {
  readonly pieces: Piece[] = []
  readonly #raw: RawLog
  readonly #pack: SealedWriter

  constructor(raw: RawLog, pack: SealedWriter) {
    this.#raw = raw
    this.#pack = pack
  }

  /** Reads a partition on to `end`; whether every offset was there. */
  async advance(part: Part, end: number): Promise<boolean> {
    const { topic, partition } = part
    let piece: Piece | undefined
    let isWhole = true
    for await (const batches of part.at < end ? this.#raw.batches(topic, partition, part.at, end) : []) {
      const isBehind = batches.from > part.at
      isWhole &&= batches.isWhole && !isBehind
      // retention went past what was to be read: only what begins here is the log
      if (isBehind && !isCompacted(topic)) part.anew = true
      if (piece === undefined || part.anew) {
        if (piece !== undefined) this.pieces.push(piece)
        piece = { topic, partition, anew: part.anew, from: batches.from, to: batches.from, bytes: 0, records: 0 }
      }
      part.anew = false
      await this.#pack.write(batches.bytes)
      const { bytes, records = 0 } = piece
      piece = { ...piece, to: batches.to, bytes: bytes + batches.bytes.length, records: records + batches.records }
      part.at = batches.to
      part.last = lastOf(batches.bytes)
    }
    if (piece !== undefined) this.pieces.push(piece)
    isWhole &&= part.at >= end
    part.at = Math.max(part.at, end)
    return isWhole
  }

  /** Where nothing was read anew, what earlier backups have does not count either. */
  endAnew(parts: readonly Part[]): void {
    for (const { topic, partition, at } of parts.filter(({ anew }) => anew))
      this.pieces.push({ topic, partition, anew: true, from: at, to: at, bytes: 0, records: 0 })
  }
}
