import {
  badField,
  DECIMAL,
  DIGITS,
  isCount,
  isDecimal,
  isRecord,
  isSymbol,
  jsonOf,
  microsOf,
  NAME,
  notAnObject,
  notJson,
  offBook,
  tradeEvent,
  unknownEvent,
  valueOf,
} from '../fields.ts'
import type { FrameEvent } from '../venue.ts'
import { idOf } from './id.ts'
import { readReply } from './requests.ts'

/**
 * Reads one frame of the linear stream; a `publicTrade` message holds up to 1024 trades, each judged alone.
 *
 * Source: v5, "Trade". Frames in the field order that the venue writes are read by patterns, all others by way of JSON.
 */
export function parse(frame: string): FrameEvent[] {
  return readRows(frame) ?? readJson(frame)
}

const head = new RegExp(`\\{"topic":"publicTrade\\.${NAME}","type":"snapshot","ts":${DIGITS},"data":\\[`, 'y')
const row = new RegExp(
  `\\{"T":(${DIGITS}),"s":"(${NAME})","S":"(?:(B)uy|Sell)","v":"(${DECIMAL})","p":"(${DECIMAL})","L":"[A-Za-z]+",` +
    `"i":"([--9a-f]+)","BT":(?:(t)rue|false)(?:,"RPI":(?:true|false))?(?:,"seq":(${DIGITS}))?\\}(?:(,)|\\]\\}$)`,
  'y',
)

function readRows(frame: string): FrameEvent[] | undefined {
  head.lastIndex = 0
  if (!head.test(frame)) return undefined
  const events: FrameEvent[] = []
  row.lastIndex = head.lastIndex
  for (;;) {
    const found = row.exec(frame)
    if (found === null) return undefined
    const [, T = '', s = '', buy, v = '', p = '', i = '', block, seq, more] = found
    const sequence = seq === undefined ? null : valueOf(seq)
    events.push(trade(valueOf(T), s, buy !== undefined, v, p, i, block !== undefined, sequence))
    if (more === undefined) return events
  }
}

function readJson(frame: string): FrameEvent[] {
  const message = jsonOf(frame)
  if (message === undefined) return [notJson]
  if (!isRecord(message)) return [notAnObject]
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
  return trade(T, s, S === 'Buy', v, p, i, BT, seq ?? null)
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
  uuid: string,
  isBlock: boolean,
  sequence: number | null,
): FrameEvent {
  const id = idOf(uuid)
  if (id === undefined) return badField
  const event = tradeEvent(symbol, id, 1, sequence, price, size, takerBuys ? 'buy' : 'sell', microsOf(ms))
  // "BT: whether it is a block trade": agreed beside the book.
  return isBlock && event.kind === 'trade' ? offBook : event
}
