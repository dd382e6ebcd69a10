import { readBinance } from '../../processors/feeds/venues/binance/trades.ts'
import { idOf, readBybit } from '../../processors/feeds/venues/bybit/trades.ts'
import { readOkx } from '../../processors/feeds/venues/okx/trades.ts'
import { archivedTrade, archivedMicros } from '../../processors/feeds/venues/fields.ts'
import type { VenueTrade } from '../../processors/feeds/venues/events.ts'
import type { ArchiveRefusal } from '../../processors/feeds/venues/venue.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Market, TradeVenueName } from '../../schemas/venues.ts'

/** One row of a public trade archive, with the market that it is of. */
export interface ArchiveTrade {
  readonly venue: TradeVenueName
  readonly market: Market
  readonly trade: VenueTrade
  /** When the archive's maker had it; of the venues' own files the trade's time. */
  readonly received: Micros
}

/** Why a line is no trade. */
export type Refusal = ArchiveRefusal | 'unknown-exchange'

export type Layout = (columns: readonly string[]) => ArchiveTrade | Refusal

/** What a file's name says where its rows do not. */
export interface FileTold {
  /** The venue's own symbol. */
  readonly symbol: string
  readonly market: Market
}

export const layoutNames = ['binance', 'bybit', 'okx', 'tardis'] as const
export type LayoutName = (typeof layoutNames)[number]

/** The venues' own files, each read as its feed reads it. */
const venues = { binance: readBinance, bybit: readBybit, okx: readOkx } as const

/** The reader of a file's lines. Files name neither symbol nor market, so `told` does. */
export function layoutOf(name: LayoutName, { symbol, market }: FileTold): Layout {
  if (name === 'tardis') return readTardis
  const read = venues[name]
  const venue = name === 'binance' && market === 'spot' ? 'binance_spot' : name
  return (columns) => {
    const trade = read(columns, symbol)
    return typeof trade === 'string' ? trade : { venue, market, trade, received: trade.time }
  }
}

/** tardis.dev's names of the markets that we know. */
const tardisMarkets: Readonly<Record<string, readonly [TradeVenueName, Market]>> = {
  'binance-futures': ['binance', 'perp'],
  binance: ['binance_spot', 'spot'],
  bybit: ['bybit', 'perp'],
  'bybit-spot': ['bybit', 'spot'],
  'okex-swap': ['okx', 'perp'],
  okex: ['okx', 'spot'],
  coinbase: ['coinbase', 'spot'],
}

/**
 * tardis.dev's trades: `exchange,symbol,timestamp,local_timestamp,id,side,price,amount`, times in microseconds, the side
 * the taker's, the amount in the venue's own unit (contracts on OKX).
 */
function readTardis(columns: readonly string[]): ArchiveTrade | Refusal {
  if (columns.length !== 8) return 'bad-columns'
  const [exchange = '', symbol = '', timestamp, local, id, side, price, size] = columns
  if (exchange === 'exchange') return 'header'
  const tardisMarket = tardisMarkets[exchange]
  if (tardisMarket === undefined) return 'unknown-exchange'
  const [venue, market] = tardisMarket
  const time = archivedMicros(timestamp)
  const received = archivedMicros(local)
  if (time === undefined || received === undefined || id === undefined || (side !== 'buy' && side !== 'sell'))
    return 'bad-field'
  const number = venue === 'bybit' ? idOf(id) : Number(id)
  if (number === undefined) return 'bad-field'
  const fields = { symbol: symbol.toUpperCase(), id: String(number), count: 1, price, size, taker: side, time } as const
  const trade = archivedTrade(fields)
  return typeof trade === 'string' ? trade : { venue, market, trade, received }
}
