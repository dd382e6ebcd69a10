import type { Decimal } from './decimal.ts'

/** Trades and their taker volumes in base units. */
export interface Totals {
  readonly count: number
  readonly buy: Decimal
  readonly sell: Decimal
}

/** What a source says of the same trades; a venue's candles know no records, and some not the taker's side. */
export type SourceTotals = Totals | { readonly buy: Decimal; readonly sell: Decimal } | { readonly volume: Decimal }

export const nothing: Totals = { count: 0, buy: 0n, sell: 0n }

export function plus(a: Totals, b: Totals): Totals {
  return { count: a.count + b.count, buy: a.buy + b.buy, sell: a.sell + b.sell }
}

export function minus(a: Totals, b: Totals): Totals {
  return { count: a.count - b.count, buy: a.buy - b.buy, sell: a.sell - b.sell }
}

export function areEqual(a: Totals, b: Totals): boolean {
  return a.count === b.count && a.buy === b.buy && a.sell === b.sell
}

/** Times from `from` on and below `to`, microseconds; both at the start of a 10 s bucket where they are finite. */
export interface Window {
  readonly from: number
  readonly to: number
}

export const always: Window = { from: 0, to: Infinity }

/** A closed stretch of time, microseconds. */
export interface Stretch {
  readonly from: number
  readonly to: number
}

/** The same times as stretches that do not overlap, in order. */
export function merged(stretches: readonly Stretch[]): Stretch[] {
  const result: Stretch[] = []
  for (const stretch of stretches.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (last === undefined || stretch.from > last.to) result.push(stretch)
    else if (stretch.to > last.to) result[result.length - 1] = { from: last.from, to: stretch.to }
  }
  return result
}

/** What of the first lies in none of the second; both as `merged` gives them, times are whole numbers. */
export function without(stretches: readonly Stretch[], taken: readonly Stretch[]): Stretch[] {
  return taken.reduce<Stretch[]>(
    (left, { from, to }) =>
      left.flatMap((stretch) => {
        const parts = [
          { from: stretch.from, to: Math.min(stretch.to, from - 1) },
          { from: Math.max(stretch.from, to + 1), to: stretch.to },
        ]
        return parts.filter((part) => part.from <= part.to)
      }),
    [...stretches],
  )
}

export function isWithin(stretches: readonly Stretch[], time: number): boolean {
  return stretches.some(({ from, to }) => from <= time && time <= to)
}
