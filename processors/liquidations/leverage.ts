/** The tiers that answers show. */
export const tiers = [5, 10, 25, 50, 100] as const
export type Tier = (typeof tiers)[number]

/**
 * The share of open interest that is assumed at each leverage. What remains, 50.7 %, is not at risk at any tier: hedged,
 * below 5x, or margined across an account.
 *
 * Chosen so that what marks sweep and what is liquidated agree. Against books of simulated positions, with a price that
 * moves 2 or 4 % a day and a turnover of once or three times the open interest, liquidated over swept was 0.6 to 2.1.
 * For live markets the heatmap shows the same comparison; nothing was tuned on them.
 */
export const leverageShares: Readonly<Record<Tier, number>> = { 5: 0.3, 10: 0.15, 25: 0.025, 50: 0.012, 100: 0.006 }

/** Maintenance margin where the venue's tiers are not known. */
export const USUAL_MARGIN = 0.005

/** What the model needs of a contract. */
export interface MarginTerms {
  /** Highest leverage that the venue allows; null: not said. */
  readonly maxLeverage: number | null
  /** Maintenance margin of the first tier, fraction. */
  readonly margin: number
}

/**
 * The tiers that a contract allows with their shares. A leverage above the highest allowed cannot be had, so its share
 * is at the highest tier that can; below 5x there is nothing.
 */
export function sharesOf({ maxLeverage, margin }: MarginTerms): readonly (readonly [tier: Tier, share: number])[] {
  const allowed = tiers.filter((tier) => tier <= (maxLeverage ?? Infinity) && tier * margin < 1)
  const highest = allowed.at(-1)
  if (highest === undefined) return []
  const above = tiers.filter((tier) => tier > highest).reduce((sum, tier) => sum + leverageShares[tier], 0)
  return allowed.map((tier) => [tier, leverageShares[tier] + (tier === highest ? above : 0)])
}

/** Liquidation prices of an isolated position that was opened at `entry`. */
export interface LiquidationPrices {
  readonly long: number
  readonly short: number
}

/** `E (1 - 1/L) / (1 - MMR)` of a long, `E (1 + 1/L) / (1 + MMR)` of a short. */
export function liquidationPrices(entry: number, leverage: number, margin: number): LiquidationPrices {
  return { long: (entry * (1 - 1 / leverage)) / (1 - margin), short: (entry * (1 + 1 / leverage)) / (1 + margin) }
}
