import type { FrameEvent } from '../events.ts'
import { badBody, fromObject, isRecord, isSymbol, textOf, unknownEvent } from '../fields.ts'
import type { RestAnswer, RestCall } from '../venue.ts'

/** `{"method":"subscribe","subscription":{"type":"trades","coin":"SOL"}}`: one per market, without a number. */
function requests(method: string, symbols: readonly string[]): string[] {
  return symbols.map((coin) => JSON.stringify({ method, subscription: { type: 'trades', coin } }))
}

export const subscribe = (symbols: readonly string[]): string[] => requests('subscribe', symbols)
export const unsubscribe = (symbols: readonly string[]): string[] => requests('unsubscribe', symbols)

export const PING = '{"method":"ping"}'

/** Reads the frames of a connection that subscribes to trades. */
export function parserOf(read: (row: unknown) => FrameEvent): (frame: string) => FrameEvent[] {
  return (frame) =>
    fromObject(frame, ({ channel, data }) => {
      switch (channel) {
        case 'trades':
          return Array.isArray(data) ? data.map(read) : [unknownEvent]
        case 'subscriptionResponse':
          return [readReply(data)]
        case 'error':
          return [readError(textOf(data))]
        case 'pong':
          return [{ kind: 'pong' }]
        default:
          return [unknownEvent]
      }
    })
}

/** Repeats the request: `{"method":"subscribe","subscription":{"type":"trades","coin":"SOL"}}`. */
function readReply(data: unknown): FrameEvent {
  const subscription = isRecord(data) ? data['subscription'] : undefined
  const coin = isRecord(subscription) ? subscription['coin'] : undefined
  if (!isRecord(data) || !isSymbol(coin)) return unknownEvent
  return { kind: data['method'] === 'unsubscribe' ? 'unsubscribed' : 'subscribed', symbols: [coin], id: null }
}

/** `Invalid subscription {"type":"trades","coin":"FOO"}`. */
function readError(message: string): FrameEvent {
  const coin = /"coin":"([^"]+)"/.exec(message)?.[1]
  return { kind: 'rejected', symbols: coin === undefined ? null : [coin], id: null, message }
}

/** A question to the one path: what is asked for stands in the body. */
export function info(cost: number, body: object): RestCall {
  return { path: '/info', cost, body }
}

/** The rows of an answer that is an array; refusals come as HTTP statuses. */
export function rowsOf<Row>(body: unknown, read: (row: unknown) => Row): RestAnswer<Row> {
  return Array.isArray(body) ? { kind: 'rows', rows: body.map((row) => read(row)) } : badBody('an array')
}
