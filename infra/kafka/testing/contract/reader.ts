import { expect, it } from 'vitest'
import type { LogReader, LogRecord, OutRecord } from '../../seam.ts'
import { at, IN, OUT, positionOf, readAll, T0, text, texts, WAIT, type Start } from './parts.ts'

/** What every reader must do. */
export function readerContract(start: Start): void {
  it('gives back keys, values, tombstones and times as they were written', async () => {
    const { log } = await start()
    const sent: OutRecord[] = [
      { key: 'btc', value: Buffer.from('1'), time: T0 },
      { key: Buffer.from('ключ'), value: null, time: T0 + 7 },
      { key: null, value: Buffer.alloc(0), time: T0 - 5 },
      { key: '', value: Buffer.from([0, 255]), time: T0 + 86_400_000 * 60 },
    ]
    await log.writer().send(IN, 0, sent)
    const read = await readAll(log.reader(), IN)
    expect(read.map(({ offset }) => offset)).toEqual([0, 1, 2, 3])
    expect(read.map(({ time }) => time)).toEqual(sent.map(({ time }) => time))
    expect(read.map(({ key }) => key?.toString() ?? null)).toEqual(['btc', 'ключ', null, ''])
    expect(read.map(({ value }) => value?.toString('hex') ?? null)).toEqual(['31', null, '', '00ff'])
  })

  it('tells offsets at the start, at the end and by time', async () => {
    const { log } = await start()
    const reader = log.reader()
    await log.writer().send(IN, 1, [at(T0), at(T0 + 10), at(T0 + 20)])
    expect(await reader.offsets(IN, [0, 1], 'start')).toEqual(
      new Map([
        [0, 0],
        [1, 0],
      ]),
    )
    expect(await reader.offsets(IN, [0, 1], 'end')).toEqual(
      new Map([
        [0, 0],
        [1, 3],
      ]),
    )
    expect((await reader.offsets(IN, [1], { time: T0 + 1 })).get(1)).toBe(1)
    expect((await reader.offsets(IN, [1], { time: T0 + 20 })).get(1)).toBe(2)
  })

  it('gives the end for a time past the data', async () => {
    const { log } = await start()
    await log.writer().send(IN, 1, [at(T0), at(T0 + 10)])
    expect(await log.reader().offsets(IN, [0, 1], { time: T0 + 11 })).toEqual(
      new Map([
        [0, 0],
        [1, 2],
      ]),
    )
  })

  it('fetches several topics and partitions at once', async () => {
    const { log } = await start()
    const writer = log.writer()
    await Promise.all([
      writer.send(IN, 0, [text('a')]),
      writer.send(IN, 2, [text('b')]),
      writer.send(OUT, 1, [text('c')]),
    ])
    const positions = [positionOf(IN, 0), positionOf(IN, 1), positionOf(IN, 2), positionOf(OUT, 1)]
    const slices = await log.reader().fetch(positions, WAIT)
    const found = slices.map(({ topic, partition, records, next, end }) => [
      topic,
      partition,
      texts(records),
      next,
      end,
    ])
    expect(found).toHaveLength(4)
    expect(found).toEqual(
      expect.arrayContaining([
        [IN, 0, ['a'], 1, 1],
        [IN, 1, [], 0, 0],
        [IN, 2, ['b'], 1, 1],
        [OUT, 1, ['c'], 1, 1],
      ]),
    )
  })

  it('starts within a batch where the position is within it', async () => {
    const { log } = await start()
    await log.writer().send(IN, 0, [text('a'), text('b'), text('c')])
    const [slice] = await log.reader().fetch([positionOf(IN, 0, 1)], WAIT)
    expect(texts(slice?.records ?? [])).toEqual(['b', 'c'])
  })

  it('returns from a long wait as soon as a record is there', async () => {
    const { log } = await start()
    const reader = log.reader()
    await reader.fetch([positionOf(IN, 0)], WAIT) // the connection stands
    const started = performance.now()
    const fetched = fetchUntilRecords(reader, 30_000)
    await log.writer().send(IN, 0, [text('a')])
    expect(texts(await fetched)).toEqual(['a'])
    expect(performance.now() - started).toBeLessThan(25_000)
  })

  it('comes forward however few bytes are asked for', async () => {
    const { log } = await start()
    const writer = log.writer()
    for (const name of ['a', 'b', 'c']) await writer.send(IN, 0, [text(name), text(name)])
    const reader = log.reader()
    const read: LogRecord[] = []
    for (let offset = 0; offset < 6;) {
      const [slice] = await reader.fetch([positionOf(IN, 0, offset)], { ...WAIT, maxBytesPerPartition: 1 })
      read.push(...(slice?.records ?? []))
      expect(slice?.next).toBeGreaterThan(offset)
      offset = slice?.next ?? 6
    }
    expect(texts(read)).toEqual(['a', 'a', 'b', 'b', 'c', 'c'])
  })

  it('reads to the end as of the call and no further', async () => {
    const { log } = await start()
    const writer = log.writer()
    const reader = log.reader()
    await writer.send(IN, 0, [text('a'), text('b')])
    await reader.offsets(IN, [0], 'end') // it knows the leader: its questions go out in the order that they were put
    const toEnd = reader.toEnd(IN, 0, 1)
    await reader.offsets(IN, [0], 'end') // whatever was asked before this has been answered
    await writer.send(IN, 0, [text('later')])
    const read: LogRecord[] = []
    for await (const records of toEnd) read.push(...records)
    expect(texts(read)).toEqual(['b'])
  })

  it('says of records which epoch they are of, and where an epoch ends', async () => {
    const { log } = await start()
    await log.writer().send(IN, 0, [text('a'), text('b')])
    const reader = log.reader()
    const [record] = await readAll(reader, IN)
    const epoch = record?.epoch ?? -1
    expect(epoch).toBeGreaterThanOrEqual(0)
    expect(await reader.endOfEpoch(IN, 0, epoch)).toBe(2)
    expect(await reader.endOfEpoch(IN, 0, epoch + 7)).toBeUndefined()
  })

  it('says out of range, with the bounds, for a position past the end', async () => {
    const { log } = await start()
    await log.writer().send(IN, 0, [text('a'), text('b')])
    const [slice] = await log.reader().fetch([positionOf(IN, 0, 99)], WAIT)
    expect(slice).toMatchObject({ error: 'out-of-range', start: 0, end: 2, records: [] })
  })

  it('says out of range, with the bounds, for a position that was trimmed', async () => {
    const { log } = await start()
    await log.writer().send(IN, 0, [text('a')])
    await log.writer().send(IN, 0, [text('b'), text('c')])
    await log.trim(positionOf(IN, 0, 2))
    const reader = log.reader()
    const [slice] = await reader.fetch([positionOf(IN, 0)], WAIT)
    expect(slice).toMatchObject({ error: 'out-of-range', start: 2, end: 3, records: [] })
    expect(texts(await readAll(reader, IN))).toEqual(['c'])
    expect(texts(await readAll(reader, IN, 0))).toEqual(['c'])
  })
}

/** A fetch may come back early with nothing (the broker moved something): then it is asked again. */
async function fetchUntilRecords(reader: LogReader, maxWaitMs: number): Promise<readonly LogRecord[]> {
  const deadline = performance.now() + maxWaitMs
  while (performance.now() < deadline) {
    const [slice] = await reader.fetch([positionOf(IN, 0)], { ...WAIT, maxWaitMs })
    if (slice !== undefined && slice.records.length > 0) return slice.records
  }
  return []
}
