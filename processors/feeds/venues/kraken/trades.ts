import type { FrameEvent } from '../events.ts'
import { plain } from '../fact-fields.ts'
import {
  badField,
  isCount,
  isDecimal,
  isRecord,
  isSymbol,
  microsOfIso,
  microsOfSeconds,
  pageRow,
  tradeEvent,
} from '../fields.ts'
import { type Backfill, tradeStreamOf } from '../venue.ts'
import { listing } from './listing.ts'
import { pairOf, refusal, resultOf } from './market.ts'
import { parserOf, tradeRequests } from './messages.ts'

/**
 * Reads one frame of the `trade` channel. A snapshot, which is not asked for, is of trades before the subscription: it
 * says how far the ids have come.
 *
 * Source: WebSocket v2, "Trades": "side: side of the taker order", "qty: size of the trade", "trade_id: the trade
 * identifier is a sequence number, unique per book". Numbers are JSON numbers.
 */
const parse = parserOf('trade', (data, type) => {
  const events = data.map(readRow)
  return type === 'snapshot' ? events.map(asProgress) : events
})

function asProgress(event: FrameEvent): FrameEvent {
  return event.kind === 'trade' ? { kind: 'heartbeat', symbol: event.trade.symbol, lastId: event.trade.id } : event
}

function readRow(row: unknown): FrameEvent {
  if (!isRecord(row)) return badField
  const { symbol, side, trade_id, timestamp } = row
  const [price, size] = [plain(row['price']), plain(row['qty'])]
  if (!isSymbol(symbol) || !isCount(trade_id) || typeof timestamp !== 'string') return badField
  if (!isDecimal(price) || !isDecimal(size) || (side !== 'buy' && side !== 'sell')) return badField
  return tradeEvent(symbol, trade_id, 1, null, price, size, side, microsOfIso(timestamp))
}

/** "count: return specific number of trades, up to 1000. Default 1000." */
const PAGE_SIZE = 1000

/**
 * "since: return trade data since given timestamp", in nanoseconds and exclusive, so one less is asked for; ascending.
 * The whole history is there, by time alone.
 */
const backfill: Backfill = {
  direction: 'since',
  pageSize: PAGE_SIZE,
  page: (symbol, _from, _to, since) => ({
    path: `/0/public/Trades?pair=${encodeURIComponent(pairOf(symbol))}&since=${since - 1}999&count=${PAGE_SIZE}`,
    cost: 1,
  }),
  newest: (symbol) => ({
    path: `/0/public/Trades?pair=${encodeURIComponent(pairOf(symbol))}&count=${PAGE_SIZE}`,
    cost: 1,
  }),
  parse(symbol, body) {
    const result = resultOf(body)
    if (result === undefined) return refusal(body)
    // Under the venue's own name of the pair, beside "last".
    const list = Object.values(result).find(Array.isArray) ?? []
    return { kind: 'rows', rows: list.map((row: unknown) => pageRow(readPageRow(symbol, row))) }
  },
}

/** "[price, volume, time, buy/sell, market/limit, miscellaneous, trade_id]", time in seconds. */
function readPageRow(symbol: string, row: unknown): FrameEvent {
  if (!Array.isArray(row)) return badField
  const [price, size, seconds, side, , , id]: unknown[] = row
  if (!isDecimal(price) || !isDecimal(size) || (side !== 'b' && side !== 's') || !isCount(id)) return badField
  return tradeEvent(symbol, id, 1, null, price, size, side === 'b' ? 'buy' : 'sell', microsOfSeconds(seconds))
}

/** Kraken spot in US dollars. Evidence: README.md beside this file. */
export const trades = tradeStreamOf('kraken', {
  // Trade ids go up by one per pair.
  channels: ['trade'],
  socket: {
    path: '/v2',
    copies: 1,
    // Without a request of ours in about a minute the venue closes the connection, whatever it sends.
    ping: { everyMs: 30_000, frame: '{"method":"ping"}', onlyWhenQuiet: false },
    // Heartbeats come about once a second.
    silentAfterMs: 10_000,
    // One request holds a hundred.
    maxSymbolsPerConnection: 100,
    minFrameSpacingMs: 250,
    // "No faster than every 5 seconds" after maintenance; 150 attempts in 10 minutes per address.
    minConnectSpacingMs: 5_000,
  },
  ...tradeRequests,
  parse,
  listing,
  backfill,
})
