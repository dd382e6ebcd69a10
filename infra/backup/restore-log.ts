import { existsSync } from 'node:fs'
import { open, readdir, readFile, rename, rm, stat, writeFile, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import { boundsOf, forgetWriters, isSound, type BatchBounds } from '../kafka/wire/record-batch.ts'
import { BackupError } from './sealed-file.ts'
import type { BackupFolder, BackupIndex, Extent, Piece } from './folder.ts'

/** Far below what an index of the broker can hold. */
const SEGMENT_BYTES = 16 * 1024 * 1024
/** Offsets in a segment are told from its first in 31 bits. */
const SEGMENT_OFFSETS_MAX = 2 ** 31 - 1
const OFFSET_DIGITS = 20
/** What a broker that was stopped cleanly leaves: it would not look at the files again. */
const CLEAN_STOP = '.kafka_cleanshutdown'
/** Names the partitions' folders that a restore has begun to fill, a line each; gone when it is done. */
const BEGUN = '.restore_begun'
/** Which topic a partition's folder is of. */
const OWN_FILE = 'partition.metadata'

interface Sink {
  write(bytes: Buffer): Promise<void>
  /** Behind each piece. */
  rest(): Promise<void>
}

/**
 * Reads the last of `indexes` with all that it builds on, and opens every batch. Throws `BackupError` `damaged` where
 * anything is not as it was written.
 */
export async function checkBackup(folder: BackupFolder, indexes: readonly BackupIndex[]): Promise<Amount> {
  const amount = { bytes: 0, records: 0 }
  await deliver(folder, indexes, (extent) => {
    const batches = new Batches(extent, async (batch, { records }) => count(amount, batch, records))
    return { write: (part) => batches.add(part), rest: async () => batches.end() }
  })
  return amount
}

/** What a backup, with all that it builds on, puts into a log. */
export interface Amount {
  readonly bytes: number
  readonly records: number
}

/** For people: how much it is, and how long that took. */
export function amountText({ bytes, records }: Amount, ms: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB, ${records.toLocaleString('en')} records in ${(ms / 1000).toFixed(1)} s`
}

function count(amount: { bytes: number; records: number }, batch: Buffer, records: number): void {
  amount.bytes += batch.length
  amount.records += records
}

/**
 * Puts the log into the data folder of a broker that does not run and has the topics, empty: segments with the batches as
 * they were, at the offsets that they had. The broker checks them and builds its indexes when it starts. Of several
 * brokers each gets the partitions whose folders it has. Throws `BackupError` `not-empty` before anything is changed; one
 * that ended midway may be done again, from another backup too, as long as no broker has run meanwhile.
 */
export async function restoreLog(
  folder: BackupFolder,
  indexes: readonly BackupIndex[],
  { logDir, namespace }: { readonly logDir: string; readonly namespace: string },
): Promise<Amount & { readonly partitions: number }> {
  const extents = indexes.at(-1)?.extents ?? []
  const nameOf = ({ topic, partition }: Extent): string => `${namespace}${topic}-${partition}`
  const folderOf = (extent: Extent): string => path.join(logDir, nameOf(extent))
  const own = extents.filter((extent) => existsSync(folderOf(extent)))
  if (own.length === 0)
    throw new BackupError('not-empty', `${logDir} has none of the topics: make them first, with the broker running`)
  const begun = await begunIn(logDir)
  for (const extent of own) if (!begun.includes(nameOf(extent))) await assertEmpty(folderOf(extent))
  const names = [...new Set([...begun, ...own.map(nameOf)])]
  await begin(logDir, names)
  for (const name of names) await clear(path.join(logDir, name))
  const segments = new Map<string, Segments>()
  const amount = { bytes: 0, records: 0 }
  for (const extent of own) segments.set(placeOf(extent), new Segments(folderOf(extent), extent, amount))
  await deliver(folder, indexes, (extent) => segments.get(placeOf(extent)))
  for (const each of segments.values()) await each.finish()
  await rm(path.join(logDir, BEGUN))
  return { ...amount, partitions: own.length }
}

/** What a restore that ended midway has begun to fill. A broker that has stopped since may have put records there. */
async function begunIn(logDir: string): Promise<string[]> {
  if (existsSync(path.join(logDir, CLEAN_STOP)) || !existsSync(path.join(logDir, BEGUN))) return []
  return (await readFile(path.join(logDir, BEGUN), 'utf8')).split('\n')
}

async function begin(logDir: string, names: readonly string[]): Promise<void> {
  const file = path.join(logDir, BEGUN)
  await writeFile(`${file}.part`, names.join('\n'), { flush: true })
  await rename(`${file}.part`, file)
  await rm(path.join(logDir, CLEAN_STOP), { force: true })
}

async function clear(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (name !== OWN_FILE) await rm(path.join(folder, name), { recursive: true })
}

async function assertEmpty(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter((each) => each.endsWith('.log'))) {
    const { size } = await stat(path.join(folder, name))
    if (size > 0 || Number(name.slice(0, OFFSET_DIGITS)) > 0)
      throw new BackupError('not-empty', `${folder} holds records: a log is restored into an empty system only`)
  }
}

/** Streams the pieces that the last backup stands on to their partitions. */
async function deliver(
  folder: BackupFolder,
  indexes: readonly BackupIndex[],
  sinkOf: (extent: Extent) => Sink | undefined,
): Promise<void> {
  const sinks = new Map<string, Sink>()
  for (const extent of indexes.at(-1)?.extents ?? []) {
    const sink = sinkOf(extent)
    if (sink !== undefined) sinks.set(placeOf(extent), sink)
  }
  const wanted = wantedOf(indexes)
  for (const { number, pieces } of indexes) {
    if (!pieces.some((piece) => wanted.has(piece))) continue
    const bytes = new Bytes(folder.pack(number))
    for (const piece of pieces) {
      const sink = wanted.has(piece) ? sinks.get(placeOf(piece)) : undefined
      for await (const part of bytes.take(piece.bytes)) await sink?.write(part)
      await sink?.rest()
    }
    await bytes.end()
  }
}

/** Of each partition what was written since it was last begun anew. */
function wantedOf(indexes: readonly BackupIndex[]): Set<Piece> {
  const byPlace = new Map<string, Piece[]>()
  for (const piece of indexes.flatMap(({ pieces }) => pieces)) {
    const before = piece.anew ? [] : (byPlace.get(placeOf(piece)) ?? [])
    byPlace.set(placeOf(piece), [...before, piece])
  }
  return new Set([...byPlace.values()].flat())
}

function placeOf({ topic, partition }: { readonly topic: string; readonly partition: number }): string {
  return `${topic}/${partition}`
}

/** A stream of bytes, taken by length. */
class Bytes {
  readonly #frames: AsyncGenerator<Buffer>
  #left: Buffer = Buffer.alloc(0)

  constructor(frames: AsyncGenerator<Buffer>) {
    this.#frames = frames
  }

  async *take(length: number): AsyncIterable<Buffer> {
    for (let wanted = length; wanted > 0;) {
      if (this.#left.length === 0) this.#left = await this.#next()
      const part = this.#left.subarray(0, wanted)
      this.#left = this.#left.subarray(part.length)
      wanted -= part.length
      yield part
    }
  }

  /** Reads the last frame too, so that a file that was cut off is noticed. */
  async end(): Promise<void> {
    while (!(await this.#frames.next()).done);
  }

  async #next(): Promise<Buffer> {
    const { value, done } = await this.#frames.next()
    if (done === true) throw new BackupError('damaged', 'a pack is shorter than its index says')
    return value
  }
}

type TakeBatch = (batch: Buffer, bounds: BatchBounds) => Promise<void>

/** Whole batches out of bytes that come in any parts; those before the extent are left out. */
class Batches {
  readonly #extent: Extent
  readonly #take: TakeBatch
  #rest: Buffer = Buffer.alloc(0)
  #next = 0

  constructor(extent: Extent, take: TakeBatch) {
    this.#extent = extent
    this.#take = take
  }

  async add(part: Buffer): Promise<void> {
    const bytes = Buffer.concat([this.#rest, part])
    let end = 0
    for (const batch of boundsOf(bytes)) {
      end = batch.end
      if (batch.next <= this.#extent.start) continue
      const whole = bytes.subarray(batch.at, batch.end)
      if (batch.base < this.#next || batch.next > this.#extent.end || !isSound(whole)) throw this.#damaged(batch.base)
      this.#next = batch.next
      await this.#take(whole, batch)
    }
    this.#rest = bytes.subarray(end)
  }

  end(): void {
    if (this.#rest.length > 0) throw this.#damaged(this.#next)
  }

  #damaged(offset: number): BackupError {
    return new BackupError('damaged', `the backup of ${placeOf(this.#extent)} is damaged at offset ${offset}`)
  }
}

/** Writes a partition's segments. */
class Segments implements Sink {
  readonly #folder: string
  readonly #extent: Extent
  readonly #batches: Batches
  #file: FileHandle | undefined
  #first: number | undefined
  #bytes = 0
  #next = 0

  /** `amount`: where what is written is counted. */
  constructor(folder: string, extent: Extent, amount: { bytes: number; records: number }) {
    this.#folder = folder
    this.#extent = extent
    this.#batches = new Batches(extent, async (batch, bounds) => {
      await this.#append(batch, bounds)
      count(amount, batch, bounds.records)
    })
  }

  write(bytes: Buffer): Promise<void> {
    return this.#batches.add(bytes)
  }

  async rest(): Promise<void> {
    this.#batches.end()
    await this.#close()
  }

  /** The log ends where it ended, also where compaction or retention took what was there. */
  async finish(): Promise<void> {
    if (this.#first !== undefined && this.#next === this.#extent.end) return
    const file = await this.#open(this.#extent.end)
    await file.close()
  }

  async #append(batch: Buffer, { base, next }: BatchBounds): Promise<void> {
    const isFull = this.#bytes + batch.length > SEGMENT_BYTES || next - (this.#first ?? base) > SEGMENT_OFFSETS_MAX
    if (this.#first === undefined || isFull) {
      await this.#close()
      const { start } = this.#extent
      const isFirst = this.#first === undefined && next - start <= SEGMENT_OFFSETS_MAX
      this.#first = isFirst ? Math.min(base, start) : base
      this.#bytes = 0
    }
    this.#file ??= await this.#open(this.#first)
    forgetWriters(batch)
    await this.#file.appendFile(batch) // all of it, where write() may stop short
    this.#bytes += batch.length
    this.#next = next
  }

  async #close(): Promise<void> {
    await this.#file?.sync()
    await this.#file?.close()
    this.#file = undefined
  }

  /** What root writes belongs to whom the folder does: the broker is another user, as a rule. */
  async #open(offset: number): Promise<FileHandle> {
    const file = await open(path.join(this.#folder, `${String(offset).padStart(OFFSET_DIGITS, '0')}.log`), 'a')
    if (process.getuid?.() === 0) {
      const { uid, gid } = await stat(this.#folder)
      await file.chown(uid, gid)
    }
    return file
  }
}
