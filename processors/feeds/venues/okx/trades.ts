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
  merged,
  microsOf,
  NAME,
  pageRow,
  tradeEvent,
  unknownEvent,
} from '../fields.ts'
import { FrameReader } from '../frame-reader.ts'
import { type Backfill, tradeStreamOf } from '../venue.ts'
import { listing } from './listing.ts'
import { answerOf, readReply, subscribe, unsubscribe } from './messages.ts'

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
  parse: (symbol, body) => answerOf(body, (row) => pageRow(ofSymbol(symbol, readRow(row)))),
}

function ofSymbol(symbol: string, event: FrameEvent): FrameEvent {
  return event.kind === 'trade' && event.trade.symbol !== symbol ? badField : event
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
  subscribe,
  unsubscribe,
  parse,
  listing,
  backfill,
})
