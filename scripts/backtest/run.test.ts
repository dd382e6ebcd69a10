import { expect, it } from 'vitest'
import { memoryTape } from '../../infra/tapes/testing/tapes.ts'
import type { Tape } from '../../infra/tapes/tape.ts'
import { processorsNamed } from '../../processors/topology.ts'
import { readAhead } from './run.ts'

it.each([
  [Infinity, 500],
  [400, 400],
])('replays a tape whose inputs were taken up to 500, asked for up to %d, up to %d', async (asked, end) => {
  const ends: number[] = []
  const span: Tape['span'] = (topic, partition, { to }) => {
    ends.push(to)
    return Promise.resolve({ topic, partition, from: 0, to, isWhole: true })
  }
  const tape = { ...memoryTape([]), until: 500, span }
  const given = { rows: processorsNamed(['cvd']), partitions: [1], range: { from: 0, to: asked } }
  await readAhead({ ...given, tape, leadInMs: 0, assets: undefined, commands: undefined })
  expect(ends).toEqual([end])
})
