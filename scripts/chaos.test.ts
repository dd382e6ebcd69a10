import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const program = fileURLToPath(new URL('chaos.ts', import.meta.url))

describe('npm run chaos', () => {
  it.each([
    ['--minutes', '5m', 'a number of 0 or more'],
    ['--seed', '1.5', 'a whole number of 0 or more'],
    ['--alerts', 'two', 'a number of 0 or more'],
    ['--patience', '-1', 'a number of 0 or more'],
    ['--rate', 'fast', 'a number of 0 or more'],
  ])('refuses %s %s before it touches anything', (flag, value, kind) => {
    const args = [program, '--data', '/nowhere', `${flag}=${value}`]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 })
    expect([status, stdout, stderr]).toEqual([2, '', `${flag} must be ${kind}, got ${value}\n`])
  })
})
