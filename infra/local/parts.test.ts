import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { versionIn } from './java.ts'
import { LockError, withLock } from './lock.ts'
import { freePorts, reservePort, startOnPorts } from './ports.ts'

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
  const servers: Server[] = []
  const take = async (port: number): Promise<number> => {
    const server = createServer().listen(port, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const letGo = async (): Promise<void> => {
    for (const server of servers.splice(0)) {
      server.close()
      await once(server, 'close')
    }
  }
  afterEach(letGo)

  it('that is taken is named, with who wanted it', async () => {
    const port = await take(0)
    await expect(reservePort(port, 'Kafka')).rejects.toThrow(`Kafka: port ${port} on 127.0.0.1 is in use`)
    await letGo()
    expect(await reservePort(port, 'Kafka')).toBe(port)
  })

  it('of 0 is a free one, another each time, below those of outgoing connections', async () => {
    const ports = [...(await freePorts(50)), await reservePort(0, 'Kafka')]
    expect(new Set(ports).size).toBe(51)
    expect(Math.max(...ports)).toBeLessThan(32_768)
  })

  it('that another process took before the part could listen is replaced by a free one', async () => {
    const tried: number[][] = []
    const start = async (...ports: number[]): Promise<number[]> => {
      tried.push(ports)
      if (tried.length > 1) return ports
      await take(ports[1] ?? 0)
      throw new Error('the part ended')
    }
    expect(await startOnPorts({ Kafka: 0, 'Kafka controller': 0 }, start)).toEqual(tried[1])
    expect(new Set(tried.flat()).size).toBe(4)
  })

  it('that the part must have is named where another process took it before the part could listen', async () => {
    const port = await reservePort(0, 'Kafka')
    const start = async (): Promise<void> => {
      await take(port)
      throw new Error('the part ended')
    }
    await expect(startOnPorts({ Kafka: port }, start)).rejects.toThrow(`Kafka: port ${port} on 127.0.0.1 is in use`)
  })

  it('leaves a part that fails for another cause with its own error, at once', async () => {
    let starts = 0
    const start = async (): Promise<void> => {
      starts++
      throw new Error('no Java')
    }
    await expect(startOnPorts({ Kafka: 0 }, start)).rejects.toThrow('no Java')
    expect(starts).toBe(1)
  })

  it('is not sought for ever', async () => {
    let starts = 0
    const start = async (port: number): Promise<void> => {
      starts++
      await take(port)
      throw new Error('the part ended')
    }
    await expect(startOnPorts({ Kafka: 0 }, start)).rejects.toThrow('the part ended')
    expect(starts).toBe(3)
  })
})

describe('a lock', () => {
  let folder: string
  const isFree = (file: string): Promise<boolean> =>
    withLock(file, 0, async () => undefined).then(
      () => true,
      () => false,
    )
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
    await writeFile(file, JSON.stringify({ name: 'lock', pid: process.pid, started: '1' })) // its number was used again
    expect(await isFree(file)).toBe(true)
  })

  it('that a full disk or a power cut left empty is taken over, one that was just made is not', async () => {
    const file = join(folder, 'lock')
    await writeFile(file, '')
    expect(await isFree(file)).toBe(false)
    await utimes(file, 1, 1)
    expect(await isFree(file)).toBe(true)
    expect(await readdir(folder)).toEqual([])
  })

  it('that cannot be written leaves no file', async () => {
    const program = `
      const { withLock } = await import(${JSON.stringify(new URL('lock.ts', import.meta.url).href)})
      await withLock('lock', 0, async () => undefined).catch(({ code }) => console.log(code))`
    // no file may grow, as on a full disk
    const args = ['-c', 'ulimit -f 0; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', program]
    expect(execFileSync('sh', args, { cwd: folder, encoding: 'utf8' }).trim()).toBe('EFBIG')
    expect(await readdir(folder)).toEqual([])
  })

  it('that is held for too long is named', async () => {
    const file = join(folder, 'lock')
    await withLock(file, 0, async () => {
      const second = withLock(file, 0, async () => undefined)
      await expect(second).rejects.toThrow(`${file}, which process ${process.pid} holds`)
      await expect(second).rejects.toBeInstanceOf(LockError)
    })
  })
})
