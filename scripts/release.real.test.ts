import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness, type Harness } from '../api/testing/harness.ts'
import { can, python } from './clients/python/testing/program.ts'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '..')
const TIMEOUT_MS = 240_000

/** With setuptools, so that the test asks no package index. */
const hasPython = can(
  'import sys, pip; from importlib.metadata import version as v; assert sys.version_info >= (3, 11) and int(v("setuptools").split(".")[0]) >= 77',
)
if (!hasPython)
  console.log(`skipped: ${python} is not Python 3.11 with pip and setuptools 77; set PYTHON to one that is`)

const out = mkdtempSync(path.join(tmpdir(), 'packages-'))
const version = (JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }).version
let api: Harness
let answer: string
beforeAll(async () => {
  api = await startHarness()
  const { body } = await api.get('/cvd/BTC?period=4h')
  answer = `${String(body['symbol'])} ${String(body['signal'])}`
  const made = run(process.execPath, [path.join(root, 'scripts/release.ts'), '--dry-run', '--out', out])
  await (hasPython ? made : made.catch(() => undefined))
}, TIMEOUT_MS)
afterAll(async () => {
  await api.stop()
  rmSync(out, { recursive: true, force: true })
})

function packageOf(ending: string): string {
  const names = readdirSync(out).filter((name) => name.endsWith(ending))
  expect(names).toEqual([expect.stringContaining(`-${version}`)])
  return path.join(out, names[0] ?? '')
}

it(
  'makes an npm package that needs no other, and pays where the chain’s are there',
  { timeout: TIMEOUT_MS },
  async () => {
    const folder = path.join(out, 'npm')
    mkdirSync(folder)
    const quiet = ['--offline', '--no-audit', '--no-fund', '--prefix', folder]
    await run('npm', ['install', ...quiet, packageOf('.tgz')], { cwd: folder, timeout: TIMEOUT_MS })
    const node = async (program: string): Promise<string> =>
      (await run(process.execPath, ['--input-type=module', '-e', program], { cwd: folder })).stdout.trim()
    const program = `
    import { MarketDataClient } from 'market-data-alerts-client'
    const { symbol, signal } = await new MarketDataClient({ baseUrl: '${api.url}' }).cvd({ symbol: 'BTC', period: '4h' })
    console.log(symbol, signal)`
    expect(await node(program)).toBe(answer)
    symlinkSync(path.join(root, 'node_modules'), path.join(out, 'node_modules'))
    expect(await node("console.log(typeof (await import('market-data-alerts-client/pay')).Payer)")).toBe('function')
  },
)

it.skipIf(!hasPython)('makes a wheel that needs no other package', { timeout: TIMEOUT_MS }, async () => {
  const folder = path.join(out, 'python')
  await run(python, ['-m', 'venv', folder], { timeout: TIMEOUT_MS })
  const interpreter = path.join(folder, 'bin/python')
  await run(interpreter, ['-m', 'pip', 'install', '--no-deps', '--no-index', packageOf('.whl')], {
    timeout: TIMEOUT_MS,
  })
  const program = `
from market_data_alerts import MarketDataClient
answer = MarketDataClient("${api.url}").cvd(symbol="BTC", period="4h")
print(answer["symbol"], answer["signal"])`
  expect((await run(interpreter, ['-c', program], { cwd: folder })).stdout.trim()).toBe(answer)
})
