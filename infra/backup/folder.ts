import { createHmac, timingSafeEqual } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { SavedSchema } from '../kafka/saved-schemas.ts'
import { BackupError, openSealed, SealedWriter, type BackupKey } from './sealed-file.ts'

const FORMAT = 1
const KEY_FILE = 'key.json'
const INDEX = /^(\d{6})\.index$/

/** Bytes of one partition in a backup's pack, one piece behind the other. */
export interface Piece {
  readonly topic: string
  readonly partition: number
  /** What earlier backups have of the partition does not count: this begins it. */
  readonly anew: boolean
  readonly from: number
  readonly to: number
  readonly bytes: number
  /** Absent: it was written before they were counted. */
  readonly records?: number
}

/** How far a backup has a partition. */
export interface Extent {
  readonly topic: string
  readonly partition: number
  /** First offset, and one past the last. */
  readonly start: number
  readonly end: number
  /** Absent: it has none, or was written before this was told. */
  readonly last?: LastBatch | undefined
}

/** The last batch of an extent, by which its log is known again. */
export interface LastBatch {
  readonly offset: number
  readonly print: number
}

/** What one backup is, beside its pack. It counts when this is there, which is written last. */
export interface BackupIndex {
  readonly format: typeof FORMAT
  readonly number: number
  /** ISO 8601. */
  readonly created: string
  /** Version of the product that made it. */
  readonly version: string
  /** Where its market came from. */
  readonly mode: string
  /** Id of the log, of its layout. */
  readonly log: string
  /** Of the topics that are partitioned by asset. */
  readonly partitions: number
  readonly schemas: readonly SavedSchema[]
  /** Secrets that the system made itself, by name. */
  readonly secrets: Readonly<Record<string, string>>
  readonly extents: readonly Extent[]
  readonly pieces: readonly Piece[]
}

/** A folder of backups of one log: for each its pack of batches and its index, both sealed. Files never change. */
export class BackupFolder {
  readonly path: string
  readonly #key: BackupKey

  private constructor(folder: string, key: BackupKey) {
    this.path = folder
    this.#key = key
  }

  /** Throws `BackupError` `key` where it was begun with another key. */
  static async open(folder: string, key: BackupKey): Promise<BackupFolder> {
    const file = path.join(folder, KEY_FILE)
    const text = await readFile(file, 'utf8').catch(() => undefined)
    if (text === undefined) throw new BackupError('damaged', `${folder} holds no backup: ${KEY_FILE} is missing`)
    const { format, check } = JSON.parse(text) as { format?: unknown; check?: unknown }
    if (format !== FORMAT)
      throw new BackupError('damaged', `${folder} has format ${String(format)}, this release knows ${FORMAT}`)
    const [ours, theirs] = [Buffer.from(checkOf(key)), Buffer.from(String(check))]
    if (ours.length !== theirs.length || !timingSafeEqual(ours, theirs))
      throw new BackupError('key', `${folder} was begun with another key: give the one that it was begun with`)
    return new BackupFolder(folder, key)
  }

  /** As `open`; begins the folder where it is new. Throws `not-empty` where it holds something else. */
  static async begin(folder: string, key: BackupKey): Promise<BackupFolder> {
    await mkdir(folder, { recursive: true })
    // A disk that was full leaves a part, which does not count.
    const names = (await readdir(folder)).filter((name) => name !== `${KEY_FILE}.part`)
    if (names.length === 0) await writeKeyFile(path.join(folder, KEY_FILE), key)
    else if (!names.includes(KEY_FILE))
      throw new BackupError('not-empty', `${folder} holds something else: give an empty folder, or one of backups`)
    return BackupFolder.open(folder, key)
  }

  /** Of each backup from the first to that `number`, or to the last. Throws where one is missing. */
  async indexes(number = Infinity): Promise<BackupIndex[]> {
    const names = (await readdir(this.path)).filter((name) => INDEX.test(name)).toSorted()
    const indexes: BackupIndex[] = []
    for (const name of names) {
      if (Number(name.slice(0, 6)) > number) break
      if (name !== `${nameOf(indexes.length + 1)}.index`)
        throw new BackupError(
          'damaged',
          `${this.path} lacks ${nameOf(indexes.length + 1)}.index, on which ${name} builds`,
        )
      const parts: Buffer[] = []
      for await (const bytes of openSealed(this.path, name, this.#key)) parts.push(bytes)
      indexes.push(JSON.parse(Buffer.concat(parts).toString()) as BackupIndex)
    }
    if (number !== Infinity && indexes.length < number)
      throw new BackupError('damaged', `${this.path} has ${indexes.length} backups, no number ${number}`)
    return indexes
  }

  /** The batches of a backup. */
  pack(number: number): AsyncGenerator<Buffer> {
    return openSealed(this.path, `${nameOf(number)}.pack`, this.#key)
  }

  /** Begins a backup; what one that was stopped has left is taken away. */
  async beginPack(number: number): Promise<SealedWriter> {
    await this.clear(number)
    return SealedWriter.create(this.path, `${nameOf(number)}.pack`, this.#key)
  }

  /** Takes away what there is of a backup without an index. */
  async clear(number: number): Promise<void> {
    const left = (await readdir(this.path)).filter(
      (name) => name.endsWith('.part') || name === `${nameOf(number)}.pack`,
    )
    for (const name of left) await rm(path.join(this.path, name))
  }

  async writeIndex(index: BackupIndex): Promise<void> {
    const file = await SealedWriter.create(this.path, `${nameOf(index.number)}.index`, this.#key)
    await file.write(Buffer.from(JSON.stringify(index)))
    await file.end()
  }
}

export { FORMAT as BACKUP_FORMAT }

function nameOf(number: number): string {
  return String(number).padStart(6, '0')
}

/** Whole and on the disk, or not at all. */
async function writeKeyFile(file: string, key: BackupKey): Promise<void> {
  await writeFile(`${file}.part`, `${JSON.stringify({ format: FORMAT, check: checkOf(key) })}\n`, { flush: true })
  await rename(`${file}.part`, file)
}

/** Says whether a key is the same without telling it. */
function checkOf(key: BackupKey): string {
  return createHmac('sha256', key).update('market-data-alerts backup folder').digest('base64')
}
