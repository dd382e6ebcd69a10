import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const TIMEOUT_MS = 240_000

const out = mkdtempSync(path.join(tmpdir(), 'client-'))
afterAll(() => rmSync(out, { recursive: true, force: true }))

it('is built into a package of plain JavaScript with types', { timeout: TIMEOUT_MS }, async () => {
  const compiler = path.join(root, 'node_modules/.bin/tsc')
  const project = ['-p', path.join(root, 'scripts/clients/typescript'), '--outDir', path.join(out, 'dist')]
  await run(compiler, project, { timeout: TIMEOUT_MS })
  symlinkSync(path.join(root, 'node_modules'), path.join(out, 'node_modules'))
  const program = `
    const { MarketDataClient, operations, verifySvc } = await import('./dist/index.js')
    const { Payer } = await import('./dist/payer.js')
    console.log(typeof MarketDataClient, typeof Payer, typeof verifySvc, operations.cvd.path)`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
    cwd: out,
    timeout: TIMEOUT_MS,
  })
  expect(stdout.trim()).toBe('function function function /cvd/{symbol}')
})
