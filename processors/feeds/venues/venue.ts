import type { Micros } from '../../../schemas/records.ts'
import { tradeVenues, type Market, type TradeVenueName, type VenueName } from '../../../schemas/venues.ts'
import type { FactRow, FrameEvent, PageRow, VenueTrade } from './events.ts'

const MINUTE: Micros = 60_000_000

/**
 * What one venue is, as data and pure functions: its trades, and what it says beside them (prices, funding, open interest,
 * ratios, liquidations, candles, tokens). One folder per venue implements it, `venues.ts` lists them; sockets, clocks,
 * budgets, polling, repair, throttling and Kafka are the same for all. Who the venue is, and where, stands in
 * `schemas/venues.ts`.
 */
export interface Venue {
  readonly name: VenueName
  /** One token bucket per REST host: polls, lists and the repair of trades share it. */
  readonly budgets: Readonly<Partial<Record<RestHost, RestRules>>>
  /** The share of `rest` that the repair of trades may use; without it all of it. */
  readonly repair?: RestRules
  readonly trades?: TradeStream
  /** Markets beside that of the trades: spot markets of the price chain. */
  readonly listings: readonly MarketListing[]
  readonly streams: readonly DataStream[]
  readonly polls: readonly Poll[]
  /** Where a time without spot tickers is looked up afterwards. */
  readonly candles?: PastPages
  /** The past of the market that its trades are of: candles. */
  readonly past?: PastPages
  /** The past of its perpetuals beside candles, in the order in which it is read back. */
  readonly pastFacts?: readonly PastFacts[]
  readonly archive?: TradeArchive
}

/** A venue that contributes trades. */
export interface TradeVenue extends Venue {
  readonly name: TradeVenueName
  readonly trades: TradeStream
}

/**
 * The venue where its trades do not count: their market is still listed where something else is said of it, and its
 * candles, which the trades are audited against, are not asked for.
 */
export function withoutTrades({ trades, ...venue }: Venue): Venue {
  const polls = venue.polls.filter(({ topic }) => topic !== 'market.candles')
  const isUsed = [...venue.streams, ...polls].some(({ scope }) => scope.market === trades?.market)
  if (trades === undefined || !isUsed) return { ...venue, polls }
  return { ...venue, polls, listings: [{ ...trades, host: 'rest' }, ...venue.listings] }
}

export type MakeRequest = (op: 'subscribe' | 'unsubscribe', symbols: readonly string[], id: number) => string[]

/** How one WebSocket speaks: what a connection needs to subscribe, to keep alive and to read it. */
export interface StreamProtocol {
  readonly socket: SocketRules
  /** Frames that subscribe or end `symbols`, each within the venue's limits. `id` numbers the requests. */
  readonly request: MakeRequest
  /** Reads one text frame. Pure: times of our own are arguments. */
  parse(frame: string): FrameEvent[]
}

export interface SocketRules {
  /** Path and query that follow the base address. */
  readonly path: string
  /** Connections opened for the same symbols at once; 2 where a hole cannot be filled afterwards. */
  readonly copies: number
  /** What we send to keep the connection, if anything; of spot prices so often that a pong comes within 15 s. */
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

/** A WebSocket channel; `parse` gives `{ kind: 'fact' }` events, or trades. */
export interface DataStream extends StreamProtocol {
  /** Within the venue, for logs and metrics: tickers, mark-price, liquidations. */
  readonly name: string
  readonly host: 'ws' | 'spotWs'
  readonly topic: FeedTopic
  readonly scope: Scope
}

/** The channel of a venue's trades; `parse` gives `{ kind: 'trade' }` events. */
export interface TradeStream extends DataStream {
  readonly venue: TradeVenueName
  readonly market: Market
  readonly topic: 'market.trades'
  /** `contiguous`: ids go up by one per instrument, so a hole is a lost message. `none`: ids have no order. */
  readonly ids: 'contiguous' | 'none'
  /** The stream channels whose trades `parse` reads; the first is the one that `subscribe` asks for. */
  readonly channels: readonly [string, ...string[]]
  /** The REST calls that list the market, and what an answer says. */
  readonly listing: Listing
  readonly backfill: Backfill
}

/** The channel of a venue's trades; whose market's they are, and how their ids go, says the table of venues. */
export function tradeStreamOf(
  venue: TradeVenueName,
  own: Omit<TradeStream, keyof DataStream | 'venue' | 'market' | 'ids'> & StreamProtocol,
): TradeStream {
  const row = tradeVenues.find((one) => one.venue === venue) ?? tradeVenues[0]
  const scope = { of: 'wanted', market: row.market } as const
  return { name: 'trades', host: 'ws', topic: 'market.trades', scope, ...row, ...own }
}

/**
 * What a stream or poll is asked for.
 * - `whole`: one subscription or call for all markets; of `symbol` where the protocol needs a name for it;
 * - `each`: one per instrument of `market`: of all that are listed (`catalogue`), or of the assets that are wanted.
 */
export type Scope =
  | { readonly of: 'whole'; readonly symbol: string; readonly market: Market }
  | { readonly of: 'catalogue' | 'wanted'; readonly market: Market }

/** The topics that facts go to. */
export type FactTopic = 'market.tickers' | 'market.funding' | 'market.liquidations' | 'market.candles' | 'market.tokens'
/** A stream or poll feeds one topic, whose marks then tell the state of it. */
export type FeedTopic = FactTopic | 'market.trades'

/** A REST call that is made again and again, spread over its period. */
export interface Poll {
  readonly name: string
  readonly host: RestHost
  readonly topic: FactTopic
  readonly scope: Scope
  /** Time between two calls about one subject, milliseconds. `once`: at start and for each new subject: a back-read. */
  readonly everyMs: number | 'once'
  /** For minute data: asked this long after each full minute rather than at any time, milliseconds. */
  readonly afterMinuteMs?: number
  /** Waits until a settlement of the instrument has passed, and asks then. */
  readonly when?: 'settlement'
  /** Of a whole market: there may be nothing to tell. An answer of any other that says nothing is no sign of life. */
  readonly mayBeEmpty?: true
  /** `now`: the host's clock, milliseconds. `symbol`: the venue's own; for `whole` the scope' name. */
  call(symbol: string, now: number): RestCall
  /** `next` in the answer is called too: pages. */
  parse(symbol: string, body: unknown, now: number): RestAnswer<FactRow>
}

/** The minutes of trades, which ours are audited against, a few seconds after each is over. */
export function candlePoll(market: Market, calls: Pick<Poll, 'call' | 'parse'>): Poll {
  const asked = { host: 'rest', topic: 'market.candles', scope: { of: 'wanted', market } } as const
  return { name: 'candles', ...asked, everyMs: 60_000, afterMinuteMs: 5_000, ...calls }
}

/** The same of a spot market, of the pages of its past: the newest `minutes` that are over. */
export function newestCandles(pages: PastPages, minutes: number): Poll {
  return candlePoll('spot', {
    call(symbol, now) {
      const end = Math.floor((now * 1_000) / MINUTE) * MINUTE
      return pages.call(symbol, 60, end - minutes * MINUTE, end)
    },
    parse: (symbol, body, now) => pages.parse(symbol, 60, body, now),
  })
}

/** The prices of a whole spot market, for when its stream does not tell them, and of pairs that are quiet. */
export function tickersPoll(symbol: string, call: RestCall, parse: (body: unknown) => RestAnswer<FactRow>): Poll {
  const asked = { host: 'rest', topic: 'market.tickers', scope: { of: 'whole', symbol, market: 'spot' } } as const
  return { name: 'spot-tickers', ...asked, everyMs: 10_000, call: () => call, parse: (_whole, body) => parse(body) }
}

/** The past of a market in pages of rows that are `seconds` apart: candles of 3600 or 60 seconds, or other facts. */
export interface PastPages {
  readonly host: RestHost
  /** Most rows of one call. */
  readonly pageSize: number
  /** The venue has so many of the newest rows alone; absent: all of them. */
  readonly depth?: number
  /** Rows of [from, to), microseconds; the caller asks for no more than a page, rows outside of it are left out. */
  call(symbol: string, seconds: number, from: Micros, to: Micros): RestCall
  /** A candle's `minute` is its start; those that are not over are left out. */
  parse(symbol: string, seconds: number, body: unknown, now: number): RestAnswer<FactRow>
  /** What the venue tells of the same rows by another call, which is made behind the first. */
  readonly more?: {
    call(symbol: string, seconds: number, from: Micros, to: Micros): RestCall
    /** The rows with what the second answer says of them. */
    parse(rows: readonly FactRow[], body: unknown): RestAnswer<FactRow>
  }
  /** For a venue that counts its pages from now: the call of the page behind `call`, of which `rows` came. */
  next?(call: RestCall, rows: readonly FactRow[], from: Micros): RestCall | undefined
}

/** What venues tell of the past beside candles, as it is called in `control.backfill`. */
type PastName = 'settlements' | 'open_interest' | 'prices' | 'top_traders' | 'all_accounts' | 'takers'

/** Facts of the past: settled rates, open interest, mark and index prices, ratios. */
export interface PastFacts extends PastPages {
  readonly name: PastName
  /** How far two rows are from each other at least, seconds. */
  readonly seconds: number
}

/** Files of the past trades of the market that its trades are of: one a day and symbol, at the host `archive`. */
export interface TradeArchive {
  /** Below the base; `date` as 2026-03-01. A .zip of one file, or a .gz. */
  path(symbol: string, date: string): string
  /** Where the SHA-256 of a file stands; absent: the venue gives none. */
  readonly checksumOf?: (path: string) => string
  /** When a file's day may begin, milliseconds after 0:00 UTC of its date; the time of its first trade tells which. */
  readonly begins: readonly number[]
  /** Reads the columns of a line. */
  read(columns: readonly string[], symbol: string): VenueTrade | ArchiveRefusal
}

/** Why a line of an archive is no trade. */
export type ArchiveRefusal = 'bad-columns' | 'bad-field' | 'header'

export type RestHost = 'rest' | 'spotRest'

/** A token bucket: `capacity` units at most at once, refilled evenly. */
export interface RestRules {
  readonly capacity: number
  readonly refillPerSecond: number
  /** The header that says until when too many calls are too many, and its unit, milliseconds; beside `Retry-After`. */
  readonly resets?: { readonly header: string; readonly unitMs: number }
  /** Headers that the venue wants on every call. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface RestCall {
  /** Path and query below the REST base. */
  readonly path: string
  /** Units of the token bucket. */
  readonly cost: number
  /** Sent as JSON by POST; absent: GET. */
  readonly body?: object
  /** Another host of the venue that serves this call, with limits of its own; whatever replaces the REST base replaces it too. */
  readonly base?: string
}

/**
 * What a REST body says: rows, or why not. `limited`: too many requests, ask again later; `failed`: the venue cannot answer
 * for now; `error`: it refuses the question. HTTP statuses are the caller's.
 */
export type RestAnswer<Row> =
  | { readonly kind: 'rows'; readonly rows: readonly Row[]; readonly next?: RestCall }
  | { readonly kind: 'limited' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'error'; readonly code: string; readonly message: string }

/** What a call came to. `limited` and `failed` may be tried again, `unavailable` rarely; `error`: the venue's own word. */
export type RestOutcome<Row> =
  | { readonly kind: 'rows'; readonly rows: readonly Row[]; readonly next?: RestCall }
  | { readonly kind: 'limited'; readonly waitMs: number }
  | { readonly kind: 'unavailable'; readonly status: number; readonly waitMs: number }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'error'; readonly code: string; readonly message: string }

/** A venue's REST interface as the repair sees it: budgeted, with deadlines, never throwing. */
export interface Rest {
  get<Row>(call: RestCall, parse: (body: unknown) => RestAnswer<Row>): Promise<RestOutcome<Row>>
}

interface MarketListing {
  readonly market: Market
  readonly host: RestHost
  readonly listing: Listing
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

/** A spot pair: sizes in the base, prices for one of it. */
export function spotPair(symbol: string, base: string, quote: string, tick: number | null, live: boolean): Listed {
  return { symbol, base, quote, settle: quote, sizeFactor: 1, priceFactor: 1, tick, live }
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

/**
 * How missing trades are fetched.
 * - `forward`: `page(symbol, from, to)` starts at `from` and goes up;
 * - `since`: it starts at a time, `since`, and goes up: the venue does not page by id;
 * - `backward`: it starts below `to + 1` and goes down;
 * - `newest`: one page of the newest trades, without a choice.
 * Rows come in any order and may lie outside of what was asked for.
 */
export interface Backfill {
  readonly direction: 'forward' | 'since' | 'backward' | 'newest'
  readonly pageSize: number
  /**
   * `newest`: the page holds too few trades to reach back to the one before in a busy market. Between two pages the
   * stream is then believed where it has brought the end of the one and the beginning of the other, and no connection
   * that carries it was lost.
   */
  readonly isShort?: true
  /** Trades older than this are not served, ms; undefined: no limit known. */
  readonly depthMs?: number
  /** `since`: the venue's time of a trade before `from`. */
  page(symbol: string, from: number, to: number, since: Micros): RestCall
  /** A page of the newest trades, of full size. */
  newest(symbol: string): RestCall
  parse(symbol: string, body: unknown): RestAnswer<PageRow>
}

/** Where older pages cannot be had, or ids have no order: the newest page, compared by id. */
export function newestOnly(pageSize: number, newest: Backfill['newest'], parse: Backfill['parse']): Backfill {
  return { direction: 'newest', pageSize, page: newest, newest, parse }
}
