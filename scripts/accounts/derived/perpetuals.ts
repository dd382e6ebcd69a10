import type {
  BasisAnswer,
  FundingCompareAnswer,
  FundingExtremeAnswer,
  FundingHistoryAnswer,
  FundingRateAnswer,
  LongShortAnswer,
  PredictedFundingAnswer,
} from '../../clients/typescript/src/api.ts'
import { rowOf, type LedgerState, type Perp, middleOf } from './ledger.ts'
import { entryOf, near, nearest, same, type DerivedRow, type Tolerance, oneOf } from './row.ts'
import { marketOf } from './prices.ts'

/** How far a running rate moves between two minutes and the ledger's reading of it, fraction. */
const MOVES = 2e-5
/** Prices are rounded to the venue's decimals, percent of the spot price. */
const PRICE_PART = 1e-5

export const perpVenues = ['binance', 'bybit', 'okx']

const MINUTE = 60_000_000
const HOUR = 3_600_000_000
/** What the answer shows was true at one of the last minutes: rates are polled, and minutes close late. */
const MINUTES_BACK = 3
/** Venues write rates with eight decimals at least. */
const RATE: Tolerance = { by: 6e-9 }
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
function ratesOf(ledger: LedgerState, perp: Perp, asOf: string | null, next: string | null): number[] {
  return estimatesOf(ledger, perp, asOf, next).map(({ rate }) => rate)
}

/** `/funding-rate/:symbol` */
export function fundingRows(answer: FundingRateAnswer, asset: string, ledger: LedgerState): DerivedRow[] {
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
export function compareRows(answer: FundingCompareAnswer, asset: string, ledger: LedgerState): DerivedRow[] {
  const perps = perpVenues.flatMap((venue) => rowOf(ledger.perp, asset, venue) ?? [])
  const shown = perps.flatMap((perp) => {
    const venue = entryOf(answer.exchanges, perp.venue)
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
function arbRows(
  { best_arb: best, exchanges }: FundingCompareAnswer,
  asset: string,
  perps: readonly Perp[],
): DerivedRow[] {
  const known = perps.flatMap((perp) => {
    const rate = entryOf(exchanges, perp.venue)?.funding_rate
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
export function predictedRows(answer: PredictedFundingAnswer, asset: string, ledger: LedgerState): DerivedRow[] {
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
export function historyRows(
  answer: FundingHistoryAnswer,
  asset: string,
  venue: string,
  ledger: LedgerState,
): DerivedRow[] {
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

/** `/funding-rate/extreme`: every perpetual of the three venues is flagged or not as the ledger's rate says. */
export function extremeRows(answer: FundingExtremeAnswer, threshold: number, ledger: LedgerState): DerivedRow[] {
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

/** `/futures/basis/:symbol`: mark against Binance's USDT spot pair; nothing is converted. */
export function basisRows(answer: BasisAnswer, asset: string, ledger: LedgerState): DerivedRow[] {
  const market = marketOf(ledger, asset, 'binance')
  if (market === undefined) return [same('basis, spot market', asset, 'answered', 'none')]
  const spot = middleOf(market)
  const trades = perpVenues.flatMap((venue) => {
    const perp = rowOf(ledger.perp, asset, venue)
    if (perp === undefined) return []
    const usd = perp.mark - spot
    const pct = (100 * usd) / spot
    return [
      { venue, perp, usd, pct, year: (pct * 24 * 365) / perp.intervalHours, shown: entryOf(answer.exchanges, venue) },
    ]
  })
  const rows = trades.flatMap(({ venue, perp, usd, pct, year, shown }) => {
    const whose = `${asset} ${venue}`
    const pctRoom = 100 * PRICE_PART
    const words = Math.abs(pct) <= pctRoom ? ['contango', 'backwardation'] : [pct > 0 ? 'contango' : 'backwardation']
    return [
      near('mark price', whose, shown?.perp_price, perp.mark, { part: PRICE_PART }),
      near('basis, USD', whose, shown?.basis_usd, usd, { by: spot * PRICE_PART }),
      near('basis, %', whose, shown?.basis_pct, pct, { by: pctRoom }),
      near('basis a year, %', whose, shown?.basis_annualized_pct, year, { by: (pctRoom * 8760) / perp.intervalHours }),
      oneOf('basis, direction', whose, shown?.direction, words),
    ]
  })
  const best = Math.max(...trades.map(({ year }) => year))
  const room = (100 * PRICE_PART * 8760) / Math.min(...trades.map(({ perp }) => perp.intervalHours))
  const carried = trades.filter(({ year }) => year >= best - 2 * room).map(({ venue }) => venue)
  return [
    near('spot of the basis, USDT', asset, answer.spot_price, spot, { part: PRICE_PART }),
    ...rows,
    oneOf('best carry, venue', asset, answer.best_carry_trade?.exchange, carried),
    ...carryRows(answer, asset, ledger),
  ]
}

/** Its yield is the funding that the short side is paid, by the year. */
function carryRows({ best_carry_trade: trade, as_of }: BasisAnswer, asset: string, ledger: LedgerState): DerivedRow[] {
  const perp = trade === null ? undefined : rowOf(ledger.perp, asset, trade.exchange)
  if (trade === null || perp === undefined) return [same('best carry', asset, trade, 'one that is listed')]
  const whose = `${asset} ${perp.venue}`
  const rates = ratesOf(ledger, perp, as_of, trade.next_funding_time)
  return [
    nearest('best carry, rate', whose, trade.funding_rate, rates, RATE),
    near(
      'best carry, % a year',
      whose,
      trade.annualized_yield_pct,
      (trade.funding_rate * 8760 * 100) / perp.intervalHours,
      { by: 1e-9 },
    ),
  ]
}

const ratioVenues = ['binance', 'okx', 'gate']
/** Binance writes ratios and shares with four decimals. */
const ROOM = 1e-4

/** `/futures/long-short/:symbol`: each venue's five minutes as it names them. */
export function longShortRows(answer: LongShortAnswer, asset: string, ledger: LedgerState): DerivedRow[] {
  const known = ratioVenues.map((venue) => {
    const shown = entryOf(answer.exchanges, venue)
    const time = Date.parse(shown?.as_of ?? '') * 1000
    const row = ledger.ratios.find((each) => each.venue === venue && each.asset === asset && each.time === time)
    return { whose: `${asset} ${venue}`, shown, ratio: row?.positions }
  })
  const mean = known.reduce((sum, { ratio }) => sum + (ratio ?? NaN), 0) / known.length
  return [
    ...known.flatMap(({ whose, shown, ratio }) => {
      const long = ratio === undefined ? undefined : ratio / (1 + ratio)
      return [
        near('long over short', whose, shown?.ls_ratio, ratio, { by: ROOM }),
        near('share of longs', whose, shown?.long_ratio, long, { by: ROOM }),
        near('share of shorts', whose, shown?.short_ratio, long === undefined ? undefined : 1 - long, { by: ROOM }),
      ]
    }),
    near('mean of long over short', asset, answer.aggregate.avg_ls_ratio, mean, { by: ROOM }),
    oneOf('sentiment', asset, answer.aggregate.sentiment, [
      ...new Set([sentimentOf(mean - ROOM), sentimentOf(mean + ROOM)]),
    ]),
  ]
}

/** The specification's table; a bound belongs to the milder class. */
function sentimentOf(ratio: number): string {
  if (ratio > 2) return 'Extremely bullish'
  if (ratio > 1.5) return 'Bullish'
  if (ratio > 1.02) return 'Slightly bullish'
  if (ratio < 0.5) return 'Extremely bearish'
  if (ratio < 0.67) return 'Bearish'
  if (ratio < 0.98) return 'Slightly bearish'
  return 'Neutral'
}
