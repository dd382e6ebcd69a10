import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { errorText, readFlags, text, UsageError } from './command.ts'

function run(program: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const file = new URL(`../${program}.ts`, import.meta.url).pathname
  return spawnSync(process.execPath, [file, ...args], { encoding: 'utf8', timeout: 60_000 })
}

describe('a command', () => {
  it('helps', () => {
    const { status, stdout, stderr } = run('release', '--help')
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^npm run release -- /)
  })

  it.each([
    ['release', ['--nonsense'], "Unknown option '--nonsense'", '; --help tells all of it\n'],
    ['release', [], 'nothing is published from here', '--data the data\n'],
    ['verify', ['--data', '/nowhere'], 'nothing runs on /nowhere: start it first, or name', '--data\n'],
  ])('says what is wrong with %s %j in a line, and exits 2', (program, args, begin, end) => {
    const { status, stdout, stderr } = run(program, ...args)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr.startsWith(begin)).toBe(true)
    expect(stderr.endsWith(end)).toBe(true)
  })

  it('tells in one line what a person can mend, and all of any other error', () => {
    const error = new TypeError('x is not a function')
    expect(errorText(new UsageError('name it'), [])).toBe('name it')
    expect(errorText(error, [])).toBe(error)
    expect(errorText(error, [TypeError])).toBe('x is not a function')
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
