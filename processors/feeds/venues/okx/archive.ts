import { archivedTrade, microsOf } from '../archive-fields.ts'
import type { VenueTrade } from '../events.ts'
import type { ArchiveRefusal, TradeArchive } from '../venue.ts'

const HOUR_MS = 3_600_000

/**
 * The daily files of okx.com/historical-data; no checksums, so that the CRC within the zip has to do. Their days are those of
 * UTC+8: the file of a date begins at 16:00 UTC of the day before. One that begins at 0:00 UTC is read as that.
 */
export const archive: TradeArchive = {
  path: (symbol, date) =>
    `/cdn/okex/traderecords/trades/daily/${date.replaceAll('-', '')}/${symbol}-trades-${date}.zip`,
  begins: [-8 * HOUR_MS, 0],
  read: readOkx,
}

/**
 * OKX's daily files, with a header: `instrument_name,trade_id,side,price,size,created_time`, before 2024
 * `trade_id,side,size,price,created_time`. The side is the taker's ("side: trade side, of taker"), the size contracts of swaps,
 * the time milliseconds.
 */
export function readOkx(columns: readonly string[], symbol: string): VenueTrade | ArchiveRefusal {
  const isOld = columns.length === 5
  if (!isOld && columns.length !== 6) return 'bad-columns'
  if (/^(?:instrument_name|trade_id)\b/i.test(columns[0] ?? '')) return 'header'
  const [id, side, third, fourth, created] = isOld ? columns : columns.slice(1)
  const [price, size] = isOld ? [fourth, third] : [third, fourth]
  const taker = side?.toLowerCase()
  const time = microsOf(created)
  if (time === undefined || (taker !== 'buy' && taker !== 'sell') || (!isOld && columns[0] !== symbol))
    return 'bad-field'
  return archivedTrade({ symbol, id, count: 1, price, size, taker, time })
}
