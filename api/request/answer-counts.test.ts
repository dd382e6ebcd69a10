import { pino } from 'pino'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { AnswerCount } from '../../schemas/records.ts'
import { AnswerCounts, tellAnswers } from './answer-counts.ts'

const NOW = 1_767_323_043_000 // 7 s before a multiple of ten

let isAway = false
let told: AnswerCount[] = []
const access = {
  codec: { encode: (_topic: string, _type: string, value: object) => Buffer.from(JSON.stringify(value)) },
  writer: {
    send: async (_topic: string, _partition: number, records: readonly { value: Buffer | null }[]) => {
      if (isAway) throw new Error('away')
      told.push(...records.map(({ value }) => JSON.parse(String(value)) as AnswerCount))
      return undefined
    },
  },
}

function begin(): { counts: AnswerCounts; telling: ReturnType<typeof tellAnswers> } {
  const counts = new AnswerCounts()
  const log = pino({ level: 'silent' })
  const telling = tellAnswers({ instance: 'a:1', counts, connected: async () => access, log, now: Date.now })
  return { counts, telling }
}

beforeEach(() => {
  vi.useFakeTimers({ now: NOW })
  told = []
  isAway = false
})
afterEach(() => {
  vi.useRealTimers()
})

const span = (from: number, to: number): Pick<AnswerCount, 'from_time' | 'to_time'> => ({
  from_time: (NOW + from) * 1000,
  to_time: (NOW + to) * 1000,
})

it('tells every ten seconds what was answered, and nothing twice', async () => {
  const { counts, telling } = begin()
  counts.add(200, 5, 1_000)
  counts.add(503, 1_500, 1_000)
  await vi.advanceTimersByTimeAsync(17_000)
  counts.add(200, 1_500, 5_000)
  await telling.stop()
  expect(told).toEqual([
    { instance: 'a:1', ...span(0, 7_000), answers: 2, failed: 1, slow: 1 },
    { instance: 'a:1', ...span(7_000, 17_000), answers: 0, failed: 0, slow: 0 },
    // The stop itself comes at a multiple of ten: what was answered since is not lost, whatever the clock says.
    { instance: 'a:1', ...span(17_000, 17_000), answers: 1, failed: 0, slow: 0 },
  ])
})

it('tells later, as one, what the log did not take', async () => {
  const { counts, telling } = begin()
  isAway = true
  for (let times = 0; times < 20; times += 1) {
    counts.add(503, 1, 1_000)
    await vi.advanceTimersByTimeAsync(10_000)
  }
  isAway = false
  await vi.advanceTimersByTimeAsync(10_000)
  await telling.stop()
  expect(told.reduce((sum, { failed }) => sum + failed, 0)).toBe(20)
  expect(told[0]).toMatchObject(span(0, 207_000))
})

it('leaves out the time in which it was frozen, also when the log takes nothing at first', async () => {
  const { counts, telling } = begin()
  await vi.advanceTimersByTimeAsync(7_000)
  counts.add(200, 5, 1_000)
  await vi.advanceTimersByTimeAsync(4_000)
  vi.setSystemTime(NOW + 613_000)
  isAway = true
  await vi.advanceTimersByTimeAsync(6_000)
  isAway = false
  counts.add(200, 5, 1_000)
  await vi.advanceTimersByTimeAsync(8_000)
  await telling.stop()
  expect(told.map(({ from_time, to_time, answers }) => ({ from_time, to_time, answers }))).toEqual([
    { ...span(0, 7_000), answers: 0 },
    // Of the window in which it froze nobody knows how long it was there.
    { ...span(7_000, 7_000), answers: 1 },
    { ...span(619_000, 627_000), answers: 1 },
    { ...span(627_000, 627_000), answers: 0 },
  ])
})
