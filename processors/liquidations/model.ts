import { liquidationPrices, sharesOf, type MarginTerms } from './leverage.ts'
import type { Side } from './levels.ts'
import type { Contract } from './state.ts'

/**
 * A change of open interest below this share of it waits for more: else noise would let positions close and open again
 * without end and draw all levels to the price.
 */
export const CHANGE_MIN = 0.0005

/** Takes in a mark: what it has crossed is gone. Gives the sizes, base units. */
export function followMark(contract: Contract): Readonly<Record<Side, number>> {
  const { mark, levels } = contract
  if (mark === null) return { long: 0, short: 0 }
  const swept = levels.sweep(mark.value)
  if (swept.long > 0 || swept.short > 0) contract.seed = null
  seedOnce(contract)
  return swept
}

/** Takes in open interest: what was added opened at the mark of now, what is missing closed at every level alike. */
export function followOpenInterest(contract: Contract): void {
  const { mark, openInterest, base, levels } = contract
  if (mark === null || openInterest === null) return
  if (base === null) return seedOnce(contract)
  const now = openInterest.value
  if (Math.abs(now - base) < CHANGE_MIN * base || now === base) return
  contract.seed = null
  contract.base = now
  if (now > base) open(contract, mark.value, now - base)
  else if (now > 0) levels.scale(now / base)
  else levels.clear()
  levels.forgetFar(mark.value)
}

/** New terms hold for what opens from now on; for levels that were only laid out at first sight, as well. */
export function followTerms(contract: Contract, terms: MarginTerms): void {
  contract.terms = terms
  const { seed, base, levels } = contract
  if (seed === null || base === null) return
  levels.clear()
  open(contract, seed, base)
}

/**
 * At the first sight of open interest nothing tells where it was opened, so all of it is laid out at the current mark:
 * an answer at once, that gets better as positions come and go.
 */
function seedOnce(contract: Contract): void {
  const { mark, openInterest, base } = contract
  if (base !== null || mark === null || openInterest === null) return
  contract.base = openInterest.value
  contract.seed = mark.value
  open(contract, mark.value, openInterest.value)
}

/** Every contract has a long and a short: each has half of its notional. */
function open({ terms, levels }: Contract, entry: number, size: number): void {
  for (const [tier, share] of sharesOf(terms)) {
    const prices = liquidationPrices(entry, tier, terms.margin)
    levels.add(tier, 'long', prices.long, (size * share) / 2)
    levels.add(tier, 'short', prices.short, (size * share) / 2)
  }
}
