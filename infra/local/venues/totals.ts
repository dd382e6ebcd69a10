import { trimmedText } from './decimal.ts'
import type { Market } from './markets.ts'
import type { Trade } from './trade.ts'

/** Sums of trades in whole units of size: exact however many there are. Block trades are left out. */
export class Totals {
  trades = 0
  buy = 0n
  sell = 0n
  first: number | null = null
  last: number | null = null

  add(trade: Trade): void {
    if (trade.block) return
    this.trades += 1
    if (trade.buy) this.buy += BigInt(trade.size)
    else this.sell += BigInt(trade.size)
    this.first ??= trade.id
    this.last = trade.id
  }

  copy(): Totals {
    return Object.assign(new Totals(), this)
  }
}

/** One line of the ledger. Volumes are decimal text in units of the base asset. */
export interface LedgerRow {
  readonly venue: string
  readonly symbol: string
  readonly instrument: string
  readonly trades: number
  readonly buy_volume: string
  readonly sell_volume: string
  /** Null where the venue's ids have no order (Bybit), and before the first trade. */
  readonly first_id: number | null
  readonly last_id: number | null
}

export function ledgerRow(market: Market, totals: Totals): LedgerRow {
  const ordered = market.venue !== 'bybit'
  return {
    venue: market.venue,
    symbol: market.asset,
    instrument: market.symbol,
    trades: totals.trades,
    buy_volume: baseText(market, totals.buy),
    sell_volume: baseText(market, totals.sell),
    first_id: ordered ? totals.first : null,
    last_id: ordered ? totals.last : null,
  }
}

/** Units of size in base units, exactly: a contract or a multiplied symbol is a power of ten of the base. */
export function baseText(market: Market, units: bigint): string {
  const decimals = market.sizeDecimals - market.factor
  return decimals >= 0 ? trimmedText(units, decimals) : String(units * 10n ** BigInt(-decimals))
}
