import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { pastOf, tellPast } from './past.ts'

const at = (missing: number, seconds_left: number | null = null) =>
  ({
    state: missing === 0 ? 'done' : 'running',
    wanted: 20_000,
    missing,
    bytes_left: missing * 130,
    seconds_left,
  }) as const

it('says what is to come with its disk, then how far it is and what is left, then that it is there', async () => {
  let time = 0
  const wait = (ms: number): Promise<void> => {
    time += ms
    return Promise.resolve()
  }
  const answers = [
    null,
    { ...at(20_000), state: 'starting' } as const,
    at(20_000),
    at(9_000, 40),
    null,
    at(5_000, 20),
    at(4_000, 9),
    at(3_000, 8),
  ]
  const said: string[] = []
  await tellPast(
    () => Promise.resolve(answers.length === 0 ? at(0) : (answers.shift() ?? null)),
    (line) => said.push(line),
    { now: () => time, wait },
  )
  expect(said).toEqual([
    'the past: 20,000 rows to read back, about 3 MB of disk',
    'the past: 85 % read back, 3,000 rows to come, about 8 s left',
    'the past: all 20,000 rows are in the log, in 12 s, 1,667 a second',
  ])
})

it('says once that the disk has no room, and goes on when there is', async () => {
  const answers = [
    at(9_000),
    { ...at(9_000), state: 'paused' } as const,
    null,
    { ...at(9_000), state: 'paused' } as const,
  ]
  const said: string[] = []
  await tellPast(
    () => Promise.resolve(answers.length === 0 ? at(0) : (answers.shift() ?? null)),
    (line) => said.push(line),
    { now: () => 0, wait: () => Promise.resolve() },
  )
  expect(said).toEqual([
    'the past: 9,000 rows to read back, about 2 MB of disk',
    'the past: 9,000 rows wait, since the disk has too little room for them: free some, or set BACKFILL_DAYS; it goes on by itself',
    'the past: all 20,000 rows are in the log, in 1 s, 9,000 a second',
  ])
})

it('says nothing where there is nothing to read back', async () => {
  const say = vi.fn<(line: string) => void>()
  await tellPast(() => Promise.resolve({ ...at(0), state: 'off' }), say)
  await tellPast(() => Promise.resolve(at(0)), say)
  expect(say).not.toHaveBeenCalled()
})

it('is that of all feeds, as the API tells it, and unknown while one of them does not answer', async () => {
  const answers = [
    { status: 'unavailable' },
    { parts: { 'feeds-1': 'ok', 'feeds-2': 'unreachable' }, backfill: at(0) },
    { parts: { 'feeds-1': 'ok', 'feeds-2': 'ok', webhooks: 'unreachable' }, backfill: at(9) },
  ]
  const api = createServer((_, response) => response.end(JSON.stringify(answers.shift()))).listen(0, '127.0.0.1')
  onTestFinished(() => void api.close())
  await once(api, 'listening')
  const past = pastOf(`http://127.0.0.1:${(api.address() as AddressInfo).port}`)
  expect([await past(), await past(), await past()]).toEqual([null, null, at(9)])
})
