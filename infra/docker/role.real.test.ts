import { execFile, fork, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { dropDatabase } from '../clickhouse/testing/database.ts'
import type { Child } from '../local/child.ts'
import { startSimulator, venueEnv } from '../simulator/start.ts'
import { makeRole, roleNames, type Role } from './role.ts'

const run = promisify(execFile)
const folder = mkdtempSync(path.join(tmpdir(), 'roles-'))
const own = `roles_${randomUUID().slice(0, 8)}`
const running: ChildProcess[] = []
let simulator: Child
beforeAll(async () => {
  simulator = await startSimulator({
    dataDir: path.join(folder, 'sim'),
    port: 0,
    logFile: path.join(folder, 'sim.log'),
  })
})
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await simulator.stop()
  await dropDatabase(inject('parts').clickhouse, own)
  rmSync(folder, { recursive: true, force: true })
})

/** As in its image: alone in its folder, with its settings and nothing more, and with a file system that it cannot write. */
function start(role: Role): ChildProcess {
  const { brokers, registryUrl, clickhouse } = inject('parts')
  const env = {
    MODE: 'demo',
    NAMESPACE: `${own}.`,
    PARTITIONS: '2',
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    CLICKHOUSE_URL: clickhouse.url,
    CLICKHOUSE_PASSWORD: clickhouse.password,
    CLICKHOUSE_DATABASE: own,
    SERVICE_SECRET: 'of-this-test-only-and-of-32-characters',
    ...venueEnv(simulator.url),
    TMPDIR: '/nowhere',
    OPS_PORT: '0',
    API_PORT: '0',
    CONSOLE_PORT: '0',
  }
  const readOnly = ['--permission', '--allow-fs-read=*', '--allow-worker', '--disable-warning=SecurityWarning']
  const child = fork('main.ts', { cwd: path.join(folder, role), env, execArgv: readOnly, silent: true })
  running.push(child)
  return child
}

/** How a program ended, with what it said where it failed. */
async function ended(child: ChildProcess): Promise<{ code: number | null; said: string }> {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => (said += text.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, said: code === 0 ? '' : said }
}

describe.each(roleNames)('the image of %s', (role) => {
  it('starts where nothing else is, and names its packages with their licences', async () => {
    const target = path.join(folder, role)
    const { packages } = makeRole(role, target)
    const { stdout } = await run(process.execPath, ['main.ts', '--help'], { cwd: target, timeout: 30_000 })
    expect(stdout).toContain(`${role}: `)
    expect(existsSync(path.join(target, 'infra/docker/health.ts'))).toBe(true)
    const sbom = JSON.parse(readFileSync(path.join(target, 'sbom.cdx.json'), 'utf8')) as {
      components: { name: string; version: string; purl: string }[]
    }
    expect(sbom.components).toHaveLength(packages.length)
    expect(sbom.components.filter(({ purl }) => !/^pkg:npm\/(?:%40[\w.-]+\/)?[\w.-]+@\d/.test(purl))).toEqual([])
    expect(readFileSync(path.join(target, 'LICENCES.txt'), 'utf8')).toMatch(/^kafkajs 2\.2\.4: MIT$/m)
  }, 60_000)
})

interface Started {
  readonly child: ChildProcess
  /** Its first message: where it listens. */
  readonly ready: Promise<readonly unknown[]>
  readonly end: ReturnType<typeof ended>
}

describe('where nothing can be written', () => {
  const services = roleNames.filter((role) => role !== 'prepare').map((role) => ({ role }))
  const started = new Map<Role, Started>()
  const of = (role: Role): Started => {
    const one = started.get(role)
    if (one === undefined) throw new Error(`${role} was not started`)
    return one
  }

  it('prepare makes log and tables', async () => {
    expect(await ended(start('prepare'))).toEqual({ code: 0, said: '' })
    for (const { role } of services) {
      const child = start(role)
      started.set(role, { child, ready: once(child, 'message'), end: ended(child) })
    }
  })

  it.each(services)('$role is healthy', async ({ role }) => {
    const { ready, end } = of(role)
    const [message] = await Promise.race([ready, end.then(({ said }) => [said])])
    expect(message).toHaveProperty('ready')
    const health = `${(message as { ready: string }).ready}/${role === 'api' ? 'readyz' : 'healthz'}`
    const check = (): Promise<string> =>
      run(process.execPath, ['infra/docker/health.ts', health], { cwd: path.join(folder, role) }).then(
        () => 'healthy',
        () => 'not yet',
      )
    await expect.poll(check).toBe('healthy')
  })

  it.each(services)('$role ends when it is told to', async ({ role }) => {
    const { child, end } = of(role)
    child.kill('SIGTERM')
    expect(await end).toEqual({ code: 0, said: '' })
  })
})
