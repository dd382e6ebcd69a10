import type { LiquidationHeatmapAnswer, LiquidationRecentAnswer } from '../../clients/typescript/src/api.ts'
import { type LedgerState, type Liquidation, medianOf, rowOf } from './ledger.ts'
import { near, same, type DerivedRow, atMost, oneOf } from './row.ts'
import { perpVenues } from './perpetuals.ts'

const SECOND = 1_000_000
const HOUR = 3600 * SECOND
const DAY = 24 * HOUR
/** Open interest is whole contracts, marks have the venue's decimals. */
const INTEREST = { part: 2e-4 }
const SUM = { part: 1e-9 }
const LEVELS_REACH = 0.25
/** Entries of what was open at first sight are spread, so that some levels of 5x lie beyond. */
const LEVELS_OUTSIDE = 0.1

/** As many events as an answer shows at most. */
export const EVENTS_MAX = 1000
/** Streams of the venues begin within this long of one another. */
const START = 120 * SECOND
/** The answer's own moment is known to a few seconds. */
const EDGE = 5 * SECOND
const EXAMPLES = 3

/** What is held of the answer. */
export type RecentAnswer = Pick<LiquidationRecentAnswer, 'as_of' | 'count' | 'events' | 'stats'>

/** One event as both sides can write it. */
interface Event {
  readonly venue: string
  readonly time: number
  readonly side: string
  readonly usd: number
  readonly key: string
}

/** `/liquidation/recent?limit=1000` of a market that stands: each event, and the figures of an hour and a day. */
export function liquidationRows(answer: RecentAnswer, ledger: LedgerState): DerivedRow[] {
  const ours = answer.events.map(shown)
  const told = ['bybit', 'okx', 'binance'].flatMap((venue) => toldBy(venue, ledger.liquidations))
  const isWhole = answer.count < EVENTS_MAX
  const since = Date.parse(answer.stats.last_24h.since ?? answer.as_of) * 1000
  const oldest = Math.min(...ours.map(({ time }) => time))
  // A venue's stream is known to run from the first event on that we have of it.
  const from = (venue: string): number => {
    const first = Math.min(...ours.filter((event) => event.venue === venue).map(({ time }) => time))
    return isWhole ? first : oldest + 1
  }
  const shownKeys = new Set(ours.map(({ venue, key }) => `${venue} ${key}`))
  // OKX begins with the newest that there is: of several of that moment one.
  const inView = told.filter(({ venue, time, key }) => {
    const first = from(venue)
    return time > first || (time === first && shownKeys.has(`${venue} ${key}`))
  })
  const seen = ours.filter(({ time }) => isWhole || time > oldest)
  const counted = isWhole ? inView : told.filter(({ time }) => time >= since)
  const unsure = isWhole ? [] : told.filter(({ time }) => Math.abs(time - since) <= START)
  return [
    ...['bybit', 'okx', 'binance'].flatMap((venue) => eventRows(venue, of(venue, seen), of(venue, inView))),
    ...statRows(answer, counted, unsure),
  ]
}

/** Bybit and OKX tell all, at the bankruptcy price; Binance the largest of a symbol's second, at what it filled at. */
function toldBy(venue: string, all: readonly Liquidation[]): Event[] {
  const own = all.filter((row) => row.venue === venue)
  const told = venue === 'binance' ? largest(own) : own
  return told.map((row) => {
    const price = venue === 'binance' ? row.fillPrice : row.bankruptcyPrice
    return eventOf(venue, row.asset, { time: row.time, side: row.side, size: row.size, usd: row.size * price })
  })
}

function largest(rows: readonly Liquidation[]): Liquidation[] {
  const best = new Map<string, Liquidation>()
  for (const row of rows) {
    const second = `${row.symbol} ${Math.floor(row.time / SECOND)}`
    const known = best.get(second)
    if (known === undefined || row.size * row.fillPrice > known.size * known.fillPrice) best.set(second, row)
  }
  return [...best.values()]
}

function shown({ exchange, symbol, timestamp, side, size, value_usd }: RecentAnswer['events'][number]): Event {
  const time = Date.parse(timestamp) * 1000
  return eventOf(exchange.toLowerCase(), symbol.replace(/USDT$/, ''), { time, side, size, usd: value_usd })
}

function eventOf(venue: string, asset: string, event: Pick<Event, 'time' | 'side' | 'usd'> & { size: number }): Event {
  const { time, side, size, usd } = event
  // First the digits that both have exactly: of two sums that differ in their last bit, one may lie below a half.
  const dollars = Number(usd.toPrecision(12)).toPrecision(6)
  const key = [asset, new Date(time / 1000).toISOString(), side, size.toPrecision(8), dollars].join(' ')
  return { venue, time, side, usd, key }
}

function eventRows(venue: string, ours: readonly Event[], ledger: readonly Event[]): DerivedRow[] {
  return [
    same('liquidations that are missing', venue, examples(without(ledger, ours)), []),
    same('liquidations that the venue never told', venue, examples(without(ours, ledger)), []),
    near('liquidations shown', venue, ours.length, ledger.length, { by: 0 }),
    near('liquidations shown, USD', venue, usdOf(ours), usdOf(ledger), { part: 1e-6 }),
  ]
}

/** Two windows that end at the answer's moment; what lies at their edges or at the streams' beginning is not sure. */
function statRows({ stats, as_of }: RecentAnswer, told: readonly Event[], unsure: readonly Event[]): DerivedRow[] {
  const now = Date.parse(as_of) * 1000
  const within = (window: number): Event[] => told.filter(({ time }) => time >= now - window)
  const room = (window: number): Event[] => [
    ...unsure.filter(({ time }) => time >= now - window),
    ...told.filter(({ time }) => Math.abs(time - (now - window)) <= EDGE),
  ]
  const [hour, day] = [within(HOUR), within(DAY)]
  const count = (what: string, ours: number, events: readonly Event[], window: number): DerivedRow =>
    near(what, 'all', ours, events.length, { by: room(window).length })
  const usd = (what: string, ours: number, events: readonly Event[], window: number): DerivedRow =>
    near(what, 'all', ours, usdOf(events), { by: usdOf(room(window)) + usdOf(events) * 1e-6 })
  const { last_1h: h, last_24h: d } = stats
  return [
    count('liquidations of an hour', h.total_events, hour, HOUR),
    count(
      'longs of an hour',
      h.long_liquidations,
      hour.filter(({ side }) => side === 'long'),
      HOUR,
    ),
    count(
      'shorts of an hour',
      h.short_liquidations,
      hour.filter(({ side }) => side === 'short'),
      HOUR,
    ),
    usd('liquidations of an hour, USD', h.total_value_usd, hour, HOUR),
    count('liquidations of a day', d.total_events, day, DAY),
    usd('liquidations of a day, USD', d.total_value_usd, day, DAY),
  ]
}

/** What is in `all` and not in `others`, as often as it is. */
function without(all: readonly Event[], others: readonly Event[]): string[] {
  const left = new Map<string, number>()
  for (const { key } of others) left.set(key, (left.get(key) ?? 0) + 1)
  return all.flatMap(({ key }) => {
    const count = left.get(key) ?? 0
    left.set(key, count - 1)
    return count > 0 ? [] : [key]
  })
}

function examples(keys: readonly string[]): string[] {
  return keys.length <= EXAMPLES ? [...keys] : [...keys.slice(0, EXAMPLES), `and ${keys.length - EXAMPLES} more`]
}

function of(venue: string, events: readonly Event[]): Event[] {
  return events.filter((event) => event.venue === venue)
}

function usdOf(events: readonly Event[]): number {
  return events.reduce((sum, { usd }) => sum + usd, 0)
}

/** `/liquidation/heatmap/:symbol`: open interest as the ledger has it, and the sums that the model must keep. */
export function heatmapRows(answer: LiquidationHeatmapAnswer, asset: string, ledger: LedgerState): DerivedRow[] {
  const { current_price: current, leverage_clusters: clusters, levels, risk_summary: risk } = answer
  const perps = perpVenues.flatMap((venue) => rowOf(ledger.perp, asset, venue) ?? [])
  const all = perps.reduce((sum, perp) => sum + perp.openInterest * perp.mark, 0)
  const within = (part: number): number =>
    levels
      .filter(({ price }) => Math.abs(price - current) <= part * current)
      .reduce((sum, { long_usd, short_usd }) => sum + long_usd + short_usd, 0)
  const live = clusters.reduce((sum, { oi_at_risk_usd }) => sum + oi_at_risk_usd, 0)
  const [in5, in10, seen] = [within(0.05), within(0.1), within(2 * LEVELS_REACH)]
  return [
    ...perps.map(({ venue, openInterest, mark }) =>
      near(
        'open interest, USD',
        `${asset} ${venue}`,
        answer.exchanges[venue]?.open_interest_usd,
        openInterest * mark,
        INTEREST,
      ),
    ),
    near('open interest of all, USD', asset, answer.open_interest_usd, all, INTEREST),
    near('median mark', asset, current, medianOf(perps.map(({ mark }) => mark)), { part: 1e-5 }),
    near('at risk within 5 %, USD', asset, risk.total_oi_at_risk_usd, in5, SUM),
    near('at risk within 10 %, USD', asset, risk.total_oi_at_risk_10pct_usd, in10, SUM),
    near('at risk within 5 %, %', asset, risk.oi_at_risk_pct, (100 * in5) / all, INTEREST),
    near('at risk within 10 %, %', asset, risk.oi_at_risk_10pct_pct, (100 * in10) / all, INTEREST),
    oneOf('cascade risk', asset, answer.cascade_risk, cascades((100 * in5) / all, (100 * in10) / all)),
    ...levelRows(asset, {
      live,
      seen,
      all,
      isWhole: clusters.every(({ liquidation_price: price }) => isNear(price, current)),
    }),
  ]
}

interface Sums {
  /** Of the clusters, of the levels, and open interest; USD. */
  readonly live: number
  readonly seen: number
  readonly all: number
  /** Every cluster's mean lies where levels are shown, with some room around it. */
  readonly isWhole: boolean
}

function levelRows(asset: string, { live, seen, all, isWhole }: Sums): DerivedRow[] {
  const shown = isWhole
    ? near('levels and clusters, USD', asset, seen, live, { part: LEVELS_OUTSIDE })
    : atMost('levels and clusters, USD', asset, seen, live)
  return [
    shown,
    atMost('levels within clusters, USD', asset, seen, live),
    atMost('clusters within open interest, USD', asset, live, all),
  ]
}

function isNear(price: number, current: number): boolean {
  return Math.abs(price - current) <= (LEVELS_REACH - 0.03) * current
}

/** The level, and beside a bound both. */
function cascades(within5: number, within10: number): string[] {
  const { part } = INTEREST
  return [
    ...new Set([
      cascade(within5 * (1 - part), within10 * (1 - part)),
      cascade(within5 * (1 + part), within10 * (1 + part)),
    ]),
  ]
}

function cascade(within5: number, within10: number): string {
  if (within5 > 10) return 'high'
  return within10 >= 5 ? 'medium' : 'low'
}
