import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'

/** How long a client may take, milliseconds. */
export interface Deadlines {
  /** Until its request's head, and all of its request, has come; 0: that may take as long as it likes. */
  readonly headersMs: number
  readonly requestMs: number
  /** Until it takes something of an answer that waits for it, or sends something of a request that is waited for. */
  readonly silentMs: number
  /** Until it has taken all of an answer that is whole; what is still being made, as a stream, has no end to take. */
  readonly answerMs: number
}

const usual: Deadlines = { headersMs: 5_000, requestMs: 10_000, silentMs: 60_000, answerMs: 120_000 }
/** How often the first two are looked at; left to Node, every 30 s. */
const CHECK_MS = 1_000

/** A server that cuts who sends its request or takes its answer too slowly, and waits for its own answers. */
export function clientServer(handle: RequestListener, deadlines: Deadlines = usual): Server {
  const { headersMs, requestMs, silentMs, answerMs } = deadlines
  const bounds = { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: CHECK_MS }
  const server = createServer(bounds, (request, response) => {
    // An answer that is long in the making is waited for: without a listener Node would cut it too.
    response.on('timeout', (socket) => {
      if (socket.writableLength > 0 || isAwaited(request)) socket.destroy()
    })
    response.once('prefinish', () => {
      const { socket } = response
      if (socket === null || socket.writableLength === 0) return
      const cut = setTimeout(() => socket.destroy(), answerMs)
      response.once('close', () => clearTimeout(cut))
    })
    handle(request, response)
  })
  server.timeout = silentMs
  return server
}

/** More of it is to come; of what came nothing waits to be read here. */
function isAwaited({ complete, readableLength }: IncomingMessage): boolean {
  return !complete && readableLength === 0
}
