import { expect, it } from 'vitest'
import { memoryTape } from '../../infra/tapes/testing/tapes.ts'
import type { Tape } from '../../infra/tapes/tape.ts'
import { processorsNamed } from '../../processors/topology.ts'
import { endOf } from './backtest.ts'
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

it.each([
  ['kafka', Infinity, undefined, 85_000],
  ['clickhouse', Infinity, 90_000, 85_000],
  ['clickhouse', Infinity, 60_000, 60_000],
  ['clickhouse', 60_000, 60_000, 60_000],
  ['clickhouse', 60_000, undefined, 60_000],
  ['a folder', Infinity, 60_000, Infinity],
  ['a folder', 70_000, 60_000, 70_000],
])('at 100 s replays %s, asked for up to %d and held up to %s, up to %d', (source, to, until, end) => {
  expect(endOf({ source, to }, { name: source, ...(until === undefined ? {} : { until }) }, 100_000)).toBe(end)
})

it('refuses a range that ClickHouse has not all of yet, and says up to when it has', () => {
  const asked = (): number =>
    endOf({ source: 'clickhouse', to: 60_001 }, { name: 'ClickHouse', until: 60_000 }, 100_000)
  expect(asked).toThrow(
    'ClickHouse has all records up to 1970-01-01T00:01:00.000Z only: try again later, name an earlier',
  )
})
