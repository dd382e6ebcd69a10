import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDataFolder } from '../../infra/local/data-folder.ts'
import { writeRunFile } from '../../infra/local/run-file.ts'
import { errorText, readFlags, readNumber, readTime, readWhole, running, text, UsageError } from './command.ts'

function run(program: string, args: string[], env: NodeJS.ProcessEnv = {}) {
  const file = new URL(`../${program}.ts`, import.meta.url).pathname
  return spawnSync(process.execPath, [file, ...args], {
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, ...env },
  })
}

describe('a command', () => {
  it('helps', () => {
    const { status, stdout, stderr } = run('release', ['--help'])
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^npm run release -- /)
  })

  it.each([
    ['release', ['--nonsense'], "Unknown option '--nonsense'", '; --help tells all of it\n'],
    ['release', [], 'nothing is published from here', '--data the data\n'],
    ['verify', ['--data', '/nowhere'], 'nothing runs on /nowhere: start it first, or name', '--data\n'],
    ['verify', ['--wait', 'abc'], '--wait must be a number of 0 or more', ', got abc\n'],
    ['plan', ['--days', 'x'], '--days must be a number of 0 or more', ', got x\n'],
    [
      'import',
      ['--out', 'x', '--binance', 'x', '--partitions', '0'],
      '--partitions must be a whole number',
      ', got 0\n',
    ],
    [
      'import',
      ['--out', 'x', '--binance', 'x', '--partitions', '1001'],
      '--partitions must be at most 1000',
      ', got 1001\n',
    ],
    ['import', ['--out', 'x', '--binance', 'x', '--topics', 'market.trades'], '--topics goes with', ' --tape\n'],
    ['import', ['--out', 'x', '--binance', '/nowhere.csv'], 'there is no file', ' /nowhere.csv\n'],
    ['restore', ['--from', 'x', '--check', '--topics'], 'give one of', ' --check, --topics and --log-dir\n'],
    ['mcp', ['--budget-usdc', 'Infinity'], '--budget-usdc must be a number', ', got Infinity\n'],
    ['pay', ['GET', '/x', '--max', 'Infinity'], '--max must be a number', ', got Infinity\n'],
    ['normalize', ['--venue', 'okx', '--channel', 'trades', '/nowhere'], 'there is no file', ' /nowhere\n'],
  ])('says what is wrong with %s %j in a line, and exits 2', (program, args, begin, end) => {
    const { status, stdout, stderr } = run(program, args)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr.startsWith(begin)).toBe(true)
    expect(stderr.endsWith(end)).toBe(true)
  })

  it.each([
    ['backfill', ['--symbols', 'BTC'], 'nothing runs on /nowhere, and no demo is started', 'KAFKA_BROKERS'],
    ['backup', ['--to', 'x'], 'nothing runs on /nowhere: start it first, name', 'MODE'],
  ])('(%s) starts and assumes nothing where a log elsewhere is named', (program, args, begin, has) => {
    const elsewhere = { KAFKA_BROKERS: '127.0.0.1:1', MODE: undefined, BACKUP_KEY: 'x'.repeat(32) }
    const { status, stderr } = run(program, [...args, '--data', '/nowhere'], elsewhere)
    expect(stderr.startsWith(begin)).toBe(true)
    expect(stderr).toContain(has)
    expect(status).toBe(2)
  })

  it('tells in one line what a person can mend, and all of any other error', () => {
    const error = new TypeError('x is not a function')
    expect(errorText(new UsageError('name it'), [])).toBe('name it')
    expect(errorText(error, [])).toBe(error)
    expect(errorText(error, [TypeError])).toBe('x is not a function')
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    })
    expect(errorText(full, [])).toBe('ENOSPC: no space left on device, write')
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
    expect(errorText(new TypeError('fetch failed', { cause: refused }), [])).toBe(`fetch failed: ${refused.message}`)
  })
})

describe('flags', () => {
  it('have values and words beside them', () => {
    const { values, positionals } = readFlags({ out: text }, { args: ['a', '--out', 'x'], allowPositionals: true })
    expect([values.out, positionals]).toEqual(['x', ['a']])
  })

  it.each([[['--other']], [['--out']], [['word']]])('refuse %j', (args) => {
    expect(() => readFlags({ out: text }, { args })).toThrow(UsageError)
  })
})

describe('a number', () => {
  it('is decimal digits', () => {
    expect([readNumber('--minutes', '5'), readNumber('--minutes', '0.5'), readWhole('--seed', '0')]).toEqual([
      5, 0.5, 0,
    ])
  })

  it.each(['5m', 'abc', '', ' 5', '-1', '1e3', 'Infinity', 'NaN', '0x10', '9'.repeat(400)])('is not %j', (value) => {
    expect(() => readNumber('--minutes', value)).toThrow(`--minutes must be a number of 0 or more, got ${value}`)
  })

  it('has a least value, and may have to be whole', () => {
    expect(() => readNumber('--used', '0.5', 1)).toThrow('--used must be a number of 1 or more, got 0.5')
    expect(() => readWhole('--partitions', '0', 1)).toThrow('--partitions must be a whole number of 1 or more, got 0')
    expect(() => readWhole('--partitions', '1.5', 1)).toThrow(
      '--partitions must be a whole number of 1 or more, got 1.5',
    )
  })
})

describe('a time', () => {
  it('is UTC where it names no zone, wherever the machine stands', () => {
    const module = JSON.stringify(new URL('command.ts', import.meta.url).href)
    const program = `
      const { readTime } = await import(${module})
      console.log(readTime('--from', '2026-03-01T00:00'), readTime('--from', '2026-03-01'))`
    const env = { ...process.env, TZ: 'America/New_York' }
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', env })
    expect(stdout).toBe('1772323200000 1772323200000\n')
  })

  it.each(['2026-02-30', 'BTC 5', 'Mar 1 2026', '2026-03-01T00:00:00 02:00', '-5', ''])('is not %j', (value) => {
    expect(() => readTime('--from', value)).toThrow(
      `--from must be ISO 8601 (2026-03-01T00:00:00Z, without a zone UTC)`,
    )
  })
})

describe('a data folder', () => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'command-'))
  })
  afterEach(() => rmSync(root, { recursive: true }))

  const supervisor = { name: 'supervisor', pid: process.pid, url: 'http://127.0.0.1:1' }
  const runOf = (mode: 'demo' | 'live') => ({ mode, data: path.join(root, mode), partitions: 4, parts: [supervisor] })

  it('has what runs on it while its start holds it', async () => {
    const folder = await openDataFolder(root, 'demo', false)
    writeRunFile(root, runOf('demo'))
    expect(running(root, '')).toEqual(runOf('demo'))
    expect(running(path.join(root, 'demo'), '')).toEqual(runOf('demo'))
    folder.release()
  })

  it.each([
    ['of whose number another runs now', { pid: process.pid, started: '1' }],
    ['of which nothing runs', { pid: 999_999_999, started: '1' }],
    ['that another start has taken over, which has not come up yet', { pid: 1, started: '' }],
  ])('has nothing running after the kill of a start %s', (_, holder) => {
    writeRunFile(root, runOf('live'))
    writeFileSync(path.join(root, 'lock.json'), JSON.stringify({ name: 'lock', ...holder }))
    const said = `the start on ${root} was killed: start it again, with npm start -- --live --data ${root}`
    expect(() => running(path.join(root, 'live'), '')).toThrow(said)
  })

  it('of which nobody keeps the parts has those that it lists', () => {
    const run = { ...runOf('demo'), parts: [{ name: 'api', url: 'http://127.0.0.1:1' }] }
    writeRunFile(root, run)
    expect(running(root, '')).toEqual(run)
  })
})
