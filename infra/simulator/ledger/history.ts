import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tradeVenues } from '../../../schemas/venues.ts'
import { trimmedText } from '../market/text.ts'
import type { Market } from '../market/markets.ts'
import type { Micros, Trade } from '../market/trade.ts'
import { Candles } from './candles.ts'
import { RowFile } from './rows.ts'

/** REST and range ledgers reach back this far; whole files older than it are dropped. */
const KEPT_MICROS = 6 * 3_600_000_000

/** The ledger as of row `row`: what follows is added up from the rows. */
interface Checkpoint {
  /** Number of the row that was next when the market was first subscribed; null: never yet. */
  readonly entered: number | null
  readonly row: number
  readonly trades: number
  readonly buy: string
  readonly sell: string
  readonly first: number | null
  readonly last: number | null
  readonly firstTime: Micros | null
}

const nothing: Checkpoint = {
  entered: null,
  row: 0,
  trades: 0,
  buy: '0',
  sell: '0',
  first: null,
  last: null,
  firstTime: null,
}

/** What a market has traded, on disk: the venue's memory for REST, and the ledger's. */
export class History {
  /** As the venue counts it now: a contract may get another value, which keeps all whole units. */
  market: Market
  readonly rows: RowFile
  readonly candles: Candles
  /** Newest trade. */
  tail: Trade | undefined
  /** Newest trade that is not a block trade. */
  newest: Trade | undefined
  /** Whether anyone has subscribed since this process began. */
  subscribed = false
  private readonly checkpointFile: string
  private checkpoint: Checkpoint
  private readonly totals: Totals

  constructor(folder: string, market: Market, rowsPerFile?: number) {
    this.market = market
    this.rows = new RowFile(folder, rowsPerFile)
    this.checkpointFile = join(folder, 'ledger.json')
    this.checkpoint = readCheckpoint(this.checkpointFile)
    this.totals = totalsOf(this.checkpoint)
    const from =
      this.checkpoint.entered === null ? this.rows.end : Math.max(this.checkpoint.entered, this.checkpoint.row)
    for (const page of this.rows.pages(from, this.rows.end)) for (const trade of page) this.totals.add(trade)
    const recent = this.rows.read(this.rows.end - 100, this.rows.end)
    this.tail = recent.at(-1)
    this.newest = recent.findLast((trade) => !trade.block)
    this.candles = new Candles(join(folder, 'minutes.candles'), this.rows)
  }

  get entered(): boolean {
    return this.checkpoint.entered !== null
  }

  /** Behind the newest trade that the ledger does not count, as the venue writes time; 0: there is none that is kept. */
  get beginTime(): Micros {
    const { entered } = this.checkpoint
    const before = entered === null ? undefined : this.rows.read(entered - 1, entered).at(-1)
    const tick = tickOf(this.market)
    return before === undefined ? 0 : (Math.floor(before.time / tick) + 1) * tick
  }

  /** From now on the ledger counts this market. On disk before the venue says that it is subscribed. */
  enter(): void {
    this.subscribed = true
    if (this.entered) return
    this.save({ ...this.checkpoint, entered: this.rows.end, row: this.rows.end })
  }

  /** On disk when this returns. */
  append(trades: readonly Trade[]): void {
    const files = this.rows.files
    this.rows.append(trades)
    if (this.entered) for (const trade of trades) this.totals.add(trade)
    for (const trade of trades) this.candles.add(trade)
    this.tail = trades.at(-1) ?? this.tail
    this.newest = trades.findLast((trade) => !trade.block) ?? this.newest
    if (this.rows.files !== files) this.roll()
  }

  /**
   * Totals since the market entered the ledger; with bounds, of its trades in that time, both ends included. A trade's
   * time is the one that the venue writes: whole milliseconds mostly.
   */
  ledger(from?: Micros, to?: Micros): Totals {
    const { firstTime } = this.totals
    if (to === undefined && (from === undefined || (firstTime !== null && from <= firstTime))) return this.totals.copy()
    const totals = new Totals()
    for (const page of this.pages(from, to)) for (const trade of page) totals.add(trade)
    return totals
  }

  /** The same by stretches of `step`, each by its start. */
  buckets(step: Micros, from?: Micros, to?: Micros): Map<Micros, BucketTotals> {
    const buckets = new Map<Micros, BucketTotals>()
    const tick = tickOf(this.market)
    for (const page of this.pages(from, to))
      for (const trade of page) {
        if (trade.block) continue
        const start = Math.floor(trade.time / step) * step
        const known = buckets.get(start) ?? noTrades()
        buckets.set(start, known)
        known.trades += 1
        known[trade.buy ? 'buy' : 'sell'] += trade.size
        known[trade.buy ? 'buyQuote' : 'sellQuote'] += trade.price * trade.size
        known.low = Math.min(known.low, trade.price)
        known.high = Math.max(known.high, trade.price)
        known.times += Math.floor(trade.time / tick) * tick - start
      }
    return buckets
  }

  close(): void {
    this.rows.close()
    this.candles.close()
  }

  /** What the ledger counts within these bounds. */
  private pages(from: Micros | undefined, to: Micros | undefined): Generator<Trade[]> {
    const tick = tickOf(this.market)
    const first = from === undefined ? 0 : this.rows.firstAt(Math.ceil(from / tick) * tick)
    const begin = Math.max(this.checkpoint.entered ?? this.rows.end, first)
    const end = to === undefined ? this.rows.end : this.rows.firstAt((Math.floor(to / tick) + 1) * tick)
    return this.rows.pages(begin, end)
  }

  /** A new file was begun: the ledger so far is kept, and what is too old may go. */
  private roll(): void {
    const { trades, buy, sell, first, last, firstTime } = this.totals
    this.save({
      entered: this.checkpoint.entered,
      row: this.rows.end,
      trades,
      buy: String(buy),
      sell: String(sell),
      first,
      last,
      firstTime,
    })
    if (this.newest !== undefined) this.rows.dropBefore(this.newest.time - KEPT_MICROS)
  }

  private save(checkpoint: Checkpoint): void {
    writeFileSync(`${this.checkpointFile}.new`, JSON.stringify(checkpoint))
    renameSync(`${this.checkpointFile}.new`, this.checkpointFile)
    this.checkpoint = checkpoint
  }
}

function readCheckpoint(file: string): Checkpoint {
  // Written by `save` alone, whole or not at all.
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Checkpoint) : nothing
}

function totalsOf(checkpoint: Checkpoint): Totals {
  const { trades, first, last, firstTime } = checkpoint
  return Object.assign(new Totals(), {
    trades,
    first,
    last,
    firstTime,
    buy: BigInt(checkpoint.buy),
    sell: BigInt(checkpoint.sell),
  })
}

/** Sums of trades in whole units of size: exact however many there are. Block trades are left out. */
class Totals {
  trades = 0
  buy = 0n
  sell = 0n
  first: number | null = null
  last: number | null = null
  firstTime: Micros | null = null

  add(trade: Trade): void {
    if (trade.block) return
    this.trades += 1
    if (trade.buy) this.buy += BigInt(trade.size)
    else this.sell += BigInt(trade.size)
    this.first ??= trade.id
    this.firstTime ??= trade.time
    this.last = trade.id
  }

  copy(): Totals {
    return Object.assign(new Totals(), this)
  }
}

/** Sums of a stretch of time, as doubles in whole units of size, and of price times size. */
interface BucketTotals {
  trades: number
  buy: number
  sell: number
  buyQuote: number
  sellQuote: number
  /** In whole units of price. */
  low: number
  high: number
  /** How far the trades are behind its start as the venue writes their times, added up, microseconds. */
  times: number
}

function noTrades(): BucketTotals {
  return { trades: 0, buy: 0, sell: 0, buyQuote: 0, sellQuote: 0, low: Infinity, high: -Infinity, times: 0 }
}

/** One line of the ledger. Volumes are decimal text in units of the base asset. */
export interface LedgerRow {
  readonly venue: string
  readonly symbol: string
  readonly instrument: string
  readonly trades: number
  readonly buy_volume: string
  readonly sell_volume: string
  /** Null where the venue's ids have no order, and before the first trade. */
  readonly first_id: number | null
  readonly last_id: number | null
  /** What it does not count of the market was traded before this, microseconds; 0: it counts all. */
  readonly begin_time: Micros
}

/** One line of the ledger by stretches of time: volumes in units of the base asset and of the quote currency. */
export interface BucketRow {
  readonly venue: string
  readonly instrument: string
  /** Start, microseconds. */
  readonly bucket: Micros
  readonly trades: number
  readonly buy_volume: number
  readonly sell_volume: number
  readonly buy_quote: number
  readonly sell_quote: number
  readonly low: number
  readonly high: number
  /** How far its trades are behind its start, added up, microseconds. */
  readonly times: number
}

/** The least time that a venue writes, microseconds. */
function tickOf({ isFine }: Market): Micros {
  return isFine === true ? 1 : 1_000
}

const contiguous = new Set<string>(tradeVenues.filter(({ ids }) => ids === 'contiguous').map(({ venue }) => venue))

export function ledgerRow(market: Market, totals: Totals, beginTime: Micros): LedgerRow {
  const ordered = contiguous.has(market.venue)
  return {
    venue: market.venue,
    symbol: market.asset,
    instrument: market.symbol,
    trades: totals.trades,
    buy_volume: baseText(market, totals.buy),
    sell_volume: baseText(market, totals.sell),
    first_id: ordered ? totals.first : null,
    last_id: ordered ? totals.last : null,
    begin_time: beginTime,
  }
}

export function bucketRows(market: Market, buckets: ReadonlyMap<Micros, BucketTotals>): BucketRow[] {
  const { venue, symbol, sizeDecimals, priceDecimals, factor } = market
  const base = sizeDecimals - factor
  // A contract's price is that of one base unit, a multiplied symbol's that of its multiple.
  const price = priceDecimals + (venue === 'okx' || venue === 'gate' ? 0 : factor)
  const quote = base + price
  const scaled = (units: number, decimals: number): number => units / 10 ** decimals
  return [...buckets].map(([bucket, { trades, buy, sell, buyQuote, sellQuote, low, high, times }]) => ({
    venue,
    instrument: symbol,
    bucket,
    trades,
    buy_volume: scaled(buy, base),
    sell_volume: scaled(sell, base),
    buy_quote: scaled(buyQuote, quote),
    sell_quote: scaled(sellQuote, quote),
    low: scaled(low, price),
    high: scaled(high, price),
    times,
  }))
}

/** Units of size in base units, exactly: a contract or a multiplied symbol is a power of ten of the base. */
export function baseText(market: Market, units: bigint): string {
  const decimals = market.sizeDecimals - market.factor
  return decimals >= 0 ? trimmedText(units, decimals) : String(units * 10n ** BigInt(-decimals))
}
