import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { versionIn } from './java.ts'
import { withLock } from './lock.ts'
import { reservePort } from './ports.ts'

describe('Java', () => {
  it.each([
    ['openjdk version "17.0.15" 2025-04-15', '17.0.15'],
    ['openjdk version "21" 2023-09-19', '21'],
    ['java version "1.8.0_402"', '1.8.0'],
    ['command not found', undefined],
  ])('of %j is %s', (text, version) => {
    expect(versionIn(text)).toBe(version)
  })
})

describe('a port', () => {
  it('that is taken is named, with who wanted it', async () => {
    const server = createServer()
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
    })
    await expect(reservePort(port, 'Kafka')).rejects.toThrow(`Kafka: port ${port} on 127.0.0.1 is in use`)
    await new Promise((resolve) => {
      server.close(resolve)
    })
    expect(await reservePort(port, 'Kafka')).toBe(port)
  })

  it('of 0 is any free one', async () => {
    expect(await reservePort(0, 'Kafka')).toBeGreaterThan(0)
  })
})

describe('a lock', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lock-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('lets one in at a time', async () => {
    const file = join(folder, 'lock')
    const log: string[] = []
    const work = (name: string) =>
      withLock(file, 10_000, async () => {
        log.push(`${name} in`)
        await readFile(file)
        log.push(`${name} out`)
      })
    await Promise.all([work('a'), work('b'), work('c')])
    const pairs = [log.slice(0, 2), log.slice(2, 4), log.slice(4, 6)]
    for (const [first, second] of pairs) expect(second).toBe(first?.replace('in', 'out'))
  })

  it('of a process that is gone is taken over', async () => {
    const file = join(folder, 'lock')
    await writeFile(file, '2147483646') // above the largest process id
    let ran = false
    await withLock(file, 10_000, async () => {
      ran = true
    })
    expect(ran).toBe(true)
  })

  it('that is held for too long is named', async () => {
    const file = join(folder, 'lock')
    await writeFile(file, String(process.pid))
    await expect(withLock(file, 0, async () => undefined)).rejects.toThrow(file)
  })
})
