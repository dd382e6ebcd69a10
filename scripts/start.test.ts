import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDataFolder } from '../infra/local/data-folder.ts'

const program = fileURLToPath(new URL('start.ts', import.meta.url))

let data: string
beforeEach(() => {
  data = mkdtempSync(path.join(tmpdir(), 'start-'))
})
afterEach(() => rmSync(data, { recursive: true }))

interface Ended {
  readonly code: number
  readonly said: string
}

/** Runs `npm start`'s program with `flags` until it ends; for starts that are refused before anything runs. */
function start(...flags: string[]): Promise<Ended> {
  return startWith({}, ...flags)
}

function startWith(env: Readonly<Record<string, string>>, ...flags: string[]): Promise<Ended> {
  const options = { env: { ...process.env, ...env }, timeout: 60_000 }
  return new Promise((resolve) => {
    execFile(process.execPath, [program, '--data', data, ...flags], options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, said: stdout + stderr })
    })
  })
}

describe('npm start', () => {
  it('names a port that is taken, who wants it, and the flag that chooses another', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { code, said } = await start('--ports', 'auto', '--api-port', String(port))
    server.close()
    expect(code).toBe(2)
    expect(said.trim()).toBe(
      `the API: port ${port} on 127.0.0.1 is in use; free it, or choose another with --api-port N (or --ports auto)`,
    )
  })

  it('refuses a data folder of a newer version and says what to do', async () => {
    mkdirSync(path.join(data, 'demo'))
    writeFileSync(path.join(data, 'demo', 'version.json'), '{"format":99}')
    const { code, said } = await start('--ports', 'auto')
    expect(code).toBe(2)
    expect(said).toMatch(/newer version of this program \(data format 99.*--fresh/)
  })

  it('refuses a data folder that another start holds', async () => {
    const held = await openDataFolder(data, 'demo', false)
    const { code, said } = await start('--ports', 'auto')
    held.release()
    expect(code).toBe(2)
    expect(said).toContain(`is in use by the start with process id ${process.pid}`)
  })

  it('says in one line what is wrong with its flags', async () => {
    expect(await start('--payments', 'cash')).toEqual({
      code: 2,
      said: '--payments must be off, local or x402, got cash\n',
    })
  })

  it('rehearses on parts of its own alone', async () => {
    const { code, said } = await startWith({ KAFKA_BROKERS: '127.0.0.1:1' }, '--ports', 'auto', '--rehearse')
    expect([code, said]).toEqual([
      2,
      'a rehearsal has parts of its own: unset KAFKA_BROKERS, SCHEMA_REGISTRY_URL and CLICKHOUSE_URL\n',
    ])
  })

  it('refuses to take real money for a simulated market, and says what else is missing', async () => {
    const { code, said } = await start('--ports', 'auto', '--payments', 'x402')
    expect(code).toBe(2)
    expect(said).toMatch(/^a demo takes no real payments: .*--payments local\n/)
    expect(said).toContain('PAYMENT_PAY_TO must be the address that is paid')
    expect(said).toContain('PAYMENT_RPC_URL must be')
  })

  it.each([
    [{ PARTITIONS: '0' }, 'PARTITIONS must be a whole number from 1 to 1000, got "0"; for example PARTITIONS=12'],
    [{ CLICKHOUSE_FLUSH_MS: 'x' }, 'CLICKHOUSE_FLUSH_MS must be a whole number of 1 or more, got "x"; for example'],
    [{ SERVICE_SECRET: 'short' }, 'SERVICE_SECRET must be a text of 32 characters or more'],
    [{ SERVICE_SECRET_FILE: '/nowhere' }, 'SERVICE_SECRET_FILE: /nowhere cannot be read'],
    [{ SERVICE_SECRETS_OLD: '1' }, 'SERVICE_SECRETS_READ must be a comma-separated list of version:secret'],
    [{ CONSOLE_TOKEN: 'short' }, 'CONSOLE_TOKEN must be a text of 24 characters or more'],
    [{ CONSOLE_HOST: '0.0.0.0' }, 'CONSOLE_HOST=0.0.0.0 is reached from elsewhere: set CONSOLE_TOKEN'],
  ])('refuses %j before it makes anything', async (env, message) => {
    const { code, said } = await startWith({ ...env, NODE_NO_WARNINGS: '1' }, '--ports', 'auto')
    expect(code).toBe(2)
    expect(said).toMatch(/^[^\n]+\n$/)
    expect(said.startsWith(message)).toBe(true)
    expect(readdirSync(data)).toEqual([])
  })

  it('refuses a tape that is not there before it makes anything', async () => {
    expect(await start('--ports', 'auto', '--tape', '/nowhere/tape')).toEqual({
      code: 2,
      said: '--tape /nowhere/tape: there is no such file or folder\n',
    })
    expect(readdirSync(data)).toEqual([])
  })

  it('lists its flags and every setting', async () => {
    const { code, said } = await start('--help')
    expect(code).toBe(0)
    expect(said).toContain('--kafka-port N')
    expect(said).toContain('SCHEMA_REGISTRY_URL=')
  })
})
