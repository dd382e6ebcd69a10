import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import avro from 'avsc'
import { expect, it } from 'vitest'
import { HEADER_BYTES, schemaText } from '../../schemas/codec.ts'
import type { Message } from '../../schemas/records.ts'
import { RegistryCodec } from '../kafka/codec.ts'
import { memoryTape, recordsOf, trade } from './testing/tapes.ts'
import { LAG_MS, planExport, writeTape } from './write-tape.ts'
import type { Tape } from './tape.ts'

const FROM = 1_700_000_000_000
const TO = FROM + 60_000

it('takes inputs up to the end of a range, and of what is derived also what a slow processor wrote after others', async () => {
  const asked = new Map<string, number>()
  const tape: Tape = {
    ...memoryTape(recordsOf(10)),
    span: (topic, partition, { from, to }) => {
      asked.set(topic, to)
      return Promise.resolve({ topic, partition, from, to, isWhole: true })
    },
  }
  const topics = ['market.trades', 'alerts.inputs', 'derived.signals', 'derived.flow'] as const
  const header = await planExport(tape, topics, { format: 'avro', from: FROM, to: TO })
  expect(header.range).toEqual({ from: FROM, to: TO })
  expect(Object.fromEntries(asked)).toEqual({
    'market.trades': TO,
    'alerts.inputs': TO + LAG_MS,
    'derived.signals': TO + LAG_MS,
    'derived.flow': Infinity,
  })
})

it('says what has no records in a range', async () => {
  const span: Tape['span'] = (topic, partition) => Promise.resolve({ topic, partition, from: 5, to: 5, isWhole: true })
  const tape = { ...memoryTape([]), span }
  const plan = planExport(tape, ['market.trades'], { format: 'avro', from: FROM, to: TO })
  await expect(plan).rejects.toThrow('memory has no records of market.trades in that range')
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
