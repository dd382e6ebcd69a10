import type { IncomingHttpHeaders } from 'node:http'
import type { World } from '../ledger/world.ts'
import type { Link } from '../link.ts'
import type { Economy } from '../market/economy.ts'
import type { TradeVenueName, VenueName } from '../../../schemas/venues.ts'
import type { Market } from '../market/markets.ts'
import type { Trade } from '../market/trade.ts'

/** What every venue's API answers from. */
export interface Context {
  readonly world: World
  readonly economy: Economy
  /** Of the simulated market. */
  readonly seed?: number
  /** How long Binance keeps a socket; a day where nothing is said. */
  readonly lifetimeMs?: number
}

/** One venue's API: its sockets and its REST. */
export interface VenueApi {
  /** Faults name it so. */
  readonly name: VenueName
  /** First part of its path; absent: its name. Binance has two. */
  readonly prefix?: string
  /** It serves files: faults of files hit it, and refusals are bare. */
  readonly isFiles?: true
  /** Whose trades it publishes; absent: its name's. */
  readonly trades?: TradeVenueName
  /** A new socket on `path`, below the venue's prefix; a number refuses it with that HTTP status. Absent: no sockets. */
  connect?(path: string, query: URLSearchParams): ((link: Link) => Session) | number
  rest(request: RestRequest): RestReply
  /** What it answers to one call too many; `leftMs`: until it may be asked again. */
  tooMany(leftMs: number): RestReply
  /** New sockets that it lets one address open in a window; absent: as many as anyone likes. */
  readonly sockets?: { readonly most: number; readonly windowMs: number }
  /** Sends what has just traded to whoever is subscribed. Absent: no trades are simulated here. */
  publish?(market: Market, trades: readonly Trade[]): void
  /** Called several times a second: sends what the venue says beside trades. `nowMs`: the host's clock. */
  beat?(nowMs: number): void
}

/** The first part of an API's path. */
export function prefixOf({ prefix, name }: VenueApi): string {
  return prefix ?? name
}

/** Whose trades an API publishes. */
export function tradesOf({ trades, name }: VenueApi): string {
  return trades ?? name
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

interface RestRequest {
  /** Below the venue's prefix. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** Of a POST that is JSON. */
  readonly body?: unknown
  /** Host clock, ms. */
  readonly nowMs: number
}

export interface RestReply {
  readonly status: number
  /** Text, bytes, or what is sent as JSON. */
  readonly body: unknown
  /** The connection ends in the middle of the body. */
  readonly isCut?: true
  readonly headers?: Readonly<Record<string, string>>
}
