import { createServer, type RequestListener, type Server } from 'node:http'

/** How long a client may take, milliseconds. */
interface Deadlines {
  /** Until its request's head, and all of its request, has come. */
  readonly headersMs: number
  readonly requestMs: number
  /** Until it takes something of an answer that waits for it. */
  readonly unreadMs: number
}

const usual: Deadlines = { headersMs: 5_000, requestMs: 10_000, unreadMs: 60_000 }
/** How often the first two are looked at; left to Node, every 30 s. */
const CHECK_MS = 1_000

/** A server that cuts who sends its request too slowly or does not read its answer, and waits for its own answers. */
export function clientServer(handle: RequestListener, deadlines: Deadlines = usual): Server {
  const { headersMs, requestMs, unreadMs } = deadlines
  const bounds = { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: CHECK_MS }
  const server = createServer(bounds, (request, response) => {
    // An answer that is long in the making is waited for: without a listener Node would cut it too.
    response.on('timeout', (socket) => {
      if (socket.writableLength > 0) socket.destroy()
    })
    handle(request, response)
  })
  server.timeout = unreadMs
  return server
}
