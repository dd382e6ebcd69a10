import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { World } from '../ledger/world.ts'
import { decimalsOf, unitsOf } from '../market/text.ts'
import type { TradeVenueName } from '../../../schemas/venues.ts'
import { type Market, simulatedMarkets } from '../market/markets.ts'
import type { Micros, Trade } from '../market/trade.ts'
import type { Batch, Source } from '../source.ts'
import { count, mergedTrades, type Skipped, tapeFiles, type TapeTrade } from './frames.ts'

interface TapeOptions {
  readonly path: string
  /** 1 as it was recorded, N times as fast; 0: as fast as subscribers take it. */
  readonly speed: number
  /** Shift all times so that the first trade is now. */
  readonly retime: boolean
}

/** Read ahead of what is played. */
const READ_AHEAD = 20_000
/** At speed 0, trades per step, and what the slowest subscriber may have left unread before it goes on. */
const STEP_TRADES_MAX = 2_000
const UNREAD_BYTES_MAX = 1_000_000
/** A longer silence on the tape, as between recordings of different days, is not waited for. */
const SILENCE_MICROS_MAX = 600_000_000
/** A tape whose markets are not all subscribed plays anyway, this long after the first one was. */
const WAIT_MICROS = 30_000_000

/** Opens a tape and the world it plays in; a tape that was played in part goes on where it stopped. */
export async function openTape(options: TapeOptions, folder: string): Promise<{ world: World; source: TapeSource }> {
  const files = tapeFiles(options.path)
  const contents = await tapeContents(files)
  if (contents.trades === 0) throw new Error(`no trades to play in ${options.path}`)
  const world = new World(join(folder, nameOf(files)), contents.markets, options.retime ? 0 : contents.from)
  return { world, source: new TapeSource(world, contents, { files, options }) }
}

/** Another tape has another history. */
function nameOf(files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${basename(file)} ${statSync(file).size}\n`)
  return hash.digest('hex').slice(0, 16)
}

/** Plays recorded trades through the venues' own APIs. */
class TapeSource implements Source {
  private readonly world: World
  private readonly contents: TapeContents
  private readonly options: TapeOptions
  private readonly queue = new Queue<TapeTrade>()
  private readonly skipped: Skipped = new Map()
  private readonly reader: AsyncGenerator<TapeTrade>
  private reading = false
  private ended = false
  private played = 0
  private firstSubscribed: Micros | undefined
  /** Tape time is `tape` when the host's is `host`. */
  private anchor: { readonly host: Micros; readonly tape: Micros } | undefined
  /** The last trade played: from there the clock goes on at its own pace when the tape is at its end. */
  private newest: { readonly host: Micros; readonly tape: Micros } | undefined
  private failure: string | undefined

  constructor(world: World, contents: TapeContents, from: { files: readonly string[]; options: TapeOptions }) {
    this.world = world
    this.contents = contents
    this.options = from.options
    // What gives no trade was counted when the contents were read.
    this.reader = this.unplayed(mergedTrades(from.files, new Map()))
    this.fill()
  }

  clock(host: Micros): Micros {
    if (this.options.retime) return host
    if (this.anchor === undefined) return this.world.now
    return this.options.speed === 0 && !this.done ? this.world.now : this.tapeTime(host)
  }

  *advance(host: Micros, unread: number): Generator<Batch> {
    const fast = this.options.speed === 0
    this.fill()
    if (this.queue.head === undefined || !this.started(host) || (fast && unread > UNREAD_BYTES_MAX)) return
    if (this.queue.head.time - this.tapeTime(host) > SILENCE_MICROS_MAX) this.set(host, this.queue.head)
    const until = fast ? Number.POSITIVE_INFINITY : this.tapeTime(host)
    const end = this.played + (fast ? STEP_TRADES_MAX : READ_AHEAD)
    while (this.played < end && this.queue.head.time <= until) {
      this.newest = { host, tape: this.queue.head.time }
      const batch = this.nextBatch(this.queue.head)
      if (batch.trades.length > 0) yield batch
      if (this.queue.head === undefined) return
    }
  }

  skip(host: Micros): void {
    const next = this.queue.head
    if (this.anchor === undefined || next === undefined) return
    this.anchor = { host, tape: Math.min(next.time, this.newest?.tape ?? next.time) }
  }

  progress(): object {
    const { trades, from, to, skipped } = this.contents
    return {
      source: 'tape',
      path: this.options.path,
      waiting: this.anchor === undefined && !this.done,
      played: this.played,
      trades,
      from,
      to,
      skipped: Object.fromEntries([...skipped, ...this.skipped]),
      error: this.failure ?? null,
      done: this.done,
    }
  }

  close(): void {
    void this.reader.return(undefined)
  }

  private get done(): boolean {
    return this.ended && this.queue.head === undefined
  }

  private tapeTime(host: Micros): Micros {
    const from = this.done ? (this.newest ?? this.anchor) : this.anchor
    if (from === undefined) return 0
    return from.tape + Math.floor((host - from.host) * (this.done ? 1 : this.options.speed))
  }

  /** Waits for subscribers of all the tape's markets, or for some after the first. */
  private started(host: Micros): boolean {
    if (this.anchor !== undefined) return true
    const waiting = [...this.contents.played.values()].map((market) => this.world.get(market))
    if (waiting.some((history) => history.subscribed)) this.firstSubscribed ??= host
    const late = this.firstSubscribed !== undefined && host - this.firstSubscribed >= WAIT_MICROS
    const next = this.queue.head
    if (next === undefined || (!late && !waiting.every((history) => history.subscribed))) return false
    this.set(host, next)
    return true
  }

  /** `next` is played now. */
  private set(host: Micros, next: TapeTrade): void {
    this.anchor = { host, tape: Math.floor(next.time / 1000) * 1000 }
  }

  /** The time that a trade gets: its own, or when it is played, in whole milliseconds where it is stretched. */
  private timeOf(trade: TapeTrade): Micros {
    const { speed, retime } = this.options
    if (!retime || this.anchor === undefined) return trade.time
    if (speed === 0) return this.newest?.host ?? this.anchor.host
    const since = trade.time - this.anchor.tape
    return this.anchor.host + (speed === 1 ? since : Math.floor(since / speed / 1000) * 1000)
  }

  /** Neighbours of one market and one time leave together, as they were recorded. */
  private nextBatch(first: TapeTrade): Batch {
    const market = this.contents.played.get(marketKey(first))
    if (market === undefined) throw new Error(`the tape gave a trade of no market: ${marketKey(first)}`)
    const trades: Trade[] = []
    let last = this.world.get(market).newest
    let head: TapeTrade | undefined = first
    while (
      head !== undefined &&
      head.time === first.time &&
      head.symbol === first.symbol &&
      head.venue === first.venue
    ) {
      this.queue.take()
      this.played += 1
      trades.push(...this.tradesOf(head, market, last))
      last = trades.at(-1) ?? last
      head = this.queue.head
    }
    return { market, trades, now: this.timeOf(first) }
  }

  private tradesOf(tape: TapeTrade, market: Market, last: Trade | undefined): Trade[] {
    const price = unitsOf(tape.price, market.priceDecimals)
    const size = unitsOf(tape.size, market.sizeDecimals)
    if (price === undefined || size === undefined) {
      count(this.skipped, 'bad number')
      return []
    }
    const { buy, block, rpi, first, sequence, uuid, direction } = tape
    const common = {
      time: this.timeOf(tape),
      price,
      size,
      buy,
      block,
      rpi,
      first,
      last: tape.last,
      sequence,
      uuid,
      direction,
    }
    if (market.venue === 'bybit') return [{ ...common, id: tape.id, first: 0, last: 0 }]
    // A raw trade becomes an aggregate of its own, with an id that counts up by one whatever was left out.
    const id = tape.id === 0 ? (last?.id ?? first - 1) + 1 : tape.id
    if (last !== undefined && id <= last.id) {
      count(this.skipped, 'doubled')
      return []
    }
    return market.venue === 'okx' ? singleFills({ ...common, id }) : [{ ...common, id }]
  }

  /** Fills what was read ahead, off the beat. */
  private fill(): void {
    if (this.reading || this.ended || this.queue.size >= READ_AHEAD / 2) return
    this.reading = true
    void this.read().then(
      () => (this.reading = false),
      (error: unknown) => {
        this.ended = true
        this.failure = String(error)
      },
    )
  }

  private async read(): Promise<void> {
    while (this.queue.size < READ_AHEAD) {
      const { value, done } = await this.reader.next()
      if (done === true) {
        this.ended = true
        return
      }
      this.queue.add(value)
    }
  }

  /** Leaves out what an earlier run has played. */
  private async *unplayed(trades: AsyncGenerator<TapeTrade>): AsyncGenerator<TapeTrade> {
    const counted = new Map<string, number>()
    const recent = new Map<string, RecentIds>()
    const before = new Map<string, Trade | undefined>()
    for (const [key, market] of this.contents.played) before.set(key, this.world.get(market).newest)
    for await (const trade of trades) {
      if (!this.contents.plays(trade)) continue
      const key = marketKey(trade)
      if (isDoubled(recent, trade)) {
        count(this.skipped, 'doubled')
        this.played += 1
        continue
      }
      const number = (counted.get(key) ?? 0) + 1
      counted.set(key, number)
      const last = before.get(key)
      if (last === undefined || !this.isPlayed(trade, last, number)) yield trade
      else this.played += 1
    }
  }

  /** By id; Bybit's have no order, so there by number. */
  private isPlayed(trade: TapeTrade, last: Trade, number: number): boolean {
    if (trade.venue === 'bybit') return number <= (this.world.find('bybit', trade.symbol)?.rows.end ?? 0)
    return trade.venue === 'binance' ? trade.last <= last.last : trade.id <= last.id
  }
}

/** Whether a trade whose id has no order was read already: recordings may overlap. */
function isDoubled(recent: Map<string, RecentIds>, trade: TapeTrade): boolean {
  if (trade.uuid === undefined) return false
  const ids = recent.get(marketKey(trade)) ?? new RecentIds()
  recent.set(marketKey(trade), ids)
  return !ids.add(trade.uuid.join(), trade.time)
}

/** Ids are known for the ten seconds of their trade, as whoever reads the stream knows them. */
const IDS_MICROS = 10_000_000
/** Recordings are merged by time: the same trade of another one comes soon. */
const IDS_KEPT = 6

class RecentIds {
  private readonly stretches = new Map<number, Set<string>>()

  /** Whether it is new. */
  add(id: string, time: Micros): boolean {
    const at = Math.floor(time / IDS_MICROS)
    const ids = this.stretches.get(at) ?? new Set()
    if (ids.has(id)) return false
    this.stretches.set(at, ids.add(id))
    for (const old of this.stretches.keys()) if (this.stretches.size > IDS_KEPT) this.stretches.delete(old)
    return true
  }
}

/** First in, first out, without moving what waits each time. */
class Queue<Item> {
  private items: Item[] = []
  private taken = 0

  get head(): Item | undefined {
    return this.items[this.taken]
  }

  get size(): number {
    return this.items.length - this.taken
  }

  add(item: Item): void {
    this.items.push(item)
  }

  take(): void {
    this.taken += 1
    if (this.taken < 1_000 || this.taken < this.items.length / 2) return
    this.items = this.items.slice(this.taken)
    this.taken = 0
  }
}

/** A merged OKX message in single fills, as `trades-all` has them: equal parts, the last one takes the rest. */
function singleFills(trade: Trade): Trade[] {
  const fills = Math.min(trade.last - trade.first + 1, trade.size)
  if (fills <= 1) return [{ ...trade, first: 0, last: 0 }]
  const part = Math.floor(trade.size / fills)
  return Array.from({ length: fills }, (_, index) => ({
    ...trade,
    first: 0,
    last: 0,
    id: trade.id - fills + 1 + index,
    size: index === fills - 1 ? trade.size - part * (fills - 1) : part,
  }))
}

/** What a tape holds, read once before it is played. */
interface TapeContents {
  /** All that is listed: the tape's markets in the tape's decimals, and the simulated ones beside them. */
  readonly markets: readonly Market[]
  /** Markets of the tape, by venue and symbol. */
  readonly played: ReadonlyMap<string, Market>
  readonly trades: number
  readonly from: Micros
  readonly to: Micros
  readonly skipped: Skipped
  /** Whether a trade of the tape is played. */
  readonly plays: (trade: TapeTrade) => boolean
}

interface Seen {
  readonly first: TapeTrade
  priceDecimals: number
  sizeDecimals: number
  spot: number
  futures: number
}

async function tapeContents(files: readonly string[]): Promise<TapeContents> {
  const seen = new Map<string, Seen>()
  const skipped: Skipped = new Map()
  let [from, to] = [Number.POSITIVE_INFINITY, 0]
  for await (const trade of mergedTrades(files, skipped)) {
    note(seen, trade)
    from = Math.min(from, trade.time)
    to = Math.max(to, trade.time)
  }
  const plays = (trade: TapeTrade): boolean => playable(seen.get(marketKey(trade)), trade)
  const played = new Map<string, Market>()
  let trades = 0
  for (const [key, { first, priceDecimals, sizeDecimals, spot, futures }] of seen) {
    const count = futures > 0 ? futures : spot
    if (futures === 0 && !spotPlays(first.venue)) {
      skipped.set('spot market', (skipped.get('spot market') ?? 0) + spot)
      continue
    }
    if (futures > 0 && spot > 0) skipped.set('spot market', (skipped.get('spot market') ?? 0) + spot)
    played.set(key, { ...marketOf(first.venue, first.symbol), priceDecimals, sizeDecimals, tick: 1 })
    trades += count
  }
  const rest = simulatedMarkets.filter((market) => !played.has(marketKey(market)))
  return { markets: [...played.values(), ...rest], played, trades, from, to, skipped, plays }
}

function marketKey({ venue, symbol }: { venue: TradeVenueName; symbol: string }): string {
  return `${venue} ${symbol}`
}

function note(seen: Map<string, Seen>, trade: TapeTrade): void {
  const key = marketKey(trade)
  const known = seen.get(key) ?? { first: trade, priceDecimals: 0, sizeDecimals: 0, spot: 0, futures: 0 }
  known.priceDecimals = Math.max(known.priceDecimals, decimalsOf(trade.price))
  known.sizeDecimals = Math.max(known.sizeDecimals, decimalsOf(trade.size))
  if (trade.spot) known.spot += 1
  else known.futures += 1
  seen.set(key, known)
}

/** Binance spot and futures symbols are the same, so a spot tape can stand in for a futures one, but not beside it. */
function playable(seen: Seen | undefined, trade: TapeTrade): boolean {
  if (seen === undefined) return false
  return trade.spot ? seen.futures === 0 && spotPlays(trade.venue) : true
}

function spotPlays(venue: TradeVenueName): boolean {
  return venue === 'binance'
}

/** The simulated market of that symbol; a symbol that is not simulated is its own asset, one to one. */
function marketOf(venue: TradeVenueName, symbol: string): Market {
  const known = simulatedMarkets.find((market) => market.venue === venue && market.symbol === symbol)
  if (known !== undefined) return known
  const quote = /(?:-)?(USDT|USDC|USD)(?:-SWAP)?$/.exec(symbol)?.[1] ?? 'USDT'
  const listed = symbol.replace(/-?(USDT|USDC|USD)(-SWAP)?$/, '')
  const thousands = venue !== 'okx' && venue !== 'coinbase' && /^1000[A-Z]/.test(listed)
  const base = thousands ? listed.slice(4) : listed
  const units = { priceDecimals: 8, sizeDecimals: 8, tick: 1, lot: 1, factor: thousands ? 3 : 0 }
  return { venue, symbol, asset: base, base, quote, ...units, startPrice: 1, weight: 0, firstId: 0 }
}
