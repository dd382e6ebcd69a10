import { closeSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { identify, isRunning, readProcessId } from './process-id.ts'

/** Of a data folder: the start that holds it, whose parts `run.json` lists. */
export const FOLDER_LOCK = 'lock.json'

const LOOK_EVERY_MS = 200
const TRIES_MAX = 3
/** A lock that says nothing yet was just made; an older one was cut by a full disk or a crash. */
const UNWRITTEN_MS_MAX = 5_000

/** A lock that another process of this machine did not let go in time. */
export class LockError extends Error {}

/** Runs `work` while no other process of this machine holds `file`. Throws `LockError`. */
export async function withLock(file: string, withinMs: number, work: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + withinMs
  let release = takeLock(file)
  while (release === undefined) {
    if (Date.now() >= deadline) {
      const pid = readProcessId(file)?.pid
      const holder = pid === undefined ? 'another process' : `process ${pid}`
      throw new LockError(`waited ${withinMs} ms for ${file}, which ${holder} holds`)
    }
    await delay(LOOK_EVERY_MS)
    release = takeLock(file)
  }
  try {
    await work()
  } finally {
    release()
  }
}

/**
 * Makes `file` say that this process holds it, and gives how to let it go; undefined: another process of this machine
 * holds it. What a process that is gone has left is taken over.
 */
export function takeLock(file: string): (() => void) | undefined {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    if (create(file)) return () => rmSync(file, { force: true })
    if (isHeld(file)) return undefined
    removeStale(file)
  }
  return undefined
}

/** False: it is there. Where the disk is full no empty one is left. */
function create(file: string): boolean {
  const handle = openNew(file)
  if (handle === undefined) return false
  try {
    writeFileSync(handle, JSON.stringify(identify('lock', process.pid)))
    return true
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  } finally {
    closeSync(handle)
  }
}

function openNew(file: string): number | undefined {
  try {
    return openSync(file, 'wx')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw error
  }
}

/** Its process runs, or is about to say in it which one it is. */
function isHeld(file: string): boolean {
  const holder = readProcessId(file)
  if (holder !== undefined) return isRunning(holder)
  const { mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: 0 }
  return Date.now() - mtimeMs < UNWRITTEN_MS_MAX
}

/** Removes the lock of a process that is gone, but not one that another has put in its place meanwhile. */
function removeStale(file: string): void {
  const aside = `${file}.${process.pid}`
  try {
    renameSync(file, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return
  }
  if (isHeld(aside)) renameSync(aside, file)
  else rmSync(aside)
}
