import type { IncomingHttpHeaders } from 'node:http'
import type { Link } from './link.ts'
import type { Market, VenueName } from './markets.ts'
import type { Trade } from './trade.ts'

/** One venue's face: its sockets and its REST. */
export interface VenueServer {
  /** Faults name it so. */
  readonly name: VenueName
  /** First part of its path; absent: its name. Binance has two faces. */
  readonly prefix?: string
  /** A new socket on `path`, below the venue's prefix; a number refuses it with that HTTP status. */
  connect(path: string, query: URLSearchParams): ((link: Link) => Session) | number
  rest(request: RestRequest): RestReply
  /** Sends what has just traded to whoever is subscribed. */
  publish(market: Market, trades: readonly Trade[]): void
  /** Called several times a second: sends what the venue says beside trades. `nowMs`: the host's clock. */
  beat?(nowMs: number): void
}

/** What the venue does on one open socket. */
export interface Session {
  receive(text: string): void
  /** Called once a second: heartbeats and what the venue drops a connection for. `nowMs`: the host's clock. */
  tick(nowMs: number): void
  closed(): void
  /** Says that the venue will close this connection soon, where the venue has words for it. */
  announceClosing?(): void
}

export interface RestRequest {
  /** Below the venue's prefix. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** Host clock, ms. */
  readonly nowMs: number
}

export interface RestReply {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}
