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
} from '../fields.ts'
import type { FrameEvent } from '../venue.ts'
import { Walk } from '../walk.ts'
import { idAt, idOf } from './id.ts'
import { readReply } from './requests.ts'

/**
 * Reads one frame of the linear stream; a `publicTrade` message holds up to 1024 trades, each judged alone.
 *
 * Source: v5, "Trade". Frames in the field order that the venue writes are read by a pattern, all others by way of JSON.
 */
export function parse(frame: string): FrameEvent[] {
  return readRows(frame) ?? readJson(frame)
}

const rowPattern =
  `\\{"T":${DIGITS},"s":"${NAME}","S":"(?:Buy|Sell)","v":"${DECIMAL}","p":"${DECIMAL}","L":"\\w+",` +
  `"i":"${NAME}","BT":(?:true|false)(?:,"RPI":(?:true|false))?(?:,"seq":${DIGITS})?\\}`
const pattern = new RegExp(
  `^\\{"topic":"publicTrade\\.${NAME}","type":"snapshot","ts":${DIGITS},"data":\\[${rowPattern}(?:,${rowPattern})*\\]\\}$`,
)
const walk = new Walk()

function readRows(frame: string): FrameEvent[] | undefined {
  if (!walk.takes(pattern, frame)) return undefined
  const events: FrameEvent[] = []
  walk.passText('{"topic":"')
  walk.number('","type":"snapshot","ts":')
  walk.pass(',"data":')
  // Before each row stands `[` or `,`.
  do events.push(readNext())
  while (walk.sees(','))
  return events
}

function readNext(): FrameEvent {
  const ms = walk.number('[{"T":')
  const symbol = walk.text(',"s":"')
  const takerBuys = walk.either('","S":"', 'Buy', 'Sell')
  const size = walk.text('","v":"')
  const price = walk.text('","p":"')
  walk.passText('","L":"')
  const id = walk.read('","i":"', idAt)
  const isBlock = walk.either('","BT":', 'true', 'false')
  if (walk.sees(',"RPI"')) walk.either(',"RPI":', 'true', 'false')
  const sequence = walk.sees(',') ? walk.number(',"seq":') : null
  walk.pass('}')
  return trade(ms, symbol, takerBuys, size, price, id, isBlock, sequence)
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
