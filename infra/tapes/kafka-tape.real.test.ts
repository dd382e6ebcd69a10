import { expect, inject, it } from 'vitest'
import { loadCodec } from '../kafka/codec.ts'
import { connectLog } from '../kafka/kafkajs.ts'
import { createTestTopics, freshNamespace } from '../kafka/testing/topics.ts'
import { kafkaTape } from './kafka-tape.ts'
import type { Span } from './tape.ts'

it('knows that nothing is older than a first record behind a claim', async () => {
  const { brokers, registryUrl } = inject('parts')
  const namespace = freshNamespace()
  await createTestTopics(brokers, [`${namespace}alerts.inputs`], {})
  const log = await connectLog({ brokers, namespace, clientId: 'test' })
  const tape = kafkaTape(log, await loadCodec(registryUrl), 1)
  try {
    const claim = await log.claim('someone', [{ topic: 'alerts.inputs', partition: 0 }])
    const record = (time: number) => ({ key: null, value: Buffer.from('x'), time })
    await claim.send('alerts.inputs', 0, [record(1_000), record(1_005)])
    const span = (from: number): Promise<Span> => tape.span('alerts.inputs', 0, { from, to: Infinity })
    const first = await span(999)
    expect(first.from).toBeGreaterThan(0)
    expect(first.isWhole).toBe(true)
    expect(await span(1_001)).toMatchObject({ from: first.from + 1, isWhole: false })
    await claim.close()
  } finally {
    await tape.close()
    await log.close()
  }
})
