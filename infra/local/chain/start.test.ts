import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keepReadable } from './start.ts'

let file: string
beforeEach(() => {
  file = path.join(mkdtempSync(path.join(tmpdir(), 'chain-state-')), 'state.json')
})
afterEach(() => rmSync(path.dirname(file), { recursive: true }))

describe('the state of the local chain', () => {
  it('is not there at the first start', async () => {
    expect(await keepReadable(file)).toBe('new')
    expect(existsSync(`${file}.broken`)).toBe(false)
  })

  it('is kept when it can be read', async () => {
    writeFileSync(file, '{"block":2}')
    expect(await keepReadable(file)).toBe('kept')
    expect(readFileSync(file, 'utf8')).toBe('{"block":2}')
  })

  it('goes back to the last start when a kill cut it short', async () => {
    writeFileSync(file, '{"block":2}')
    await keepReadable(file)
    writeFileSync(file, '{"block":')
    expect(await keepReadable(file)).toBe('went-back')
    expect(readFileSync(file, 'utf8')).toBe('{"block":2}')
    expect(readFileSync(`${file}.broken`, 'utf8')).toBe('{"block":')
  })

  it('begins anew when it was cut short before it was ever copied', async () => {
    writeFileSync(file, '')
    expect(await keepReadable(file)).toBe('new')
    expect(existsSync(file)).toBe(false)
  })
})
