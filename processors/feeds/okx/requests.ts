import { countOf, isRecord, isSymbol, textOf, unknownEvent } from '../fields.ts'
import type { FrameEvent, StreamProtocol } from '../venue.ts'

/** Requests for a channel; `about` names what its argument is called: an instrument or a whole type of them. */
export function requestsFor(
  channel: string,
  about: 'instId' | 'instType' = 'instId',
): Pick<StreamProtocol, 'subscribe' | 'unsubscribe'> {
  const request = (op: string, symbols: readonly string[], id: number): string[] => {
    const args = symbols.map((symbol) => ({ channel, [about]: symbol }))
    return args.length === 0 ? [] : [JSON.stringify({ id: String(id), op, args })]
  }
  return {
    subscribe: (symbols, id) => request('subscribe', symbols, id),
    unsubscribe: (symbols, id) => request('unsubscribe', symbols, id),
  }
}

export const { subscribe, unsubscribe } = requestsFor('trades-all')

/** One acknowledgement per symbol: `{"id":"1","event":"subscribe","arg":{"channel":"trades-all","instId":".."},..}`. */
export function readReply(message: Record<string, unknown>): FrameEvent[] {
  const { event, arg, id: text, code, msg } = message
  const id = countOf(text) ?? null
  const said = `${textOf(code)} ${textOf(msg)}`.trim()
  switch (event) {
    case 'subscribe':
    case 'unsubscribe': {
      const symbol = isRecord(arg) ? (arg['instId'] ?? arg['instType']) : undefined
      if (!isSymbol(symbol)) return [unknownEvent]
      return [{ kind: event === 'subscribe' ? 'subscribed' : 'unsubscribed', symbols: [symbol], id }]
    }
    case 'error':
      return [{ kind: 'rejected', symbols: symbolsIn(textOf(msg)), id, message: said }]
    // 64008: "The connection will soon be closed for a service upgrade. Please reconnect."
    case 'notice':
      return code === '64008' ? [{ kind: 'closing', message: said }] : [unknownEvent]
    // How many connections subscribe to a channel: nothing to do.
    case 'channel-conn-count':
      return []
    default:
      return [unknownEvent]
  }
}

/** `Wrong URL or channel:trades-all,instId:NOT-USDT-SWAP doesn't exist.` */
function symbolsIn(text: string): string[] | null {
  const symbols = [...text.matchAll(/"?instId"?:"?([\w-]+)/g)].map(([, symbol = '']) => symbol)
  return symbols.length === 0 ? null : symbols
}
