import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { admissionOf, doorAt, turnsAway } from '../../http/guard.ts'
import { closeServer, listen } from '../../http/ops.ts'
import { Link, type Tamper } from './link.ts'
import type { VenueName } from './markets.ts'
import type { RestReply, Session, VenueServer } from './venue-server.ts'

/** Client frames are subscriptions and pings; more than this is no client of a venue. */
const CLIENT_FRAME_BYTES_MAX = 256 * 1024
const TICK_MS = 1000
/** To a web page of another site. */
const FORBIDDEN = 403

/** What stands between the venues and the network: the faults, and the operator's own paths. */
export interface Gate {
  readonly tamper: Tamper
  /** Refuses a new socket with this HTTP status. */
  socketStatus(face: VenueServer): number | undefined
  /** A reply instead of the venue's own, or how long to keep the caller waiting for it. */
  restReply(venue: VenueName): { reply?: RestReply; delayMs?: number }
  opened(link: Link, session: Session): void
  closed(link: Link): void
  /** `/ledger`, `/faults` and the like. */
  operator(request: OperatorRequest): Promise<RestReply> | RestReply
}

export interface OperatorRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: () => Promise<unknown>
}

export interface Listening {
  readonly url: string
  close(): Promise<void>
}

/** The first part of a face's path. */
export function prefixOf(face: VenueServer): string {
  return face.prefix ?? face.name
}

/** One port for all venues: the first part of the path says which. */
export async function serve(
  venues: readonly VenueServer[],
  gate: Gate,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: CLIENT_FRAME_BYTES_MAX, perMessageDeflate: false })
  const sessions = new Set<Session>()
  const door = doorAt(host)
  const server: Server = createServer((request, response) => {
    if (turnsAway(request, response, door)) return
    // A caller that goes away in the middle of its question ends only its own answer.
    handle(venues, gate, request, response).catch(() => response.destroy())
  })
  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    // Until the handshake is done nobody else listens for a connection that is reset.
    stream.on('error', () => stream.destroy())
    const accept = admissionOf(request, door) === 'allowed' ? connectTo(venues, gate, request) : FORBIDDEN
    if (typeof accept === 'number') {
      stream.end(`HTTP/1.1 ${accept} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
      return
    }
    sockets.handleUpgrade(request, stream, head, (socket) => {
      begin({ socket, stream, venue: accept.venue, open: accept.open }, gate, sessions)
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
  readonly venue: VenueServer
  readonly open: (link: Link) => Session
}

function begin({ socket, stream, venue, open }: Opening, gate: Gate, sessions: Set<Session>): void {
  const link = new Link({ venue: venue.name, socket, stream, tamper: gate.tamper, openedAtMs: Date.now() })
  const session = open(link)
  sessions.add(session)
  gate.opened(link, session)
  socket.on('message', (data: Buffer, binary: boolean) => session.receive(binary ? '' : data.toString('utf8')))
  // A reset connection closes right after; the session needs to know only that it is gone.
  socket.on('error', () => link.cut())
  socket.on('close', () => {
    sessions.delete(session)
    session.closed()
    gate.closed(link)
  })
}

function connectTo(
  venues: readonly VenueServer[],
  gate: Gate,
  request: IncomingMessage,
): { venue: VenueServer; open: (link: Link) => Session } | number {
  const target = targetOf(venues, request)
  if (target.venue === undefined) return 404
  const refused = gate.socketStatus(target.venue)
  if (refused !== undefined) return refused
  const open = target.venue.connect(target.path, target.query)
  return typeof open === 'number' ? open : { venue: target.venue, open }
}

function targetOf(
  venues: readonly VenueServer[],
  request: IncomingMessage,
): { venue: VenueServer | undefined; path: string; query: URLSearchParams } {
  const text = `http://simulator${request.url ?? '/'}`
  const url = new URL(URL.canParse(text) ? text : 'http://simulator/')
  const [, name = ''] = url.pathname.split('/')
  const venue = venues.find((candidate) => prefixOf(candidate) === name)
  const path = venue === undefined ? url.pathname : url.pathname.slice(name.length + 1) || '/'
  return { venue, path, query: url.searchParams }
}

async function handle(
  venues: readonly VenueServer[],
  gate: Gate,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { venue, path, query } = targetOf(venues, request)
  if (venue === undefined) {
    const body = (): Promise<unknown> => bodyOf(request)
    write(response, await gate.operator({ method: request.method ?? 'GET', path, query, body }))
    return
  }
  const { reply, delayMs } = gate.restReply(venue.name)
  const answer = (): void => {
    write(response, reply ?? venue.rest({ path, query, headers: request.headers, nowMs: Date.now() }))
  }
  if (delayMs === undefined) answer()
  else setTimeout(answer, delayMs)
}

const OPERATOR_BODY_BYTES_MAX = 65_536

/** A JSON body; undefined where there is none or it is not JSON. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request) {
    text += String(chunk)
    if (text.length > OPERATOR_BODY_BYTES_MAX) return undefined
  }
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function write(response: ServerResponse, { status, body, headers }: RestReply): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const type = typeof body === 'string' ? 'text/html' : 'application/json'
  response.writeHead(status, { 'content-type': type, ...headers }).end(text)
}
