import type { VenueTrade } from '../events.ts'
import { archivedTrade, isWhole, microsOf } from '../archive-fields.ts'
import type { ArchiveRefusal, TradeArchive } from '../venue.ts'

/**
 * Binance's public data, aggregated trades of a day. "Each zip file has a .CHECKSUM file together in the same folder to
 * verify data integrity." The aggregates are those of the stream, ids included.
 */
export function aggTradesOf(folder: 'futures/um' | 'spot'): TradeArchive {
  return {
    path: (symbol, date) => `/data/${folder}/daily/aggTrades/${symbol}/${symbol}-aggTrades-${date}.zip`,
    checksumOf: (path) => `${path}.CHECKSUM`,
    begins: [0],
    read: readBinance,
  }
}

/**
 * Binance's daily files, by their number of columns and where the flag stands (README of its public data):
 * aggTrades `agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker[,is_best_match]`,
 * trades `id,price,qty,quote_qty,time,is_buyer_maker[,is_best_match]`. "Was the buyer the maker" means that the taker sold.
 * Times are milliseconds; "the timestamp for SPOT Data from January 1st 2025 onwards will be in microseconds".
 */
export function readBinance(columns: readonly string[], symbol: string): VenueTrade | ArchiveRefusal {
  if (columns.length < 6 || columns.length > 8) return 'bad-columns'
  if (!/^\d/.test(columns[0] ?? '')) return 'header'
  const isAggregate = flagOf(columns[5]) === undefined
  const [id, price, size] = columns
  const first = isAggregate ? columns[3] : '0'
  const last = isAggregate ? columns[4] : '0'
  const maker = flagOf(isAggregate ? columns[6] : columns[5])
  const time = microsOf(isAggregate ? columns[5] : columns[4])
  if (maker === undefined || time === undefined || !isWhole(first) || !isWhole(last)) return 'bad-field'
  const count = Number(last) - Number(first) + 1
  return archivedTrade({ symbol, id, count, price, size, taker: maker ? 'sell' : 'buy', time })
}

function flagOf(text: string | undefined): boolean | undefined {
  const flag = text?.trim().toLowerCase()
  return flag === 'true' ? true : flag === 'false' ? false : undefined
}
