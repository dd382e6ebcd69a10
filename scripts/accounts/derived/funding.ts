import type { CompareAnswer, FundingAnswer, HistoryAnswer, PredictedAnswer } from './answers.ts'
import { rowOf, type LedgerState, type Perp } from './ledger.ts'
import { near, nearest, same, type DerivedRow, type Tolerance } from './row.ts'

export const perpVenues = ['binance', 'bybit', 'okx']

const MINUTE = 60_000_000
const HOUR = 3_600_000_000
/** What the answer shows was true at one of the last minutes: rates are polled, and minutes close late. */
const MINUTES_BACK = 3
/** Venues write rates with eight decimals at least. */
export const RATE: Tolerance = { by: 6e-9 }
/** The same by the year in percent, at most 24 intervals a day. */
const yearly = (hours: number): { readonly by: number } => ({ by: 6e-9 * (24 / hours) * 365 * 100 })
const MARK: Tolerance = { part: 1e-5 }

/** "clamp(I - P, -0.05 %, 0.05 %)" over the time-weighted mean of the premium's minutes, within cap and floor. */
export function rateFrom(premium: number, { venue, intervalHours, cap, floor }: Omit<Perp, 'time'>): number {
  const interest = venue === 'binance' ? 0.0001 : (0.0003 * intervalHours) / 24
  const pulled = premium + Math.min(0.0005, Math.max(-0.0005, interest - premium))
  const rate = venue === 'binance' ? (pulled * intervalHours) / 8 : pulled
  return Math.min(cap, Math.max(floor, rate))
}

interface Estimate {
  readonly premium: number
  readonly samples: number
  readonly rate: number
}

/** What the minutes since the last settlement say, as of each of the last minutes before `asOf`. */
function estimates(ledger: LedgerState, perp: Perp, asOf: number, next: number): Estimate[] {
  const since = next - perp.intervalHours * HOUR
  const closes = ledger.premiums
    .filter(({ venue, symbol, time }) => venue === perp.venue && symbol === perp.symbol && time >= since)
    .sort((a, b) => a.time - b.time)
  const found: Estimate[] = []
  let [weights, sum] = [0, 0]
  for (const [index, { time, close }] of closes.entries()) {
    weights += index + 1
    sum += (index + 1) * close
    const end = time + MINUTE
    if (end > asOf || end <= asOf - (MINUTES_BACK + 1) * MINUTE) continue
    found.push({ premium: sum / weights, samples: index + 1, rate: rateFrom(sum / weights, perp) })
  }
  return found
}

function estimatesOf(ledger: LedgerState, perp: Perp, asOf: string | null, next: string | null): Estimate[] {
  return asOf === null || next === null ? [] : estimates(ledger, perp, microsOf(asOf), microsOf(next))
}

/** What the running rate may have been as of the answer, for the settlement at `next`. */
export function ratesOf(ledger: LedgerState, perp: Perp, asOf: string | null, next: string | null): number[] {
  return estimatesOf(ledger, perp, asOf, next).map(({ rate }) => rate)
}

/** `/funding-rate/:symbol` */
export function fundingRows(answer: FundingAnswer, asset: string, ledger: LedgerState): DerivedRow[] {
  const perp = rowOf(ledger.perp, asset, answer.exchange)
  if (perp === undefined) return [same('funding venue', asset, answer.exchange, 'a venue that lists it')]
  const rates = ratesOf(ledger, perp, answer.as_of, answer.next_funding_time)
  const whose = `${asset} ${perp.venue}`
  const settled = settledOf(ledger, asset, perp.venue)[0]
  const aYear = rates.map((rate) => (rate * 24 * 365) / perp.intervalHours)
  return [
    same('funding venue', asset, answer.exchange, 'binance'),
    nearest('running rate', whose, answer.funding_rate, rates, RATE),
    nearest('running rate a year', whose, answer.funding_rate_annualized, aYear, {
      by: yearly(perp.intervalHours).by / 100,
    }),
    same('next settlement', whose, microsOf(answer.next_funding_time), perp.nextSettlement),
    near('last settled rate', whose, answer.last_settled_rate, settled?.rate, RATE),
    near('mark price', whose, answer.mark_price, perp.mark, MARK),
    near('index price', whose, answer.index_price, perp.index, MARK),
  ]
}

/** `/futures/funding-compare/:symbol` */
export function compareRows(answer: CompareAnswer, asset: string, ledger: LedgerState): DerivedRow[] {
  const perps = perpVenues.flatMap((venue) => rowOf(ledger.perp, asset, venue) ?? [])
  const shown = perps.flatMap((perp) => {
    const venue = answer.exchanges[perp.venue]
    const rates = estimatesOf(ledger, perp, venue?.as_of ?? null, venue?.next_funding_time ?? null)
    const perYear = rates.map(({ rate }) => (rate * 24 * 365 * 100) / perp.intervalHours)
    const whose = `${asset} ${perp.venue}`
    return [
      nearest(
        'compared rate',
        whose,
        venue?.funding_rate,
        rates.map(({ rate }) => rate),
        RATE,
      ),
      nearest('compared rate a year, %', whose, venue?.annualized_pct, perYear, yearly(perp.intervalHours)),
    ]
  })
  return [...shown, ...arbRows(answer, asset, perps)]
}

/** The best pair is that of the greatest distance by the year; rates that are shown in the same answer decide. */
function arbRows({ best_arb: best, exchanges }: CompareAnswer, asset: string, perps: readonly Perp[]): DerivedRow[] {
  const known = perps.flatMap((perp) => {
    const rate = exchanges[perp.venue]?.funding_rate
    return typeof rate === 'number' ? [{ venue: perp.venue, rate, year: (rate * 8760 * 100) / perp.intervalHours }] : []
  })
  if (known.length < 2) return [same('best arbitrage', asset, best, null)]
  const years = known.map(({ year }) => year)
  const [low, high] = [Math.min(...years), Math.max(...years)]
  const at = (venue: string | undefined): (typeof known)[number] | undefined => known.find((row) => row.venue === venue)
  const [long, short] = [at(best?.long_exchange), at(best?.short_exchange)]
  return [
    near('best arbitrage, long at, % a year', asset, long?.year, low, { by: 1e-9 }),
    near('best arbitrage, short at, % a year', asset, short?.year, high, { by: 1e-9 }),
    near('best arbitrage, % a year', asset, best?.annualized_spread_pct, high - low, { by: 1e-9 }),
    near('best arbitrage, rates apart', asset, best?.rate_spread, (short?.rate ?? NaN) - (long?.rate ?? NaN), {
      by: 1e-12,
    }),
  ]
}

/** `/futures/predicted-funding/:symbol` */
export function predictedRows(answer: PredictedAnswer, asset: string, ledger: LedgerState): DerivedRow[] {
  const perp = rowOf(ledger.perp, asset, answer.exchange)
  if (perp === undefined) return [same('predicted venue', asset, answer.exchange, 'a venue that lists it')]
  const all = estimatesOf(ledger, perp, answer.as_of, answer.next_funding_time)
  const whose = `${asset} ${perp.venue}`
  // The minute that has just ended is read within the next; a hole further back shows in the mean.
  const behind = answer.premium_samples_expected - answer.premium_samples
  const own = all.find(({ samples }) => samples === answer.premium_samples)
  const perYear = ((own?.rate ?? NaN) * 24 * 365 * 100) / perp.intervalHours
  const settled = settledOf(ledger, asset, perp.venue).slice(0, answer.funding_history.length)
  return [
    same(
      'minutes of the premium',
      whose,
      answer.premium_samples + (behind === 1 ? 1 : 0),
      answer.premium_samples_expected,
    ),
    near('mean premium', whose, answer.average_premium_index, own?.premium, RATE),
    near('predicted rate', whose, answer.predicted_funding_rate, own?.rate, RATE),
    near('predicted rate a year, %', whose, answer.predicted_annualized_pct, perYear, yearly(perp.intervalHours)),
    same('settlements shown', whose, answer.funding_history.length, 10),
    ...settled.map((row, index) => near('settled rate', whose, answer.funding_history[index]?.rate, row.rate, RATE)),
  ]
}

/** Venues are some milliseconds late with a settlement. */
const LATE_MS = 10

/** `/funding-rate/history/:symbol` */
export function historyRows(answer: HistoryAnswer, asset: string, venue: string, ledger: LedgerState): DerivedRow[] {
  const whose = `${asset} ${venue}`
  const hours = rowOf(ledger.perp, asset, venue)?.intervalHours ?? 8
  const settled = settledOf(ledger, asset, venue).slice(0, answer.history.length)
  return [
    same('settlements in the history', whose, answer.history.length, 10),
    ...settled.flatMap((row, index) => {
      const shown = answer.history[index]
      const year = (row.rate * 24 * 365 * 100) / hours
      return [
        near('settlement, ms', whose, Date.parse(shown?.time ?? ''), row.time / 1000, { by: LATE_MS }),
        near('settled rate', whose, shown?.funding_rate, row.rate, RATE),
        near('settled rate a year, %', whose, shown?.annualized_pct, year, yearly(hours)),
      ]
    }),
  ]
}

/** Newest first. */
function settledOf(ledger: LedgerState, asset: string, venue: string): LedgerState['settlements'] {
  return ledger.settlements.filter((row) => row.asset === asset && row.venue === venue).sort((a, b) => b.time - a.time)
}

function microsOf(iso: string): number {
  return Date.parse(iso) * 1000
}
