import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import type { LogGap } from '../../schemas/records.ts'
import { clickhouseTape } from '../tapes/clickhouse-tape.ts'
import { connectClickhouse } from './client.ts'
import { createWorld, PARTITION, type World } from './testing/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld('gaps')
})
afterAll(() => world.end())

const gap: LogGap = {
  reader: 'cvd',
  topic: 'market.trades',
  partition: 3,
  reason: 'retention',
  position: 70,
  next: 90,
  shift: 0,
  missing: 20,
  from_time: 1_795_165_333_123_000,
  to_time: 1_795_165_343_123_000,
  time: 1_795_165_350_000_000,
}

it('shows each gap of the log with its bounds, and a tape of the tables has all of it', async () => {
  const told: readonly LogGap[] = [gap, { ...gap, reason: 'replaced', missing: null, position: 100 }]
  await world.append(
    'control.gaps',
    told.map((each) => world.codec.encode('control.gaps', 'log_gap', each)),
  )
  const common = { reader: 'cvd', topic: 'market.trades', partition: 3 }
  await world.soon('SELECT reader, topic, partition, reason, position, missing FROM log_gaps ORDER BY position', [
    { ...common, reason: 'retention', position: 70, missing: 20 },
    { ...common, reason: 'replaced', position: 100, missing: null },
  ])
  const [row] = await world.rows('SELECT * FROM log_gaps WHERE position = 70')
  expect(row).toMatchObject({
    next: 90,
    from_time: '2026-11-20T09:02:13.123000Z',
    to_time: '2026-11-20T09:02:23.123000Z',
  })
  const clickhouse = connectClickhouse({ ...inject('parts').clickhouse, database: world.database })
  const tape = clickhouseTape(clickhouse, 4)
  expect(tape.topics).toContain('control.gaps')
  const span = await tape.span('control.gaps', PARTITION, { from: 0, to: Infinity })
  const read: unknown[] = []
  for await (const records of tape.read(span))
    for (const { offset, value } of records) read.push([offset, value === null ? null : tape.codec.decode(value)])
  await tape.close()
  expect(read).toEqual(told.map((value, offset) => [offset, { type: 'log_gap', value }]))
})
