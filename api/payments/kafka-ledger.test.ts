import { expect, it, vi } from 'vitest'
import { MemoryBroker, stillClock } from '../../processors/kernel/testing/memory-log.ts'
import { keepAsked } from './kafka-ledger.ts'

const TOPIC = 'payments.intents'
const record = { key: 'a', value: Buffer.from('an intent'), time: 1 }
const other = { key: 'b', value: Buffer.from('another'), time: 1 }

interface Asked {
  readonly broker: MemoryBroker
  readonly values: () => string[]
  /** Resolves after two more looks, the second of which began after the call. */
  readonly looked: () => Promise<void>
  readonly stop: () => void
}

async function asked(): Promise<Asked> {
  const broker = new MemoryBroker(stillClock)
  broker.append(TOPIC, 0, [other, other])
  const log = broker.connect()
  const stop = new AbortController()
  const reader = log.reader()
  const looks = vi.spyOn(reader, 'fetch')
  await keepAsked({ reader, writer: log.writer(), record, signal: stop.signal, lookMs: 1 })
  return {
    broker,
    looked: async () => {
      const seen = looks.mock.calls.length
      await expect.poll(() => looks.mock.calls.length).toBeGreaterThan(seen + 1)
    },
    values: () => broker.records(TOPIC, 0).map(({ value }) => value?.toString() ?? ''),
    stop: () => stop.abort(),
  }
}

it('an intent that the log has lost is written again, also where another lies in its place', async () => {
  const { broker, values, stop } = await asked()
  broker.lose(TOPIC, 0, 1)
  await expect.poll(values).toEqual(['another', 'an intent'])
  broker.lose(TOPIC, 0, 1)
  broker.append(TOPIC, 0, [other])
  await expect.poll(values).toEqual(['another', 'another', 'an intent'])
  stop()
})

it('an intent that is there, or was for so long that it was deleted, is written once; so is one that nobody waits for', async () => {
  const { broker, values, looked, stop } = await asked()
  const another = await asked()
  await looked()
  expect(values()).toEqual(['another', 'another', 'an intent'])
  broker.append(TOPIC, 0, [other])
  broker.truncate(TOPIC, 0, 3)
  await looked()
  expect(values()).toEqual(['another'])
  stop()
  broker.lose(TOPIC, 0, 3)
  await another.looked()
  expect(values()).toEqual([])
  another.stop()
})
