import { expect, it } from 'vitest'
import { memoryTape, recordsOf } from './testing/tapes.ts'
import { LAG_MS, planExport } from './write-tape.ts'
import type { Tape } from './tape.ts'

const FROM = 1_700_000_000_000
const TO = FROM + 60_000

it('takes inputs up to the end of a range, and of what is derived also what a slow processor wrote after others', async () => {
  const asked = new Map<string, number>()
  const tape: Tape = {
    ...memoryTape(recordsOf(10)),
    span: (topic, partition, { from, to }) => {
      asked.set(topic, to)
      return Promise.resolve({ topic, partition, from, to, isWhole: true })
    },
  }
  const topics = ['market.trades', 'alerts.inputs', 'derived.signals', 'derived.flow'] as const
  const header = await planExport(tape, topics, { format: 'avro', from: FROM, to: TO })
  expect(header.range).toEqual({ from: FROM, to: TO })
  expect(Object.fromEntries(asked)).toEqual({
    'market.trades': TO,
    'alerts.inputs': TO + LAG_MS,
    'derived.signals': TO + LAG_MS,
    'derived.flow': Infinity,
  })
})

it('says what has no records in a range', async () => {
  const span: Tape['span'] = (topic, partition) => Promise.resolve({ topic, partition, from: 5, to: 5, isWhole: true })
  const tape = { ...memoryTape([]), span }
  const plan = planExport(tape, ['market.trades'], { format: 'avro', from: FROM, to: TO })
  await expect(plan).rejects.toThrow('memory has no records of market.trades in that range')
})

it('keeps the end of a tape that is written in another format', async () => {
  const tape = { ...memoryTape(recordsOf(10)), until: TO }
  const header = await planExport(tape, ['market.trades'], { format: 'parquet', from: 0, to: null })
  expect(header.range).toEqual({ from: 0, to: TO })
})
