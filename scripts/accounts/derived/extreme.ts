import type { ExtremeAnswer } from './answers.ts'
import { perpVenues } from './funding.ts'
import type { LedgerState, Perp } from './ledger.ts'
import { near, same, type DerivedRow } from './row.ts'

/** How far a running rate moves between two minutes and the ledger's reading of it, fraction. */
const MOVES = 2e-5

/** `/funding-rate/extreme`: every perpetual of the three venues is flagged or not as the ledger's rate says. */
export function extremeRows(answer: ExtremeAnswer, threshold: number, ledger: LedgerState): DerivedRow[] {
  const perps = ledger.perp.filter(({ venue }) => perpVenues.includes(venue))
  const whose = `threshold ${threshold} %`
  const flagged = new Map(answer.results.map((row) => [`${row.symbol} ${row.exchange}`, row]))
  const asked = threshold / 100
  const missing = perps.filter((perp) => Math.abs(perp.rate) > asked + MOVES && !flagged.has(nameOf(perp)))
  const wrong = perps.filter((perp) => Math.abs(perp.rate) < asked - MOVES && flagged.has(nameOf(perp)))
  const sizes = answer.results.map(({ funding_rate }) => Math.abs(funding_rate))
  const known = new Map(perps.map((perp) => [nameOf(perp), perp]))
  return [
    same('markets scanned', whose, answer.total_markets_scanned, perps.length),
    same('flagged, counted', whose, answer.extreme_markets, answer.results.length),
    same(
      'flagged, largest first',
      whose,
      sizes.every((size, index) => size <= (sizes[index - 1] ?? Infinity)),
      true,
    ),
    same('should be flagged and are not', whose, missing.map(nameOf), []),
    same('are flagged and should not be', whose, wrong.map(nameOf), []),
    ...[...flagged].flatMap(([name, row]) => {
      const perp = known.get(name)
      const year = perp && (row.funding_rate * 8760 * 100) / perp.intervalHours
      return [
        near('flagged rate', name, row.funding_rate, perp?.rate, { by: MOVES }),
        near('flagged rate a year, %', name, row.annualized_pct, year, { by: 1e-9 }),
        near('flagged market’s mark', name, row.mark_price, perp?.mark, { part: 1e-4 }),
      ]
    }),
  ]
}

function nameOf({ asset, venue }: Perp): string {
  return `${asset}USDT ${venue}`
}
