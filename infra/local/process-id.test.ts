import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync, existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { endLeftovers, identify, isRunning, readProcessId, rememberChild, lowerCpuShare } from './process-id.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'process-id-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function sleeper(): Promise<{ pid: number; ended: Promise<unknown> }> {
  const child = spawn(process.execPath, ['-e', "setInterval(() => {}, 1000); console.log('up')"])
  await once(child.stdout, 'data')
  return { pid: child.pid ?? 0, ended: once(child, 'exit') }
}

describe('a remembered process', () => {
  it('is known again by its number and start', () => {
    const self = identify('self', process.pid)
    expect([isRunning(self), isRunning({ ...self, started: '1' })]).toEqual([true, false])
  })

  it('that a killed parent left behind is ended by the next start', async () => {
    const { pid, ended } = await sleeper()
    rememberChild(path.join(folder, 'broker.log'), 'broker', pid)
    expect(await endLeftovers(folder)).toEqual(['broker'])
    await ended
    expect(readdirSync(folder)).toEqual([])
  })

  it('whose number now belongs to another process is left alone', async () => {
    writeFileSync(path.join(folder, 'old.pid'), JSON.stringify({ name: 'old', pid: process.pid, started: '1' }))
    expect(await endLeftovers(folder)).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })

  it('is forgotten when it ends', () => {
    rememberChild(path.join(folder, 'a.log'), 'a', process.pid)()
    expect(readdirSync(folder)).toEqual([])
  })

  it('in a file that was cut short is no process', () => {
    const file = path.join(folder, 'cut.pid')
    writeFileSync(file, '{"name":"cut","pid":')
    expect(readProcessId(file)).toBeUndefined()
  })
})

/** Not every kernel shares by sessions. */
const shareOf = (pid: number | 'self'): string | undefined => {
  const file = `/proc/${pid}/autogroup`
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .replace(/^.*nice/, 'nice')
        .trim()
    : undefined
}

it('lowers the share of a session, and of no other', async () => {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
  await once(child, 'spawn')
  const { pid = 0 } = child
  const warnings: string[] = []
  try {
    const own = shareOf('self')
    lowerCpuShare(pid, (line) => warnings.push(line))
    expect(warnings).toEqual([])
    expect(shareOf(pid)).toBe(own === undefined ? undefined : 'nice 5')
    expect(shareOf('self')).toBe(own)
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
})

it('is silent about a process that has gone', () => {
  const warnings: string[] = []
  lowerCpuShare(2 ** 22 + 1, (line) => warnings.push(line))
  expect(warnings).toEqual([])
})
