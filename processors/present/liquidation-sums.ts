import type { Liquidation } from '../../schemas/records.ts'

/** Liquidations of an asset that are not held one by one any more: how many of each side, and what they were worth, USD. */
export interface LiquidationSum {
  readonly asset: string
  readonly longs: number
  readonly shorts: number
  readonly longUsd: number
  readonly shortUsd: number
}

/** By asset, in the order of their first. */
export function sumsOf(events: readonly Liquidation[]): LiquidationSum[] {
  return [...Map.groupBy(events, ({ asset }) => asset)].map(([asset, own]) => {
    const longs = own.filter(({ side }) => side === 'long')
    const shorts = own.filter(({ side }) => side === 'short')
    return { asset, longs: longs.length, shorts: shorts.length, longUsd: usdOf(longs), shortUsd: usdOf(shorts) }
  })
}

/** Compensated, so that it does not depend on which values come first. */
export function usdOf(rows: readonly { readonly value: number }[]): number {
  let [sum, lost] = [0, 0]
  for (const { value } of rows) {
    const next = sum + value
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum
    sum = next
  }
  return sum + lost
}
