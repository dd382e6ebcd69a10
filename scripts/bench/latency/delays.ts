import { setTimeout as delay } from 'node:timers/promises'
import type { Clickhouse } from '../../../infra/clickhouse/client.ts'
import type { Position } from '../../../infra/kafka/seam.ts'
import type { Message } from '../../../schemas/records.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import type { Books } from '../../accounts/reconcile.ts'

const FETCH = { maxWaitMs: 50, maxBytesPerPartition: 512 * 1024 }
/** The watched instrument trades often, so that each look at ClickHouse finds something new. */
const WATCHED = { asset: 'btc', instrument: 'binance:perp:BTCUSDT' }
/** Between two looks at ClickHouse. Looking more often takes the cores from what is looked at. */
const LOOK_EVERY_MS = 25

/**
 * Milliseconds from the venue's time of a bucket's newest trade to our having read the bucket from Kafka; one figure for
 * each record that carries a trade newer than the one before it. The simulator and we read the same clock.
 */
export async function bucketDelays(books: Books, forMs: number): Promise<number[]> {
  const newest = new Map<string, number>()
  const delays: number[] = []
  await tail(books, 'derived.flow', forMs, (message, now) => {
    if (message.type !== 'flow' || message.value.part !== 0) return
    const { instrument, close_time } = message.value
    if (close_time <= (newest.get(instrument) ?? 0)) return
    newest.set(instrument, close_time)
    delays.push(now - close_time / 1000)
  })
  return delays
}

/** Milliseconds from the venue's time of a trade to our feed having its frame: the venue's part of every delay. */
export async function receiptDelays(books: Books, forMs: number): Promise<number[]> {
  const delays: number[] = []
  await tail(books, 'market.trades', forMs, (message) => {
    if (message.type !== 'trade' || message.value.origin !== 'stream') return
    delays.push((message.value.received - message.value.time) / 1000)
  })
  return delays
}

/** Hands on what is written to a topic from now on. */
async function tail(
  { reader, codec, partitions }: Books,
  topic: TopicName,
  forMs: number,
  take: (message: Message, nowMs: number) => void,
): Promise<void> {
  const numbers = Array.from({ length: partitions }, (_, partition) => partition)
  const next = new Map(await reader.offsets(topic, numbers, 'end'))
  const end = performance.now() + forMs
  while (performance.now() < end) {
    const from: Position[] = [...next].map(([partition, offset]) => ({ topic, partition, offset }))
    for (const slice of await reader.fetch(from, FETCH)) {
      const now = nowMs()
      next.set(slice.partition, slice.next)
      for (const { value } of slice.records) if (value !== null) take(codec.decode(value), now)
    }
  }
}

/**
 * Milliseconds from the venue's time of a trade to its being found by a query. Each look reads the newest trade and
 * which others came since the look before: an upper bound, too high by the time between two looks.
 */
export async function clickhouseDelays(clickhouse: Clickhouse, forMs: number): Promise<number[]> {
  const delays: number[] = []
  const end = performance.now() + forMs
  let newest = ''
  while (performance.now() < end) {
    const rows = await clickhouse.rows<{ id: string; traded: string }>(
      `SELECT toString(last_id) AS id, toString(toUnixTimestamp64Micro(time)) AS traded FROM trades_log
       WHERE asset = {asset:String} AND instrument = {instrument:String}
         AND last_id > {newest:UInt64} AND time > now64() - INTERVAL 1 MINUTE
       ORDER BY last_id`,
      { ...WATCHED, newest: newest === '' ? '0' : newest },
    )
    const now = nowMs()
    if (newest !== '') for (const { traded } of rows) delays.push(now - Number(traded) / 1000)
    newest = rows.at(-1)?.id ?? newest
    await delay(LOOK_EVERY_MS)
  }
  return delays
}

/** The host's clock with a fraction. */
function nowMs(): number {
  return performance.timeOrigin + performance.now()
}

/** The value below which the share `q` of `values` lies; NaN of none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? NaN
}
