import { readFile, rm, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

const LOOK_EVERY_MS = 200

/** Runs `work` while no other process of this machine holds `file`; a lock whose process is gone is taken over. */
export async function withLock(file: string, withinMs: number, work: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await take(file))) {
    if (Date.now() > deadline) throw new Error(`waited ${withinMs} ms for ${file}; remove it if no start is under way`)
    await delay(LOOK_EVERY_MS)
  }
  try {
    await work()
  } finally {
    await rm(file, { force: true })
  }
}

async function take(file: string): Promise<boolean> {
  try {
    await writeFile(file, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const holder = Number(await readFile(file, 'utf8').catch(() => ''))
  if (holder > 0 && !isAlive(holder)) await rm(file, { force: true })
  return false
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
