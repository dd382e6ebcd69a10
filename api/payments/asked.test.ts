import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { MemoryBroker } from '../../processors/kernel/memory-log.ts'
import { stillClock } from '../../processors/kernel/quiet.ts'
import { keepAsked } from './asked.ts'

const TOPIC = 'payments.intents'
const record = { key: 'a', value: Buffer.from('an intent'), time: 1 }
const other = { key: 'b', value: Buffer.from('another'), time: 1 }

async function asked(): Promise<{ broker: MemoryBroker; values: () => string[]; stop: () => void }> {
  const broker = new MemoryBroker(stillClock)
  broker.append(TOPIC, 0, [other, other])
  const log = broker.connect()
  const stop = new AbortController()
  await keepAsked({ reader: log.reader(), writer: log.writer(), record, signal: stop.signal, lookMs: 1 })
  return {
    broker,
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
  const { broker, values, stop } = await asked()
  await delay(20)
  expect(values()).toEqual(['another', 'another', 'an intent'])
  broker.append(TOPIC, 0, [other])
  broker.truncate(TOPIC, 0, 3)
  await delay(20)
  expect(values()).toEqual(['another'])
  stop()
  broker.lose(TOPIC, 0, 3)
  await delay(20)
  expect(values()).toEqual([])
})
