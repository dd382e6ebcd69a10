import { encodeSegment } from '../../../infra/tapes/avro-segment.ts'
import { noteSegment, TAPE_VERSION, writeHeader } from '../../../infra/tapes/folder.ts'
import { segmentName, timesOf, writeFile } from '../../../infra/tapes/segment-file.ts'
import type { LogRecord } from '../../../infra/kafka/seam.ts'
import type { Span } from '../../../infra/tapes/tape.ts'
import { mapHash, partitionOf } from '../../../schemas/catalogue.ts'
import { localCodec } from '../../../schemas/codec.ts'
import type { Message, RecordType } from '../../../schemas/records.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import { instrumentId, priceVenues, tradeVenues } from '../../../schemas/venues.ts'
import { hash, mark, SECOND, T0, trade } from '../../../processors/cvd/testing/records.ts'
import { markets, ticker } from '../../../processors/prices/testing/records.ts'

/** As a running system has it. */
export const PARTITIONS = 12
/** Of the log's own time, over all partitions: 8 million a day. */
const TRADES_PER_SECOND = 8_000_000 / 86_400
const TICKER_EVERY_SECONDS = 5
const SEGMENT_RECORDS = 200_000

/** The busiest first. */
export const assets: readonly string[] =
  'btc eth sol xrp doge bnb ada link avax ltc dot uni near apt arb op sui trx aave fil'.split(' ')

/** Writes history with so many trades as a tape; gives the bytes of the trades' files. */
export function writeHistory(folder: string, trades: number): number {
  const spans: Span[] = []
  let bytes = 0
  for (let partition = 0; partition < PARTITIONS; partition++) {
    bytes += writeTopic(folder, 'market.trades', partition, tradesOf(partition, trades), spans)
    writeTopic(folder, 'market.tickers', partition, tickersOf(partition, trades), spans)
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

/** Length of a history with so many trades, whole seconds. */
export function secondsOf(trades: number): number {
  return Math.ceil(trades / TRADES_PER_SECOND)
}

/** A partition's trades second by second, a mark after each: asset number n has 1/n of what the first has. */
function* tradesOf(partition: number, trades: number): Generator<Message<'trade' | 'mark'>> {
  const ids = new Map<string, number>()
  const weights = assets.map((_, index) => 1 / (index + 1))
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  const own = assets.flatMap((asset, index) => {
    const perSecond = ((weights[index] ?? 0) / whole) * TRADES_PER_SECOND
    return partitionOf(asset, PARTITIONS) === partition ? [{ asset, perSecond, index }] : []
  })
  for (let second = 0; second < secondsOf(trades); second++) {
    const start = T0 + second * SECOND
    for (const { asset, perSecond, index } of own) {
      const count = Math.floor((second + 1) * perSecond) - Math.floor(second * perSecond)
      for (let at = 0; at < count; at++) {
        const n = second * 1_000 + at + index * 7_919
        yield tradeOf(asset, n, start + Math.floor((at / count) * SECOND), ids)
      }
    }
    yield mark(start + SECOND)
  }
}

function tradeOf(asset: string, n: number, time: number, ids: Map<string, number>): Message<'trade'> {
  const { venue, market } = tradeVenues[hash(n) % tradeVenues.length] ?? tradeVenues[0]
  const instrument = instrumentId(venue, market, `${asset.toUpperCase()}USDT`)
  const id = (ids.get(instrument) ?? 0) + 1
  ids.set(instrument, id)
  const first = venue === 'bybit' ? hash(n) * 2 ** 20 + (hash(id) % 2 ** 20) : id
  return trade({
    asset,
    instrument,
    first_id: first,
    time,
    received: time + 20_000 + (hash(n) % 30_000),
    price: 60_000 + (hash(n >> 6) % 1_000) / 10,
    size: (1 + (hash(n + 3) % 1_000)) / 1_000,
    taker: hash(n + 5) % 2 === 0 ? 'buy' : 'sell',
  })
}

/** A ticker of each asset at each of five venues every few seconds, a mark every second. */
function* tickersOf(partition: number, trades: number): Generator<Message<'spot_ticker' | 'mark'>> {
  const own = assets.filter((asset) => partitionOf(asset, PARTITIONS) === partition)
  for (let second = 0; second < secondsOf(trades); second++) {
    const at = T0 + second * SECOND
    for (const [index, venue] of priceVenues.entries()) {
      if (second % TICKER_EVERY_SECONDS !== index % TICKER_EVERY_SECONDS) continue
      for (const asset of own) {
        const price = 60_000 + (hash(second + index) % 1_000) / 10
        yield ticker({ asset, instrument: markets[venue], price, low: price, high: price, time: at, received: at })
      }
    }
    yield mark(at)
  }
}
