import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TradeVenueName } from '../../../schemas/venues.ts'
import type { Market } from '../market/markets.ts'
import type { Micros } from '../market/trade.ts'
import { bucketRows, History, ledgerRow, type BucketRow, type LedgerRow } from './history.ts'

/** Every market with its history: what the venues share behind their APIs. */
export class World {
  private readonly folder: string
  private readonly histories: History[] = []
  private readonly further: readonly Market[]
  private time: Micros

  /**
   * Opens the histories below `folder`; `now` is where the world's clock starts. `further`: markets whose histories begin
   * when somebody looks for them.
   */
  constructor(folder: string, markets: readonly Market[], now: Micros, further: readonly Market[] = []) {
    this.folder = folder
    this.time = now
    this.further = further
    for (const market of markets) this.open(market)
    for (const market of further) if (existsSync(this.folderOf(market))) this.open(market)
  }

  /** The venues' clock: the host's, or a tape's. */
  get now(): Micros {
    return this.time
  }

  get nowMs(): number {
    return Math.floor(this.time / 1000)
  }

  set now(time: Micros) {
    this.time = Math.max(this.time, time)
  }

  of(venue: TradeVenueName): readonly History[] {
    return this.histories.filter(({ market }) => market.venue === venue)
  }

  find(venue: TradeVenueName, symbol: string): History | undefined {
    const known = this.histories.find(({ market }) => market.venue === venue && market.symbol === symbol)
    if (known !== undefined) return known
    const market = this.further.find((one) => one.venue === venue && one.symbol === symbol)
    return market && this.open(market)
  }

  /** Further markets of an asset that are in the ledger: those trade. */
  furtherOf(asset: string): readonly Market[] {
    const open = this.histories.filter(({ market, entered }) => entered && this.further.includes(market))
    return open.flatMap(({ market }) => (market.asset === asset ? [market] : []))
  }

  /** The history of a market that is known to be here. */
  get(market: Market): History {
    const history = this.find(market.venue, market.symbol)
    if (history === undefined) throw new Error(`no history of ${market.venue} ${market.symbol}`)
    return history
  }

  /** Lines of the ledger, of markets that were subscribed at least once. */
  ledger(wanted: { venue?: string; symbol?: string; from?: Micros; to?: Micros }): LedgerRow[] {
    return this.histories
      .filter((history) => history.entered)
      .filter(({ market }) => wanted.venue === undefined || wanted.venue === market.venue)
      .filter(({ market }) => wanted.symbol === undefined || [market.asset, market.symbol].includes(wanted.symbol))
      .map((history) => ledgerRow(history.market, history.ledger(wanted.from, wanted.to), history.beginTime))
  }

  /** The same of all markets by stretches of `step`. */
  buckets(step: Micros, { from, to }: { from?: Micros; to?: Micros }): BucketRow[] {
    return this.histories
      .filter((history) => history.entered)
      .flatMap((history) => bucketRows(history.market, history.buckets(step, from, to)))
  }

  close(): void {
    for (const history of this.histories) history.close()
  }

  private open(market: Market): History {
    const history = new History(this.folderOf(market), market)
    this.histories.push(history)
    return history
  }

  private folderOf({ venue, symbol }: Market): string {
    return join(this.folder, venue, symbol.replaceAll('/', '-'))
  }
}
