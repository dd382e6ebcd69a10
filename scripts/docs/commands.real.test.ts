import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { urlOf } from '../../infra/local/run-file.ts'
import { startOwnSystem, type OwnSystem } from '../own-system.ts'
import { documentedBlocks, placed, planOf, type Places } from './commands.ts'

/** Every command of the front page and of the guides that needs no payment, on a system as `npm start` makes it. */

const run = promisify(execFile)
const START_MS = 300_000
const BLOCK_MS = 150_000
const PATIENCE_MS = 240_000

const work = mkdtempSync(path.join(tmpdir(), 'commands-'))
let system: OwnSystem
let receiver: ChildProcess
let places: Places
const heard: string[] = []

beforeAll(async () => {
  system = await startOwnSystem(['--seed', '5', '--rate', '100'])
  const program = fileURLToPath(new URL('../receiver.ts', import.meta.url))
  receiver = spawn(process.execPath, [program, '--port', '0', '--data', system.data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (receiver.stdout === null) throw new Error('the receiver says nothing')
  createInterface({ input: receiver.stdout }).on('line', (line) => heard.push(line))
  const port = await waitFor(() => /Listening at https:\/\/[\w.]+:(\d+)/.exec(heard.join('\n'))?.[1])
  const parts = system.run()
  places = {
    api: urlOf(parts, 'api'),
    clickhouse: urlOf(parts, 'clickhouse'),
    receiver: `https://localhost:${port}`,
    data: system.data,
  }
}, START_MS)
afterAll(async () => {
  receiver?.kill('SIGINT')
  await system?.dispose()
  rmSync(work, { recursive: true, force: true })
}, START_MS)

/** Also before the tests: `expect.poll` works within one only. */
function waitFor<Value>(find: () => Value | undefined): Promise<Value> {
  const look = (): Value => {
    const found = find()
    if (found === undefined) throw new Error(`not there yet; heard so far: ${heard.join('\n')}`)
    return found
  }
  return vi.waitFor(look, { timeout: PATIENCE_MS, interval: 200 })
}

const blocks = documentedBlocks().flatMap(({ document, commands }) => {
  const mine = commands.filter((command) => planOf(document, command) === 'free')
  const [title = ''] = mine[0]?.split('\n') ?? []
  return mine.length === 0 ? [] : [[document, title.slice(0, 60), mine] as const]
})

/** What a block prints; rejects where a command of it fails. */
async function outputOf(commands: readonly string[]): Promise<string> {
  const script = commands.map((command) => placed(command, places)).join('\n')
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: work, timeout: BLOCK_MS })
  return stdout
}

describe('the documented commands', () => {
  it.each(blocks)(
    'of %s work as they stand: %s',
    { timeout: PATIENCE_MS + BLOCK_MS },
    async (_document, _title, commands) => {
      // What has just begun to run is asked again until it is warm.
      const outcome = (): Promise<string> => outputOf(commands).catch((error: unknown) => `failed: ${String(error)}`)
      let output = ''
      await expect
        .poll(async () => (output = await outcome()), { timeout: PATIENCE_MS, interval: 1_000 })
        .not.toMatch(/^failed|warming_up/)
      expect(output.length).toBeGreaterThan(0)
      expect(output).not.toMatch(/"error":"\w+","message":/)
    },
  )

  it('have rung the alert at the receiver, with a record that can be looked at', { timeout: PATIENCE_MS }, async () => {
    const text = (): string => heard.join('\n')
    await expect.poll(text, { timeout: PATIENCE_MS }).toContain('both signatures verified')
    // A test event follows from its owner's command, which is nobody else's to see.
    const lookUp = async (record: string): Promise<unknown> => (await fetch(`${places.api}/records/${record}`)).json()
    const types = async (): Promise<unknown[]> => {
      const records = new Set(text().match(/rec_[\w-]+/g))
      const found = await Promise.all([...records].map(lookUp))
      return found.map((record) => (record as { type?: unknown }).type)
    }
    await expect.poll(types, { timeout: PATIENCE_MS }).toContain('composite_price')
  })
})
