import {
  badField,
  countOf,
  DECIMAL,
  DIGITS,
  isCount,
  isDecimal,
  isRecord,
  isSymbol,
  jsonOf,
  merged,
  microsOf,
  NAME,
  notAnObject,
  notJson,
  tradeEvent,
  unknownEvent,
} from '../fields.ts'
import type { FrameEvent } from '../venue.ts'
import { Walk } from '../walk.ts'
import { readReply } from './requests.ts'

/**
 * Reads one frame of the business stream: `trades-all`, one record per single fill, or of `trades` where its record is
 * one fill too.
 *
 * Source: v5, "All trades channel". Frames in the field order that the venue writes are read by a pattern, all others by
 * way of JSON.
 */
export function parse(frame: string): FrameEvent[] {
  // The answer to the text frame `ping` is the text frame `pong`, which is no JSON.
  if (frame === 'pong') return [{ kind: 'pong' }]
  return readRows(frame) ?? readJson(frame)
}

const rowPattern =
  `\\{"instId":"${NAME}","tradeId":"${DIGITS}","px":"${DECIMAL}","sz":"${DECIMAL}","side":"(?:buy|sell)"` +
  `(?:,"source":"\\d")?,"ts":"${DIGITS}"(?:,"count":"${DIGITS}")?(?:,"source":"\\d")?(?:,"seqId":${DIGITS})?\\}`
const pattern = new RegExp(
  `^\\{"arg":\\{"channel":"trades(?:-all)?","instId":"${NAME}"\\},"data":\\[${rowPattern}(?:,${rowPattern})*\\]\\}$`,
)
const walk = new Walk()

function readRows(frame: string): FrameEvent[] | undefined {
  if (!walk.takes(pattern, frame)) return undefined
  const events: FrameEvent[] = []
  walk.passText('{"arg":{"channel":"')
  walk.passText('","instId":"')
  walk.pass('"},"data":')
  // Before each row stands `[` or `,`.
  do events.push(readNext())
  while (walk.sees(','))
  return events
}

function readNext(): FrameEvent {
  const symbol = walk.text('[{"instId":"')
  const id = walk.number('","tradeId":"')
  const price = walk.text('","px":"')
  const size = walk.text('","sz":"')
  const takerBuys = walk.either('","side":"', 'buy', 'sell')
  passSource()
  const ms = walk.number('","ts":"')
  const count = walk.sees('","count"') ? walk.text('","count":"') : '1'
  passSource()
  walk.pass('"')
  const sequence = walk.sees(',') ? walk.number(',"seqId":') : null
  walk.pass('}')
  return trade(symbol, id, count, sequence, price, size, takerBuys, ms)
}

function passSource(): void {
  if (walk.sees('","source"')) walk.passText('","source":"')
}

function readJson(frame: string): FrameEvent[] {
  const message = jsonOf(frame)
  if (message === undefined) return [notJson]
  if (!isRecord(message)) return [notAnObject]
  const { arg, data, event } = message
  if (event !== undefined) return readReply(message)
  const channel = isRecord(arg) ? arg['channel'] : undefined
  if (channel !== 'trades-all' && channel !== 'trades') return [unknownEvent]
  return Array.isArray(data) ? data.map(readRow) : [badField]
}

/** Also the row of a REST page: the same fields. */
export function readRow(row: unknown): FrameEvent {
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
