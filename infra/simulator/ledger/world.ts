import { join } from 'node:path'
import { type Market, type TradeVenueName, tradeVenueNames } from '../market/markets.ts'
import type { Micros } from '../market/trade.ts'
import { History, ledgerRow, type LedgerRow } from './history.ts'

/** Every market with its history: what the four venues share behind their four APIs. */
export class World {
  private readonly histories: Readonly<Record<TradeVenueName, Map<string, History>>>
  private time: Micros

  /** Opens the histories below `folder`; `now` is where the world's clock starts. */
  constructor(folder: string, markets: readonly Market[], now: Micros) {
    this.time = now
    this.histories = { binance: new Map(), bybit: new Map(), okx: new Map(), coinbase: new Map() }
    for (const market of markets) {
      this.histories[market.venue].set(market.symbol, new History(join(folder, market.venue, market.symbol), market))
    }
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
    return [...this.histories[venue].values()]
  }

  find(venue: TradeVenueName, symbol: string): History | undefined {
    return this.histories[venue].get(symbol)
  }

  /** The history of a market that is known to be here. */
  get(market: Market): History {
    const history = this.find(market.venue, market.symbol)
    if (history === undefined) throw new Error(`no history of ${market.venue} ${market.symbol}`)
    return history
  }

  /** Lines of the ledger, of markets that were subscribed at least once. */
  ledger(wanted: { venue?: string; symbol?: string; from?: Micros; to?: Micros }): LedgerRow[] {
    return tradeVenueNames
      .flatMap((venue) => this.of(venue))
      .filter((history) => history.entered)
      .filter(({ market }) => wanted.venue === undefined || wanted.venue === market.venue)
      .filter(({ market }) => wanted.symbol === undefined || [market.asset, market.symbol].includes(wanted.symbol))
      .map((history) => ledgerRow(history.market, history.ledger(wanted.from, wanted.to)))
  }

  close(): void {
    for (const venue of tradeVenueNames) for (const history of this.of(venue)) history.close()
  }
}
