import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { fillSmallWorld } from '../../infra/clickhouse/testing/small-world/fill.ts'
import { createWorld, type World } from '../../infra/clickhouse/testing/world.ts'

const run = promisify(execFile)
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const folder = mkdtempSync(path.join(tmpdir(), 'examples-'))
const TIMEOUT_MS = 100_000

/** An interpreter that has clickhouse-connect and matplotlib, in a venv: PYTHON=... */
const python = process.env['PYTHON'] ?? 'python3'
const missing = ((): string | undefined => {
  try {
    execFileSync(python, ['-c', 'import clickhouse_connect, matplotlib'], { stdio: 'ignore', timeout: 60_000 })
    return undefined
  } catch {
    return `${python} has no clickhouse-connect or no matplotlib; set PYTHON to one that has both`
  }
})()
if (missing !== undefined) console.log(`skipped: ${missing}`)

let world: World
beforeAll(async () => {
  world = await createWorld('examples')
  await fillSmallWorld(world)
}, 120_000)
afterAll(async () => {
  await world.end()
  rmSync(folder, { recursive: true, force: true })
})

const range = ['--asset', 'btc', '--start', '2024-08-08T23:54:00', '--end', '2024-08-08T23:58:00']

it('the example in TypeScript draws the small world', async () => {
  const out = path.join(folder, 'ts.svg')
  const { url: clickhouseUrl } = inject('parts').clickhouse
  const times = ['--asset', 'btc', '--start', '2024-08-08T23:54:00Z', '--end', '2024-08-08T23:58:00Z']
  const where = ['--url', clickhouseUrl, '--database', world.database, '--out', out]
  const { stdout } = await run(process.execPath, [file('cvd-chart.ts'), ...times, ...where], { timeout: TIMEOUT_MS })
  expect(stdout).toBe(`3 intervals drawn into ${out}\n`)
  // Closes 100, 102, 99 between 99 and 102; CVD 3, 0, 1 between 0 and 3.
  const paths = [...readFileSync(out, 'utf8').matchAll(/<path d="([^"]+)"/g)].map(([, found]) => found)
  expect(paths).toEqual(['M70.0 266.7 L480.0 40.0 L890.0 380.0', 'M70.0 40.0 L480.0 380.0 L890.0 266.7'])
})

it.skipIf(missing !== undefined)(
  'the example in Python draws the small world',
  async () => {
    const out = path.join(folder, 'py.svg')
    const { hostname, port } = new URL(inject('parts').clickhouse.url)
    const where = ['--host', hostname, '--port', port, '--database', world.database, '--out', out]
    const { stdout } = await run(python, [file('cvd_chart.py'), ...range, ...where], { timeout: TIMEOUT_MS })
    expect(stdout.split('\n')).toEqual([
      'cvd 1h bearish_pressure: 2 signals, 50 % right, mean 3.0 bp',
      'cvd 1h bullish_pressure: 1 signals, 100 % right, mean 200.0 bp',
      'cvd 1h strong_bullish_pressure: 1 signals, 0 % right, mean -294.1 bp',
      'sentiment  Bullish: 1 signals, 0 % right, mean -294.1 bp',
      'sentiment  Extremely bearish: 1 signals, 0 % right, mean 202.0 bp',
      `3 intervals drawn into ${out}`,
      '',
    ])
    expect(readFileSync(out, 'utf8')).toContain('<svg')
  },
  120_000,
)

it('the example in Python says what it lacks where packages are missing', async () => {
  // -I and -S: no packages but the interpreter's own.
  const bare = run('python3', ['-I', '-S', file('cvd_chart.py')], { timeout: TIMEOUT_MS })
  await expect(bare).rejects.toMatchObject({
    code: 3,
    stdout: expect.stringMatching(/^skipped: install clickhouse-connect and matplotlib first/),
  })
})
