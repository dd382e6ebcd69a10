import { expect, it } from 'vitest'
import { memoryTape, recordsOf } from '../../infra/tapes/testing/tapes.ts'
import type { Span, Tape } from '../../infra/tapes/tape.ts'
import { MemoryBroker, stillClock } from '../../processors/kernel/testing/memory-log.ts'
import { localCodec } from '../../schemas/codec.ts'
import { movableTopics, writeToBroker } from './to-broker.ts'

it('leaves out what cannot be read, says where, and knows again what it has written', async () => {
  const all = recordsOf(20)
  const tape = memoryTape(all.map((record, at) => (at === 5 ? { ...record, value: Buffer.from([0, 0, 0]) } : record)))
  const broker = new MemoryBroker(stillClock)
  const around = { onProgress: () => undefined, stop: new AbortController().signal }
  const span = async (...[topic, partition, range]: Parameters<Tape['span']>): Promise<Span> => {
    const whole = await tape.span(topic, partition, range)
    return partition === 1 ? whole : { ...whole, to: whole.from }
  }
  const options = {
    tape: { ...tape, span },
    log: broker.connect(),
    codec: localCodec(),
    topics: ['market.trades'],
    ...around,
  } as const
  const unreadable = [{ topic: 'market.trades', partition: 1, offset: all[5]?.offset }]
  expect(await writeToBroker(options)).toEqual({ records: 19, unreadable, isDone: true })
  expect(await writeToBroker(options)).toEqual({ records: 0, unreadable, isDone: true })
  const times = broker.records('market.trades', 1).map(({ time }) => time)
  expect(times).toEqual(all.filter((_, at) => at !== 5).map(({ time }) => time))
})

it('brings no journal of gaps into a broker, whose offsets are others', () => {
  expect(movableTopics(new Set(['market.trades', 'control.gaps', 'derived.flow']))).toEqual([
    'market.trades',
    'derived.flow',
  ])
})
