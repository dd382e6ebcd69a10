import type { MemoryBroker } from '../../../processors/kernel/testing/memory-log.ts'
import type { Codec } from '../../../schemas/codec.ts'
import { topics } from '../../../schemas/topics.ts'
import type { Tape } from '../../../infra/tapes/tape.ts'

/** The topics of a broker in memory as a tape, handed on in batches of `batch` records. */
export function memoryTape(broker: MemoryBroker, codec: Codec, partitions: number, batch = 100): Tape {
  return {
    name: 'memory',
    partitions,
    topics: new Set(topics.map(({ name }) => name)),
    codec,
    lookUp: () => Promise.resolve(false),
    span: (topic, partition, { from, to }) => {
      const { records, start, end } = broker.at(topic, partition)
      const at = (time: number): number => records.find((record) => record.time >= time)?.offset ?? end
      const first = from <= 0 ? start : at(from)
      const last = Number.isFinite(to) ? at(to) : end
      return Promise.resolve({ topic, partition, from: first, to: Math.max(first, last), isWhole: first === 0 })
    },
    read: async function* ({ topic, partition, from, to }) {
      const records = broker.records(topic, partition).filter(({ offset }) => offset >= from && offset < to)
      for (let at = 0; at < records.length; at += batch) yield records.slice(at, at + batch)
    },
    close: () => Promise.resolve(),
  }
}
