import type { FrameEvent } from '../events.ts'
import { badBody, fromObject, isRecord, isSymbol, textOf, unknownEvent } from '../fields.ts'
import type { RestAnswer } from '../venue.ts'

const instType = 'USDT-FUTURES'
const channel = 'trade'

/** Requests have no number here; each symbol is answered by itself. */
function request(op: string, symbols: readonly string[]): string[] {
  const args = symbols.map((instId) => ({ instType, channel, instId }))
  return symbols.length === 0 ? [] : [JSON.stringify({ op, args })]
}

export const subscribe = (symbols: readonly string[]): string[] => request('subscribe', symbols)
export const unsubscribe = (symbols: readonly string[]): string[] => request('unsubscribe', symbols)

/** Reads the data of a symbol; `action` is snapshot or update. */
type ReadData = (symbol: string, data: readonly unknown[], action: unknown) => FrameEvent[]

/** Reads the frames of a connection that subscribes to trades. */
export function parserOf(read: ReadData): (frame: string) => FrameEvent[] {
  return (frame) => {
    // "Expect a 'pong' as response."
    if (frame === 'pong') return [{ kind: 'pong' }]
    return fromObject(frame, (message) => {
      const { event, arg, data, action } = message
      const symbol = isRecord(arg) ? arg['instId'] : undefined
      if (event !== undefined) return [readReply(message, isSymbol(symbol) ? symbol : undefined)]
      if (!isRecord(arg) || arg['channel'] !== channel || !isSymbol(symbol)) return [unknownEvent]
      return Array.isArray(data) ? read(symbol, data, action) : [unknownEvent]
    })
  }
}

/** `{"event":"subscribe","arg":{..}}`, or `{"event":"error","arg":{..},"code":30001,"msg":".. doesn't exist"}`. */
function readReply({ event, msg }: Record<string, unknown>, symbol: string | undefined): FrameEvent {
  const symbols = symbol === undefined ? null : [symbol]
  if (event === 'error') return { kind: 'rejected', symbols, id: null, message: textOf(msg) }
  if (symbols === null) return unknownEvent
  if (event === 'subscribe') return { kind: 'subscribed', symbols, id: null }
  return event === 'unsubscribe' ? { kind: 'unsubscribed', symbols, id: null } : unknownEvent
}

/** The rows of `{"code":"00000","msg":"success","requestTime":..,"data":[..]}`; 429 is "too many requests". */
export function rowsOf<Row>(body: unknown, read: (row: unknown) => readonly Row[]): RestAnswer<Row> {
  if (!isRecord(body) || typeof body['code'] !== 'string') return badBody('a code')
  const { code, msg, data } = body
  if (code === '429' || code === '30007') return { kind: 'limited' }
  if (code !== '00000') return { kind: 'error', code, message: textOf(msg) }
  return Array.isArray(data) ? { kind: 'rows', rows: data.flatMap((row) => read(row)) } : badBody('data')
}
