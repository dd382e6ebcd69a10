import { describe, expect, it } from 'vitest'
import type { LogReader, LogRecord, Slice } from '../../infra/kafka/seam.ts'
import { checkPosition, stoodOn } from './position-check.ts'

const written: LogRecord = { offset: 5, time: 1_000, key: Buffer.from('key'), value: Buffer.from('value') }
const place = { topic: 'derived.flow', partition: 0 }

/** A leader that shows `end` until it is asked for its end, and `settled` from then on; one record lies at 5. */
function leader(end: number, settled: number): LogReader {
  let shown = end
  return {
    fetch: async (from) =>
      from.map(({ offset, ...position }): Slice => {
        const records = offset <= written.offset && shown > written.offset ? [written] : []
        return { ...position, from: offset, records, next: offset + records.length, end: shown, start: 0 }
      }),
    offsets: async (_topic, partitions) => {
      shown = settled
      return new Map(partitions.map((partition) => [partition, settled]))
    },
    endOfEpoch: async () => undefined,
    toEnd: () => {
      throw new Error('nobody reads to the end')
    },
    close: async () => undefined,
  }
}

describe('the check of what was written, under a new leader', () => {
  const wrote = { ...stoodOn(written), epoch: -1 } // a write is told its offset, not the leader's epoch
  const check = (reader: LogReader, offset = 6) =>
    checkPosition(reader, { ...place, offset }, wrote, () => Promise.resolve())

  it('finds all of it where the leader only did not know yet how far its followers are', async () => {
    expect(await check(leader(4, 6))).toEqual({ is: 'there' })
  })

  it('takes what nobody reads behind the last record for there, by the settled end', async () => {
    expect(await check(leader(6, 8), 8)).toEqual({ is: 'there' })
  })

  it('tells what the leader has lost', async () => {
    expect(await check(leader(4, 4))).toEqual({ is: 'replaced', next: 4 })
  })
})
