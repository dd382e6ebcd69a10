import type { LogReader } from '../../infra/kafka/seam.ts'
import { PastOrders } from '../../processors/feeds/facts/past-orders.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { LogAccess } from '../want-writer.ts'

/** Where orders of the past are written, and read. */
export interface OrderLog extends LogAccess {
  readonly reader: Pick<LogReader, 'toEnd'>
}

/** The orders that stand in the log as of now, and the keys that hold them. */
export async function readOrders(
  reader: Pick<LogReader, 'toEnd'>,
  codec: Codec,
): Promise<{ orders: PastOrders; keys: ReadonlySet<string> }> {
  const orders = new PastOrders()
  const keys = new Set<string>()
  for await (const records of reader.toEnd('control.backfill', 0)) {
    for (const { key: bytes, value } of records) {
      const key = bytes?.toString('utf8') ?? ''
      if (!key.startsWith('order|')) continue
      const message = value === null ? null : codec.decode(value)
      orders.apply(key, message?.type === 'backfill_order' ? message.value : null)
      if (value === null) keys.delete(key)
      else keys.add(key)
    }
  }
  return { orders, keys }
}
