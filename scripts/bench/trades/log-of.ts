import { hash, mark, SECOND, T0, trade } from '../../../processors/cvd/testing/records.ts'
import type { Writer } from '../../../infra/kafka/seam.ts'
import type { Codec } from '../../../schemas/codec.ts'
import type { Message } from '../../../schemas/records.ts'
import { instrumentId, tradeVenues } from '../../../schemas/venues.ts'

/** Trades a second of the log's own time, over all partitions: as the acceptance run has them. */
const RATE = 2_000
const BATCH = 2_000

export interface LogSizes {
  readonly partitions: number
  /** Over all partitions. */
  readonly trades: number
}

/** The records of one partition: two assets on four venues, a mark a second. */
export function* logOf(partition: number, { partitions, trades }: LogSizes): Generator<Message<'trade' | 'mark'>> {
  const ids = new Map<string, number>()
  const perSecond = RATE / partitions
  for (let n = 0; n < trades / partitions; n++) {
    const time = T0 + Math.floor((n / perSecond) * SECOND)
    const { venue, market } = tradeVenues[hash(n) % tradeVenues.length] ?? tradeVenues[0]
    const asset = `asset${partition}${hash(n + 7) % 2}`
    const instrument = instrumentId(venue, market, `${asset.toUpperCase()}USDT`)
    const id = (ids.get(instrument) ?? 0) + 1
    ids.set(instrument, id)
    yield trade({
      asset,
      instrument,
      first_id: venue === 'bybit' ? hash(n) * 2 ** 20 + hash(n + 1) : id,
      time,
      price: 60_000 + (hash(n) % 1_000) / 10,
      size: (1 + (hash(n + 3) % 1_000)) / 1_000,
      taker: hash(n + 5) % 2 === 0 ? 'buy' : 'sell',
    })
    if (Math.floor((n + 1) / perSecond) > Math.floor(n / perSecond)) yield mark(time)
  }
}

/** Writes the next of them, `most` at the most, to `market.trades`; gives how many there were. */
export async function writeNext(
  writer: Writer,
  codec: Codec,
  partition: number,
  messages: Iterator<Message<'trade' | 'mark'>>,
  most = Infinity,
): Promise<number> {
  let written = 0
  for (let isOver = false; !isOver;) {
    const records: { key: string; value: Buffer; time: number }[] = []
    while (!isOver && records.length < BATCH) {
      const next = written + records.length < most ? messages.next() : undefined
      isOver = next === undefined || next.done === true
      if (next === undefined || next.done === true) continue
      const { type, value } = next.value
      const encoded = codec.encode('market.trades', type, value)
      records.push({ key: 'key', value: encoded, time: Math.floor(value.time / 1000) })
    }
    if (records.length > 0) await writer.send('market.trades', partition, records)
    written += records.length
  }
  return written
}
