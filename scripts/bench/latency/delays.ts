import { setTimeout as delay } from 'node:timers/promises'
import type { Clickhouse } from '../../../infra/clickhouse/client.ts'
import type { Position } from '../../../infra/kafka/seam.ts'
import type { Books } from '../../accounts/reconcile.ts'

const FETCH = { maxWaitMs: 50, maxBytesPerPartition: 512 * 1024 }
/** The watched instrument trades often, so that each look at ClickHouse finds something new. */
const WATCHED = 'binance:perp:BTCUSDT'

/**
 * Milliseconds from the venue's time of a bucket's newest trade to our having read the bucket from Kafka; one figure for
 * each record that carries a trade newer than the one before it. The simulator stamps a frame when it sends it, on the
 * same clock as ours.
 */
export async function bucketDelays({ reader, codec, partitions }: Books, forMs: number): Promise<number[]> {
  const numbers = Array.from({ length: partitions }, (_, partition) => partition)
  const ends = await reader.offsets('derived.flow', numbers, 'end')
  const next = new Map(ends)
  const newest = new Map<string, number>()
  const delays: number[] = []
  const end = performance.now() + forMs
  while (performance.now() < end) {
    const from: Position[] = [...next].map(([partition, offset]) => ({ topic: 'derived.flow', partition, offset }))
    for (const slice of await reader.fetch(from, FETCH)) {
      const now = nowMs()
      next.set(slice.partition, slice.next)
      for (const { value } of slice.records) {
        const message = value === null ? undefined : codec.decode(value)
        if (message?.type !== 'flow' || message.value.part !== 0) continue
        const { instrument, close_time } = message.value
        if (close_time <= (newest.get(instrument) ?? 0)) continue
        newest.set(instrument, close_time)
        delays.push(now - close_time / 1000)
      }
    }
  }
  return delays
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
       WHERE instrument = {instrument:String} AND last_id > {newest:UInt64} AND time > now64() - INTERVAL 1 MINUTE
       ORDER BY last_id`,
      { instrument: WATCHED, newest: newest === '' ? '0' : newest },
    )
    const now = nowMs()
    if (newest !== '') for (const { traded } of rows) delays.push(now - Number(traded) / 1000)
    newest = rows.at(-1)?.id ?? newest
    await delay(5)
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
