import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { encodeSegment } from '../../infra/tapes/avro-segment.ts'
import { fileTape } from '../../infra/tapes/file-tape.ts'
import { noteSegment, TAPE_VERSION, writeHeader } from '../../infra/tapes/folder.ts'
import { segmentName, timesOf, writeFile } from '../../infra/tapes/segment-file.ts'
import type { LogRecord } from '../../infra/kafka/seam.ts'
import type { Span, Tape } from '../../infra/tapes/tape.ts'
import { mapHash, partitionOf } from '../../schemas/catalogue.ts'
import { localCodec } from '../../schemas/codec.ts'
import type { Message, RecordType } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { instrumentId, tradeVenues } from '../../schemas/venues.ts'
import { mark, SECOND, T0, trade } from '../../processors/cvd/given.ts'
import { markets, ticker } from '../../processors/prices/given.ts'
import { priceVenues } from '../../schemas/venues.ts'
import { backtest } from '../backtest/backtest.ts'
import type { BacktestOptions } from '../backtest/options.ts'
import type { Bench, Figure } from '../figure.ts'

const PARTITIONS = 4
const TRADES = 1_000_000
/** Of the log's own time, over all partitions; spot tickers of five venues once a second beside them. */
const TRADES_PER_SECOND = 400
const SEGMENT_RECORDS = 200_000
const ASSETS = ['btc', 'eth', 'sol', 'xrp'] as const

/** A whole backtest from files on one core, against reading the same files and decoding every record. */
const bench: Bench = async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-backtest-'))
  try {
    const bytes = write(folder)
    await cost(folder, replay) // unmeasured: the code of both sides is compiled then
    await cost(folder, read)
    const reading = await best(folder, read)
    const whole = await best(folder, replay)
    return [
      figure('events replayed from files', 'events/s', whole.events / whole.seconds, whole.events, reading),
      { bench: 'backtest', metric: 'a trade in an Avro export', value: bytes / TRADES, unit: 'bytes', n: TRADES },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export default bench

interface Cost {
  readonly events: number
  readonly seconds: number
}

function figure(metric: string, unit: string, value: number, n: number, reading: Cost): Figure {
  const baseline = reading.events / reading.seconds
  return { bench: 'backtest', metric, value, unit, baseline, ratio: value / baseline, n }
}

/** By CPU time of this process, which a busy machine disturbs less: both sides are one thread's work. */
async function cost(folder: string, work: (tape: Tape) => Promise<number>): Promise<Cost> {
  const tape = fileTape(folder)
  const before = process.cpuUsage()
  const events = await work(tape)
  const { user, system } = process.cpuUsage(before)
  await tape.close()
  return { events, seconds: (user + system) / 1e6 }
}

async function best(folder: string, work: (tape: Tape) => Promise<number>): Promise<Cost> {
  const costs = [await cost(folder, work), await cost(folder, work), await cost(folder, work)]
  return costs.reduce((least, other) => (other.seconds < least.seconds ? other : least))
}

async function replay(tape: Tape): Promise<number> {
  const never = new AbortController().signal
  const { manifest } = await backtest(tape, options, {
    onProgress: () => undefined,
    warn: () => undefined,
    stop: never,
  })
  return manifest.events
}

const options: BacktestOptions = {
  symbols: undefined,
  from: 0,
  to: Infinity,
  mode: 'lived',
  leadInMs: 0,
  latencyMs: 500,
  horizonsMs: [60_000, 300_000, 900_000],
  alerts: undefined,
  rules: undefined,
  out: undefined,
  source: 'bench',
  data: '',
  checkLive: false,
  load: false,
  json: false,
}

async function read(tape: Tape): Promise<number> {
  let events = 0
  for (const topic of tape.topics) {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const span = await tape.span(topic, partition, { from: 0, to: Infinity })
      for await (const records of tape.read(span)) {
        for (const { value } of records) {
          if (value !== null) tape.codec.decode(value)
          events += 1
        }
      }
    }
  }
  return events
}

/** Writes the tape; gives the bytes of its trades' files. */
function write(folder: string): number {
  const spans: Span[] = []
  let bytes = 0
  for (let partition = 0; partition < PARTITIONS; partition++) {
    bytes += writeTopic(folder, 'market.trades', partition, tradesOf(partition), spans)
    writeTopic(folder, 'market.tickers', partition, tickersOf(partition), spans)
  }
  const range = { from: 0, to: null }
  const layout = { version: TAPE_VERSION.avro, format: 'avro', partitions: PARTITIONS, map: mapHash() } as const
  writeHeader(folder, { ...layout, source: 'bench', range, spans })
  return bytes
}

function writeTopic(
  folder: string,
  topic: TopicName,
  partition: number,
  messages: Iterable<Message>,
  spans: Span[],
): number {
  const codec = localCodec()
  let records: LogRecord[] = []
  let offset = 0
  let bytes = 0
  const close = (): void => {
    const from = offset - records.length
    const name = `${segmentName(topic, partition, from)}.avro`
    const files = [writeFile(folder, name, encodeSegment(codec, topic, name, records))]
    bytes += files[0]?.bytes ?? 0
    noteSegment(folder, { topic, partition, from, to: offset, records: records.length, ...timesOf(records), files })
    records = []
  }
  for (const message of messages) {
    const time = 'received' in message.value ? message.value.received : 'time' in message.value ? message.value.time : 0
    const value = codec.encode<RecordType>(topic, message.type, message.value)
    records.push({ offset: offset++, time: Math.floor(time / 1000), key: Buffer.from('key'), value })
    if (records.length >= SEGMENT_RECORDS) close()
  }
  close()
  spans.push({ topic, partition, from: 0, to: offset, isWhole: true })
  return bytes
}

function* tradesOf(partition: number): Generator<Message<'trade' | 'mark'>> {
  const ids = new Map<string, number>()
  const perSecond = TRADES_PER_SECOND / PARTITIONS
  const assets = ASSETS.filter((asset) => partitionOf(asset, PARTITIONS) === partition)
  for (let n = 0; n < TRADES / PARTITIONS; n++) {
    const time = T0 + Math.floor((n / perSecond) * SECOND)
    const { venue, market } = tradeVenues[hash(n) % tradeVenues.length] ?? tradeVenues[0]
    const asset = assets[hash(n + 7) % assets.length] ?? ASSETS[0]
    const instrument = instrumentId(venue, market, `${asset.toUpperCase()}USDT`)
    const id = (ids.get(instrument) ?? 0) + 1
    ids.set(instrument, id)
    yield trade({
      asset,
      instrument,
      first_id: venue === 'bybit' ? hash(n) * 2 ** 20 + hash(n + 1) : id,
      time,
      received: time + 20_000 + (hash(n) % 30_000),
      price: 60_000 + (hash(n >> 6) % 1_000) / 10,
      size: (1 + (hash(n + 3) % 1_000)) / 1_000,
      taker: hash(n + 5) % 2 === 0 ? 'buy' : 'sell',
    })
    if (n % perSecond === perSecond - 1) yield mark(time)
  }
}

function* tickersOf(partition: number): Generator<Message<'spot_ticker' | 'mark'>> {
  const assets = ASSETS.filter((asset) => partitionOf(asset, PARTITIONS) === partition)
  for (let second = 0; second < TRADES / TRADES_PER_SECOND; second++) {
    const at = T0 + second * SECOND
    for (const asset of assets) {
      for (const venue of priceVenues) {
        const price = 60_000 + (hash(second) % 1_000) / 10
        yield ticker({ asset, instrument: markets[venue], price, low: price, high: price, time: at, received: at })
      }
    }
    yield mark(at)
  }
}

/** Numbers below 2^31 that look random and are the same in every run. */
function hash(n: number): number {
  const mixed = Math.imul(n ^ (n >>> 16), 0x45d9f3b)
  return Math.imul(mixed ^ (mixed >>> 13), 0x45d9f3b) >>> 1
}
