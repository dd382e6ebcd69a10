import { idOf } from '../../processors/feeds/venues/bybit/trades.ts'
import type { VenueTrade } from '../../processors/feeds/venues/events.ts'
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
export type Refusal = 'bad-columns' | 'bad-field' | 'unknown-exchange' | 'header'

export type Layout = (columns: readonly string[]) => ArchiveTrade | Refusal

/** What a file's name says where its rows do not. */
export interface FileTold {
  /** The venue's own symbol. */
  readonly symbol: string
  readonly market: Market
}

export const layoutNames = ['binance', 'bybit', 'tardis'] as const
export type LayoutName = (typeof layoutNames)[number]

/** The reader of a file's lines. Binance's files name neither symbol nor market, so `told` does. */
export function layoutOf(name: LayoutName, told: FileTold): Layout {
  switch (name) {
    case 'binance':
      return (columns) => readBinance(columns, told)
    case 'bybit':
      return (columns) => readBybit(columns, told.market)
    case 'tardis':
      return readTardis
  }
}

/**
 * Binance's daily files, by their number of columns and where the flag stands (README of its public data):
 * aggTrades `agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker[,is_best_match]`,
 * trades `id,price,qty,quote_qty,time,is_buyer_maker[,is_best_match]`. "is buyer maker" means that the taker sold. Times
 * are milliseconds; of spot files from 2025 on microseconds.
 */
function readBinance(columns: readonly string[], { symbol, market }: FileTold): ArchiveTrade | Refusal {
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
  return archived('binance', market, { symbol, id, count, price, size, taker: maker ? 'sell' : 'buy', time })
}

/**
 * Bybit's daily files: `timestamp,symbol,side,size,price,tickDirection,trdMatchID,grossValue,homeNotional,
 * foreignNotional`. The time is in seconds with decimals, the side the taker's, the size base units on linear contracts.
 */
function readBybit(columns: readonly string[], market: Market): ArchiveTrade | Refusal {
  if (columns.length < 7) return 'bad-columns'
  const [timestamp, symbol, side, size, price, , uuid] = columns
  if (timestamp === 'timestamp') return 'header'
  const time = microsOfSeconds(timestamp)
  const id = uuid === undefined ? undefined : idOf(uuid)
  if (time === undefined || id === undefined || symbol === undefined) return 'bad-field'
  if (side !== 'Buy' && side !== 'Sell') return 'bad-field'
  const taker = side === 'Buy' ? 'buy' : 'sell'
  return archived('bybit', market, { symbol, id: String(id), count: 1, price, size, taker, time })
}

/** tardis.dev's names of the markets that we know. */
const tardisMarkets: Readonly<Record<string, readonly [TradeVenueName, Market]>> = {
  'binance-futures': ['binance', 'perp'],
  binance: ['binance', 'spot'],
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
  const [exchange = '', symbol = '', timestamp, local, id, side, price, amount] = columns
  if (exchange === 'exchange') return 'header'
  const place = tardisMarkets[exchange]
  if (place === undefined) return 'unknown-exchange'
  const [venue, market] = place
  const time = microsOf(timestamp)
  const received = microsOf(local)
  if (time === undefined || received === undefined || id === undefined || (side !== 'buy' && side !== 'sell'))
    return 'bad-field'
  const number = venue === 'bybit' ? idOf(id) : Number(id)
  if (number === undefined) return 'bad-field'
  const trade = archived(venue, market, {
    symbol: symbol.toUpperCase(),
    id: String(number),
    count: 1,
    price,
    size: amount,
    taker: side,
    time,
  })
  return typeof trade === 'string' ? trade : { ...trade, received }
}

type Raw = Pick<VenueTrade, 'symbol' | 'count' | 'taker' | 'time'> &
  Readonly<Record<'id' | 'price' | 'size', string | undefined>>

function archived(venue: TradeVenueName, market: Market, raw: Raw): ArchiveTrade | Refusal {
  const { symbol, id, count, price, size, taker, time } = raw
  if (!isWhole(id) || !isDecimal(price) || !isDecimal(size) || count < 1) return 'bad-field'
  const trade = { symbol, id: Number(id), count, sequence: null, price, size, taker, time }
  return { venue, market, trade, received: time }
}

function isWhole(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,16}$/.test(text)
}

function isDecimal(text: string | undefined): text is string {
  return text !== undefined && /^\d+(?:\.\d+)?$/.test(text) && Number(text) > 0
}

function flagOf(text: string | undefined): boolean | undefined {
  const flag = text?.trim().toLowerCase()
  return flag === 'true' ? true : flag === 'false' ? false : undefined
}

/** Milliseconds (13 digits) or microseconds (16). */
function microsOf(text: string | undefined): Micros | undefined {
  if (text === undefined || !/^(?:\d{13}|\d{16})$/.test(text)) return undefined
  return text.length === 13 ? Number(text) * 1000 : Number(text)
}

function microsOfSeconds(text: string | undefined): Micros | undefined {
  const [, seconds, decimals = ''] = /^(\d{10})(?:\.(\d+))?$/.exec(text ?? '') ?? []
  return seconds === undefined ? undefined : Number(seconds) * 1_000_000 + Number(decimals.slice(0, 6).padEnd(6, '0'))
}
