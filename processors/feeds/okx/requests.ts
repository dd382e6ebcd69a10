import { countOf, isRecord, isSymbol, textOf, unknownEvent } from '../fields.ts'
import type { FrameEvent } from '../venue.ts'

export function subscribe(symbols: readonly string[], id: number): string[] {
  return request('subscribe', symbols, id)
}

export function unsubscribe(symbols: readonly string[], id: number): string[] {
  return request('unsubscribe', symbols, id)
}

function request(op: string, symbols: readonly string[], id: number): string[] {
  if (symbols.length === 0) return []
  const args = symbols.map((instId) => ({ channel: 'trades-all', instId }))
  return [JSON.stringify({ id: String(id), op, args })]
}

/** One acknowledgement per symbol: `{"id":"1","event":"subscribe","arg":{"channel":"trades-all","instId":".."},..}`. */
export function readReply(message: Record<string, unknown>): FrameEvent[] {
  const { event, arg, id: text, code, msg } = message
  const id = countOf(text) ?? null
  const said = `${textOf(code)} ${textOf(msg)}`.trim()
  switch (event) {
    case 'subscribe':
    case 'unsubscribe': {
      const symbol = isRecord(arg) ? arg['instId'] : undefined
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
