import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { nodeProgram, startChild, stopChildren, type ChildSpec } from './child.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'child-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A child that runs `script`; its log is `name`.log in a folder of this file. */
function spec(name: string, script: string, more: Partial<ChildSpec> = {}): ChildSpec {
  return {
    name,
    command: [process.execPath, '-e', script],
    logFile: path.join(folder, `${name}.log`),
    ready: 'message',
    readyWithinMs: 60_000,
    stopWithinMs: 10_000,
    ...more,
  }
}

const forEver = 'setInterval(() => {}, 1000);'

describe('a child process', () => {
  it('is ready when it says so, keeps its output and stops on request', async () => {
    const child = await startChild(
      spec('polite', `console.log('hello'); ${forEver} process.send({ ready: 'http://x' })`),
    )
    expect(child.url).toBe('http://x')
    await child.stop()
    await child.exited
    expect(() => process.kill(child.pid, 0)).toThrow('ESRCH')
    expect(readFileSync(path.join(folder, 'polite.log'), 'utf8')).toContain('hello')
  })

  it('is ready when its probe says so', async () => {
    let asked = 0
    const ready = (): Promise<string | undefined> => Promise.resolve(++asked < 3 ? undefined : 'http://probe')
    const child = await startChild(spec('probed', forEver, { ready }))
    expect([child.url, asked]).toEqual(['http://probe', 3])
    await child.stop()
  })

  it('ends with all others, ready or not, where the command that started them is told to end', async () => {
    const ready = await startChild(spec('first', `${forEver} process.send({ ready: 'http://x' })`))
    const starting = startChild(spec('second', forEver))
    starting.catch(() => undefined) // judged below
    await stopChildren()
    await expect(starting).rejects.toThrow('second ended before it was ready')
    expect(() => process.kill(ready.pid, 0)).toThrow('ESRCH')
  })

  it('that ends before it is ready names its log file', async () => {
    await expect(startChild(spec('early', 'process.exit(3)'))).rejects.toThrow(
      /early ended before it was ready \(exit 3\).*early\.log/,
    )
  })

  it('that is not ready in time is stopped', async () => {
    await expect(startChild(spec('late', forEver, { readyWithinMs: 200 }))).rejects.toThrow(
      'late was not ready within 200 ms',
    )
  })

  it('that cannot be started is an error', async () => {
    await expect(startChild(spec('absent', '', { command: ['/no/such/program'] }))).rejects.toThrow(
      'absent ended before it was ready',
    )
  })

  it('that does not listen to SIGTERM is killed', async () => {
    const deaf = `process.on('SIGTERM', () => {}); ${forEver} process.send({ ready: 'x' })`
    const child = await startChild(spec('deaf', deaf, { stopWithinMs: 100 }))
    await child.stop()
    await child.exited
    expect(() => process.kill(child.pid, 0)).toThrow('ESRCH')
  })
})

describe('a program of ours', () => {
  it('may make two megabytes before it collects, where every trade goes through it', () => {
    const file = path.join(folder, 'processors/main.ts')
    mkdirSync(path.dirname(file))
    const space = `process.getBuiltinModule('node:v8').getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')`
    writeFileSync(file, `console.log(${space}.space_size / 2 ** 20)`)
    const [node, ...args] = nodeProgram(file)
    expect(Number(execFileSync(node, args, { encoding: 'utf8' }))).toBeGreaterThanOrEqual(2)
  })
})
