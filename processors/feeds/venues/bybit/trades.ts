import type { Micros } from '../../../../schemas/records.ts'
import {
  isDecimal,
  isRecord,
  isSymbol,
  scaledMarket,
  archivedTrade,
  badField,
  countOf,
  DECIMAL,
  DIGITS,
  fromObject,
  isCount,
  microsOf,
  NAME,
  offBook,
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
  newestOnly,
  tradeStreamOf,
} from '../venue.ts'
import type { VenueTrade, FrameEvent } from '../events.ts'
import { FrameReader } from '../frame-reader.ts'
import { answerOf, readReply, requestsFor } from './messages.ts'

/** For tools without a venue: live and without a tick. */
function fromSymbol(symbol: string): Listed | undefined {
  const ticker = /^([^-]+)USDT$/.exec(symbol)?.[1]
  return ticker === undefined ? undefined : scaledMarket(symbol, ticker, null, true)
}

const tickers =
  'BTC ETH SOL XRP BNB DOGE LINK ARB ADA AVAX DOT POL UNI APT OP SUI NEAR ATOM 1000PEPE SHIB1000 GRAM TRX LTC'

/** The known assets as they stood in November 2026: MATIC trades as POL, TON as GRAM. */
const seed: readonly Listed[] = tickers.split(' ').map((ticker) => scaledMarket(`${ticker}USDT`, ticker, null, true))

export const LINEAR_LIST = '/v5/market/instruments-info?category=linear&limit=1000'

/** USDT perpetuals of `instruments-info`. 800 symbols in August 2026: one page of 1000, further ones by cursor. */
const listing: Listing = {
  first: { path: LINEAR_LIST, cost: 1 },
  parse: (body) => withNext(answerOf(body, readSymbol), body, LINEAR_LIST),
  seed,
  fromSymbol,
  prices: {
    first: { path: '/v5/market/tickers?category=linear', cost: 1 },
    parse: (body) => answerOf(body, readPrice),
  },
}

/** An answer with the call for the page that follows in a list of `path`. */
export function withNext<Row>(answer: RestAnswer<Row>, body: unknown, path: string): RestAnswer<Row> {
  const result = isRecord(body) ? body['result'] : undefined
  const cursor = isRecord(result) ? result['nextPageCursor'] : undefined
  if (answer.kind !== 'rows' || typeof cursor !== 'string' || cursor === '') return answer
  return { ...answer, next: { path: `${path}&cursor=${encodeURIComponent(cursor)}`, cost: 1 } }
}

/** What `symbolType` names beside coins: shares, currencies, metals and oil. */
const notCrypto: ReadonlySet<unknown> = new Set(['stock', 'forex', 'commodity'])

function readSymbol(row: unknown): Listed | undefined {
  if (!isRecord(row) || row['contractType'] !== 'LinearPerpetual' || notCrypto.has(row['symbolType'])) return undefined
  const { symbol, status, baseCoin, quoteCoin, settleCoin, isPreListing, priceFilter } = row
  if (!isSymbol(symbol) || !isSymbol(baseCoin) || quoteCoin !== 'USDT' || settleCoin !== 'USDT') return undefined
  const tick = isRecord(priceFilter) && isDecimal(priceFilter['tickSize']) ? Number(priceFilter['tickSize']) : null
  return scaledMarket(symbol, baseCoin, tick, status === 'Trading' && isPreListing !== true)
}

function readPrice(row: unknown): ListedPrice | undefined {
  if (!isRecord(row) || !isSymbol(row['symbol']) || !isDecimal(row['lastPrice'])) return undefined
  return { symbol: row['symbol'], price: Number(row['lastPrice']) }
}

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

/**
 * A trade id of linear contracts, a UUID, as a number: its first 52 random bits, which are its first 13 hexadecimal
 * digits without the version (the 13th). Two trades of one 10 s bucket share it once in millions of years.
 */
export function idOf(uuid: string): number | undefined {
  return idAt(uuid, 0, uuid.length)
}

/** The same of a part of a text. */
function idAt(text: string, from: number, to: number): number | undefined {
  if (to - from !== UUID_LENGTH) return undefined
  if (text.charCodeAt(from + 8) !== DASH || text.charCodeAt(from + 13) !== DASH) return undefined
  const high = hexadecimal(text, from, from + 7)
  const middle = hexadecimal(text, from + 9, from + 13)
  const low = (hexadecimal(text, from + 7, from + 8) << 20) | (middle << 4) | hexadecimal(text, from + 15, from + 16)
  return high < 0 || low < 0 ? undefined : high * 0x1000000 + low
}

const UUID_LENGTH = 36
const DASH = 45

/** The value of at most seven hexadecimal digits in small letters; negative where one of them is none. */
function hexadecimal(text: string, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at++) value = (value << 4) | (digits[text.charCodeAt(at)] ?? -1)
  return value
}

/** By the code of a character; -1 where it is no digit. */
const digits = Int8Array.from({ length: 128 }, (_, code) => '0123456789abcdef'.indexOf(String.fromCharCode(code)))

/**
 * Reads one frame of the linear stream; a `publicTrade` message holds up to 1024 trades, each judged alone.
 *
 * Source: v5, "Trade". Frames in the field order that the venue writes are read by a pattern, all others by way of JSON.
 */
function parse(frame: string): FrameEvent[] {
  return readRows(frame) ?? fromObject(frame, readMessage)
}

const rowPattern =
  `\\{"T":${DIGITS},"s":"${NAME}","S":"(?:Buy|Sell)","v":"${DECIMAL}","p":"${DECIMAL}","L":"\\w+",` +
  `"i":"${NAME}","BT":(?:true|false)(?:,"RPI":(?:true|false))?(?:,"seq":${DIGITS})?\\}`
const pattern = new RegExp(
  `^\\{"topic":"publicTrade\\.${NAME}","type":"snapshot","ts":${DIGITS},"data":\\[${rowPattern}(?:,${rowPattern})*\\]\\}$`,
)
const reader = new FrameReader()

function readRows(frame: string): FrameEvent[] | undefined {
  if (!reader.takes(pattern, frame)) return undefined
  const events: FrameEvent[] = []
  reader.passText('{"topic":"')
  reader.number('","type":"snapshot","ts":')
  reader.pass(',"data":')
  // Before each row stands `[` or `,`.
  do events.push(readNext())
  while (reader.sees(','))
  return events
}

function readNext(): FrameEvent {
  const ms = reader.number('[{"T":')
  const symbol = reader.text(',"s":"')
  const takerBuys = reader.either('","S":"', 'Buy', 'Sell')
  const size = reader.text('","v":"')
  const price = reader.text('","p":"')
  reader.passText('","L":"')
  const id = reader.read('","i":"', idAt)
  const isBlock = reader.either('","BT":', 'true', 'false')
  if (reader.sees(',"RPI"')) reader.either(',"RPI":', 'true', 'false')
  const sequence = reader.sees(',') ? reader.number(',"seq":') : null
  reader.pass('}')
  return trade(ms, symbol, takerBuys, size, price, id, isBlock, sequence)
}

function readMessage(message: Record<string, unknown>): FrameEvent[] {
  const { topic, data, op } = message
  if (op !== undefined) return [readReply(message)]
  if (typeof topic !== 'string' || !topic.startsWith('publicTrade.')) return [unknownEvent]
  return Array.isArray(data) ? data.map(readRow) : [badField]
}

function readRow(row: unknown): FrameEvent {
  if (!isRecord(row)) return badField
  const { T, s, S, v, p, i, BT, seq } = row
  if (!isCount(T) || !isSymbol(s) || !isDecimal(v) || !isDecimal(p) || typeof i !== 'string') return badField
  if ((S !== 'Buy' && S !== 'Sell') || typeof BT !== 'boolean') return badField
  if (seq !== undefined && !isCount(seq)) return badField
  return trade(T, s, S === 'Buy', v, p, idOf(i), BT, seq ?? null)
}

/**
 * `S` is the "side of taker", `v` base units on linear contracts. `seq` orders across topics, but is neither unique nor
 * contiguous. `RPI` trades (retail price improvement) are taker flow like others.
 */
function trade(
  ms: number,
  symbol: string,
  takerBuys: boolean,
  size: string,
  price: string,
  id: number | undefined,
  isBlock: boolean,
  sequence: number | null,
): FrameEvent {
  if (id === undefined) return badField
  const event = tradeEvent(symbol, id, 1, sequence, price, size, takerBuys ? 'buy' : 'sell', microsOf(ms))
  // "BT: whether it is a block trade": agreed beside the book.
  return isBlock && event.kind === 'trade' ? offBook : event
}

/** "category linear: [1,1000]"; newest first, and there is no way to page on. */
const PAGE_SIZE = 1000

/** `execId` is the stream's `i`, so a page that reaches the last known trade closes a hole exactly. */
const backfill = newestOnly(
  PAGE_SIZE,
  (symbol) => ({
    path: `/v5/market/recent-trade?category=linear&symbol=${encodeURIComponent(symbol)}&limit=${PAGE_SIZE}`,
    cost: 1,
  }),
  (symbol, body) => answerOf(body, (row) => pageRow(symbol, readExecution(symbol, row))),
)

function readExecution(asked: string, row: unknown): FrameEvent {
  if (!isRecord(row)) return badField
  const { execId, symbol, price, size, side, time, isBlockTrade, seq } = row
  const ms = countOf(time)
  const id = typeof execId === 'string' ? idOf(execId) : undefined
  const sequence = seq === undefined ? null : countOf(seq)
  if (symbol !== asked || id === undefined || ms === undefined || sequence === undefined) return badField
  if (!isDecimal(price) || !isDecimal(size) || (side !== 'Buy' && side !== 'Sell')) return badField
  if (typeof isBlockTrade !== 'boolean') return badField
  const event = tradeEvent(asked, id, 1, sequence, price, size, side === 'Buy' ? 'buy' : 'sell', microsOf(ms))
  return isBlockTrade && event.kind === 'trade' ? offBook : event
}

/** Bybit linear USDT perpetuals, public trades. Evidence: README.md beside this file. */
export const trades = tradeStreamOf('bybit', {
  // Ids are UUIDs and `seq` is not contiguous: a hole does not show in the stream.
  channels: ['publicTrade'],
  socket: {
    path: '/v5/public/linear',
    // REST reaches back 1000 trades only, so what one connection loses the other must have.
    copies: 2,
    // "To avoid network or program issues, we recommend that you send the ping heartbeat packet every 20 seconds."
    ping: { everyMs: 20_000, frame: '{"req_id":"ping","op":"ping"}', onlyWhenQuiet: false },
    silentAfterMs: 45_000,
    // "args" may hold 21,000 characters per connection; "publicTrade.10000000EXAMPLEUSDT" has 32.
    maxSymbolsPerConnection: 200,
    minFrameSpacingMs: 100,
    // 500 connections in 5 minutes per address.
    minConnectSpacingMs: 1_000,
  },
  request: requestsFor('publicTrade'),
  parse,
  listing,
  backfill,
})
