import type { FrameEvent } from '../events.ts'
import {
  badField,
  countOf,
  DECIMAL,
  DIGITS,
  fromObject,
  isCount,
  isDecimal,
  isRecord,
  isSymbol,
  microsOf,
  NAME,
  offBook,
  pageRow,
  tradeEvent,
  unknownEvent,
} from '../fields.ts'
import { FrameReader } from '../frame-reader.ts'
import { type Backfill, type RestCall, tradeStreamOf } from '../venue.ts'
import { listing } from './listing.ts'
import { answerOf, readReply, subscribe, unsubscribe } from './messages.ts'

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
const backfill: Backfill = {
  direction: 'newest',
  pageSize: PAGE_SIZE,
  page: newest,
  newest,
  parse: (symbol, body) => answerOf(body, (row) => pageRow(readExecution(symbol, row))),
}

function newest(symbol: string): RestCall {
  return {
    path: `/v5/market/recent-trade?category=linear&symbol=${encodeURIComponent(symbol)}&limit=${PAGE_SIZE}`,
    cost: 1,
  }
}

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
  subscribe,
  unsubscribe,
  parse,
  listing,
  backfill,
})
