import type { Micros } from '../../../../schemas/records.ts'
import { archivedTrade } from '../archive-fields.ts'
import type { VenueTrade } from '../events.ts'
import type { ArchiveRefusal, TradeArchive } from '../venue.ts'
import { idOf } from './trades.ts'

/** The daily files at public.bybit.com/trading; no checksums, so that the gzip's own CRC and length have to do. */
export const archive: TradeArchive = {
  path: (symbol, date) => `/trading/${symbol}/${symbol}${date}.csv.gz`,
  begins: [0],
  read: readBybit,
}

/**
 * Bybit's daily files: `timestamp,symbol,side,size,price,tickDirection,trdMatchID,grossValue,homeNotional,
 * foreignNotional`. The time is in seconds with decimals, the side the taker's ("side: side of taker"), the size base units
 * on linear contracts; `trdMatchID` is the stream's trade id. Block trades are not told apart.
 */
export function readBybit(columns: readonly string[]): VenueTrade | ArchiveRefusal {
  if (columns.length < 7) return 'bad-columns'
  const [timestamp, symbol, side, size, price, , uuid] = columns
  if (timestamp === 'timestamp') return 'header'
  const time = microsOfSeconds(timestamp)
  const id = uuid === undefined ? undefined : idOf(uuid)
  if (time === undefined || id === undefined || symbol === undefined) return 'bad-field'
  if (side !== 'Buy' && side !== 'Sell') return 'bad-field'
  return archivedTrade({ symbol, id: String(id), count: 1, price, size, taker: side === 'Buy' ? 'buy' : 'sell', time })
}

function microsOfSeconds(text: string | undefined): Micros | undefined {
  const [, seconds, decimals = ''] = /^(\d{10})(?:\.(\d+))?$/.exec(text ?? '') ?? []
  return seconds === undefined ? undefined : Number(seconds) * 1_000_000 + Number(decimals.slice(0, 6).padEnd(6, '0'))
}
