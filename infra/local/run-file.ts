import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Mode } from './data-folder.ts'
import { FOLDER_LOCK } from './lock.ts'
import { isRunning, readProcessId } from './process-id.ts'

/** One running part. `pid` is absent where the part is not ours (a broker that the environment names). */
export interface RunningPart {
  readonly name: string
  readonly pid?: number
  readonly url: string
}

/** `<data>/run.json`: what runs. Scripts and tools rely on its shape. */
export interface RunFile {
  readonly mode: Mode
  /** Folder of the mode's data and logs. */
  readonly data: string
  /** Of the topics that are partitioned by asset. */
  readonly partitions: number
  readonly parts: readonly RunningPart[]
}

const NAME = 'run.json'

/** Writes it whole: a reader never sees half a file. */
export function writeRunFile(root: string, run: RunFile): void {
  const file = path.join(root, NAME)
  writeFileSync(`${file}.part`, `${JSON.stringify(run, null, 2)}\n`)
  renameSync(`${file}.part`, file)
}

export function removeRunFile(root: string): void {
  rmSync(path.join(root, NAME), { force: true })
}

/** What runs on `root` (or on its parent, for who names a mode's folder), or ran when its start was killed; undefined where nothing does. */
export function readRunFile(root: string): RunFile | undefined {
  return find(root)?.run
}

/** The folder of a start that was killed: its `run.json` is left, and the lock is no longer its supervisor's. */
export function killedFolder(root: string): string | undefined {
  const { folder, run } = find(root) ?? {}
  const supervisor = run?.parts.find(({ name }) => name === 'supervisor')
  if (folder === undefined || supervisor === undefined) return undefined
  const holder = readProcessId(path.join(folder, FOLDER_LOCK))
  const lives = holder !== undefined && holder.pid === supervisor.pid && isRunning(holder)
  return lives ? undefined : folder
}

function find(root: string): { readonly folder: string; readonly run: RunFile } | undefined {
  for (const folder of [root, path.dirname(path.resolve(root))]) {
    const text = readText(path.join(folder, NAME))
    if (text !== undefined) return { folder, run: JSON.parse(text) as RunFile }
  }
  return undefined
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The URL of a part; throws where it does not run. */
export function urlOf(run: RunFile, name: string): string {
  const part = run.parts.find((candidate) => candidate.name === name)
  if (part === undefined) throw new Error(`${name} does not run in ${run.mode} mode`)
  return part.url
}

/** What a part is: `feeds` of `feeds-2`. */
export function roleOf(name: string): string {
  return name.replace(/-\d+$/, '')
}

/** All parts of one role, of which a cluster has several. */
export function hostsOf(run: RunFile, role: string): readonly RunningPart[] {
  const numbered = run.parts.filter(({ name }) => name !== role && roleOf(name) === role)
  return numbered.length > 0 ? numbered : run.parts.filter(({ name }) => name === role)
}
