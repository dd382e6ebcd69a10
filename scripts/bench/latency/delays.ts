import { setTimeout as delay } from 'node:timers/promises'
import type { Clickhouse } from '../../../infra/clickhouse/client.ts'
import type { Position } from '../../../infra/kafka/seam.ts'
import type { Message } from '../../../schemas/records.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import { TopicFollower, type Books, type LogBooks } from '../../accounts/books.ts'

const FETCH = { maxWaitMs: 50, maxBytesPerPartition: 512 * 1024 }
/** The watched instrument trades often, so that each look at ClickHouse finds something new. */
const WATCHED = { asset: 'btc', instrument: 'binance:perp:BTCUSDT' }
/** Between two looks at ClickHouse. Looking more often takes the cores from what is looked at. */
const LOOK_EVERY_MS = 25

/** How long something took from two beginnings, milliseconds. */
export interface Delays {
  /** From the venue's time of the trade. The simulator and we read the same clock. */
  readonly fromTrade: number[]
  /** From our feed having the venue's frame. */
  readonly fromFrame: number[]
}

/** A bucket that carries a newer trade than the one before it. */
interface Seen {
  readonly instrument: string
  /** Venue time of that trade, microseconds. */
  readonly time: number
  readonly readAt: number
}

/**
 * Until our feed has a trade's frame, and until we have read the bucket that it is the newest trade of from Kafka. The
 * trades themselves are read afterwards: reading them meanwhile would take cores from what is looked at.
 */
export async function bucketDelays(books: Books, forMs: number): Promise<{ frames: number[]; buckets: Delays }> {
  const begin = await ends(books, 'market.trades')
  const newest = new Map<string, number>()
  const seen: Seen[] = []
  await tail(books, 'derived.flow', AbortSignal.timeout(forMs), ({ type, value }, { at: readAt }) => {
    if (type !== 'flow' || value.part !== 0) return
    const { instrument, close_time: time } = value
    if (time <= (newest.get(instrument) ?? 0)) return
    newest.set(instrument, time)
    seen.push({ instrument, time, readAt })
  })
  const { received, frames } = await framesSince(books, begin)
  const fromTrade = seen.map(({ time, readAt }) => readAt - time / 1000)
  const fromFrame = seen.flatMap(({ instrument, time, readAt }) => {
    const at = received.get(`${instrument} ${time}`)
    return at === undefined ? [] : [readAt - at]
  })
  return { frames, buckets: { fromTrade, fromFrame } }
}

interface Frames {
  /** When our feed had the frame of a trade, milliseconds, by instrument and venue time. */
  readonly received: ReadonlyMap<string, number>
  /** From the venue's time of each trade to that. */
  readonly frames: number[]
}

async function framesSince(books: Books, begin: ReadonlyMap<number, number>): Promise<Frames> {
  const received = new Map<string, number>()
  const frames: number[] = []
  await new TopicFollower(books, 'market.trades', begin).advance(({ type, value }) => {
    if (type !== 'trade' || value.origin !== 'stream') return
    received.set(`${value.instrument} ${value.time}`, value.received / 1000)
    frames.push((value.received - value.time) / 1000)
  })
  return { received, frames }
}

function ends({ reader, partitions }: LogBooks, topic: TopicName): Promise<Map<number, number>> {
  const numbers = Array.from({ length: partitions }, (_, partition) => partition)
  return reader.offsets(topic, numbers, 'end')
}

/** A record as a reader of ours has seen it. */
export interface SeenRecord {
  /** Partition and offset. */
  readonly position: string
  /** When it was written, as it says, milliseconds. */
  readonly written: number
  /** When we had it, milliseconds of the host's clock. */
  readonly at: number
}

/** Hands on what is written to a topic from now on until `signal`. */
export async function tail(
  books: LogBooks,
  topic: TopicName,
  signal: AbortSignal,
  take: (message: Message, seen: SeenRecord) => void,
): Promise<void> {
  const { reader, codec } = books
  const next = await ends(books, topic)
  while (!signal.aborted) {
    const from: Position[] = [...next].map(([partition, offset]) => ({ topic, partition, offset }))
    for (const slice of await reader.fetch(from, FETCH)) {
      const at = nowMs()
      const { partition } = slice
      next.set(partition, slice.next)
      for (const { value, offset, time } of slice.records)
        if (value !== null) take(codec.decode(value), { position: `${partition}/${offset}`, written: time, at })
    }
  }
}

/**
 * Until a query finds a trade. Each look reads which trades came since the look before: an upper bound, too high by the
 * time between two looks.
 */
export async function clickhouseDelays(clickhouse: Clickhouse, forMs: number): Promise<Delays> {
  const delays: Delays = { fromTrade: [], fromFrame: [] }
  const end = performance.now() + forMs
  let newest: string | undefined
  while (performance.now() < end) {
    const rows = await clickhouse.rows<{ id: string; traded: string; got: string }>(
      `SELECT toString(last_id) AS id, toString(toUnixTimestamp64Micro(time)) AS traded,
         toString(toUnixTimestamp64Micro(received)) AS got
       FROM trades_log
       WHERE asset = {asset:String} AND instrument = {instrument:String}
         AND last_id > {newest:UInt64} AND time > now64() - INTERVAL 1 MINUTE
       ORDER BY last_id`,
      { ...WATCHED, newest: newest ?? '0' },
    )
    const now = nowMs()
    // What the first look finds had come before it.
    for (const { traded, got } of newest === undefined ? [] : rows) {
      delays.fromTrade.push(now - Number(traded) / 1000)
      delays.fromFrame.push(now - Number(got) / 1000)
    }
    newest = rows.at(-1)?.id ?? newest
    await delay(LOOK_EVERY_MS)
  }
  return delays
}

/** The host's clock with a fraction. */
function nowMs(): number {
  return performance.timeOrigin + performance.now()
}
