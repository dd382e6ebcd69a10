import fc from 'fast-check'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { boundOf, decodeBatches, encodeBatch, nextSequence } from './record-batch.ts'
import type { LogRecord, OutRecord } from '../seam.ts'

const PRODUCER = { id: 4711n, epoch: 3, sequence: 12 }

const records = fc.array(
  fc.record({
    key: fc.option(fc.string({ unit: 'binary' }), { nil: null }),
    value: fc.option(
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      { nil: null },
    ),
    time: fc.integer({ min: 0, max: 4_102_444_800_000 }),
  }),
  { minLength: 1, maxLength: 40 },
)

describe('a record batch', () => {
  it('gives back what was put in, whatever keys, values and times', () => {
    fc.assert(
      fc.property(records, (sent) => {
        const read = decode(encodeBatch(sent, PRODUCER))
        expect(read.next).toBe(sent.length)
        expect(read.records.map(plain)).toEqual(sent.map(plain))
        expect(read.records.map(({ offset }) => offset)).toEqual(sent.map((_record, index) => index))
      }),
    )
  })

  it('is never larger than its bound', () => {
    fc.assert(
      fc.property(records, (sent) => {
        const bound = sent.reduce((sum, record) => sum + boundOf(record), 61)
        expect(encodeBatch(sent, PRODUCER).length).toBeLessThanOrEqual(bound)
      }),
    )
  })

  it('is written byte for byte as Kafka documents it', () => {
    const batch = encodeBatch([{ key: 'k', value: Buffer.from('v'), time: 1_722_850_000_000 }], PRODUCER)
    expect(batch.toString('hex')).toBe(
      '0000000000000000' + // base offset: the broker's to set
        '0000003a' + // bytes that follow
        'ffffffff' + // leader epoch: the broker's to set
        '02' + // magic
        CRC +
        '0000' + // attributes
        '00000000' + // last offset delta
        '0000019121dcbc80' + // first time
        '0000019121dcbc80' + // largest time
        '0000000000001267' + // producer id
        '0003' + // producer epoch
        '0000000c' + // first sequence
        '00000001' + // records
        '10' + // length 8, zigzag
        '00' + // attributes
        '00' + // time delta
        '00' + // offset delta
        '026b' + // key
        '0276' + // value
        '00', // headers
    )
  })

  it('is compressed by zstd where that makes it smaller, and read back', () => {
    const like = Array.from({ length: 20 }, (_one, index) => text(`BTC|binance:BTCUSDT|${index}|0|stream`))
    const batch = encodeBatch(like, PRODUCER)
    expect(batch.readInt16BE(21)).toBe(4)
    expect(batch.length).toBeLessThan(500)
    expect(texts(decode(batch).records)).toEqual(like.map(({ value }) => String(value)))
  })

  it('is read on from within', () => {
    const batch = encodeBatch([text('a'), text('b'), text('c')], PRODUCER)
    expect(texts(decode(batch, 1).records)).toEqual(['b', 'c'])
  })

  it('is left for the next fetch when it is cut', () => {
    const whole = at(encodeBatch([text('a')], PRODUCER), 0)
    const cut = at(encodeBatch([text('b'), text('c')], PRODUCER), 1)
    for (let length = 0; length < cut.length; length += 1) {
      const read = decode(Buffer.concat([whole, cut.subarray(0, length)]))
      expect([texts(read.records), read.next]).toEqual([['a'], 1])
    }
  })

  it('is passed without a record when it is a control batch', () => {
    const control = at(encodeBatch([text('marker')], PRODUCER), 0)
    control.writeInt16BE(0x30, 21)
    const read = decode(Buffer.concat([control, at(encodeBatch([text('a')], PRODUCER), 1)]))
    expect([texts(read.records), read.next]).toEqual([['a'], 2])
  })

  it('is passed to its last offset though compaction has taken its last records', () => {
    const batch = at(encodeBatch([text('a')], PRODUCER), 5)
    batch.writeInt32BE(9, 23) // ten offsets, one record left
    const read = decode(batch)
    expect([texts(read.records), read.next]).toEqual([['a'], 15])
  })

  it.each([
    ['gzip', 1, gzipSync],
    ['zstd', 4, zstdCompressSync],
  ] as const)('of another producer may be compressed with %s', (_name, codec, compress) => {
    const plainBatch = encodeBatch([text('a'), text('b')], PRODUCER)
    const body = compress(plainBatch.subarray(61))
    const batch = Buffer.concat([plainBatch.subarray(0, 61), body])
    batch.writeInt32BE(batch.length - 12, 8)
    batch.writeInt16BE(codec, 21)
    expect(texts(decode(batch).records)).toEqual(['a', 'b'])
  })

  describe('that cannot be read', () => {
    const whole = (): Buffer => encodeBatch([text('x'.repeat(200)), text('y'.repeat(200))], PRODUCER)
    const plainly = (): Buffer => encodeBatch([text('a'), text('b')], PRODUCER)
    it.each<[string, Buffer, string]>([
      ['compressed with snappy', set(plainly(), (batch) => batch.writeInt16BE(2, 21)), 'codec 2'],
      ['with a torn frame of zstd', set(whole(), (batch) => batch.fill(0x55, 61)), 'descriptor'],
      ['said to be gzip', set(plainly(), (batch) => batch.writeInt16BE(1, 21)), 'header'],
      ['with lengths that are not so', set(plainly(), (batch) => batch.fill(0x7e, 61)), 'damaged'],
      ['with more records than it has', set(plainly(), (batch) => batch.writeInt32BE(3, 57)), 'damaged'],
    ])('%s is one record at its last offset, which says why, and hides no other', (_name, broken, why) => {
      const log = Buffer.concat([at(plainly(), 0), at(broken, 2), at(plainly(), 4)])
      const { records: read, next } = decode(log)
      expect(read.map(({ offset }) => offset)).toEqual([0, 1, 3, 4, 5])
      expect(texts(read)[2]).toMatch(new RegExp(`^the record batch of offsets 2 to 3 cannot be read: .*${why}`))
      expect(next).toBe(6)
      expect(decode(log, 3).records).toHaveLength(3)
      expect(decode(log, 4).records).toHaveLength(2)
    })

    it('for it is of an older format is one record at its own offset', () => {
      const old = set(at(plainly(), 7), (batch) => batch.writeInt8(1, 16))
      expect(decode(old)).toMatchObject({ next: 8, records: [{ offset: 7, time: 0 }] })
    })
  })

  it('counts sequences as the broker does, round the end of 31 bits', () => {
    expect(nextSequence(0, 10)).toBe(10)
    expect(nextSequence(2 ** 31 - 1, 1)).toBe(0)
    expect(nextSequence(2 ** 31 - 5, 10)).toBe(5)
  })
})

/** CRC-32C over everything after it, from an independent implementation. */
const CRC = 'afdcf867'

function decode(bytes: Buffer, from = 0): { records: LogRecord[]; next: number } {
  const read: LogRecord[] = []
  return { next: decodeBatches(bytes, from, read), records: read }
}

/** The batch as it lies in the log at `offset`. */
function at(batch: Buffer, offset: number): Buffer {
  batch.writeBigInt64BE(BigInt(offset), 0)
  return batch
}

/** The batch, changed. */
function set(batch: Buffer, change: (batch: Buffer) => unknown): Buffer {
  change(batch)
  return batch
}

function plain({ key, value, time }: OutRecord): unknown {
  return [key === null ? null : Buffer.from(key).toString('hex'), value?.toString('hex') ?? null, time]
}

function text(value: string): OutRecord {
  return { key: 'key', value: Buffer.from(value), time: 0 }
}

function texts(read: readonly LogRecord[]): string[] {
  return read.map(({ value }) => value?.toString() ?? '')
}
