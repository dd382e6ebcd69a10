import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { type WebSocket, WebSocketServer } from 'ws'
import { admissionOf, allowedHostsAt, refuses } from '../http/guard.ts'
import { closeServer, listen } from '../http/ops.ts'
import type { Faults } from './faults/faults.ts'
import { Link } from './link.ts'
import { prefixOf, type RestReply, type Session, type VenueApi } from './venues/venue-api.ts'
import type { SocketLimits } from './venues/venues.ts'

/** Client frames are subscriptions and pings; more than this is no client of a venue. */
const CLIENT_FRAME_BYTES_MAX = 256 * 1024
const TICK_MS = 1000
/** To a web page of another site. */
const FORBIDDEN = 403

/** What stands between the venues and the network: the faults, and the operator's own paths. */
interface Hooks {
  readonly faults: Faults
  /** How fast sockets may be opened; undefined: as fast as anyone likes. */
  readonly limits?: SocketLimits | undefined
  /** `/ledger`, `/faults` and the like. */
  operator(request: OperatorRequest): Promise<RestReply> | RestReply
  /** A venue's API or the operator has failed: its caller gets a 500. */
  failed(error: unknown): void
}

export interface OperatorRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: () => Promise<unknown>
}

interface Listening {
  readonly url: string
  close(): Promise<void>
}

/** One port for all venues: the first part of the path says which. */
export async function serve(
  venues: readonly VenueApi[],
  hooks: Hooks,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: CLIENT_FRAME_BYTES_MAX, perMessageDeflate: false })
  const sessions = new Set<Session>()
  const allowedHosts = allowedHostsAt(host)
  const server: Server = createServer((request, response) => {
    if (refuses(request, response, allowedHosts)) return
    void handle(venues, hooks, request, response)
  })
  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    // Until the handshake is done nobody else listens for a connection that is reset.
    stream.on('error', () => stream.destroy())
    const accept = admissionOf(request, allowedHosts) === 'allowed' ? connectTo(venues, hooks, request) : FORBIDDEN
    if (typeof accept === 'number') {
      stream.end(`HTTP/1.1 ${accept} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
      return
    }
    sockets.handleUpgrade(request, stream, head, (socket) => {
      begin({ socket, stream, venue: accept.venue, open: accept.open }, hooks, sessions)
    })
  })
  const timer = setInterval(() => {
    const now = Date.now()
    for (const session of sessions) session.tick(now)
  }, TICK_MS)
  const bound = await listen(server, host, port)
  const close = async (): Promise<void> => {
    clearInterval(timer)
    for (const socket of sockets.clients) socket.terminate()
    await closeServer(server)
  }
  return { url: `http://${host}:${bound}`, close }
}

interface Opening {
  readonly socket: WebSocket
  readonly stream: Duplex
  readonly venue: VenueApi
  readonly open: (link: Link) => Session
}

function begin({ socket, stream, venue, open }: Opening, hooks: Hooks, sessions: Set<Session>): void {
  const link = new Link({ venue: venue.name, socket, stream, tamper: hooks.faults, openedAtMs: Date.now() })
  const session = open(link)
  sessions.add(session)
  hooks.faults.opened(link, session)
  socket.on('message', (data: Buffer, binary: boolean) => session.receive(binary ? '' : data.toString('utf8')))
  // A reset connection closes right after; the session needs to know only that it is gone.
  socket.on('error', () => link.cut())
  socket.on('close', () => {
    sessions.delete(session)
    session.closed()
    hooks.faults.closed(link)
  })
}

function connectTo(
  venues: readonly VenueApi[],
  hooks: Hooks,
  request: IncomingMessage,
): { venue: VenueApi; open: (link: Link) => Session } | number {
  const target = targetOf(venues, request)
  if (target.venue === undefined) return 404
  const refused = hooks.faults.socketStatus(target.venue.name) ?? hooks.limits?.status(target.venue, Date.now())
  if (refused !== undefined) return refused
  const open = target.venue.connect?.(target.path, target.query) ?? 404
  return typeof open === 'number' ? open : { venue: target.venue, open }
}

function targetOf(
  venues: readonly VenueApi[],
  request: IncomingMessage,
): { venue: VenueApi | undefined; path: string; query: URLSearchParams } {
  const text = `http://simulator${request.url ?? '/'}`
  const url = new URL(URL.canParse(text) ? text : 'http://simulator/')
  const [, name = ''] = url.pathname.split('/')
  const venue = venues.find((candidate) => prefixOf(candidate) === name)
  const path = venue === undefined ? url.pathname : url.pathname.slice(name.length + 1) || '/'
  return { venue, path, query: url.searchParams }
}

async function handle(
  venues: readonly VenueApi[],
  hooks: Hooks,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    write(response, await replyOf(venues, hooks, request))
  } catch (error) {
    hooks.failed(error)
    write(response, { status: 500, body: { error: String(error) } })
  }
}

async function replyOf(venues: readonly VenueApi[], hooks: Hooks, request: IncomingMessage): Promise<RestReply> {
  const { venue, path, query } = targetOf(venues, request)
  if (venue === undefined) {
    return hooks.operator({ method: request.method ?? 'GET', path, query, body: () => bodyOf(request) })
  }
  const { reply, delayMs } = hooks.faults.restReply(venue, Date.now())
  if (delayMs !== undefined) await delay(delayMs, undefined, { ref: false })
  const body = request.method === 'POST' ? await bodyOf(request) : undefined
  const own = reply ?? venue.rest({ path, query, headers: request.headers, body, nowMs: Date.now() })
  return own.body instanceof Buffer ? hooks.faults.file(venue.name, own, own.body) : own
}

const BODY_BYTES_MAX = 65_536

/** A JSON body; undefined where there is none, it is not JSON, or the caller went away in the middle of it. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = ''
  try {
    for await (const chunk of request) {
      text += String(chunk)
      if (text.length > BODY_BYTES_MAX) return undefined
    }
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function write(response: ServerResponse, { status, body, headers, isCut }: RestReply): void {
  if (body instanceof Buffer) {
    response.writeHead(status, {
      'content-type': 'application/octet-stream',
      'content-length': body.length,
      ...headers,
    })
    if (isCut !== true) response.end(body)
    else response.write(body.subarray(0, body.length / 2), () => response.destroy())
    return
  }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const type = typeof body === 'string' ? 'text/html' : 'application/json'
  response.writeHead(status, { 'content-type': type, ...headers }).end(text)
}
