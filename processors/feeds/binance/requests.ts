import { isCount, isRecord, textOf, unknownEvent } from '../fields.ts'
import type { FrameEvent } from '../venue.ts'

/**
 * Streams are lower case, symbols upper case. The acknowledgement (`{"result":null,"id":1}`) does not say what it was
 * for, so the number does: twice our id subscribes, one more unsubscribes.
 */
export function subscribe(symbols: readonly string[], id: number): string[] {
  return request('SUBSCRIBE', symbols, id * 2)
}

export function unsubscribe(symbols: readonly string[], id: number): string[] {
  return request('UNSUBSCRIBE', symbols, id * 2 + 1)
}

function request(method: string, symbols: readonly string[], id: number): string[] {
  if (symbols.length === 0) return []
  return [JSON.stringify({ method, params: symbols.map((symbol) => `${symbol.toLowerCase()}@aggTrade`), id })]
}

/** `{"result":null,"id":..}` acknowledges, `{"code":..,"msg":..,"id":..}` or `{"error":{..},"id":..}` refuses. */
export function readReply(message: Record<string, unknown>): FrameEvent {
  const { result, error, id } = message
  const number = isCount(id) ? id : null
  if (result === null && number !== null) {
    const kind = number % 2 === 0 ? 'subscribed' : 'unsubscribed'
    return { kind, symbols: null, id: Math.floor(number / 2) }
  }
  const failure = isRecord(error) ? error : message
  if (typeof failure['code'] !== 'number' || failure['msg'] === undefined) return unknownEvent
  const text = `${failure['code']} ${textOf(failure['msg'])}`
  return { kind: 'rejected', symbols: null, id: number === null ? null : Math.floor(number / 2), message: text }
}
