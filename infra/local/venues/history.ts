import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Candles } from './candles.ts'
import type { Market } from './markets.ts'
import { RowFile } from './row-file.ts'
import { Totals } from './totals.ts'
import type { Micros, Trade } from './trade.ts'

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
}

const nothing: Checkpoint = { entered: null, row: 0, trades: 0, buy: '0', sell: '0', first: null, last: null }

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
   * time is the one that the venue writes: whole milliseconds everywhere but at Coinbase.
   */
  ledger(from?: Micros, to?: Micros): Totals {
    if (from === undefined && to === undefined) return this.totals.copy()
    const totals = new Totals()
    const tick = this.market.venue === 'coinbase' ? 1 : 1000
    const first = from === undefined ? 0 : this.rows.firstAt(Math.ceil(from / tick) * tick)
    const begin = Math.max(this.checkpoint.entered ?? this.rows.end, first)
    const end = to === undefined ? this.rows.end : this.rows.firstAt((Math.floor(to / tick) + 1) * tick)
    for (const page of this.rows.pages(begin, end)) for (const trade of page) totals.add(trade)
    return totals
  }

  close(): void {
    this.rows.close()
    this.candles.close()
  }

  /** A new file was begun: the ledger so far is kept, and what is too old may go. */
  private roll(): void {
    const { trades, buy, sell, first, last } = this.totals
    this.save({
      entered: this.checkpoint.entered,
      row: this.rows.end,
      trades,
      buy: String(buy),
      sell: String(sell),
      first,
      last,
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
  const { trades, first, last } = checkpoint
  return Object.assign(new Totals(), {
    trades,
    first,
    last,
    buy: BigInt(checkpoint.buy),
    sell: BigInt(checkpoint.sell),
  })
}
