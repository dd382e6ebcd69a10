import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DeadLetter } from '../../schemas/records.ts'
import { createWorld, type World } from './testing/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld('letters')
})
afterAll(() => world.end())

const letter = (change: Partial<DeadLetter>): Buffer =>
  world.codec.encode('control.dead_letters', 'dead_letter', {
    processor: 'cvd',
    topic: 'market.trades',
    partition: 3,
    offset: 70,
    time: 1_795_165_333_123_000,
    reason: 'failed',
    code: 'TypeError',
    message: 'a secret of the record',
    at: 'bucket.ts:7:9',
    attempts: 3,
    key: Buffer.from('btc'),
    size: 9,
    value: Buffer.from('sensitive'),
    ...change,
  })

it('shows what was set aside once, and of alerts no text and of nothing any bytes', async () => {
  const alert = { processor: 'alerts', topic: 'alerts.inputs', offset: 71, reason: 'undecodable', at: null } as const
  await world.append('control.dead_letters', [letter({}), letter({}), letter({ ...alert, attempts: 1 })])
  await world.soon(
    'SELECT processor, topic, partition, offset, reason, message, at FROM dead_letters ORDER BY offset',
    [
      {
        processor: 'cvd',
        topic: 'market.trades',
        partition: 3,
        offset: 70,
        reason: 'failed',
        message: 'a secret of the record',
        at: 'bucket.ts:7:9',
      },
      {
        processor: 'alerts',
        topic: 'alerts.inputs',
        partition: 3,
        offset: 71,
        reason: 'undecodable',
        message: '',
        at: null,
      },
    ],
  )
  const [row] = await world.rows('SELECT * FROM dead_letters WHERE offset = 70')
  expect(row).toMatchObject({ time: '2026-11-20T09:02:13.123000Z', code: 'TypeError', attempts: 3, size: 9 })
  expect(JSON.stringify(row)).not.toContain('sensitive')
})
