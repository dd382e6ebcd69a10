import { afterAll, beforeAll, expect, it } from 'vitest'
import { emptyFields } from '../../schemas/codec.ts'
import type { AnswerCount, Attempt } from '../../schemas/records.ts'
import { createWorld, type World } from './testing/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld('promises')
})
afterAll(() => world.end())

const SECOND = 1_000_000
/** Two minutes and more ago, at a multiple of a minute, µs. */
const BEGUN = (Math.floor(Date.now() / 60_000) - 3) * 60 * SECOND
const count: AnswerCount = {
  instance: 'a:3000',
  from_time: BEGUN,
  to_time: BEGUN + 10 * SECOND,
  answers: 10,
  failed: 1,
  slow: 2,
}

it('counts answers, and every ten seconds in which none was there', async () => {
  const counts = [count, { ...count, instance: 'b:3000', failed: 0 }, moved(count, 30), moved(count, 40)]
  await world.append(
    'control.answers',
    counts.map((each) => world.codec.encode('control.answers', 'answer_count', each)),
    0,
  )
  const kept = (promise: string): string =>
    `SELECT toUInt32(kept) AS kept, toUInt32(total) AS total FROM promise_minutes
     WHERE promise = '${promise}' AND minute = toDateTime(${BEGUN / SECOND})`
  await world.soon(kept('answered'), [{ kept: 37, total: 40 }])
  expect(await world.rows(kept('prompt'))).toEqual([{ kept: 32, total: 40 }])
  expect(await world.rows(kept('there'))).toEqual([{ kept: 3, total: 6 }])
  const silent = `SELECT toUInt32(sum(kept)) AS kept FROM promise_minutes WHERE promise = 'there' AND minute > toDateTime(${BEGUN / SECOND})`
  expect(await world.rows(silent)).toEqual([{ kept: 0 }])
})

it('counts a webhook as kept that was taken in time, and no other', async () => {
  const rows = [
    { id: 'kept', seconds: 5, outcome: 'delivered' },
    { id: 'late', seconds: 31, outcome: 'delivered' },
    { id: 'refused', seconds: 5, outcome: 'retry' },
    { id: 'held', seconds: 5, outcome: 'digested' },
  ] as const
  for (const { id } of [...rows, { id: 'lost' }])
    await world.run(
      `INSERT INTO triggers_log (alert_id, trigger_id, time) VALUES ('a', '${id}', fromUnixTimestamp64Micro(${BEGUN}))`,
    )
  await world.append('webhooks.attempts', rows.map(attemptOf))
  await world.soon(
    `SELECT toUInt32(kept) AS kept, toUInt32(total) AS total FROM promise_minutes WHERE promise = 'delivered'`,
    [{ kept: 2, total: 5 }],
  )
})

it('reads no attempts of half a year ago: none of them is of a trigger of the last 30 days', async () => {
  const read = async (): Promise<unknown> => {
    const query = `EXPLAIN ESTIMATE SELECT sum(kept) FROM promise_minutes WHERE promise = 'delivered'`
    return (await world.rows(query)).find(({ table }) => table === 'webhook_attempts_log')?.['rows']
  }
  const before = await read()
  await world.run(
    `INSERT INTO webhook_attempts_log (alert_id, trigger_id, outcome, started, triggered, offset)
     SELECT 'a', toString(number), 'delivered', now64(6) - INTERVAL 180 DAY AS began, began, number FROM numbers(10000)`,
  )
  expect([await read(), Number(before) > 0]).toEqual([before, true])
})

function moved(each: AnswerCount, seconds: number): AnswerCount {
  return { ...each, from_time: each.from_time + seconds * SECOND, to_time: each.to_time + seconds * SECOND }
}

function attemptOf({ id, seconds, outcome }: { id: string; seconds: number; outcome: Attempt['outcome'] }): Buffer {
  const finished = BEGUN + seconds * SECOND
  return world.codec.encode('webhooks.attempts', 'attempt', {
    ...emptyFields('attempt'),
    trigger_id: id,
    alert_id: 'a',
    receiver: 'host:443',
    number: 1,
    outcome,
    status: 200,
    started: finished - SECOND,
    finished,
    test: false,
    triggered: BEGUN,
  })
}
