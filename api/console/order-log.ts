import type { LogReader } from '../../infra/kafka/seam.ts'
import type { CoveredPast } from '../../processors/feeds/facts/backfill-plan.ts'
import { PastOrders } from '../../processors/feeds/facts/past-orders.ts'
import { UndecodableError, type Codec } from '../../schemas/codec.ts'
import type { Backfill } from '../../schemas/records.ts'
import type { LogAccess } from '../want-writer.ts'

/** Where orders of the past are written, and read. */
export interface OrderLog extends LogAccess {
  readonly reader: Pick<LogReader, 'toEnd'>
}

/** What stands in `control.backfill` as of now. */
export interface KnownOrders {
  readonly orders: PastOrders
  /** The keys that hold orders. */
  readonly keys: ReadonlySet<string>
  /** What the log has of the past, by `instrument|series`. */
  readonly covered: ReadonlyMap<string, CoveredPast>
}

export async function readOrders(reader: Pick<LogReader, 'toEnd'>, codec: Codec): Promise<KnownOrders> {
  const orders = new PastOrders()
  const keys = new Set<string>()
  const covered = new Map<string, CoveredPast>()
  for await (const records of reader.toEnd('control.backfill', 0)) {
    for (const { key: bytes, value } of records) {
      const key = bytes?.toString('utf8') ?? ''
      if (key.startsWith('order|')) {
        const message = value === null ? null : codec.decode(value)
        orders.apply(key, message?.type === 'backfill_order' ? message.value : null)
        if (value === null) keys.delete(key)
        else keys.add(key)
      } else if (value !== null) {
        const known = coveredOf(codec, value)
        if (known !== undefined) covered.set(`${known.instrument}|${known.series}`, known)
      }
    }
  }
  return { orders, keys, covered }
}

/** Undefined: it cannot be read here; the feeds set it aside and read that past again. */
function coveredOf(codec: Codec, value: Buffer): (CoveredPast & Pick<Backfill, 'instrument' | 'series'>) | undefined {
  try {
    const message = codec.decode(value)
    if (message.type !== 'backfill') return undefined
    const { instrument, series, covered_from: from, covered_to: to, rows } = message.value
    return { instrument, series, from, to, rows }
  } catch (error) {
    if (error instanceof UndecodableError) return undefined
    throw error
  }
}
