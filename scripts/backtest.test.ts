import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { TAPE_VERSION, writeHeader } from '../infra/tapes/folder.ts'

const program = path.join(import.meta.dirname, 'backtest.ts')

it('leaves the results of before where what it was asked for cannot be done', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'backtest-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const [tape, out] = [path.join(home, 'tape'), path.join(home, 'out')]
  const range = { from: 0, to: null }
  writeHeader(tape, {
    version: TAPE_VERSION.avro,
    format: 'avro',
    partitions: 1,
    map: '',
    source: 'a',
    range,
    spans: [],
  })
  mkdirSync(out)
  writeFileSync(path.join(out, 'manifest.json'), 'of before')
  const args = [program, '--source', tape, '--out', out, '--alerts', path.join(home, 'missing.json')]
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('missing.json') as string })
  expect(readFileSync(path.join(out, 'manifest.json'), 'utf8')).toBe('of before')
})
