import { verdictOf } from './codes.ts'
import { fetchRequest, readAnswer } from './fetch-wire.ts'
import { apis, type Link } from './internals.ts'
import { scanBatches, type Producer } from './record-batch.ts'
import { LogError } from './seam.ts'

const WAIT_MS = 100
const BYTES = 1024 * 1024

/**
 * Whether the batch that `producer` began at its sequence lies in the partition (full topic name) at or after `from`.
 *
 * The broker itself knows the last batches of a producer, but not for ever: it forgets one whose newest record is older
 * than a day, by the record's own time. On a tape of last year that is every producer, at any restart.
 */
export async function findBatch(
  link: Link,
  topic: string,
  partition: number,
  from: number,
  producer: Producer,
): Promise<boolean> {
  for (let offset = from; ;) {
    const node = link.leaderOf(topic, partition)
    if (node === undefined) throw new LogError('unavailable', `${topic}/${partition} has no leader`)
    const body = fetchRequest([{ topic, partition, offset }], { maxWaitMs: WAIT_MS, maxBytesPerPartition: BYTES }, '')
    const [part] = readAnswer(await link.call(node, { key: apis.fetch, version: 11, name: 'Fetch', body }))
    const verdict = part === undefined ? 'retry' : verdictOf(part.code)
    if (verdict === 'out-of-range') return false // the log ends before, or retention has passed it
    if (part === undefined || verdict !== 'ok')
      throw new LogError('unavailable', `${topic}/${partition} cannot be read`)
    const { next, found } = scanBatches(part.bytes, offset, producer)
    if (found) return true
    if (next >= part.end) return false
    offset = next
  }
}
