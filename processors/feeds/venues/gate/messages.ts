import type { FrameEvent } from '../events.ts'
import { badBody, fromObject, isCount, isRecord, textOf, unknownEvent } from '../fields.ts'
import type { RestAnswer } from '../venue.ts'

const CHANNEL = 'futures.trades'
/**
 * "time: request time in seconds": nothing here has a clock, and public channels are not signed, so it is any.
 * "id: optional request id which will be sent back by the server".
 */
const TIME = 1_700_000_000

export const PING = JSON.stringify({ time: TIME, channel: 'futures.ping' })

/** "payload: list of contract names". */
function request(event: string, symbols: readonly string[], id: number): string[] {
  return symbols.length === 0 ? [] : [JSON.stringify({ time: TIME, id, channel: CHANNEL, event, payload: symbols })]
}

export const subscribe = (symbols: readonly string[], id: number): string[] => request('subscribe', symbols, id)
export const unsubscribe = (symbols: readonly string[], id: number): string[] => request('unsubscribe', symbols, id)

/** Reads the frames of a connection that subscribes to trades; `read` its data. */
export function parserOf(read: (result: unknown) => FrameEvent[]): (frame: string) => FrameEvent[] {
  return (frame) =>
    fromObject(frame, (message) => {
      const { channel, event, result } = message
      if (channel === 'futures.pong') return [{ kind: 'pong' }]
      if (channel !== CHANNEL) return [unknownEvent]
      return event === 'update' ? read(result) : [readReply(message)]
    })
}

/** `"result":{"status":"success"}`, or `"error":{"code":2,"message":"unknown contract FOO_USDT"}`; one per request. */
function readReply({ event, error, id: echoed }: Record<string, unknown>): FrameEvent {
  const id = isCount(echoed) ? echoed : null
  if (event !== 'subscribe' && event !== 'unsubscribe') return unknownEvent
  if (!isRecord(error)) return { kind: event === 'subscribe' ? 'subscribed' : 'unsubscribed', symbols: null, id }
  const message = textOf(error['message'])
  const symbol = /unknown contract (\S+)/.exec(message)?.[1]
  return { kind: 'rejected', symbols: symbol === undefined ? null : [symbol], id, message }
}

/** What the rows of an answer are; `{"label":"INVALID_PARAM_VALUE","message":".."}` is a refusal. */
export function rowsOf<Row>(body: unknown, read: (row: unknown) => readonly Row[]): RestAnswer<Row> {
  if (Array.isArray(body)) return { kind: 'rows', rows: body.flatMap((row) => read(row)) }
  const label = isRecord(body) ? textOf(body['label']) : ''
  if (!isRecord(body) || label === '') return badBody('an array')
  if (label === 'TOO_MANY_REQUESTS') return { kind: 'limited' }
  return { kind: 'error', code: label, message: textOf(body['message']) }
}
