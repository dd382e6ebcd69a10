import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileTape } from '../../infra/tapes/file-tape.ts'
import { writeHistory } from '../bench/backtest/history.ts'
import { backtest, type Outcome } from './backtest.ts'
import { errorText } from '../command/command.ts'
import { backtestErrors } from './expected.ts'
import { readOptions } from './options.ts'

const TRADES = 20_000
const folder = mkdtempSync(path.join(tmpdir(), 'workers-'))

/** What a replay without threads gives. */
let alone: Outcome
beforeAll(async () => {
  writeHistory(folder, TRADES)
  alone = await replay(1)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function replay(workers: number, stop = new AbortController().signal): Promise<Outcome> {
  const options = readOptions(['--source', folder, '--workers', String(workers), '--horizons', '10s'])
  if (options === undefined) throw new Error('it is no call for help')
  const tape = fileTape(folder)
  try {
    return await backtest(tape, options, { onProgress: () => undefined, warn: () => undefined, stop })
  } finally {
    await tape.close()
  }
}

function said(error: unknown): string {
  return String(errorText(error, backtestErrors))
}

describe('threads', () => {
  it.each([2, 5])('%i of them find what one finds, to the same hash', async (workers) => {
    expect(alone.manifest.events).toBeGreaterThan(TRADES)
    expect(await replay(workers)).toEqual(alone)
  })

  it('end when they are told to', async () => {
    await expect(replay(2, AbortSignal.timeout(100))).rejects.toThrow('the backtest was stopped')
  })

  it('say what is wrong with a file in the words of one', async () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const damaged = path.join(folder, files.find((name) => /market\.trades.*\.avro$/.test(name)) ?? '')
    const whole = readFileSync(damaged)
    try {
      writeFileSync(damaged, whole.subarray(0, -1))
      const wrong = await replay(1).then(String, said)
      expect(wrong).toContain(path.basename(damaged))
      expect(await replay(2).then(String, said)).toBe(wrong)
    } finally {
      writeFileSync(damaged, whole)
    }
  })
})
