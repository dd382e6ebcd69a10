/** The tiers that answers show. */
export const tiers = [5, 10, 25, 50, 100] as const
export type Tier = (typeof tiers)[number]

/**
 * The share at each leverage of what is built up: of open interest that grows beyond what it usually is. What remains, 14 %,
 * is not at risk at any tier: hedged, below 5x, or margined across an account. Half of each share is long, half short.
 *
 * Chosen in one market of the simulator, so that the mass that marks swept and what was liquidated agree over a fortnight,
 * and tried in others (`npm run bench -- cascade`). Nothing was tuned on live markets: there the heatmap shows the same
 * comparison.
 */
export const leverageShares: Readonly<Record<Tier, number>> = { 5: 0.07, 10: 0.15, 25: 0.4, 50: 0.16, 100: 0.08 }

/**
 * Of what stood at first sight, of what takes another's place, and of growth back to what is usual, this part of those
 * shares: who has been there for long is careful; leverage is what a build-up brings.
 */
export const STANDING = 0.04
/** Open interest is built up from this much above what it usually is. */
export const BUILT_ABOVE = 1.05
/** What is usual is the mean of about this many days. */
export const USUAL_DAYS = 3
/** Share of the positions that others replace in a day. */
export const REPLACED_PER_DAY = 0.35
/** How far entries are spread around the mark at first sight, as the standard deviation of a logarithm. */
export const ENTRY_SPREAD = 0.06

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
