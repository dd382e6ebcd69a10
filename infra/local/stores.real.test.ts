import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ask, foreignPost } from '../http/testing/pages.ts'
import { Registry } from '../kafka/codec.ts'
import { connectLog } from '../kafka/kafkajs.ts'
import { createTestTopics } from '../kafka/testing/topics.ts'
import { startBroker } from './broker.ts'
import type { Child } from './child.ts'
import { startRegistry } from './registry.ts'

let root: string
let dataDir: string
let started: Child[]

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'stores-'))
  dataDir = root
  started = []
})
afterEach(async () => {
  await Promise.all(started.map((child) => child.stop()))
  vi.unstubAllEnvs()
  await rm(root, { recursive: true, force: true })
})

const options = (port: number) => ({ dataDir, port, logFile: join(dataDir, 'part.log'), onProgress: () => undefined })

async function broker(port = 0): Promise<Child> {
  const child = await startBroker(options(port))
  started.push(child)
  return child
}

async function registry(port = 0): Promise<Child> {
  const child = await startRegistry(options(port))
  started.push(child)
  return child
}

describe('the local broker', () => {
  it('keeps its records over a clean stop and over a kill, on whatever port it comes back', async () => {
    const first = await broker()
    await createTestTopics([first.url], ['in'])
    await append(first, 'a')
    await first.stop()
    const second = await broker()
    await append(second, 'b')
    process.kill(second.pid, 'SIGKILL')
    await second.exited
    const third = await broker()
    await append(third, 'c')
    expect(await valuesOf(third)).toEqual(['a', 'b', 'c'])
  }, 300_000)

  it('starts on other ports where another process takes one before it listens', async () => {
    const thief = createServer()
    const steal = (line: string): void => {
      if (!line.startsWith('formatting')) return
      const settings = readFileSync(join(dataDir, 'server.properties'), 'utf8')
      thief.listen(Number(/CONTROLLER:\/\/127\.0\.0\.1:(\d+)/.exec(settings)?.[1]), '127.0.0.1')
    }
    const child = await startBroker({ ...options(0), onProgress: steal })
    started.push(child)
    expect(thief.listening).toBe(true)
    thief.close()
    await createTestTopics([child.url], ['in'])
    await append(child, 'a')
    expect(await valuesOf(child)).toEqual(['a'])
  })

  it('names a port that is taken', async () => {
    const { url } = await broker()
    const port = Number(url.split(':')[1])
    await expect(startBroker(options(port))).rejects.toThrow(`Kafka: port ${port} on 127.0.0.1 is in use`)
  })
})

describe('a folder with a blank and letters beyond ASCII in its path', () => {
  it('holds the log and the schemas, in a locale of ASCII too', async () => {
    vi.stubEnv('LC_ALL', 'C')
    dataDir = join(dataDir, 'für uns 日本 🦊')
    mkdirSync(dataDir)
    await broker()
    expect(readdirSync(join(dataDir, 'log'))).toContain('meta.properties')
    const schemas = await registry()
    const schema = { subject: 's', text: JSON.stringify({ type: 'record', name: 'A', fields: [] }) }
    await new Registry(schemas.url).register(schema)
    expect(readdirSync(dataDir)).toContain('registry.mv.db')
  })
})

describe('the local registry', () => {
  it('takes nothing from a web page of another site', async () => {
    const { url } = await registry()
    const sent = { method: 'POST', body: '{"schema":"\\"string\\""}' }
    const { status } = await ask(`${url}/subjects/x/versions`, foreignPost, sent)
    expect(status).toBe(403)
    expect((await ask(`${url}/subjects`, {})).text).toBe('[]')
  })

  it('keeps its schemas and their ids over a kill, and names a port that is taken', async () => {
    const schema = { subject: 's', text: JSON.stringify({ type: 'record', name: 'A', fields: [] }) }
    const first = await registry()
    const id = await new Registry(first.url).register(schema)
    const port = Number(new URL(first.url).port)
    await expect(startRegistry(options(port))).rejects.toThrow(`Schema registry: port ${port} on 127.0.0.1 is in use`)
    process.kill(first.pid, 'SIGKILL')
    await first.exited
    const second = await registry()
    expect(await new Registry(second.url).schemaOf(id)).toBeDefined()
    expect(await new Registry(second.url).register(schema)).toBe(id)
  })
})

async function append({ url }: Child, value: string): Promise<void> {
  const log = await connectLog({ brokers: [url], namespace: '', clientId: 'test' })
  await log.writer().send('in', 0, [{ key: null, value: Buffer.from(value), time: 0 }])
  await log.close()
}

async function valuesOf({ url }: Child): Promise<string[]> {
  const log = await connectLog({ brokers: [url], namespace: '', clientId: 'test' })
  const values: string[] = []
  for await (const records of log.reader().toEnd('in', 0)) {
    for (const { value } of records) values.push(value?.toString() ?? '')
  }
  await log.close()
  return values
}
