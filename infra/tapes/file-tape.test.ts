import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import avro from 'avsc'
import { afterEach, describe, expect, it } from 'vitest'
import { MemoryBroker, stillClock } from '../../processors/kernel/testing/memory-log.ts'
import { topics } from '../../schemas/topics.ts'
import { RegistryCodec } from '../kafka/codec.ts'
import type { LogRecord } from '../kafka/seam.ts'
import { decodeContainer } from './container.ts'
import { EntryReader, EntryWriter, envelopeSchema } from './envelope.ts'
import { fileTape } from './file-tape.ts'
import { readHeader, readSegments, type Format, type SegmentWriter } from './folder.ts'
import { kafkaTape } from './kafka-tape.ts'
import { codec, exportTo, FIRST_OFFSET, headerOf, memoryTape, newFolder, readAll, recordsOf } from './testing/tapes.ts'
import type { Span } from './tape.ts'
import { avroWriter, planExport, writeTape } from './write-tape.ts'

const TOPIC = 'market.trades'
const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

async function exported(records: readonly LogRecord[], format: Format = 'avro', stopAfter = Infinity): Promise<string> {
  const folder = newFolder()
  folders.push(folder)
  await exportTo(records, { format, folder, stopAfter })
  return folder
}

/** The first file of the folder's first segment. */
function firstFile(folder: string): string {
  const [line = ''] = readFileSync(path.join(folder, 'segments.jsonl'), 'utf8').split('\n')
  const { files } = JSON.parse(line) as { files: { path: string }[] }
  return path.join(folder, files[0]?.path ?? '')
}

describe.each(['avro', 'parquet'] as const)('a tape of %s files', (format) => {
  it('gives back the records as they were in the log: offsets, times, keys, tombstones and bytes', async () => {
    const records = recordsOf(1_000)
    expect(await readAll(fileTape(await exported(records, format)))).toEqual(records)
  })

  it('has the spans of the log, its end behind the last record included', async () => {
    const tape = fileTape(await exported(recordsOf(1_000), format))
    const end = (recordsOf(1_000).at(-1)?.offset ?? 0) + 3
    expect(await tape.span('market.trades', 1, { from: 0, to: Infinity })).toMatchObject({ from: 10, to: end })
    const some = await readAll(tape, 1_700_000_100_000, 1_700_000_400_000)
    expect(some).toEqual(recordsOf(1_000).slice(100, 400))
  })

  it('goes on where an export was stopped and ends with the same bytes', async () => {
    const records = recordsOf(1_000)
    const whole = await exported(records, format)
    const folder = await exported(records, format, 2)
    expect(() => fileTape(folder)).toThrow(/is not complete: market.trades\/1 ends at/)
    writeFileSync(path.join(folder, 'segments.jsonl'), '{"topic":"mark', { flag: 'a' })
    await exportTo(records, { format, folder })
    expect(await readAll(fileTape(folder))).toEqual(records)
    const segments = (name: string): string => readFileSync(path.join(name, 'segments.jsonl'), 'utf8')
    expect(segments(folder)).toBe(segments(whole))
  })

  it('refuses a file of which one byte is another, by its name', async () => {
    const folder = await exported(recordsOf(300), format)
    const file = firstFile(folder)
    const bytes = readFileSync(file)
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
    writeFileSync(file, bytes)
    await expect(readAll(fileTape(folder))).rejects.toThrow(/0000000000000010\.\S+ is damaged: its checksum/)
  })

  it.skipIf(!existsSync('/dev/full'))('says that the disk is full, and goes on when it no longer is', async () => {
    const folder = newFolder()
    folders.push(folder)
    const first = {
      avro: 'market.trades/1/0000000000000010.avro',
      parquet: 'trade/day=2023-11-14/market.trades.1.0000000000000010.trade.parquet',
    }
    const part = path.join(folder, `${first[format]}.part`)
    mkdirSync(path.dirname(part), { recursive: true })
    symlinkSync('/dev/full', part)
    await expect(exportTo(recordsOf(100), { format, folder })).rejects.toMatchObject({ code: 'disk' })
    expect(existsSync(part.replace('.part', ''))).toBe(false)
    rmSync(part)
    await exportTo(recordsOf(100), { format, folder })
    expect(await readAll(fileTape(folder))).toEqual(recordsOf(100))
  })
})

describe('an export that is stopped', () => {
  it('ends behind the segment under way, be it the last of its partition, and is whole only where all is there', async () => {
    const folder = newFolder()
    folders.push(folder)
    const tape = memoryTape(recordsOf(100))
    const spans = await Promise.all([0, 1].map((partition) => tape.span(TOPIC, partition, { from: 0, to: Infinity })))
    const header = headerOf('avro', spans)
    const write = (): Promise<boolean> => {
      const stop = new AbortController()
      const around = { onProgress: () => stop.abort(), stop: stop.signal }
      return writeTape({ tape, folder, header, write: avroWriter(tape, folder), ...around })
    }
    expect(await write()).toBe(false)
    expect([...readSegments(folder).keys()]).toEqual(['market.trades/0'])
    expect(await write()).toBe(true)
    expect([...readSegments(folder).keys()]).toEqual(['market.trades/0', 'market.trades/1'])
  })
})

describe('an archive', () => {
  const span = (from: number, to: number) => ({ topic: TOPIC, partition: 1, from, to, isWhole: true }) as const
  const grow = (folder: string, records: readonly LogRecord[], spans: readonly Span[]): Promise<boolean> => {
    const whole = span(records[0]?.offset ?? 0, (records.at(-1)?.offset ?? 0) + 1)
    const tape = { ...memoryTape(records), span: () => Promise.resolve(whole) }
    const around = { onProgress: () => undefined, stop: new AbortController().signal, grow: true }
    return writeTape({ tape, folder, header: headerOf('avro', spans), write: avroWriter(tape, folder), ...around })
  }

  it('goes on to what is there now, and keeps what the log has deleted since', async () => {
    const folder = newFolder()
    folders.push(folder)
    const all = recordsOf(200)
    const [first, second, end] = [all[100]?.offset ?? 0, all[60]?.offset ?? 0, (all.at(-1)?.offset ?? 0) + 1]
    expect(await grow(folder, all, [span(FIRST_OFFSET, first)])).toBe(true)
    expect(await grow(folder, all.slice(60), [span(second, end)])).toBe(true)
    expect(await readAll(fileTape(folder))).toEqual(await readAll(memoryTape(all)))
  })

  it('says that the log has deleted what would come next', async () => {
    const folder = newFolder()
    folders.push(folder)
    await grow(folder, recordsOf(20), [span(FIRST_OFFSET, 20)])
    const lost = grow(folder, recordsOf(20).slice(10), [span(25, 30)])
    await expect(lost).rejects.toThrow(/5 offsets of market.trades\/1 behind the end of .* were deleted/)
  })
})

describe('an export of a broker that broke off', () => {
  /** Breaks off behind its first segment; before it goes on, the log deletes what lies up to `deleted` offsets further. */
  const resumed = async (grow: boolean, deleted: number): Promise<string> => {
    const folder = newFolder()
    folders.push(folder)
    const broker = new MemoryBroker(stillClock)
    broker.append(TOPIC, 1, recordsOf(1_000))
    const tape = { ...kafkaTape(broker.connect(), new RegistryCodec([], { schemaOf: neverAsked }), 2), codec }
    const write = avroWriter(tape, folder)
    const run = async (writer: SegmentWriter): Promise<boolean> => {
      const header = await planExport(tape, [TOPIC], { format: 'avro', from: 0, to: null })
      const around = { onProgress: () => undefined, stop: new AbortController().signal, grow, segmentRecords: 200 }
      return writeTape({ tape, folder, header, write: writer, ...around })
    }
    const full = run((span, records) => (span.from === 0 ? write(span, records) : Promise.reject(new Error('full'))))
    await expect(full).rejects.toThrow('full')
    broker.truncate(TOPIC, 1, 200 + deleted)
    expect(await run(write)).toBe(true)
    return folder
  }
  const neverAsked = (): Promise<string> => Promise.reject(new Error('the registry is not asked'))

  it.each([false, true])('goes on while the log has what comes next; to grow: %s', async (grow) => {
    const offsets = (await readAll(fileTape(await resumed(grow, 0)))).map(({ offset }) => offset)
    expect(offsets).toEqual(Array.from({ length: 1_000 }, (_, offset) => offset))
  })

  it.each([false, true])('says that the log has deleted what would come next; to grow: %s', async (grow) => {
    await expect(resumed(grow, 5)).rejects.toThrow(/^5 offsets of market.trades\/1 .*were deleted/)
  })
})

it('takes of a compacted topic what has replaced the values since the export was planned', async () => {
  const folder = newFolder()
  folders.push(folder)
  const topic = 'derived.flow'
  const tombstones = (count: number): LogRecord[] => recordsOf(count).map((record) => ({ ...record, value: null }))
  const before = tombstones(100)
  const planned = await memoryTape(before, topic).span(topic, 1, { from: 0, to: Infinity })
  // Every value but the last was replaced, behind what was the end.
  const tape = memoryTape(tombstones(200).slice(99), topic)
  const header = headerOf('avro', [planned])
  const around = { onProgress: () => undefined, stop: new AbortController().signal }
  const noted: number[] = []
  const write: SegmentWriter = (_, records) => {
    noted.push(...records.map(({ offset }) => offset))
    return Promise.resolve([])
  }
  expect(await writeTape({ tape, folder, header, write, ...around })).toBe(true)
  expect(noted).toEqual(
    recordsOf(200)
      .slice(99)
      .map(({ offset }) => offset),
  )
  expect(readHeader(folder)?.spans).toEqual([await tape.span(topic, 1, { from: 0, to: Infinity })])
})

describe('a tape of Avro files', () => {
  it('is read by any Avro reader: a file tells its own schema', async () => {
    const folder = await exported(recordsOf(20))
    const content = readFileSync(firstFile(folder))
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
