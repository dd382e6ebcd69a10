import type { Micros } from '../../schemas/records.ts'
import type { FactBook } from './fact-book.ts'
import type { Settlements } from './poll-plan.ts'
import type { Subjects } from './source.ts'

/** What the book knows of the settlements of a poll's subjects; of a whole market the first that is due. */
export function settlementsOf(book: FactBook, source: string, { of, market }: Subjects): Settlements {
  if (of === 'whole') {
    return {
      next: () => earliest([...book.of(source, market)].map(({ derivative }) => derivative.nextSettlement)),
      has: (_whole, at) => [...book.of(source, market)].some((known) => known.hasSettled(at)),
    }
  }
  return {
    next: (symbol) => book.find(source, market, symbol)?.derivative.nextSettlement ?? undefined,
    has: (symbol, at) => book.find(source, market, symbol)?.hasSettled(at) === true,
  }
}

function earliest(times: readonly (Micros | null)[]): Micros | undefined {
  const known = times.filter((time) => time !== null)
  return known.length === 0 ? undefined : known.reduce((least, time) => Math.min(least, time))
}
