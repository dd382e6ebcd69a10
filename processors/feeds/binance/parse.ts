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
  textOf,
  tradeEvent,
} from '../fields.ts'
import type { FrameEvent } from '../venue.ts'
import { Walk } from '../walk.ts'
import { readControl } from './requests.ts'

/**
 * Reads one frame of the USD-M market stream, raw or in the envelope of a combined stream.
 *
 * Source: USD-M futures, "Aggregate Trade Streams". Two paths, one rule: frames in the field order that the venue writes
 * are judged by a pattern and walked (half of the time that `JSON.parse` takes), all others in any order by way of JSON.
 */
export function parse(frame: string): FrameEvent[] {
  return [readAggTrade(frame) ?? readRawTrade(frame) ?? readJson(frame)]
}

const stream = '\\{"stream":"[\\w@!.]+","data":'
const whole = (message: string): RegExp => new RegExp(`^(?:${message}|${stream}${message}\\})$`)
const aggTradePattern = whole(
  `\\{"e":"aggTrade","E":${DIGITS},"a":${DIGITS},"s":"${NAME}","p":"${DECIMAL}","q":"${DECIMAL}"(?:,"nq":"[\\d.]*")?,` +
    `"f":${DIGITS},"l":${DIGITS},"T":${DIGITS},"m":(?:true|false)(?:,"st":${DIGITS})?\\}`,
)
const rawTradePattern = whole(
  `\\{"e":"trade","E":${DIGITS},"T":${DIGITS},"s":"${NAME}","t":${DIGITS},"p":"${DECIMAL}","q":"${DECIMAL}",` +
    `"X":"MARKET","m":(?:true|false)\\}`,
)
const walk = new Walk()

function readAggTrade(frame: string): FrameEvent | undefined {
  if (!walk.takes(aggTradePattern, frame)) return undefined
  passEnvelope()
  walk.number('{"e":"aggTrade","E":')
  const id = walk.number(',"a":')
  const symbol = walk.text(',"s":"')
  const price = walk.text('","p":"')
  const size = walk.text('","q":"')
  if (walk.sees('","nq":')) walk.passText('","nq":"')
  const first = walk.number('","f":')
  const last = walk.number(',"l":')
  const ms = walk.number(',"T":')
  return aggTrade(symbol, id, first, last, price, size, walk.either(',"m":', 'true', 'false'), ms)
}

function readRawTrade(frame: string): FrameEvent | undefined {
  if (!walk.takes(rawTradePattern, frame)) return undefined
  passEnvelope()
  walk.number('{"e":"trade","E":')
  const ms = walk.number(',"T":')
  const symbol = walk.text(',"s":"')
  const id = walk.number('","t":')
  const price = walk.text(',"p":"')
  const size = walk.text('","q":"')
  return rawTrade(symbol, id, price, size, walk.either('","X":"MARKET","m":', 'true', 'false'), ms)
}

function passEnvelope(): void {
  if (!walk.sees('{"stream"')) return
  walk.passText('{"stream":"')
  walk.pass('","data":')
}

function readJson(frame: string): FrameEvent {
  const value = jsonOf(frame)
  if (value === undefined) return notJson
  if (!isRecord(value)) return notAnObject
  if (value['stream'] === undefined) return readMessage(value)
  return isRecord(value['data']) ? readMessage(value['data'], value['stream']) : notAnObject
}

function readMessage(message: Record<string, unknown>, stream?: unknown): FrameEvent {
  const { e, s, a, t, p, q, f, l, T, m, X } = message
  switch (e) {
    case 'aggTrade':
      if (!isCount(a) || !isCount(f) || !isCount(l)) return badField
      if (!isSymbol(s) || !isDecimal(p) || !isDecimal(q) || typeof m !== 'boolean' || !isCount(T)) return badField
      return aggTrade(s, a, f, l, p, q, m, T)
    case 'trade':
      if (!isCount(t) || !isSymbol(s) || typeof m !== 'boolean' || !isCount(T)) return badField
      // Off-book rows may carry a price and size of 0.
      if (isOffBook(X)) return offBook
      if (!isDecimal(p) || !isDecimal(q)) return badField
      return rawTrade(s, t, p, q, m, T)
    // "The server will be shut down in about 10 minutes": raw, or as data of the stream `!serverShutdown`.
    default:
      return readControl(message, stream)
  }
}

/** `a` goes up by one per symbol; `f` to `l` are the fills merged into it, whose ids may have holes (off-book fills). */
function aggTrade(
  symbol: string,
  id: number,
  first: number,
  last: number,
  price: string,
  size: string,
  buyerIsMaker: boolean,
  ms: number,
): FrameEvent {
  if (!isCount(last)) return badField
  // "m": is the buyer the market maker? Then the taker sold. `q` counts retail price improvement, `nq` does not: REST
  // has no `nq`, so `q` it is.
  return tradeEvent(symbol, id, last - first + 1, null, price, size, buyerIsMaker ? 'sell' : 'buy', microsOf(ms))
}

function rawTrade(
  symbol: string,
  id: number,
  price: string,
  size: string,
  buyerIsMaker: boolean,
  ms: number,
): FrameEvent {
  return tradeEvent(symbol, id, 1, null, price, size, buyerIsMaker ? 'sell' : 'buy', microsOf(ms))
}

/** `X`: MARKET is the book. Liquidation fund, deleveraging and NA fills are none of it; frames before 2020 have no `X`. */
function isOffBook(execution: unknown): boolean {
  return ['INSURANCE_FUND', 'ADL', 'NA'].includes(textOf(execution))
}
