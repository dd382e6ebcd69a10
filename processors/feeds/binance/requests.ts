import { isCount, isRecord, textOf, unknownEvent } from '../fields.ts'
import type { FrameEvent, StreamProtocol } from '../venue.ts'

type Requests = Pick<StreamProtocol, 'subscribe' | 'unsubscribe'>

/**
 * The requests of the streams that `streamOf` names for a symbol. The acknowledgement (`{"result":null,"id":1}`) does
 * not say what it was for, so the number does: twice our id subscribes, one more unsubscribes.
 */
export function requestsOf(streamOf: (symbol: string) => string): Requests {
  return {
    subscribe: (symbols, id) => request('SUBSCRIBE', symbols.map(streamOf), id * 2),
    unsubscribe: (symbols, id) => request('UNSUBSCRIBE', symbols.map(streamOf), id * 2 + 1),
  }
}

/** Streams are lower case, symbols upper case. */
export const { subscribe, unsubscribe } = requestsOf((symbol) => `${symbol.toLowerCase()}@aggTrade`)

function request(method: string, params: readonly string[], id: number): string[] {
  return params.length === 0 ? [] : [JSON.stringify({ method, params, id })]
}

/** What is no data: the answer to a request, or the word that the connection will end. */
export function readControl(message: Record<string, unknown>, stream?: unknown): FrameEvent {
  const { e } = message
  if (e === 'serverShutdown' || (e === undefined && stream === '!serverShutdown'))
    return { kind: 'closing', message: 'serverShutdown' }
  return e === undefined ? readReply(message) : unknownEvent
}

/** `{"result":null,"id":..}` acknowledges, `{"code":..,"msg":..,"id":..}` or `{"error":{..},"id":..}` refuses. */
function readReply(message: Record<string, unknown>): FrameEvent {
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
