import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DataFolderError, openDataFolder } from './data-folder.ts'
import { readRunFile, removeRunFile, urlOf, writeRunFile } from './run-file.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'data-folder-'))
})
afterEach(() => rmSync(root, { recursive: true }))

/** Writes `text` to a file of the demo's folder. */
function put(name: string, text: string): string {
  const file = path.join(root, 'demo', name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

describe('a data folder', () => {
  it('is refused to a second start and free again after the first', async () => {
    const first = await openDataFolder(root, 'demo', false)
    await expect(openDataFolder(root, 'live', false)).rejects.toThrow(/is in use by the start with process id \d+/)
    first.release()
    const second = await openDataFolder(root, 'demo', false)
    second.release()
  })

  it('is taken over from a start that is gone', async () => {
    writeFileSync(path.join(root, 'lock.json'), JSON.stringify({ name: 'supervisor', pid: process.pid, started: '1' }))
    const folder = await openDataFolder(root, 'demo', false)
    folder.release()
    expect(existsSync(path.join(root, 'lock.json'))).toBe(false)
  })

  it('is refused where another start has made its lock and not yet written into it, and taken from an old one', async () => {
    const lock = path.join(root, 'lock.json')
    writeFileSync(lock, '')
    await expect(openDataFolder(root, 'demo', false)).rejects.toThrow(/is in use by another start/)
    utimesSync(lock, 1, 1)
    const folder = await openDataFolder(root, 'demo', false)
    folder.release()
    expect(readdirSync(root)).toEqual(['demo'])
  })

  it('goes to one of several that start at once over the lock of one that is gone', async () => {
    writeFileSync(path.join(root, 'lock.json'), JSON.stringify({ name: 'supervisor', pid: process.pid, started: '1' }))
    const program = `
      const { openDataFolder } = await import(${JSON.stringify(new URL('data-folder.ts', import.meta.url).href)})
      await openDataFolder(process.argv[1], 'demo', false).then(() => console.log('has it'), (error) => console.log(error.code))
      process.stdin.resume()`
    const starts = Array.from({ length: 4 }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', program, root], { stdio: ['pipe', 'pipe', 'inherit'] }),
    )
    const said = await Promise.all(starts.map(async ({ stdout }) => String((await once(stdout, 'data'))[0]).trim()))
    for (const { stdin } of starts) stdin.end()
    await Promise.all(starts.map((start) => once(start, 'exit')))
    expect(said.toSorted()).toEqual(['has it', 'in-use', 'in-use', 'in-use'])
  })

  it('of a newer version is refused, with what to do, and left unlocked', async () => {
    put('version.json', '{"format":2}')
    await expect(openDataFolder(root, 'demo', false)).rejects.toThrow(
      /newer version of this program \(data format 2, this one knows 1\).*--fresh/,
    )
    expect(existsSync(path.join(root, 'lock.json'))).toBe(false)
  })

  it('is refused with another number of brokers than it was begun with', async () => {
    const begun = await openDataFolder(root, 'demo', false, { brokers: 3 })
    begun.release()
    await expect(openDataFolder(root, 'demo', false)).rejects.toThrow('begun with 3 broker(s), not 1; start it with')
    const again = await openDataFolder(root, 'demo', false, { brokers: 3 })
    again.release()
  })

  it('that was rehearsed is refused to a start that calls people, until it is emptied', async () => {
    const begun = await openDataFolder(root, 'demo', false, { rehearse: true })
    begun.release()
    await expect(openDataFolder(root, 'demo', false)).rejects.toThrow(
      /was started with --rehearse.*into another folder/,
    )
    const again = await openDataFolder(root, 'demo', false, { rehearse: true })
    again.release()
    const emptied = await openDataFolder(root, 'demo', true)
    emptied.release()
  })

  it.each([',', ';', '\\'])('with a %s in its path is refused before anything is made', async (cut) => {
    const other = path.join(root, `a${cut}b`)
    await expect(openDataFolder(other, 'demo', false)).rejects.toThrow(
      `${other} has a ${cut} in its path, at which a part would cut it: give --data another folder`,
    )
    await expect(openDataFolder(path.relative('.', other), 'demo', false)).rejects.toThrow(DataFolderError)
    expect(readdirSync(root)).toEqual([])
  })

  it('keeps what it holds, and is emptied only when asked', async () => {
    const kept = put('broker/log', 'records')
    const first = await openDataFolder(root, 'demo', false)
    first.release()
    expect(existsSync(kept)).toBe(true)
    const second = await openDataFolder(root, 'demo', true)
    second.release()
    expect(existsSync(kept)).toBe(false)
  })

  it('keeps the partitions that it was begun with, whatever is asked for later', async () => {
    const partitionsAsked = async (asked?: number, fresh = false): Promise<number> => {
      const folder = await openDataFolder(root, 'demo', fresh, { partitions: asked })
      folder.release()
      return folder.partitions
    }
    expect(await partitionsAsked(5)).toBe(5)
    expect(await partitionsAsked()).toBe(5)
    expect(await partitionsAsked(7)).toBe(7) // the log's layout refuses it
    expect(await partitionsAsked()).toBe(5)
    put('version.json', '{"format":1}') // from before they were kept
    expect(await partitionsAsked()).toBe(12)
    const suits = (least: number): number => Math.min(12, Math.max(least, availableParallelism()))
    expect(await partitionsAsked(undefined, true)).toBe(suits(2))
    const cluster = await openDataFolder(root, 'demo', true, { brokers: 3 })
    cluster.release()
    expect(cluster.partitions).toBe(suits(4))
  })

  it('empties only the mode that starts', async () => {
    const kept = put('broker/log', 'records')
    const live = await openDataFolder(root, 'live', true)
    live.release()
    expect(existsSync(kept)).toBe(true)
  })

  it('turns a log over that has grown too large', async () => {
    const log = put('logs/broker.log', 'x'.repeat(10 * 1024 * 1024 + 1))
    const folder = await openDataFolder(root, 'demo', false)
    folder.release()
    expect([existsSync(log), existsSync(`${log}.1`)]).toEqual([false, true])
  })
})

describe('run.json', () => {
  const run = {
    mode: 'demo',
    data: 'x',
    partitions: 4,
    parts: [{ name: 'api', pid: 4711, url: 'http://127.0.0.1:3000' }],
  } as const

  it('lists what runs, for a reader of the folder or of its mode', () => {
    writeRunFile(root, run)
    expect(readRunFile(root)).toEqual(run)
    expect(readRunFile(path.join(root, 'demo'))).toEqual(run)
    expect(JSON.parse(readFileSync(path.join(root, 'run.json'), 'utf8'))).toEqual(run)
  })

  it('is gone after a clean stop', () => {
    writeRunFile(root, run)
    removeRunFile(root)
    expect(readRunFile(root)).toBeUndefined()
  })

  it('names a part that is asked for and does not run', () => {
    expect(urlOf(run, 'api')).toBe('http://127.0.0.1:3000')
    expect(() => urlOf(run, 'simulator')).toThrow('simulator does not run in demo mode')
  })
})
