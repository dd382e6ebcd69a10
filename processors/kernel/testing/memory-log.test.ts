import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { logContract } from '../../../infra/kafka/testing/contract.ts'
import { MemoryBroker, stillClock } from './memory-log.ts'

const clock = { ...stillClock, delay: (ms: number) => delay(ms), turn: () => delay(0) }

logContract('the log in memory', () => {
  const broker = new MemoryBroker(clock)
  const log = broker.connect()
  return Promise.resolve({
    log,
    another: () => Promise.resolve(broker.connect()),
    dispose: () => log.close(),
  })
})

describe('the log in memory', () => {
  it('keeps the last record of each key when it is compacted, and no tombstone', () => {
    const broker = new MemoryBroker(clock)
    const record = (key: string, value: string | null): { key: string; value: Buffer | null; time: number } => ({
      key,
      value: value === null ? null : Buffer.from(value),
      time: 0,
    })
    broker.append('t', 0, [record('a', '1'), record('b', '2'), record('a', '3'), record('b', null)])
    broker.compact('t', 0)
    expect(broker.records('t', 0).map(({ offset, value }) => [offset, String(value)])).toEqual([[2, '3']])
  })
})
