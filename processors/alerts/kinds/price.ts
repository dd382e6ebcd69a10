import type { CompositePrice, Micros } from '../../../schemas/records.ts'
import { asDecimal, decimalText } from '../../prices/decimal.ts'
import { isFigure, WAITING, type AlertKind, type Cause, type StoredAlert, type Verdict } from './kind.ts'

export const conditions = ['above', 'below', 'crosses_above', 'crosses_below'] as const

/** A price beyond its target. Levels ring at it and again after a return; crossings need a price before the target first. */
export interface PriceTerms {
  readonly kind: 'price'
  readonly condition: (typeof conditions)[number]
  readonly target_price: number
}

/** `risk`: written in snapshots from when causes of all kinds had it. */
interface PriceCause extends Cause {
  readonly risk: null
}

export const price: AlertKind<PriceTerms, 'composite_price', PriceCause> = {
  kind: 'price',
  input: 'composite_price',
  needsSubscription: () => false, // prices of the whole catalogue always run

  read({ condition, target_price }) {
    const known = conditions.find((name) => name === condition)
    return known && isFigure(target_price) ? { kind: 'price', condition: known, target_price } : undefined
  },
  write: ({ kind, condition, target_price }) => {
    return { kind, condition, target_price, threshold_pct: null, min_value_usd: null }
  },
  ringsOnce: isCrossing,
  isTriedAgain: true,

  levels: {
    above: { passes: '>', figure: ({ high }) => high },
    below: { passes: '<', figure: ({ low }) => low },
    'back-below': { passes: '<=', figure: ({ low }) => low },
    'back-above': { passes: '>=', figure: ({ high }) => high },
  },
  wait(alert) {
    const rises = isRising(alert.terms)
    if (waitsToRing(alert)) return rises ? 'above' : 'below'
    return rises ? 'back-below' : 'back-above'
  },
  at: ({ target_price: target }) => target,
  evaluate,

  describe: ({ condition, target_price: target }) => `${condition.replace('_', ' ')} ${decimalText(target)} USD`,
  describeCause: ({ condition, target_price: target }, symbol, cause) =>
    `${symbol} ${verbs[condition]} ${decimalText(target)} USD: at ${decimalText(asDecimal(cause.price))} USD`,
  evidence: () => ({ severity: 'medium', oi_at_risk_usd: null, oi_at_risk_pct: null, cascade_risk: null }),

  event: 'price_alert',
  payload: ({ target_price, condition, condition_met }) => ({ target_price, condition, condition_met }),
  sourceFigure: 'price',
}

const verbs = {
  above: 'rose above',
  below: 'fell below',
  crosses_above: 'crossed upward through',
  crosses_below: 'crossed downward through',
} as const

/**
 * The order of low and high within one record is not known. So what was ready before it rings at either of them, but what
 * only becomes ready by it (a crossing that was not armed, a return after the trigger) goes by its last price.
 */
function evaluate(alert: StoredAlert<PriceTerms>, record: CompositePrice, from: Micros): Verdict<PriceCause> {
  const view = viewOf(alert, record, from)
  if (view === undefined) return WAITING
  const { terms } = alert
  const { last, low, high } = view
  const [near, far] = isRising(terms) ? [low, high] : [high, low]
  const endsBeyond = last !== null && isBeyond(terms, last)
  if (waitsToRing(alert)) {
    if (!isBeyond(terms, far)) return WAITING
    return { is: 'met', cause: causeOf(terms, record), isBack: last !== null && !endsBeyond }
  }
  if (isBeyond(terms, near)) return WAITING
  if (!isCrossing(terms)) return { is: 'back' }
  return endsBeyond ? { is: 'met', cause: causeOf(terms, record), isBack: false } : { is: 'armed' }
}

/** What one record says to one alert: its last price (null: none), and the lowest and highest that count for it. */
interface View {
  readonly last: number | null
  readonly low: number
  readonly high: number
}

/**
 * A low or high may be from anywhere in the time that the record looks back on: it counts for an alert that was there, and
 * waited for it, all that time. A late record has no last price, only bounds.
 */
function viewOf(
  { since, created_at: born }: StoredAlert,
  { price, low, high, late }: CompositePrice,
  from: Micros,
): View | undefined {
  if (from >= since && from >= born) return { last: late ? null : price, low, high }
  return late ? undefined : { last: price, low: price, high: price }
}

/** The last price where it met the condition, else the extreme that did. Of a late record only its bounds are known. */
function causeOf(terms: PriceTerms, { price, low, high, sources, quality, late, time }: CompositePrice): PriceCause {
  const isMetLast = !late && isBeyond(terms, price)
  const met = isMetLast ? price : isRising(terms) ? high : low
  return { price: met, risk: null, sources: priceSources(sources), quality, late, time }
}

/** The sources of a price as triggers name them. */
export function priceSources(sources: CompositePrice['sources']): Cause['sources'] {
  return sources.map(({ exchange, price, time }) => ({ exchange, price, open_interest_usd: null, time }))
}

function isCrossing({ condition }: PriceTerms): boolean {
  return condition === 'crosses_above' || condition === 'crosses_below'
}

/** Whether it waits for a price above its target, rather than below. */
function isRising({ condition }: PriceTerms): boolean {
  return condition === 'above' || condition === 'crosses_above'
}

function isBeyond(terms: PriceTerms, price: number): boolean {
  return isRising(terms) ? price > terms.target_price : price < terms.target_price
}

/** Rather than for a price on the other side of its target: a crossing before it is armed, a level after it rang. */
function waitsToRing({ status, armed, terms }: StoredAlert<PriceTerms>): boolean {
  return status === 'active' && (armed || !isCrossing(terms))
}
