import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { mapHash } from '../../../schemas/catalogue.ts'
import { localCodec } from '../../../schemas/codec.ts'
import type { Trade } from '../../../schemas/records.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import type { LogRecord } from '../../kafka/seam.ts'
import { TAPE_VERSION, type Format, type TapeHeader } from '../folder.ts'
import { parquetWriter } from '../parquet-segment.ts'
import type { Span, Tape } from '../tape.ts'
import { avroWriter, writeTape } from '../write-tape.ts'

/** What tests of tapes share: a tape in memory, and its export into a folder. */

export const codec = localCodec()

/** Of every tape here. */
export const FIRST_OFFSET = 10

export function trade(id: number): Trade {
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
export function recordsOf(count: number): LogRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    offset: FIRST_OFFSET + index + Math.floor(index / 2),
    time: 1_700_000_000_000 + index * 1000,
    key: index % 5 === 0 ? null : Buffer.from('btc'),
    value: index % 7 === 6 ? null : codec.encode('market.trades', 'trade', trade(index)),
  }))
}

/** A tape of one topic, whose partition 1 holds the records. */
export function memoryTape(records: readonly LogRecord[], topic: TopicName = 'market.trades'): Tape {
  const end = (records.at(-1)?.offset ?? FIRST_OFFSET) + 3
  return {
    name: 'memory',
    partitions: 2,
    topics: new Set([topic]),
    codec,
    lookUp: () => Promise.resolve(false),
    span: (_, partition) => Promise.resolve({ topic, partition, from: FIRST_OFFSET, to: end, isWhole: false }),
    read: async function* ({ from, to }: Span) {
      for (let at = 0; at < records.length; at += 100) {
        yield records.slice(at, at + 100).filter(({ offset }) => offset >= from && offset < to)
      }
    },
    close: () => Promise.resolve(),
  }
}

interface Export {
  readonly format: Format
  readonly folder: string
  readonly topic?: TopicName
  /** Records of a segment; default 150. */
  readonly segmentRecords?: number
  /** Segments after which it is stopped. */
  readonly stopAfter?: number
}

/** Of an export of these spans. */
export function headerOf(format: Format, spans: readonly Span[]): TapeHeader {
  const layout = { version: TAPE_VERSION[format], format, partitions: 2, map: mapHash(), source: 'memory' }
  return { ...layout, range: { from: 0, to: null }, spans }
}

/** Writes the records into the folder. */
export async function exportTo(records: readonly LogRecord[], options: Export): Promise<void> {
  const { format, folder, topic = 'market.trades', segmentRecords = 150, stopAfter = Infinity } = options
  const tape = memoryTape(records, topic)
  const spans = [await tape.span(topic, 1, { from: 0, to: Infinity })]
  const header = headerOf(format, spans)
  const stop = new AbortController()
  let segments = 0
  const onProgress = (): void => {
    if (++segments >= stopAfter) stop.abort()
  }
  const write = format === 'avro' ? avroWriter(tape, folder) : parquetWriter(tape, folder)
  await writeTape({ tape, folder, header, write, segmentRecords, onProgress, stop: stop.signal })
}

export async function readAll(tape: Tape, from = 0, to = Infinity): Promise<LogRecord[]> {
  const [topic = 'market.trades'] = tape.topics
  const span = await tape.span(topic, 1, { from, to })
  const records: LogRecord[] = []
  for await (const batch of tape.read(span))
    records.push(...batch.map((record) => ({ ...record, key: record.key, value: record.value })))
  return records
}

export function newFolder(): string {
  return mkdtempSync(path.join(tmpdir(), 'tape-'))
}
