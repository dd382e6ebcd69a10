import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { urlOf } from '../../infra/local/run-file.ts'
import { startOwnSystem, type OwnSystem } from '../own-system.ts'
import { documentedBlocks, withAddresses, planOf, type SystemAddresses } from './testing/commands.ts'

/** Every command of the front page and of the guides that needs no payment, on a system as `npm start` makes it. */

const run = promisify(execFile)
const START_MS = 300_000
const BLOCK_MS = 150_000
const PATIENCE_MS = 240_000

const work = mkdtempSync(path.join(tmpdir(), 'commands-'))
let system: OwnSystem
let receiver: ChildProcess
let places: SystemAddresses
const heard: string[] = []

beforeAll(async () => {
  system = await startOwnSystem(['--seed', '5', '--rate', '100'], { BACKFILL_DAYS: '7' })
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
  const script = commands.map((command) => withAddresses(command, places)).join('\n')
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: work, timeout: BLOCK_MS })
  return stdout
}

/** That the alert which was just made rings at the receiver, verified, by a price that can be looked at. */
async function expectRing(): Promise<void> {
  const { alert_id: alert } = JSON.parse(readFileSync(path.join(work, 'alert.json'), 'utf8')) as { alert_id: string }
  const text = (): string => heard.join('\n')
  const event = (): string | undefined =>
    text()
      .split('\n\n')
      .find((words) => words.includes(alert))
  await expect.poll(event, { timeout: PATIENCE_MS }).toMatch(/"record": "rec_/)
  const [, webhook = '?'] = /webhook-id (\S+)/.exec(event() ?? '') ?? []
  await expect.poll(text, { timeout: PATIENCE_MS }).toContain(`both signatures verified; webhook-id ${webhook}`)
  const [record = '?'] = /rec_[\w-]+/.exec(event() ?? '') ?? []
  const lookUp = async (): Promise<unknown> => (await fetch(`${places.api}/records/${record}`)).json()
  await expect.poll(lookUp, { timeout: PATIENCE_MS }).toMatchObject({ type: 'composite_price' })
}

describe('the documented commands', () => {
  it.each(blocks)(
    'of %s work as they stand: %s',
    { timeout: 4 * PATIENCE_MS + BLOCK_MS },
    async (_document, _title, commands) => {
      // What has just begun to run is asked again until it is warm.
      const outcome = (): Promise<string> => outputOf(commands).catch((error: unknown) => `failed: ${String(error)}`)
      let output = ''
      await expect
        .poll(async () => (output = await outcome()), { timeout: PATIENCE_MS, interval: 1_000 })
        .not.toMatch(/^failed|warming_up/)
      expect(output.length).toBeGreaterThan(0)
      expect(output).not.toMatch(/"error":"\w+","message":/)
      // A reader sees it ring before going on to the commands that end it.
      if (commands.some((command) => command.includes('/secrets'))) await expectRing()
    },
  )
})
