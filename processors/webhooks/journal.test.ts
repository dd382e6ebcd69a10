import { expect, it } from 'vitest'
import { hostClock } from '../../infra/clock.ts'
import type { OutRecord } from '../../infra/kafka/seam.ts'
import { codec } from '../kernel/testing/task.ts'
import { deliveryOf, POSITION } from './delivery.ts'
import { Journal } from './journal.ts'
import { PENDING } from './recall.ts'
import { triggerTo } from './testing/world.ts'

const TRIGGERS = 1_500

it('writes the position behind all that waits, over several sends', async () => {
  const sends: (readonly OutRecord[])[] = []
  const journal = new Journal({
    codec,
    clock: hostClock,
    attempted: () => ({}),
    send: (topic, records) => {
      if (topic === PENDING) sends.push(records)
      return Promise.resolve()
    },
    onFailed: (error) => expect.unreachable(String(error)),
  })
  const deliveries = Array.from({ length: TRIGGERS }, (_, offset) =>
    deliveryOf(triggerTo('https://localhost/', { trigger_id: `alert_btc_1_1_${offset}` }), offset, 1),
  )
  journal.batch.position(0, TRIGGERS, 1, {})
  // Tried again meanwhile: said after the position, which is past their triggers.
  for (const delivery of deliveries) journal.batch.delivery(delivery, 'due', 0, 1)
  await journal.flushed()
  const keys = sends.flat().map(({ key }) => key)
  expect(sends.length).toBeGreaterThan(1)
  expect(keys).toEqual([...deliveries.map(({ id }) => id), POSITION])
})
