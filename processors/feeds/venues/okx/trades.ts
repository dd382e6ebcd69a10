import { productOf } from '../decimal.ts'
import {
  isDecimal,
  isRecord,
  isSymbol,
  archivedTrade,
  archivedMicros,
  badField,
  countOf,
  DECIMAL,
  DIGITS,
  fromObject,
  isCount,
  merged,
  microsOf,
  NAME,
  pageRow,
  tradeEvent,
  unknownEvent,
} from '../fields.ts'
import {
  type Listed,
  type ListedPrice,
  type Listing,
  type RestAnswer,
  type ArchiveRefusal,
  type TradeArchive,
  type Backfill,
  tradeStreamOf,
} from '../venue.ts'
import type { VenueTrade, FrameEvent } from '../events.ts'
import { FrameReader } from '../frame-reader.ts'
import { answerOf, readReply, requestsFor } from './messages.ts'

/** `sz` counts contracts of `ctVal x ctMult` coins; the price is for one coin. */
function listed(symbol: string, base: string, sizeFactor: number, tick: number | null, live: boolean): Listed {
  return { symbol, base, quote: 'USDT', settle: 'USDT', sizeFactor, priceFactor: 1, tick, live }
}

/** Coins per contract of the known assets as they stood in November 2026; the list decides at first contact. */
const contracts: Readonly<Record<string, number>> = {
  BTC: 0.01,
  ETH: 0.1,
  SOL: 1,
  XRP: 100,
  BNB: 0.01,
  DOGE: 1000,
  LINK: 1,
  ARB: 10,
  ADA: 100,
  AVAX: 1,
  DOT: 1,
  POL: 10,
  UNI: 1,
  APT: 1,
  OP: 1,
  SUI: 1,
  NEAR: 10,
  ATOM: 1,
  PEPE: 10_000_000,
  SHIB: 1_000_000,
  GRAM: 1,
  TRX: 1000,
  LTC: 1,
}

const seed: readonly Listed[] = Object.entries(contracts).map(([base, size]) =>
  listed(`${base}-USDT-SWAP`, base, size, null, true),
)

/** For tools without a venue: only the seeds, since a contract's size does not follow from its symbol. */
function fromSymbol(symbol: string): Listed | undefined {
  return seed.find((row) => row.symbol === symbol)
}

export const SWAP_LIST = '/api/v5/public/instruments?instType=SWAP'

/** Linear USDT swaps of `instruments`. */
const listing: Listing = {
  first: { path: SWAP_LIST, cost: 2 },
  parse: (body) => answerOf(body, (row) => readInstrument(row) ?? []),
  seed,
  fromSymbol,
  prices: { first: { path: '/api/v5/market/tickers?instType=SWAP', cost: 2 }, parse: readPrices },
}

/** `instCategory` 1 is crypto; shares, metals and the like have others. Answers before 2025 do not have the field. */
function readInstrument(row: unknown): Listed | undefined {
  if (!isRecord(row) || row['instType'] !== 'SWAP' || row['ctType'] !== 'linear') return undefined
  const { instId, settleCcy, ctValCcy, ctVal, ctMult, state, tickSz, instCategory = '1' } = row
  if (settleCcy !== 'USDT' || instCategory !== '1' || !isSymbol(instId)) return undefined
  // `baseCcy` is empty for swaps: the contract's value is in the base coin.
  if (!isSymbol(ctValCcy) || !isDecimal(ctVal) || !isDecimal(ctMult)) return undefined
  return listed(instId, ctValCcy, productOf(ctVal, ctMult), isDecimal(tickSz) ? Number(tickSz) : null, state === 'live')
}

export function readPrices(body: unknown): RestAnswer<ListedPrice> {
  return answerOf(body, (row) => readPrice(row) ?? [])
}

function readPrice(row: unknown): ListedPrice | undefined {
  if (!isRecord(row) || !isSymbol(row['instId']) || !isDecimal(row['last'])) return undefined
  return { symbol: row['instId'], price: Number(row['last']) }
}

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
  const time = archivedMicros(created)
  if (time === undefined || (taker !== 'buy' && taker !== 'sell') || (!isOld && columns[0] !== symbol))
    return 'bad-field'
  return archivedTrade({ symbol, id, count: 1, price, size, taker, time })
}

/**
 * Reads one frame of the business stream: `trades-all`, one record per single fill, or of `trades` where its record is
 * one fill too.
 *
 * Source: v5, "All trades channel". Frames in the field order that the venue writes are read by a pattern, all others by
 * way of JSON.
 */
function parse(frame: string): FrameEvent[] {
  // The answer to the text frame `ping` is the text frame `pong`, which is no JSON.
  if (frame === 'pong') return [{ kind: 'pong' }]
  return readRows(frame) ?? fromObject(frame, readMessage)
}

const rowPattern =
  `\\{"instId":"${NAME}","tradeId":"${DIGITS}","px":"${DECIMAL}","sz":"${DECIMAL}","side":"(?:buy|sell)"` +
  `(?:,"source":"\\d")?,"ts":"${DIGITS}"(?:,"count":"${DIGITS}")?(?:,"source":"\\d")?(?:,"seqId":${DIGITS})?\\}`
const pattern = new RegExp(
  `^\\{"arg":\\{"channel":"trades(?:-all)?","instId":"${NAME}"\\},"data":\\[${rowPattern}(?:,${rowPattern})*\\]\\}$`,
)
const reader = new FrameReader()

function readRows(frame: string): FrameEvent[] | undefined {
  if (!reader.takes(pattern, frame)) return undefined
  const events: FrameEvent[] = []
  reader.passText('{"arg":{"channel":"')
  reader.passText('","instId":"')
  reader.pass('"},"data":')
  // Before each row stands `[` or `,`.
  do events.push(readNext())
  while (reader.sees(','))
  return events
}

function readNext(): FrameEvent {
  const symbol = reader.text('[{"instId":"')
  const id = reader.number('","tradeId":"')
  const price = reader.text('","px":"')
  const size = reader.text('","sz":"')
  const takerBuys = reader.either('","side":"', 'buy', 'sell')
  passSource()
  const ms = reader.number('","ts":"')
  const count = reader.sees('","count"') ? reader.text('","count":"') : '1'
  passSource()
  reader.pass('"')
  const sequence = reader.sees(',') ? reader.number(',"seqId":') : null
  reader.pass('}')
  return trade(symbol, id, count, sequence, price, size, takerBuys, ms)
}

function passSource(): void {
  if (reader.sees('","source"')) reader.passText('","source":"')
}

function readMessage(message: Record<string, unknown>): FrameEvent[] {
  const { arg, data, event } = message
  if (event !== undefined) return readReply(message)
  const channel = isRecord(arg) ? arg['channel'] : undefined
  if (channel !== 'trades-all' && channel !== 'trades') return [unknownEvent]
  return Array.isArray(data) ? data.map(readRow) : [badField]
}

/** Also the row of a REST page: the same fields. */
function readRow(row: unknown): FrameEvent {
  if (!isRecord(row)) return badField
  const { instId, tradeId, px, sz, side, ts, count = '1', seqId = null } = row
  const id = countOf(tradeId)
  const ms = countOf(ts)
  if (!isSymbol(instId) || id === undefined || ms === undefined) return badField
  if (!isDecimal(px) || !isDecimal(sz) || (side !== 'buy' && side !== 'sell')) return badField
  if (countOf(count) === undefined || (seqId !== null && !isCount(seqId))) return badField
  return trade(instId, id, count, seqId, px, sz, side === 'buy', ms)
}

/**
 * `side` is the "trade side of taker"; `sz` of a swap counts contracts: the instrument's size factor makes them coins.
 * `source` 1 (retail price improvement) is taker flow like 0.
 */
function trade(
  symbol: string,
  id: number,
  count: unknown,
  sequence: number | null,
  price: string,
  size: string,
  takerBuys: boolean,
  ms: number,
): FrameEvent {
  const event = tradeEvent(symbol, id, 1, sequence, price, size, takerBuys ? 'buy' : 'sell', microsOf(ms))
  if (event.kind !== 'trade' || count === '1') return event
  // "count: the count of trades aggregated", of the channel `trades`; `tradeId` is the last of them.
  return countOf(count) === undefined ? badField : merged
}

/** "The maximum is 100." */
const PAGE_SIZE = 100

/**
 * "type=1: tradeId"; "after: records earlier than the requested id", newest first. `before` gives the newest page, not
 * the one next to the id, so we page backwards. Three months deep.
 */
const backfill: Backfill = {
  direction: 'backward',
  pageSize: PAGE_SIZE,
  page: (symbol, _from, to) => ({
    path: `/api/v5/market/history-trades?instId=${encodeURIComponent(symbol)}&type=1&after=${to + 1}&limit=${PAGE_SIZE}`,
    // "20 requests per 2 seconds".
    cost: 2,
  }),
  newest: (symbol) => ({
    path: `/api/v5/market/history-trades?instId=${encodeURIComponent(symbol)}&limit=${PAGE_SIZE}`,
    cost: 2,
  }),
  parse: (symbol, body) => answerOf(body, (row) => pageRow(symbol, readRow(row))),
}

/** OKX USDT swaps, all trades. Evidence: README.md beside this file. */
export const trades = tradeStreamOf('okx', {
  // `trades-all` is one record per fill, so trade ids go up by one.
  channels: ['trades-all', 'trades'],
  socket: {
    // `trades-all` is served on the business path only.
    path: '/ws/v5/business',
    copies: 1,
    // "If there's no data for N seconds (less than 30), send the string 'ping'."
    ping: { everyMs: 20_000, frame: 'ping', onlyWhenQuiet: true },
    silentAfterMs: 30_000,
    // "The total length of multiple channels cannot exceed 64 KB": 200 of about 60 bytes.
    maxSymbolsPerConnection: 200,
    // 480 subscribe and unsubscribe requests an hour per connection: few, so each holds many symbols.
    minFrameSpacingMs: 500,
    // "3 requests per second" to connect, per address.
    minConnectSpacingMs: 500,
  },
  request: requestsFor('trades-all'),
  parse,
  listing,
  backfill,
})
