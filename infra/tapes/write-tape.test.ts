import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import avro from 'avsc'
import { afterEach, describe, expect, it } from 'vitest'
import { MemoryBroker, stillClock } from '../../processors/kernel/testing/memory-log.ts'
import { HEADER_BYTES, schemaText } from '../../schemas/codec.ts'
import type { Message, Signal } from '../../schemas/records.ts'
import { RegistryCodec } from '../kafka/codec.ts'
import type { LogRecord } from '../kafka/seam.ts'
import { fileTape } from './file-tape.ts'
import { type Format, readHeader, readSegments, type Segment } from './folder.ts'
import { kafkaTape } from './kafka-tape.ts'
import { parquetWriter } from './parquet-segment.ts'
import { codec as ownCodec, memoryTape, newFolder, readAll, recordsOf, trade } from './testing/tapes.ts'
import { avroWriter, LAG_MS, planExport, writeTape } from './write-tape.ts'
import type { Tape } from './tape.ts'

const FROM = 1_700_000_000_000
const TO = FROM + 60_000
const WHOLE = { format: 'avro', from: 0, to: null } as const
const folders: string[] = []
/** No record of the topic. */
const emptySignal: Signal = {
  asset: 'btc',
  kind: 'cvd',
  period: '1h',
  exchange: null,
  from: 'neutral',
  to: 'neutral',
  value: 0,
  evidence: {},
  time: 0,
  v: 0,
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

it('takes inputs up to the end of a range, what is derived until a slow processor wrote it too, and the journal of gaps whole', async () => {
  const asked = new Map<string, readonly number[]>()
  const tape: Tape = {
    ...memoryTape(recordsOf(10)),
    span: (topic, partition, { from, to }) => {
      asked.set(topic, [from, to])
      return Promise.resolve({ topic, partition, from, to, isWhole: true })
    },
  }
  const topics = ['market.trades', 'alerts.inputs', 'derived.signals', 'derived.flow', 'control.gaps'] as const
  const header = await planExport(tape, topics, { format: 'avro', from: FROM, to: TO })
  expect(header.range).toEqual({ from: FROM, to: TO })
  expect(Object.fromEntries(asked)).toEqual({
    'market.trades': [FROM, TO],
    'alerts.inputs': [FROM, TO + LAG_MS],
    'derived.signals': [FROM, TO + LAG_MS],
    'derived.flow': [FROM, Infinity],
    'control.gaps': [0, Infinity],
  })
})

it('takes a topic once that is named twice', async () => {
  const header = await planExport(memoryTape(recordsOf(10)), ['market.trades', 'market.trades'], WHOLE)
  expect(header.spans.map(({ partition }) => partition)).toEqual([0, 1])
})

it.each([TO, FROM])('refuses a range that ends no later than it begins: to %s', async (to) => {
  const plan = planExport(memoryTape(recordsOf(10)), ['market.trades'], { format: 'avro', from: TO, to })
  await expect(plan).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringMatching(/ends at 2023-/) as string,
  })
})

it('says what has no records in a range', async () => {
  const span: Tape['span'] = (topic, partition) =>
    Promise.resolve({ topic, partition, from: 5, to: topic === 'control.gaps' ? 6 : 5, isWhole: true })
  const tape = { ...memoryTape([]), span }
  const plan = planExport(tape, ['market.trades', 'control.gaps'], { format: 'avro', from: FROM, to: TO })
  await expect(plan).rejects.toThrow('memory has no records of market.trades, control.gaps in that range')
})

it('keeps the end of a tape that is written in another format', async () => {
  const tape = { ...memoryTape(recordsOf(10)), until: TO }
  const header = await planExport(tape, ['market.trades'], { format: 'parquet', from: 0, to: null })
  expect(header.range).toEqual({ from: 0, to: TO })
})

it('writes what another release wrote, with a schema that the registry tells', async () => {
  const ours = JSON.parse(schemaText('trade')) as avro.schema.RecordType
  const theirs: avro.Schema = { ...ours, fields: [{ name: 'more', type: 'string' }, ...ours.fields] }
  const header = Buffer.from([0, 0, 0, 0, 2])
  expect(header).toHaveLength(HEADER_BYTES)
  const value = Buffer.concat([header, avro.Type.forSchema(theirs).toBuffer({ ...trade(1), more: 'said' })])
  const codec = new RegistryCodec([{ id: 1, topic: 'market.trades', record: 'trade' }], {
    schemaOf: () => Promise.resolve(JSON.stringify(theirs)),
  })
  const records = [{ offset: 10, time: FROM, key: null, value }]
  const tape: Tape = { ...memoryTape(records), codec, lookUp: (id) => codec.lookUp(id) }
  const folder = mkdtempSync(path.join(tmpdir(), 'tape-'))
  const written: Message[] = []
  try {
    await writeTape({
      tape,
      folder,
      header: await planExport(tape, ['market.trades'], { format: 'avro', from: 0, to: null }),
      write: (_, own) => {
        for (const { value: bytes } of own) if (bytes !== null) written.push(codec.decode(bytes))
        return Promise.resolve([])
      },
      onProgress: () => undefined,
      stop: new AbortController().signal,
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  expect(new Set(written.map((message) => JSON.stringify(message)))).toEqual(
    new Set([JSON.stringify({ type: 'trade', value: trade(1) })]),
  )
})

describe.each(['avro', 'parquet'] as const)('an export (%s) that goes on', (format) => {
  const all = recordsOf(40)
  const write = async (folder: string, records: readonly LogRecord[], more: object = { grow: true }) => {
    const tape = oneTape(records)
    const header = await planExport(tape, ['market.trades'], { format, from: 0, to: null })
    const around = { onProgress: () => undefined, stop: new AbortController().signal, ...more }
    return writeTape({ tape, folder, header, write: writerOf(format, tape, folder), ...around })
  }
  const begun = async (records: readonly LogRecord[]): Promise<string> => {
    const folder = folderOfTest()
    await write(folder, records)
    return folder
  }
  /** What the log wrote after it had lost its tail. */
  const other = (from: number, of = all) => of.slice(from).map((record) => ({ ...record, time: record.time + 1 }))
  const body = (from: number) =>
    all
      .slice(from)
      .map((record, at) => ({ ...record, value: ownCodec.encode('market.trades', 'trade', trade(900 + at)) }))

  it('takes what follows on the record that it ends with', async () => {
    const folder = await begun(all.slice(0, 20))
    await write(folder, all)
    expect(await readAll(fileTape(folder))).toEqual(all)
  })

  it.each([
    ['at another time', [...all.slice(0, 12), ...other(12)]],
    ['with another body', [...all.slice(0, 12), ...body(12)]],
    ['no more', all.slice(0, 12)],
  ])('is refused, and stays whole, where the log has that record %s', async (_, now) => {
    const folder = await begun(all.slice(0, 20))
    const before = readHeader(folder)
    await expect(write(folder, now)).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringMatching(/^market.trades\/1 .* begin another folder, and keep this one/) as string,
    })
    expect(readHeader(folder)).toEqual(before)
    expect(await readAll(fileTape(folder))).toEqual(all.slice(0, 20))
  })

  it('is refused while another writes into the folder, and the other one is whole', async () => {
    const folder = await begun(all.slice(0, 20))
    const both = await Promise.allSettled([write(folder, all), write(folder, all)])
    expect(both).toMatchObject([
      { status: 'fulfilled', value: true },
      { status: 'rejected', reason: { code: 'refused', message: `another export or import writes into ${folder}` } },
    ])
    expect(await readAll(fileTape(folder))).toEqual(all)
    expect(await write(folder, all)).toBe(true)
  })

  it('cuts off a line that a crash has torn, which a reader only passes over', async () => {
    const folder = await begun(all.slice(0, 20))
    const list = path.join(folder, 'segments.jsonl')
    appendFileSync(list, '{"topic":"mark')
    const before = readFileSync(list, 'utf8')
    expect(await readAll(fileTape(folder))).toEqual(all.slice(0, 20))
    expect(readFileSync(list, 'utf8')).toBe(before)
    await write(folder, all)
    expect(await readAll(fileTape(folder))).toEqual(all)
  })

  it('is refused too where it broke off before', async () => {
    const folder = folderOfTest()
    const long = recordsOf(200)
    const stop = new AbortController()
    await write(folder, long, { segmentRecords: 15, stop: stop.signal, onProgress: () => stop.abort() })
    await expect(write(folder, [...long.slice(0, 12), ...other(12, long)], {})).rejects.toMatchObject({
      code: 'refused',
    })
    expect(await write(folder, long, {})).toBe(true)
    expect(await readAll(fileTape(folder))).toEqual(long)
  })

  it('goes on where the log has deleted that record, and all before it', async () => {
    const folder = await begun(all.slice(0, 21))
    await write(folder, all.slice(21))
    expect(await readAll(fileTape(folder))).toEqual(all)
  })
})

describe('an export from a time on that goes on', () => {
  const TOPIC = 'market.trades'
  const all = recordsOf(40)
  /** Partition 0 has records of the range, partition 1 only older ones. */
  const begun = async () => {
    const broker = new MemoryBroker(stillClock)
    broker.append(TOPIC, 0, all.slice(0, 30))
    broker.append(TOPIC, 1, all.slice(0, 10))
    const folder = folderOfTest()
    const codec = new RegistryCodec([], { schemaOf: () => Promise.reject(new Error('the registry is not asked')) })
    const grow = async (): Promise<number[]> => {
      const tape = { ...kafkaTape(broker.connect(), codec, 2), codec: ownCodec }
      const header = await planExport(tape, [TOPIC], { format: 'avro', from: FROM + 20_000, to: null })
      const around = { grow: true, onProgress: () => undefined, stop: new AbortController().signal }
      await writeTape({ tape, folder, header, write: avroWriter(tape, folder), ...around })
      return (await readAll(fileTape(folder))).map(({ time }) => time - FROM)
    }
    expect(await grow()).toEqual([])
    return { broker, grow }
  }

  it.each([
    ['a control record', (broker: MemoryBroker) => broker.at(TOPIC, 1).skip(), []],
    ['an older record', (broker: MemoryBroker) => broker.append(TOPIC, 1, all.slice(10, 11)), [10_000]],
  ])('takes what comes behind %s that a quiet partition got', async (_, add, told) => {
    const { broker, grow } = await begun()
    add(broker)
    expect(await grow()).toEqual(told)
    broker.append(TOPIC, 1, all.slice(30, 32))
    expect(await grow()).toEqual([...told, 30_000, 31_000])
  })

  it('is refused where the log has deleted what such a partition got', async () => {
    const { broker, grow } = await begun()
    broker.append(TOPIC, 1, all.slice(30, 35))
    broker.truncate(TOPIC, 1, 13)
    await expect(grow()).rejects.toThrow(/^3 offsets of market.trades\/1 behind the end of .* were deleted/)
  })
})

describe.each(['avro', 'parquet'] as const)('an export (%s) of a log with what cannot be read', (format) => {
  const all = recordsOf(40)
  const bad: readonly (readonly [at: number, value: Buffer])[] = [
    [3, Buffer.from('poison')],
    [8, Buffer.from([0, 1])],
    [12, Buffer.from([0, 0, 0, 3, 231, 1, 2])],
    [20, all[1]?.value?.subarray(0, 9) ?? Buffer.alloc(0)],
    [30, ownCodec.encode('derived.signals', 'signal', emptySignal)],
  ]
  const log = all.map((record, at) => ({ ...record, value: bad.find(([where]) => where === at)?.[1] ?? record.value }))

  it('has all the others, and says where the unreadable ones are', async () => {
    const folder = folderOfTest()
    const tape = oneTape(log)
    const header = await planExport(tape, ['market.trades'], { format, from: 0, to: null })
    const told: number[] = []
    const onProgress = ({ unreadable = [] }: Segment): void => void told.push(...unreadable)
    const around = { onProgress, stop: new AbortController().signal, segmentRecords: 15 }
    expect(await writeTape({ tape, folder, header, write: writerOf(format, tape, folder), ...around })).toBe(true)
    expect(await readAll(fileTape(folder))).toEqual(all.filter((_, at) => !bad.some(([where]) => where === at)))
    const segments = readSegments(folder).get('market.trades/1') ?? []
    const offsets = bad.map(([at]) => all[at]?.offset)
    expect(segments.flatMap(({ unreadable = [] }) => unreadable)).toEqual(offsets)
    expect(told).toEqual(offsets)
  })
})

/** A log of one partition, whose bounds are those of its records. */
function oneTape(records: readonly LogRecord[]): Tape {
  const [from, to] = [records[0]?.offset ?? 0, (records.at(-1)?.offset ?? -1) + 1]
  const span: Tape['span'] = (topic, partition) =>
    Promise.resolve({ topic, partition, from: partition === 1 ? from : 0, to: partition === 1 ? to : 0, isWhole: true })
  return { ...memoryTape(records), span }
}

function writerOf(format: Format, tape: Tape, folder: string) {
  return format === 'avro' ? avroWriter(tape, folder) : parquetWriter(tape, folder)
}

function folderOfTest(): string {
  const folder = newFolder()
  folders.push(folder)
  return folder
}
