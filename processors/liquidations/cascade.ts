/** How likely one liquidation sets off the next, mildest first. */
export const cascadeRisks = ['low', 'medium', 'high'] as const

export type CascadeRisk = (typeof cascadeRisks)[number]

/** Over this percentage of open interest within 5 % of the price is high. */
const HIGH_WITHIN_5_PCT = 10
/** From this percentage of open interest within 10 % of the price on it is medium. */
const MEDIUM_WITHIN_10_PCT = 5

/** Why it is that class: the rule that decided it, with its figure. */
export function cascadeReason(within5Pct: number, within10Pct: number): string {
  const near = besides(HIGH_WITHIN_5_PCT, within5Pct)
  const wide = besides(MEDIUM_WITHIN_10_PCT, within10Pct)
  switch (cascadeRisk(within5Pct, within10Pct)) {
    case 'high':
      return `${near} % of open interest is at risk within 5 % of the price, more than ${HIGH_WITHIN_5_PCT} %.`
    case 'medium':
      return `${wide} % of open interest is at risk within 10 % of the price, ${MEDIUM_WITHIN_10_PCT} % or more.`
    case 'low':
      return `${wide} % of open interest is at risk within 10 % of the price, less than ${MEDIUM_WITHIN_10_PCT} %.`
  }
}

/** Two decimals, or as many as tell it from a bound that it is not on. */
function besides(bound: number, percent: number, decimals = 2): string {
  const text = percent.toFixed(decimals)
  const hidesIt = percent !== bound && Number(text) === bound
  return hidesIt ? besides(bound, percent, decimals + 1) : text
}

/** The level of open interest at risk within 5 % and within 10 % of the price, both in percent of open interest. */
export function cascadeRisk(within5Pct: number, within10Pct: number): CascadeRisk {
  if (within5Pct > HIGH_WITHIN_5_PCT) return 'high'
  return within10Pct >= MEDIUM_WITHIN_10_PCT ? 'medium' : 'low'
}
