import { describe, expect, it } from 'vitest'
import type { LogReader, LogRecord, Slice } from '../../infra/kafka/seam.ts'
import { checkPosition, DISORDER, stoodOn, wholeSince } from './position-check.ts'

const written: LogRecord = { offset: 5, time: 1_000, key: Buffer.from('key'), value: Buffer.from('value') }
const place = { topic: 'derived.flow', partition: 0 }

interface Shown {
  /** Where the log begins; left out: 0. */
  readonly start?: number
  readonly epochEnd?: number
}

/** A leader that shows `end` until it is asked for its end, and `settled` from then on; one record lies at 5. */
function leader(end: number, settled: number, { start = 0, epochEnd }: Shown = {}): LogReader {
  let shown = end
  return {
    fetch: async (from) =>
      from.map(({ offset, ...position }): Slice => {
        const bounds = { ...position, from: offset, start, end: shown }
        if (offset < start) return { ...bounds, records: [], next: offset, error: 'out-of-range' }
        const records = offset <= written.offset && shown > written.offset ? [written] : []
        return { ...bounds, records, next: offset + records.length }
      }),
    offsets: async (_topic, partitions) => {
      shown = settled
      return new Map(partitions.map((partition) => [partition, settled]))
    },
    endOfEpoch: async () => epochEnd,
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

  it.each([4, 5])('tells what the leader has lost from %i on', async (end) => {
    expect(await check(leader(end, end))).toEqual({ is: 'replaced', next: end })
  })
})

describe('the check of what was read', () => {
  const check = (reader: LogReader, read: LogRecord = written) =>
    checkPosition(reader, { topic: 'market.trades', partition: 0, offset: 6 }, stoodOn({ ...read, epoch: 3 }), () =>
      Promise.resolve(),
    )
  const other = { ...written, value: Buffer.from('other') }

  it('misses nothing where retention has taken all that was read, and no more', async () => {
    expect(await check(leader(6, 6, { start: 6 }))).toEqual({ is: 'there' })
  })

  it('waits for a partition to have a leader', async () => {
    const there = leader(6, 6)
    let fetches = 0
    const fetch: LogReader['fetch'] = async (...asked) => {
      const slices = await there.fetch(...asked)
      if (++fetches > 3) return slices
      return slices.map((slice): Slice => ({ ...slice, records: [], start: 0, end: 0, error: 'moved' }))
    }
    expect(await check({ ...there, fetch })).toEqual({ is: 'there' })
  })

  it.each([
    ['at the last record alone', { epochEnd: 5 }, 5],
    ['before the log begins', { epochEnd: 2, start: 4 }, 4],
  ])('tells where the log was cut %s', async (_, shown, next) => {
    expect(await check(leader(9, 9, shown), other)).toEqual({ is: 'cut', next })
  })
})

it.each([
  [7, 9],
  [9, 7],
])('a log is whole from where the input that was cut last begins: at %i s and %i s', async (first, second) => {
  const begins = new Map([
    ['market.trades', first],
    ['market.candles', second],
  ])
  const reader: LogReader = {
    ...leader(6, 5, { start: 5 }),
    fetch: async (from) =>
      from.map(({ topic, partition, offset }): Slice => {
        const records = [{ ...written, time: (begins.get(topic) ?? 0) * 1_000 }]
        return { topic, partition, from: offset, start: 5, end: 6, records, next: 6 }
      }),
  }
  const row = { inputs: ['market.trades', 'market.candles'], retold: () => undefined } as const
  const clock = { now: () => 0, delay: () => Promise.resolve() }
  expect(await wholeSince(reader, row, 0, clock)).toBe(9_000_000 + DISORDER)
})
