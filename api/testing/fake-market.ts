import type { CompositePrice, Funding, FundingView, LiquidationRisk } from '../../schemas/derived.ts'
import type { ContractTerms, Liquidation, LongShortRatio, Settlement, SpotTicker, Token } from '../../schemas/market.ts'
import { partsOf } from '../../schemas/venues.ts'
import type { LetterRow } from '../views/letters.ts'

/** A liquidation with its place in the log. */
export interface PlacedLiquidation extends Liquidation {
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

/** Everything beside trades, as records; the newest of each key is what the `latest_` views have. */
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
  risks: LiquidationRisk[] = []
  liquidations: PlacedLiquidation[] = []
  tokens: Token[] = []
  audits: FakeAudit[] = []
  letters: LetterRow[] = []

  /** The rows of a query of that kind; undefined where the kind is none of this market's. */
  answer(kind: string, params: Params): unknown[] | undefined {
    switch (kind) {
      case 'tickers':
        return newestTickers(this.tickers.filter((row) => isAsked(row.asset, params)))
      case 'ticker-at':
        return tickersAt(this.tickers, params)
      case 'price':
        return this.prices.filter((row) => isAsked(row.asset, params)).map(priceRow)
      case 'funding':
        return this.funding.filter((row) => isAsked(row.asset, params)).flatMap(fundingRows)
      case 'terms':
        return this.terms.map((row) => ({ ...row }))
      case 'settlements':
        return settlementRows(this.settlements, params)
      case 'ratios':
        return this.ratios.filter((row) => isAsked(row.asset, params) && isTop(row)).map(ratioRow)
      case 'risk':
        return this.risks.filter((row) => isAsked(row.asset, params)).map(riskRow)
      case 'observed':
        return [observedRow(this.liquidations, params)]
      case 'liquidations':
        return liquidationRows(this.liquidations, params)
      case 'liquidation-stats':
        return [statsRow(this.liquidations, params)]
      case 'first-liquidation':
        return [firstRow(this.liquidations)]
      case 'tokens':
        return this.tokens.map((row) => ({ ...row, ...tokenTimes(row) }))
      case 'past-prices':
        return [pricePage(this.pastPrices, params)]
      case 'past-risks':
        return [riskPage(this.pastRisks, params)]
      case 'letters':
        return this.letters.map((row) => ({ ...row, time_us: row.time, letters: this.letters.length }))
      case 'audits':
        return this.audits.map((row) => ({ ...row, minute_us: row.worst_minute }))
      default:
        return undefined
    }
  }
}

/** What a query of a view of this market asks for; undefined: it is of another one. */
export function marketKindOf(sql: string): string | undefined {
  const view = /FROM \(?\s*(?:SELECT[^]*?FROM )?(\w+)/.exec(sql)?.[1]
  switch (view) {
    case 'latest_tickers':
      return 'tickers'
    case 'tickers':
      return 'ticker-at'
    case 'latest_prices':
      return 'price'
    case 'prices':
      return 'past-prices'
    case 'liquidation_risk':
      return 'past-risks'
    case 'latest_funding':
      return 'funding'
    case 'latest_terms':
      return 'terms'
    case 'funding_settlements':
      return 'settlements'
    case 'latest_ratios':
      return 'ratios'
    case 'latest_risk':
      return 'risk'
    case 'liquidations':
      if (sql.includes('long_usd')) return 'observed'
      if (sql.includes('min(received)')) return 'first-liquidation'
      return sql.includes('day_events') ? 'liquidation-stats' : 'liquidations'
    case 'tokens':
      return 'tokens'
    case 'dead_letters':
      return 'letters'
    case 'audit_worst':
      return 'audits'
    default:
      return undefined
  }
}

function pageOf<Fact extends CompositePrice | LiquidationRisk>(
  facts: readonly Fact[],
  { asset, from, to, limit }: Params,
): { page: readonly Fact[]; common: object } {
  const page = facts
    .filter((row) => row.asset === asset && row.time >= Number(from) && row.time < Number(to))
    .slice(0, Number(limit))
  const offsets = page.map((row) => facts.indexOf(row))
  const common = {
    records: page.length,
    at: page.map(({ time }) => time),
    last_usd: page.map(({ price }) => price),
    offsets,
  }
  return { page, common: { ...common, partitions: page.map(() => 0) } }
}

function pricePage(facts: readonly CompositePrice[], params: Params): object {
  const { page, common } = pageOf(facts, params)
  return {
    ...common,
    low_usd: page.map(({ low }) => low),
    high_usd: page.map(({ high }) => high),
    late_flags: page.map(({ late }) => Number(late)),
    good_flags: page.map(({ quality }) => Number(quality === 'good')),
  }
}

function riskPage(facts: readonly LiquidationRisk[], params: Params): object {
  const { page, common } = pageOf(facts, params)
  return {
    ...common,
    risk_usd: page.map((row) => row.at_risk_5_usd),
    risk_pct: page.map((row) => row.at_risk_5_pct),
    classes: page.map((row) => row.cascade_risk),
    venues: page.map(({ exchanges }) => exchanges.length),
  }
}

/** One asset, a list of them, or all. */
function isAsked(asset: string, { asset: one, assets }: Params): boolean {
  if (typeof assets === 'string') return assets.split(',').includes(asset)
  return one === undefined || one === asset
}

function tickerRow({ instrument, ...row }: SpotTicker): object {
  return { ...row, venue: partsOf(instrument).venue, time_us: row.time, received_us: row.received }
}

function newestTickers(tickers: readonly SpotTicker[]): object[] {
  const newest = new Map(tickers.toSorted((a, b) => a.received - b.received).map((row) => [row.instrument, row]))
  return [...newest.values()].map(tickerRow)
}

function tickersAt(tickers: readonly SpotTicker[], { asset, venue, quote, at }: Params): object[] {
  const own = tickers.filter((row) => row.asset === asset && row.quote === quote)
  const then = own.filter((row) => partsOf(row.instrument).venue === venue && row.received <= Number(at))
  return newestTickers(then)
}

function priceRow({ sources, ...row }: CompositePrice): object {
  return { ...row, parts: sources.map((source) => ({ ...source, time_us: source.time })), time_us: row.time }
}

function fundingRows({ asset, exchanges, time }: Funding): object[] {
  return exchanges.map((view: FundingView) => ({
    asset,
    known_us: time,
    ...view,
    index_price: view.index,
    rate_us: view.rate_time,
    next_us: view.next_settlement,
    mark_us: view.mark_time,
    settled_us: view.settled_time,
  }))
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
    }))
    .filter(({ time_us }) => time_us >= Number(from) && time_us < Number(to))
  return rest['side'] === 'oldest' ? own.slice(0, Number(limit)) : own.toReversed().slice(0, Number(limit))
}

function isTop({ cohort, basis }: LongShortRatio): boolean {
  return cohort === 'top_traders' && basis === 'positions'
}

function ratioRow({ instrument, ...row }: LongShortRatio): object {
  return { ...row, venue: partsOf(instrument).venue, time_us: row.time }
}

function riskRow({ exchanges, ...row }: LiquidationRisk): object {
  const venues = exchanges.map((venue) => ({ ...venue, time_us: venue.time }))
  return { ...row, venues, since_us: row.since, time_us: row.time }
}

const valueOf = (rows: readonly Liquidation[]): number => rows.reduce((sum, { value }) => sum + value, 0)

function observedRow(rows: readonly Liquidation[], { asset, since, until }: Params): object {
  const own = rows.filter((row) => row.asset === asset && row.time >= Number(since) && row.time <= Number(until))
  const of = (side: string): number => valueOf(own.filter((row) => row.side === side))
  return { long_usd: of('long'), short_usd: of('short') }
}

function filtered(rows: readonly PlacedLiquidation[], params: Params, from: unknown): PlacedLiquidation[] {
  const known = rows.filter((row) => row.received <= Number(params['now']))
  return known.filter((row) => (params['any'] === 1 || row.asset === params['asset']) && row.time >= Number(from))
}

function liquidationRows(rows: readonly PlacedLiquidation[], params: Params): object[] {
  return filtered(rows, params, params['from'])
    .toSorted((a, b) => b.time - a.time || b.offset - a.offset || b.partition - a.partition)
    .slice(0, Number(params['limit']))
    .map(({ instrument, ...row }) => ({ ...row, venue: partsOf(instrument).venue, time_us: row.time }))
}

function statsRow(rows: readonly PlacedLiquidation[], params: Params): object {
  const [day, hour] = [filtered(rows, params, params['day']), filtered(rows, params, params['hour'])]
  return {
    day_events: day.length,
    day_usd: valueOf(day),
    hour_events: hour.length,
    hour_longs: hour.filter(({ side }) => side === 'long').length,
    hour_shorts: hour.filter(({ side }) => side === 'short').length,
    hour_usd: valueOf(hour),
  }
}

function firstRow(rows: readonly Liquidation[]): object {
  return { events: rows.length, first_us: rows.length === 0 ? 0 : Math.min(...rows.map(({ received }) => received)) }
}

function tokenTimes({ ath_date, atl_date, last_updated, received }: Token): object {
  return { ath_us: ath_date, atl_us: atl_date, updated_us: last_updated, received_us: received }
}
