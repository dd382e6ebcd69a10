import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { FOLDER_LOCK, takeLock } from './lock.ts'
import { endLeftovers, readProcessId } from './process-id.ts'

/** Raised when a newer version of the product writes what an older one cannot read. */
const FORMAT = 1
const PARTITIONS_MIN = 2
/** Hosts of a cluster share them. */
const PARTITIONS_MIN_CLUSTER = 4
const PARTITIONS_MAX = 12
/** Of a folder from before they were kept in it. */
const PARTITIONS_UNSAID = 12
const LOG_BYTES_MAX = 10 * 1024 * 1024

export type Mode = 'demo' | 'live' | 'tape'

/** Why a data folder cannot be used; the message says how to go on. */
export class DataFolderError extends Error {
  readonly code: 'in-use' | 'newer-version' | 'other-brokers' | 'cut-path' | 'rehearsed'
  constructor(code: DataFolderError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** One data folder that this process holds: `root` with run.json and the lock, and below it one folder a mode. */
export interface DataFolder {
  readonly root: string
  /** `<root>/<mode>`: everything that a mode keeps. */
  readonly mode: string
  readonly logs: string
  /** Of the topics that are partitioned by asset: as PARTITIONS says, else as the folder was begun with. */
  readonly partitions: number
  /** Names of parts that an earlier, killed start had left running; they have been ended. */
  readonly ended: readonly string[]
  /** Lets another start have it. */
  release(): void
}

/**
 * Takes `root` for this process and prepares `<root>/<mode>`: ends what a killed start left behind, refuses a folder
 * that another start holds, that a newer version wrote or whose path a part would cut, empties it when `fresh`. `partitions`: as many as are asked for;
 * left out, a new folder has as many as suit this machine. A folder that was begun with another number of brokers is refused,
 * and so is one that was once opened to `rehearse` and now is not.
 */
export async function openDataFolder(
  root: string,
  mode: Mode,
  fresh: boolean,
  { partitions: asked, brokers = 1, rehearse = false }: Begin = {},
): Promise<DataFolder> {
  const folder = path.join(root, mode)
  const logs = path.join(folder, 'logs')
  refuseCutPath(root)
  mkdirSync(root, { recursive: true })
  const release = lock(root)
  try {
    const ended = await endLeftoversOfAll(root)
    if (fresh) rmSync(folder, { recursive: true, force: true })
    const version = readVersion(folder)
    refuseOtherBrokers(folder, version, brokers)
    refuseRehearsed(folder, version, rehearse)
    const partitions = partitionsOf(version, asked, brokers)
    mkdirSync(logs, { recursive: true })
    const written = { format: FORMAT, partitions, brokers, ...(rehearse && { rehearsed: true }) }
    writeFileSync(path.join(folder, 'version.json'), `${JSON.stringify(written)}\n`)
    rotate(logs)
    return { root, mode: folder, logs, partitions: asked ?? partitions, ended, release }
  } catch (error) {
    release()
    throw error
  }
}

interface Begin {
  readonly partitions?: number | undefined
  readonly brokers?: number
  readonly rehearse?: boolean
}

/** Kafka takes where its log is as a list, which a comma parts; the registry's database cuts its own at a `;` and takes `\` for `/`. */
function refuseCutPath(root: string): void {
  const where = path.resolve(root)
  const [cut] = /[,;\\]/.exec(where) ?? []
  if (cut === undefined) return
  throw new DataFolderError(
    'cut-path',
    `${where} has a ${cut} in its path, at which a part would cut it: give --data another folder`,
  )
}

/** A start that was killed may have run in another mode. */
async function endLeftoversOfAll(root: string): Promise<string[]> {
  const modes: readonly Mode[] = ['demo', 'live', 'tape']
  const ended = await Promise.all(modes.map((mode) => endLeftovers(path.join(root, mode, 'logs'))))
  return ended.flat()
}

function lock(root: string): () => void {
  const file = path.join(root, FOLDER_LOCK)
  const release = takeLock(file)
  if (release === undefined) throw inUse(root, readProcessId(file)?.pid)
  return release
}

function inUse(root: string, pid: number | undefined): DataFolderError {
  const holder = pid === undefined ? 'another start' : `the start with process id ${pid}`
  return new DataFolderError('in-use', `${root} is in use by ${holder}; stop it, or give --data another folder`)
}

/** What an earlier start wrote of the folder; undefined: it is new. Throws where a newer version did. */
function readVersion(folder: string): Version | undefined {
  const file = path.join(folder, 'version.json')
  if (!existsSync(file)) return undefined
  const version = JSON.parse(readFileSync(file, 'utf8')) as Version & { format?: unknown }
  if (typeof version.format === 'number' && version.format <= FORMAT) return version
  throw new DataFolderError(
    'newer-version',
    `${folder} was written by a newer version of this program (data format ${String(version.format)}, this one knows ${FORMAT}); ` +
      'use that version, give --data another folder, or empty it with --fresh',
  )
}

interface Version {
  readonly partitions?: unknown
  readonly brokers?: unknown
  readonly rehearsed?: unknown
}

function refuseOtherBrokers(folder: string, version: Version | undefined, wanted: number): void {
  const begun = typeof version?.brokers === 'number' ? version.brokers : 1
  if (version === undefined || begun === wanted) return
  throw new DataFolderError(
    'other-brokers',
    `${folder} was begun with ${begun} broker(s), not ${wanted}; ` +
      `start it ${wanted > 1 ? 'without' : 'with'} --cluster, give --data another folder, or empty it with --fresh`,
  )
}

/** What a rehearsal let ring was told to nobody: a start that calls people would tell it late, and beside the system that was backed up. */
function refuseRehearsed(folder: string, version: Version | undefined, rehearse: boolean): void {
  if (version?.rehearsed !== true || rehearse) return
  throw new DataFolderError(
    'rehearsed',
    `${folder} was started with --rehearse, and would now call people about what rang meanwhile; restore the backup into another ` +
      'folder, empty this one with --fresh, or take "rehearsed" out of its version.json to go on with it all the same',
  )
}

/** As the folder was begun with; what is asked for now cannot change it. */
function partitionsOf(version: Version | undefined, asked: number | undefined, brokers: number): number {
  if (version === undefined) return asked ?? partitionsFor(availableParallelism(), brokers)
  return typeof version.partitions === 'number' ? version.partitions : PARTITIONS_UNSAID
}

/**
 * A partition costs whether anything happens in it or not: marks, requests, smaller batches, snapshots, files. On one
 * machine a single process works on all of them.
 */
function partitionsFor(cores: number, brokers: number): number {
  return Math.min(PARTITIONS_MAX, Math.max(brokers > 1 ? PARTITIONS_MIN_CLUSTER : PARTITIONS_MIN, cores))
}

/** A log that has grown too large becomes `<part>.log.1`, in place of the one before. */
function rotate(logs: string): void {
  for (const name of readdirSync(logs)) {
    const file = path.join(logs, name)
    if (name.endsWith('.log') && statSync(file).size > LOG_BYTES_MAX) renameSync(file, `${file}.1`)
  }
}
