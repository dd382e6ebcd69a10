import type {
  CompositePrice,
  ContractTerms,
  DerivativeTicker,
  Funding,
  Liquidation,
  LiquidationRisk,
  LongShortRatio,
  Settlement,
  SpotTicker,
  Token,
} from '../../schemas/records.ts'
import { partsOf } from '../../schemas/venues.ts'
import type { LetterRow } from '../views/health.ts'
import { floorTo } from '../views/range.ts'

/** A liquidation with its place in the log. */
export interface LoggedLiquidation extends Liquidation {
  readonly partition: number
  readonly offset: number
}

/** One row of the view `audit_worst`. */
export interface FakeAudit {
  readonly venue: string
  readonly compared: number
  readonly different: number
  readonly unexplained: number
  readonly worst_volume_difference: number | null
  readonly worst_delta_difference: number | null
  readonly worst_instrument: string | null
  readonly worst_minute: number | null
}

type Params = Readonly<Record<string, unknown>>

/** Everything beside trades, as records: the newest of each key, of some all that there were. */
export class FakeMarket {
  tickers: SpotTicker[] = []
  prices: CompositePrice[] = []
  /** All composite prices there were, in the order of the log; each at the offset that is its index. */
  pastPrices: CompositePrice[] = []
  pastRisks: LiquidationRisk[] = []
  funding: Funding[] = []
  terms: Pick<ContractTerms, 'instrument' | 'interest_daily'>[] = []
  settlements: Settlement[] = []
  ratios: LongShortRatio[] = []
  derivatives: DerivativeTicker[] = []
  risks: LiquidationRisk[] = []
  liquidations: LoggedLiquidation[] = []
  /** When a venue's channel for liquidations was live, but for what the newest marks say. */
  live: { venue: string; from: number; to: number }[] = []
  tokens: Token[] = []
  audits: FakeAudit[] = []
  letters: LetterRow[] = []

  /** The rows of a query of that kind; undefined where the kind is none of this market's. */
  answer(kind: string, params: Params): unknown[] | undefined {
    switch (kind) {
      case 'liquidated':
        return liquidatedRows(this.liquidations, params)
      case 'live':
        return this.live.map(({ venue, from, to }) => ({ venue, from_us: from, to_us: to }))
      case 'terms':
      case 'metrics':
        return []
      case 'settlements':
        return settlementRows(this.settlements, params)
      case 'past-prices':
        return [pricePage(this.pastPrices, params)]
      case 'every-price':
        return inRange(this.pastPrices, params).map(everyPrice)
      case 'price-minutes':
        return [priceMinutes(this.pastPrices, params)]
      case 'past-risks':
        return [riskPage(this.pastRisks, params)]
      case 'first-price':
        return firstRow(this.pastPrices, params)
      case 'first-risk':
        return firstRow(this.pastRisks, params)
      case 'letters':
        return this.letters.map((row) => ({ ...row, time_us: row.time, letters: this.letters.length }))
      case 'audits':
        return this.audits.map((row) => ({ ...row, minute_us: row.worst_minute }))
      default:
        return readingRows(this, kind, params)
    }
  }
}

/** What a query of a view of this market asks for; undefined: it is of another one. */
export function marketKindOf(sql: string): string | undefined {
  const view = /FROM \(?\s*(?:SELECT[^]*?FROM )?(\w+)/.exec(sql)?.[1]
  switch (view) {
    case 'prices':
      return 'every-price'
    case 'liquidation_risk':
      return 'past-risks'
    case 'prices_log':
      if (sql.includes('FROM price_minutes')) return 'price-minutes'
      return sql.includes('{minutes:') ? 'past-prices' : 'first-price'
    case 'liquidation_risk_log':
      return 'first-risk'
    case 'metrics_log':
    case 'metrics':
      return 'metrics'
    case 'contract_terms':
      return 'terms'
    case 'funding_settlements':
      return 'settlements'
    case 'dead_letters':
      return 'letters'
    case 'audit_worst':
      return 'audits'
    case 'liquidations':
      return 'liquidated'
    case 'live_stretches':
      return 'live'
    case 'mark_prices':
      if (sql.includes('index_price')) return 'marks and indexes'
      return view
    case 'open_interest':
    case 'tickers':
    case 'long_short_ratios':
      return view
    case 'mark_prices_log':
    case 'open_interest_log':
    case 'long_short_ratios_log':
      return `${sql.includes('AS first_us') ? 'first' : 'bounds'} of ${view.replace('_log', '')}`
    default:
      return undefined
  }
}

function firstRow(facts: readonly { asset: string; time: number }[], params: Params): object[] {
  const times = inRange(facts, params)
  return times.length === 0 ? [] : [{ first_us: Math.min(...times.map(({ time }) => time)) }]
}

function inRange<Fact extends { asset: string; time: number }>(facts: readonly Fact[], params: Params): Fact[] {
  const { asset, from, to } = params
  return facts.filter((row) => row.asset === asset && row.time >= Number(from) && row.time < Number(to))
}

function everyPrice({ time, price, quality, sources }: CompositePrice, offset: number): object {
  const of = { venues: sources.map(({ exchange }) => exchange), venue_prices: sources.map((one) => one.price) }
  return {
    ...of,
    at_us: time,
    price,
    is_good: Number(quality === 'good'),
    partition: 0,
    offset,
    position: offset,
  }
}

/** All minutes matter, so that all prices are read. */
function priceMinutes(facts: readonly CompositePrice[], params: Params): object {
  const all = inRange(facts, params)
  const minutes = [...Map.groupBy(all, ({ time }) => floorTo(time, 60_000_000))].toSorted(([a], [b]) => a - b)
  const told = minutes.map(([, prices]) => prices.filter(({ late }) => !late))
  return {
    records: all.length,
    minutes: minutes.map(([start]) => start / 1e6),
    firsts: told.map((prices) => prices[0]?.time ?? 0),
    newests: told.map((prices) => prices.at(-1)?.time ?? 0),
    last_usd: told.map((prices) => prices.at(-1)?.price ?? 0),
    lates: minutes.map(([, prices]) => Number(prices.some(({ late }) => late))),
    sides: minutes.map(() => 0),
  }
}

/** Those of the minutes that are asked for. */
function pricePage(facts: readonly CompositePrice[], params: Params): object {
  const minutes = new Set(params['minutes'] as readonly number[])
  const mine = inRange(facts, params).filter(({ time }) => minutes.has(floorTo(time, 60_000_000) / 1e6))
  return {
    at: mine.map(({ time }) => time),
    last_usd: mine.map(({ price }) => price),
    offsets: mine.map((row) => facts.indexOf(row)),
    positions: mine.map((row) => facts.indexOf(row)),
    partitions: mine.map(() => 0),
    low_usd: mine.map(({ low }) => low),
    high_usd: mine.map(({ high }) => high),
    late_flags: mine.map(({ late }) => Number(late)),
    bounds_froms: mine.map(({ bounds_from: from }) => from),
    good_flags: mine.map(({ quality }) => Number(quality === 'good')),
    same_flags: mine.map(() => 0),
  }
}

function riskPage(facts: readonly LiquidationRisk[], params: Params): object {
  const page = inRange(facts, params).slice(0, Number(params['limit']))
  const common = {
    records: page.length,
    at: page.map(({ time }) => time),
    last_usd: page.map(({ price }) => price),
    offsets: page.map((row) => facts.indexOf(row)),
    partitions: page.map(() => 0),
  }
  return {
    ...common,
    risk_usd: page.map((row) => row.at_risk_5_usd),
    risk_pct: page.map((row) => row.at_risk_5_pct),
    classes: page.map((row) => row.cascade_risk),
    venues: page.map(({ exchanges }) => exchanges.length),
  }
}

function settlementRows(
  settlements: readonly Settlement[],
  { asset, venue, from, to, limit, ...rest }: Params,
): object[] {
  const own = settlements
    .filter((row) => row.asset === asset && partsOf(row.instrument).venue === venue)
    .toSorted((a, b) => a.time - b.time)
    .map((row, index, all) => ({
      settled_rate: row.settled_rate,
      time_us: row.time,
      before_us: all[index - 1]?.time ?? 0,
      source: 'live',
    }))
    .filter(({ time_us }) => time_us >= Number(from) && time_us < Number(to))
  return rest['side'] === 'oldest' ? own.slice(0, Number(limit)) : own.toReversed().slice(0, Number(limit))
}

interface PlainReading {
  readonly asset: string
  readonly venue: string
  readonly time: number
  readonly values: readonly number[]
}

/** What venues said, as a view has it; undefined: it is no view of readings. */
function readingsIn({ derivatives, tickers, ratios }: FakeMarket, view: string): PlainReading[] | undefined {
  const of = (
    { asset, instrument }: { asset: string; instrument: string },
    time: number | null,
    values: readonly (number | null)[],
  ): PlainReading[] => {
    const known = values.filter((value) => value !== null)
    return time === null || known.length < values.length
      ? []
      : [{ asset, venue: partsOf(instrument).venue, time, values: known }]
  }
  switch (view) {
    case 'open_interest':
      return derivatives.flatMap((row) => of(row, row.open_interest_time, [row.open_interest]))
    case 'mark_prices':
      return derivatives.flatMap((row) => of(row, row.mark_time, [row.mark]))
    case 'marks and indexes':
      return derivatives.flatMap((row) => of(row, row.mark_time, [row.mark, row.index ?? 0]))
    case 'tickers':
      return tickers
        .filter(({ instrument, quote }) => instrument.startsWith('binance:spot:') && quote === 'USDT')
        .flatMap((row) => of(row, row.time, [row.price]))
    case 'long_short_ratios':
      return ratios
        .filter(({ cohort, basis }) => cohort === 'top_traders' && basis === 'positions')
        .flatMap((row) => of(row, row.time, [row.long_ratio, row.short_ratio, row.ls_ratio]))
    default:
      return undefined
  }
}

/** Each venue has one instrument. */
function firstReading(own: readonly PlainReading[], { after, before }: Params): object[] {
  return own
    .filter(({ venue, time }) => venue > String(after) && time < Number(before))
    .toSorted((a, b) => (a.venue < b.venue ? -1 : Number(a.venue > b.venue)) || a.time - b.time)
    .slice(0, 1)
    .map(({ venue, time }) => ({ instrument: venue, first_us: time }))
}

function boundsOf(times: readonly number[]): object {
  return times.length === 0 ? { from_us: 0, to_us: 0 } : { from_us: Math.min(...times), to_us: Math.max(...times) }
}

function readingRows(market: FakeMarket, kind: string, params: Params): unknown[] | undefined {
  const { asset, from, to, width } = params
  const own = readingsIn(market, kind.replace(/^(first|bounds) of /, ''))?.filter(
    (row) => asset === undefined || row.asset === asset,
  )
  if (own === undefined) return undefined
  if (kind.startsWith('first of ')) return firstReading(own, params)
  if (kind.startsWith('bounds of ')) return [boundsOf(own.map(({ time }) => time))]
  const within = own.filter(({ time }) => time >= Number(from) && time < Number(to))
  const keyOf = (row: PlainReading): string =>
    `${row.asset}|${row.venue}|${width === undefined ? '' : floorTo(row.time, Number(width))}`
  return [...Map.groupBy(within, keyOf).values()].flatMap((rows) =>
    rows
      .toSorted((a, b) => b.time - a.time)
      .slice(0, 1)
      .map(({ venue, asset: of, time, values }) => ({
        venue,
        asset: of,
        newest: values,
        units: values[0],
        at_us: time,
        is_live: 1,
      })),
  )
}

function liquidatedRows(liquidations: readonly LoggedLiquidation[], { asset, from, to, width }: Params): unknown[] {
  const within = liquidations.filter((row) => row.asset === asset && row.time >= Number(from) && row.time < Number(to))
  const keyOf = ({ instrument, time }: LoggedLiquidation): string =>
    `${partsOf(instrument).venue}|${floorTo(time, Number(width))}`
  return [...Map.groupBy(within, keyOf)].map(([key, rows]) => {
    const [longs, shorts] = (['long', 'short'] as const).map((side) => rows.filter((row) => row.side === side))
    const usd = (of: readonly LoggedLiquidation[] = []): number => of.reduce((sum, { value }) => sum + value, 0)
    return {
      venue: key.split('|')[0],
      bucket_us: Number(key.split('|')[1]),
      longs: longs?.length,
      long_usd: usd(longs),
      shorts: shorts?.length,
      short_usd: usd(shorts),
    }
  })
}
