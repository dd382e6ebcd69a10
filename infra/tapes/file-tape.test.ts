import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import avro from 'avsc'
import { afterEach, describe, expect, it } from 'vitest'
import { mapHash } from '../../schemas/catalogue.ts'
import { localCodec } from '../../schemas/codec.ts'
import type { Trade } from '../../schemas/records.ts'
import { topics } from '../../schemas/topics.ts'
import type { LogRecord } from '../kafka/seam.ts'
import { decodeContainer } from './container.ts'
import { EntryReader, EntryWriter, envelopeSchema } from './envelope.ts'
import { fileTape } from './file-tape.ts'
import type { TapeHeader } from './folder.ts'
import type { Span, Tape } from './tape.ts'
import { avroWriter, writeTape } from './write-tape.ts'

const codec = localCodec()
const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function trade(id: number): Trade {
  return {
    instrument: 'binance:perp:BTCUSDT',
    asset: 'btc',
    first_id: id,
    last_id: id,
    count: 1,
    sequence: id % 2 === 0 ? id : null,
    price: 60_000 + id / 10,
    size: 0.001 * id,
    quote: (60_000 + id / 10) * 0.001 * id,
    size_factor: 1,
    price_factor: 1,
    taker: id % 3 === 0 ? 'buy' : 'sell',
    time: 1_700_000_000_000_000 + id * 1000,
    received: 1_700_000_000_050_000 + id * 1000,
    origin: 'stream',
    gap_id: null,
  }
}

/** Records at offsets 10, 11, 13 and so on: every third offset holds none. Times of 1 s apart. */
function recordsOf(count: number): LogRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    offset: 10 + index + Math.floor(index / 2),
    time: 1_700_000_000_000 + index * 1000,
    key: index % 5 === 0 ? null : Buffer.from('btc'),
    value: index % 7 === 6 ? null : codec.encode('market.trades', 'trade', trade(index)),
  }))
}

function memoryTape(records: readonly LogRecord[]): Tape {
  const end = (records.at(-1)?.offset ?? 9) + 3
  return {
    name: 'memory',
    partitions: 2,
    topics: new Set(['market.trades']),
    codec,
    lookUp: () => Promise.resolve(false),
    span: (topic, partition) => Promise.resolve({ topic, partition, from: 10, to: end, isWhole: false }),
    read: async function* ({ from, to }: Span) {
      for (let at = 0; at < records.length; at += 100) {
        yield records.slice(at, at + 100).filter(({ offset }) => offset >= from && offset < to)
      }
    },
    close: () => Promise.resolve(),
  }
}

async function exported(records: readonly LogRecord[], stopAfter = Infinity, folder = newFolder()): Promise<string> {
  const tape = memoryTape(records)
  const span = await tape.span('market.trades', 1, { from: 0, to: Infinity })
  const range = { from: 0, to: null }
  const header: TapeHeader = {
    version: 1,
    format: 'avro',
    partitions: 2,
    map: mapHash(),
    source: 'memory',
    range,
    spans: [span],
  }
  let segments = 0
  const write = avroWriter(tape, folder)
  await writeTape({ tape, folder, header, write, segmentRecords: 150, onProgress: () => ++segments < stopAfter })
  return folder
}

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'tape-'))
  folders.push(folder)
  return folder
}

async function readAll(tape: Tape, from = 0, to = Infinity): Promise<LogRecord[]> {
  const span = await tape.span('market.trades', 1, { from, to })
  const records: LogRecord[] = []
  for await (const batch of tape.read(span)) records.push(...batch.map((record) => ({ ...record })))
  return records
}

describe('a tape of Avro files', () => {
  it('gives back the records as they were in the log: offsets, times, keys, tombstones and bytes', async () => {
    const records = recordsOf(1_000)
    expect(await readAll(fileTape(await exported(records)))).toEqual(records)
  })

  it('has the spans of the log, its end behind the last record included', async () => {
    const tape = fileTape(await exported(recordsOf(1_000)))
    const end = (recordsOf(1_000).at(-1)?.offset ?? 0) + 3
    expect(await tape.span('market.trades', 1, { from: 0, to: Infinity })).toMatchObject({ from: 10, to: end })
    const some = await readAll(tape, 1_700_000_100_000, 1_700_000_400_000)
    expect(some).toEqual(recordsOf(1_000).slice(100, 400))
  })

  it('goes on where an export was stopped and ends with the same bytes', async () => {
    const records = recordsOf(1_000)
    const whole = await exported(records)
    const folder = await exported(records, 2)
    expect(() => fileTape(folder)).toThrow(/is not complete: market.trades\/1 ends at/)
    writeFileSync(path.join(folder, 'segments.jsonl'), '{"topic":"mark', { flag: 'a' })
    await exported(records, Infinity, folder)
    expect(await readAll(fileTape(folder))).toEqual(records)
    const segments = (name: string): string => readFileSync(path.join(name, 'segments.jsonl'), 'utf8')
    expect(segments(folder)).toBe(segments(whole))
  })

  it('refuses a file of which one byte is another, by its name', async () => {
    const folder = await exported(recordsOf(300))
    const [line = ''] = readFileSync(path.join(folder, 'segments.jsonl'), 'utf8').split('\n')
    const { files } = JSON.parse(line) as { files: { path: string }[] }
    const file = path.join(folder, files[0]?.path ?? '')
    const bytes = readFileSync(file)
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
    writeFileSync(file, bytes)
    await expect(readAll(fileTape(folder))).rejects.toThrow(/0000000000000010\.avro is damaged: its checksum/)
  })

  it('is read by any Avro reader: a file tells its own schema', async () => {
    const folder = await exported(recordsOf(20))
    const [line = ''] = readFileSync(path.join(folder, 'segments.jsonl'), 'utf8').split('\n')
    const { files } = JSON.parse(line) as { files: { path: string }[] }
    const content = readFileSync(path.join(folder, files[0]?.path ?? ''))
    const { header, blocks } = decodeContainer('file', content)
    const type = avro.Type.forSchema(JSON.parse(header.schema) as avro.Schema, { wrapUnions: true })
    const [block] = blocks
    const first = type.decode(block?.data ?? Buffer.alloc(0), 0).value as { offset: number; value: unknown }
    expect(first).toMatchObject({ offset: 10, value: { 'market.Trade': { price: 60_000, taker: 'buy' } } })
  })
})

describe('the schema of a tape', () => {
  it.each(topics.map(({ name }) => name))('of %s is one that Avro takes', (name) => {
    expect(() => avro.Type.forSchema(envelopeSchema(name) as avro.Schema, { wrapUnions: true })).not.toThrow()
  })

  it('writes numbers of every size as Avro does', () => {
    const long = avro.Type.forSchema('long')
    for (const value of [0, 1, -1, 63, 64, -64, -65, 2 ** 31, -(2 ** 31), 2 ** 44 + 7, Number.MAX_SAFE_INTEGER / 2]) {
      const whole = Math.floor(value)
      const writer = new EntryWriter()
      writer.add(null, whole, 0, 0, undefined)
      const { data } = writer.take()
      expect(data.subarray(1, 1 + long.toBuffer(whole).length)).toEqual(long.toBuffer(whole))
      const reader = new EntryReader(data, [])
      expect([reader.next(), reader.offset, reader.next()]).toEqual([true, whole, false])
    }
  })
})
