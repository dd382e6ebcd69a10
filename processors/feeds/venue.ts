import type { Market, VenueName } from '../../schemas/venues.ts'
import type { Micros } from '../../schemas/records.ts'
import type { Fact } from './source.ts'

/** How one WebSocket speaks: what a connection needs to subscribe, to keep alive and to read it. */
export interface StreamProtocol {
  readonly socket: SocketRules
  /** Frames that subscribe or end `symbols`, each within the venue's limits. `id` numbers the requests. */
  subscribe(symbols: readonly string[], id: number): string[]
  unsubscribe(symbols: readonly string[], id: number): string[]
  /** Reads one text frame. Pure: times of our own are arguments. */
  parse(frame: string): FrameEvent[]
}

/**
 * What one venue is, as data and pure functions. One folder per venue implements it, `venues.ts` lists them; sockets,
 * clocks, REST calls, gap repair and Kafka are the runner's and the same for all.
 */
export interface Venue extends StreamProtocol {
  readonly name: VenueName
  readonly market: Market
  /** Real base addresses; configuration replaces them (`BINANCE_WS_URL`, `BINANCE_REST_URL`). No trailing slash. */
  readonly urls: { readonly ws: string; readonly rest: string }
  /** `contiguous`: ids go up by one per instrument, so a hole is a lost message. `none`: ids have no order. */
  readonly ids: 'contiguous' | 'none'
  /** The stream channels whose trades `parse` reads; the first is the one that `subscribe` asks for. */
  readonly channels: readonly [string, ...string[]]
  readonly rest: RestRules
  /** The REST calls that list the venue's markets, and what an answer says. */
  readonly listing: Listing
  readonly backfill: Backfill
}

export interface SocketRules {
  /** Path and query that follow the base address. */
  readonly path: string
  /** Connections opened for the same symbols at once; 2 where a hole cannot be filled afterwards. */
  readonly copies: number
  /** What we send to keep the connection, if anything. */
  readonly ping?: { readonly everyMs: number; readonly frame: string; readonly onlyWhenQuiet: boolean }
  /** The venue closes the connection after this long; it is replaced an hour before, the new one first. */
  readonly lifetimeMs?: number
  /** Without data or heartbeat for this long the connection is taken for dead. */
  readonly silentAfterMs: number
  readonly maxSymbolsPerConnection: number
  readonly minFrameSpacingMs: number
  /** Shortest time between two connection attempts. */
  readonly minConnectSpacingMs: number
}

/** A token bucket: `capacity` units at most at once, refilled evenly. */
export interface RestRules {
  readonly capacity: number
  readonly refillPerSecond: number
  /** Headers that the venue wants on every call. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface RestCall {
  /** Path and query below the REST base. */
  readonly path: string
  /** Units of the token bucket. */
  readonly cost: number
  /** Another host of the venue that serves this call; whatever replaces the REST base replaces this too. */
  readonly base?: string
}

/** What a REST body says: rows, or why not. `limited`: too many requests, ask again later; HTTP statuses are the caller's. */
export type RestAnswer<Row> =
  | { readonly kind: 'rows'; readonly rows: readonly Row[]; readonly next?: RestCall }
  | { readonly kind: 'limited'; readonly retryAfterMs?: number }
  | { readonly kind: 'error'; readonly code: string; readonly message: string }

/** One market as a venue lists it, not yet joined to an asset. */
export interface Listed {
  readonly symbol: string
  /** Base ticker as the venue writes it, multiplier taken off: PEPE for 1000PEPEUSDT. */
  readonly base: string
  readonly quote: string
  readonly settle: string
  readonly sizeFactor: number
  readonly priceFactor: number
  readonly tick: number | null
  readonly live: boolean
}

export interface Listing {
  readonly first: RestCall
  parse(body: unknown): RestAnswer<Listed>
  /** Checked-in rows of the known assets for when the list cannot be had; factors are verified at first contact. */
  readonly seed: readonly Listed[]
  /** What the symbol alone says; undefined where it takes the list (OKX: contract values). For tools without a venue. */
  fromSymbol(symbol: string): Listed | undefined
  /** The call that prices the whole market, to tell assets that share a ticker apart. */
  readonly prices?: PriceList
}

export interface PriceList {
  readonly first: RestCall
  parse(body: unknown): RestAnswer<ListedPrice>
}

/** Last price of a market in the venue's own price units: `priceFactor` is still in it. */
export interface ListedPrice {
  readonly symbol: string
  readonly price: number
}

/** One trade in the venue's own units: decimals are still text, so that scaling stays exact. */
export interface VenueTrade {
  readonly symbol: string
  /** The contiguous id, or for unordered ids a 52-bit number made of the id. */
  readonly id: number
  /** Fills merged into it. */
  readonly count: number
  readonly sequence: number | null
  readonly price: string
  readonly size: string
  readonly taker: 'buy' | 'sell'
  readonly time: Micros
}

/** Why a frame or a row is not a trade; counted per venue and reason. */
export type Refusal =
  | 'not-json'
  | 'not-an-object'
  | 'unknown-event'
  | 'bad-field'
  /** Block trades, liquidation fund and ADL fills: real, but not taker flow of the book. */
  | 'off-book'
  | 'unknown-symbol'
  /** Several ids in one record, of which only the last is said to be one (OKX `trades`): not the pager's unit. */
  | 'merged'

export type FrameEvent =
  | { readonly kind: 'trade'; readonly trade: VenueTrade }
  /** Anything but a trade, from the channels of `source.ts`. */
  | { readonly kind: 'fact'; readonly fact: Fact }
  /** The venue's own word on how far a symbol's ids have come (Coinbase heartbeat, last_match). */
  | { readonly kind: 'heartbeat'; readonly symbol: string | null; readonly lastId: number | null }
  /** Subscribed symbols; null: the request `id` as a whole. `whole`: all of them, what is not among them is not subscribed. */
  | {
      readonly kind: 'subscribed'
      readonly symbols: readonly string[] | null
      readonly id: number | null
      readonly whole?: true
    }
  | { readonly kind: 'unsubscribed'; readonly symbols: readonly string[] | null; readonly id: number | null }
  /** The request `id` failed as a whole; `symbols`: those that the venue names as the cause, null: it names none. */
  | {
      readonly kind: 'rejected'
      readonly symbols: readonly string[] | null
      readonly id: number | null
      readonly message: string
    }
  /** The venue will close this connection soon: open the replacement now. */
  | { readonly kind: 'closing'; readonly message: string }
  | { readonly kind: 'pong' }
  | { readonly kind: 'refused'; readonly reason: Refusal }

/**
 * How missing trades are fetched.
 * - `forward`: `page(symbol, from, to)` starts at `from` and goes up;
 * - `backward`: it starts below `to + 1` and goes down;
 * - `newest`: one page of the newest trades, without a choice.
 * Rows come in any order and may lie outside of what was asked for.
 */
export interface Backfill {
  readonly direction: 'forward' | 'backward' | 'newest'
  readonly pageSize: number
  /** Trades older than this are not served, ms; undefined: no limit known. */
  readonly depthMs?: number
  page(symbol: string, from: number, to: number): RestCall
  parse(symbol: string, body: unknown): RestAnswer<PageRow>
}

/** A row of a page: a trade, or why it is none. */
export type PageRow = VenueTrade | { readonly refused: Refusal }
