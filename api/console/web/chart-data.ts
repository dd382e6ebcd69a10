import type { FundingHistoryAnswer, LiquidationHistoryAnswer, OhlcvAnswer } from './answers.ts'
import { inTurns } from './ask.ts'
import { PagedHistory } from './chart-history.ts'
import type { Interval, CvdPoint } from './chart-series.ts'
import type { HeatColumn } from './levels.ts'

/** What a reader may have on the chart beside the candles: panes below them, and what is drawn over them. */
export const layers = {
  volume: 'Volume',
  cvd: 'CVD',
  interest: 'Open interest',
  funding: 'Funding',
  basis: 'Basis',
  liquidations: 'Liquidations',
  heatmap: 'Heatmap',
} as const
export type Layer = keyof typeof layers
export const layerNames = Object.keys(layers) as Layer[]

export type Candle = OhlcvAnswer['candles'][number]

export type FlowPoint = CvdPoint & { readonly cvd: number; readonly delta: number; readonly source: string | null }

export interface InterestPoint {
  readonly time: string
  readonly open_interest_usd: number | null
  readonly exchanges: Readonly<
    Record<string, { readonly open_interest_usd: number | null; readonly source: string | null }>
  >
}

export interface BasisPoint {
  readonly time: string
  readonly exchanges: Readonly<
    Record<
      string,
      { readonly basis_pct: number | null; readonly against: string | null; readonly source: string | null }
    >
  >
}

type LiquidatedPoint = LiquidationHistoryAnswer['points'][number]
type Settled = FundingHistoryAnswer['history'][number]

/** All that a chart shows, oldest first. */
export interface ChartRows {
  readonly candles: readonly Candle[]
  readonly points: readonly FlowPoint[]
  readonly interest: readonly InterestPoint[]
  readonly basis: readonly BasisPoint[]
  readonly liquidations: readonly LiquidatedPoint[]
  readonly heat: readonly HeatColumn[]
  /** By venue. */
  readonly funding: Readonly<Record<string, readonly Settled[]>>
}

/** Venues whose settled rates are shown. */
const fundingVenues = ['binance', 'bybit', 'okx'] as const

/** Histories that are read at once: the database is one for all pages. */
const AT_ONCE = 2

/** The histories of one symbol in buckets of one width. */
export class ChartData {
  readonly candles: PagedHistory<Candle>
  readonly points: PagedHistory<FlowPoint>
  readonly #further: Readonly<Record<Exclude<Layer, 'volume' | 'cvd'>, readonly PagedHistory<{ time: string }>[]>>
  readonly #interest: PagedHistory<InterestPoint>
  readonly #basis: PagedHistory<BasisPoint>
  readonly #liquidations: PagedHistory<LiquidatedPoint>
  readonly #heat: PagedHistory<HeatColumn>
  readonly #funding: ReadonlyMap<string, PagedHistory<Settled>>

  constructor(symbol: string, interval: Interval) {
    const name = encodeURIComponent(symbol)
    const query = `${name}?interval=${interval}`
    this.candles = new PagedHistory(`/api/ohlcv/${query}&exchange=all`, 'candles')
    this.points = new PagedHistory(`/api/cvd/history/${query}`, 'points')
    this.#interest = new PagedHistory(`/api/futures/open-interest/history/${query}`, 'points')
    this.#basis = new PagedHistory(`/api/futures/basis/history/${query}`, 'points')
    this.#liquidations = new PagedHistory(`/api/liquidation/history/${query}`, 'points')
    this.#heat = new PagedHistory(`/api/liquidation/heatmap/history/${query}`, 'points')
    const rates = (venue: string): PagedHistory<Settled> =>
      new PagedHistory(`/api/funding-rate/history/${name}?exchange=${venue}`, 'history')
    this.#funding = new Map(fundingVenues.map((venue) => [venue, rates(venue)]))
    this.#further = {
      interest: [this.#interest],
      basis: [this.#basis],
      liquidations: [this.#liquidations],
      heatmap: [this.#heat],
      funding: [...this.#funding.values()],
    }
  }

  /** Older candles and points, page by page up to so many candles; `isWanted`: asked after each page. */
  async readOlder(candles: number, isWanted: () => boolean): Promise<void> {
    if (this.candles.rows.length >= candles || this.candles.isWhole) return
    const [isMore] = await Promise.all([this.candles.readOlder(), this.points.readOlder()])
    if (isMore && isWanted()) await this.readOlder(candles, isWanted)
  }

  /** The newest of what these layers show beside candles and CVD, and as much of the past as there are candles. */
  async readFurther(shown: ReadonlySet<Layer>): Promise<void> {
    const [first] = this.candles.rows
    const histories = Object.entries(this.#further).flatMap(([layer, all]) => (shown.has(layer as Layer) ? all : []))
    const jobs = histories.map((history) => async () => {
      const answer = await history.readNewest()
      if (answer.is === 'ok' && first !== undefined) await history.readBackTo(first.time)
    })
    await inTurns(jobs, AT_ONCE)
  }

  get rows(): ChartRows {
    const funding = [...this.#funding].map(([venue, { rows }]) => [venue, rows] as const)
    return {
      candles: this.candles.rows,
      points: this.points.rows,
      interest: this.#interest.rows,
      basis: this.#basis.rows,
      liquidations: this.#liquidations.rows,
      heat: this.#heat.rows,
      funding: Object.fromEntries(funding),
    }
  }
}
