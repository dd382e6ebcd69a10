import type { Micros } from '../../schemas/records.ts'
import {
  BUILT_ABOVE,
  ENTRY_SPREAD,
  liquidationPrices,
  REPLACED_PER_DAY,
  sharesOf,
  STANDING,
  USUAL_DAYS,
  type MarginTerms,
} from './leverage.ts'
import { bucketOf, type Side } from './levels.ts'
import type { Contract } from './state.ts'

/**
 * A change of open interest below this share of it waits for more: else noise would let positions close and open again
 * without end and draw all levels to the price.
 */
const CHANGE_MIN = 0.005
/** Positions are replaced in steps of this time, so that little is written. */
const STEP: Micros = 3_600_000_000
const DAY: Micros = 24 * STEP
/** Entries of positions whose opening was not seen: the middles of sixteen equal parts of a normal distribution. */
const middles = [0.0784, 0.2372, 0.4023, 0.5791, 0.7764, 1.01, 1.318, 1.8627] as const
const entries = [...middles, ...middles.map((middle) => -middle)].map((deviation) => Math.exp(ENTRY_SPREAD * deviation))

/** Takes in a mark: what it has crossed is gone. Gives the sizes, base units. */
export function followMark(contract: Contract): Readonly<Record<Side, number>> {
  const { mark, levels } = contract
  if (mark === null) return { long: 0, short: 0 }
  const swept = levels.sweep(mark.value)
  if (swept.long > 0 || swept.short > 0) contract.seed = null
  seedOnce(contract)
  age(contract)
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
  if (now > base) grow(contract, mark.value, { from: base, to: now })
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
  layOut(contract, seed, base)
}

/**
 * At the first sight of open interest nothing tells where it was opened, so little of it is taken for leveraged, with
 * entries around the current mark: an answer at once, that gets better as positions come and go.
 */
function seedOnce(contract: Contract): void {
  const { mark, openInterest, base } = contract
  if (base !== null || mark === null || openInterest === null) return
  contract.base = openInterest.value
  contract.seed = mark.value
  contract.aged = { until: mark.time, usual: openInterest.value }
  layOut(contract, mark.value, openInterest.value)
}

function layOut(contract: Contract, mark: number, size: number): void {
  for (const entry of entries) open(contract, mark * entry, (size * STANDING) / entries.length, mark)
}

/** Growth beyond what is usual is leveraged, growth up to there is like what stood. */
function grow(contract: Contract, mark: number, { from, to }: { from: number; to: number }): void {
  const usual = contract.aged?.usual ?? from
  const built = Math.max(0, to - Math.max(from, usual * BUILT_ABOVE))
  open(contract, mark, built + (to - from - built) * STANDING)
}

/** Positions end and others begin at the mark of now, though open interest stays where it is; it becomes usual. */
function age(contract: Contract): void {
  const { mark, base, aged, levels } = contract
  if (mark === null || base === null || aged === null) return
  const time = Math.floor((mark.time - aged.until) / STEP) * STEP
  if (time <= 0) return
  const kept = (1 - REPLACED_PER_DAY) ** (time / DAY)
  const remembered = Math.exp(-time / (USUAL_DAYS * DAY))
  contract.aged = { until: aged.until + time, usual: base + (aged.usual - base) * remembered }
  contract.seed = null
  levels.scale(kept)
  open(contract, mark.value, base * (1 - kept) * STANDING)
}

/**
 * Every contract has a long and a short: each has half of its notional. `mark`: what it has reached already is closed,
 * and not opened.
 */
function open({ terms, levels }: Contract, entry: number, size: number, mark = entry): void {
  if (size <= 0) return
  for (const [tier, share] of sharesOf(terms)) {
    const prices = liquidationPrices(entry, tier, terms.margin)
    if (bucketOf(prices.long) < bucketOf(mark)) levels.add(tier, 'long', prices.long, (size * share) / 2)
    if (bucketOf(prices.short) > bucketOf(mark)) levels.add(tier, 'short', prices.short, (size * share) / 2)
  }
}
