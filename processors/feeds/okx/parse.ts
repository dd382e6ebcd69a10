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
  valueOf,
} from '../fields.ts'
import type { FrameEvent } from '../venue.ts'
import { readReply } from './requests.ts'

/**
 * Reads one frame of the business stream: `trades-all`, one record per single fill, or of `trades` where its record is
 * one fill too.
 *
 * Source: v5, "All trades channel". Frames in the field order that the venue writes are read by patterns, all others by
 * way of JSON.
 */
export function parse(frame: string): FrameEvent[] {
  // The answer to the text frame `ping` is the text frame `pong`, which is no JSON.
  if (frame === 'pong') return [{ kind: 'pong' }]
  return readRows(frame) ?? readJson(frame)
}

const head = new RegExp(`\\{"arg":\\{"channel":"trades(?:-all)?","instId":"${NAME}"\\},"data":\\[`, 'y')
const row = new RegExp(
  `\\{"instId":"(${NAME})","tradeId":"(${DIGITS})","px":"(${DECIMAL})","sz":"(${DECIMAL})","side":"(?:(b)uy|sell)"` +
    `(?:,"source":"\\d")?,"ts":"(${DIGITS})"(?:,"count":"(${DIGITS})")?(?:,"source":"\\d")?` +
    `(?:,"seqId":(${DIGITS}))?\\}(?:(,)|\\]\\}$)`,
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
    const [, instId = '', tradeId = '', px = '', sz = '', buy, ts = '', count = '1', seqId, more] = found
    const sequence = seqId === undefined ? null : valueOf(seqId)
    events.push(trade(instId, valueOf(tradeId), count, sequence, px, sz, buy !== undefined, valueOf(ts)))
    if (more === undefined) return events
  }
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
  // "count: the count of trades aggregated", of the channel `trades`; `tradeId` is the last of them.
  if (count !== '1') return merged
  return tradeEvent(symbol, id, 1, sequence, price, size, takerBuys ? 'buy' : 'sell', microsOf(ms))
}
