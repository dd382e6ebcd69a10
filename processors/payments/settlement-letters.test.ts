import { expect, it } from 'vitest'
import { codec, testTask, lettersIn } from '../kernel/testing/task.ts'
import { intentOf, SELLER } from './testing/intents.ts'
import { EVENTS, INTENTS, Settlement, type SettlementOptions } from './settlement.ts'

const nothing = (): void => undefined
const settled = { is: 'settled', tx: '0x1', block: 1, by: 'us' } as const
const idle = { by: 'us', trouble: null, losses: { gas: 0n, cooling: 0 }, recall: nothing } as const

it('sets aside an intent and an event that it cannot read, and settles what lies behind them', async () => {
  const begun = testTask()
  const { broker, ports } = begun
  const bad = { key: 'x', value: Buffer.from('no record'), time: 1 }
  const intent = intentOf({ valid_before: 4_000_000_000 })
  const value = codec.encode(INTENTS, 'payment_intent', intent)
  broker.append(EVENTS, 0, [bad])
  broker.append(INTENTS, 0, [bad, { key: intent.payment_id, value, time: 1 }])
  const options: SettlementOptions = {
    ...begun,
    settler: { ...idle, settle: () => Promise.resolve(settled) },
    seller: SELLER,
    payments: { settled: nothing, failed: nothing, pending: nothing },
    settleMs: 1_000,
  }
  const settlement = await Settlement.open(options)
  const [slice] = await ports.reader.fetch([{ topic: INTENTS, partition: 0, offset: 0 }], {
    maxWaitMs: 0,
    maxBytesPerPartition: 1e6,
  })
  if (slice === undefined) throw new Error('there is a slice')
  await settlement.work([slice])
  expect(lettersIn(broker)).toMatchObject([
    { processor: 'payments', topic: EVENTS, partition: 0, offset: 0, reason: 'undecodable' },
    { processor: 'payments', topic: INTENTS, partition: 0, offset: 0, reason: 'undecodable' },
  ])
  await expect.poll(() => broker.records(EVENTS, 0).length).toBeGreaterThan(1)
  await settlement.owned.close()
})
