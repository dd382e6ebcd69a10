import {
  CandlestickSeries,
  ColorType,
  createChart,
  LineSeries,
  LineStyle,
  type IChartApi,
  type ISeriesApi,
  type UTCTimestamp,
} from 'lightweight-charts'
import { lineOf, type CvdPoint } from './cvd-lines.ts'

export interface Candle {
  readonly time: string
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
}

/** The venues that points tell of, in their order; the usual ones where there is no point. */
export function venuesOf([first]: readonly CvdPoint[]): readonly string[] {
  return first === undefined ? ['binance', 'bybit', 'okx', 'coinbase'] : Object.keys(first.exchanges)
}

/** Colours that lines have; beyond them they begin again, dashed. */
const COLOURS = 4

/** Height of the volume delta against that of the price. */
const SHARES = [3, 2] as const

/** Candles above, the running volume delta of each venue below, on one time axis. */
export class SymbolCharts {
  readonly #chart: IChartApi
  readonly #candles: ISeriesApi<'Candlestick'>
  readonly #lines = new Map<string, ISeriesApi<'Line'>>()
  #isFitted = false

  constructor(place: HTMLElement) {
    this.#chart = createChart(place, { autoSize: true, layout: { attributionLogo: false } })
    this.#candles = this.#chart.addSeries(CandlestickSeries, {}, 0)
    for (const venue of venuesOf([])) this.#addLine(venue)
    for (const [at, pane] of this.#chart.panes().entries()) pane.setStretchFactor(SHARES[at] ?? 1)
    this.paint()
    document.addEventListener('themechange', () => this.paint())
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.paint())
  }

  /** Takes the colours of the page. */
  paint(): void {
    const style = getComputedStyle(document.documentElement)
    const colour = (name: string): string => style.getPropertyValue(name).trim()
    const line = colour('--chart-grid')
    this.#chart.applyOptions({
      layout: {
        background: { type: ColorType.Solid, color: colour('--panel') },
        textColor: colour('--soft'),
        fontFamily: style.fontFamily,
        panes: { separatorColor: colour('--line') },
      },
      grid: { vertLines: { color: line }, horzLines: { color: line } },
      timeScale: {
        timeVisible: true,
        secondsVisible: false,
        minBarSpacing: 0.2,
        maxBarSpacing: 24,
        borderColor: colour('--line'),
      },
      rightPriceScale: { borderColor: colour('--line') },
    })
    const [up, down] = [colour('--buy'), colour('--sell')]
    const candle = { upColor: up, downColor: down, wickUpColor: up, wickDownColor: down, borderVisible: false }
    this.#candles.applyOptions(candle)
    for (const [at, one] of [...this.#lines.values()].entries())
      one.applyOptions({
        color: colour(`--v${(at % COLOURS) + 1}`),
        lineStyle: at < COLOURS ? LineStyle.Solid : LineStyle.Dashed,
      })
  }

  /** All of it, as of another symbol or interval. */
  show(candles: readonly Candle[], points: readonly CvdPoint[]): void {
    const digits = digitsOf(candles.at(-1)?.close ?? 1)
    this.#candles.applyOptions({ priceFormat: { type: 'price', precision: digits, minMove: 10 ** -digits } })
    this.#candles.setData(candles.map(candleOf))
    const added = venuesOf(points).filter((venue) => !this.#lines.has(venue))
    for (const venue of added) this.#addLine(venue)
    if (added.length > 0) this.paint()
    for (const [venue, line] of this.#lines) {
      const values = lineOf(points, venue)
      // Where nothing is known of the venue there is no line.
      const isTold = ({ exchanges }: CvdPoint): boolean => exchanges[venue]?.source !== null
      line.setData(
        points.map((point, at) => ({
          time: timeOf(point.time),
          ...(isTold(point) ? { value: values[at] ?? 0 } : {}),
        })),
      )
    }
    if (!this.#isFitted) this.#chart.timeScale().fitContent()
    this.#isFitted = true
  }

  #addLine(venue: string): void {
    const options = { lineWidth: 2, priceLineVisible: false, lastValueVisible: false } as const
    this.#lines.set(venue, this.#chart.addSeries(LineSeries, options, 1))
  }

  /** The next data are another story: they are shown whole. */
  forget(): void {
    this.#isFitted = false
  }
}

function candleOf({ time, open, high, low, close }: Candle): {
  time: UTCTimestamp
  open: number
  high: number
  low: number
  close: number
} {
  return { time: timeOf(time), open, high, low, close }
}

/** The library's time: seconds, of a type of its own. */
function timeOf(iso: string): UTCTimestamp {
  return Math.floor(Date.parse(iso) / 1000) as UTCTimestamp
}

function digitsOf(price: number): number {
  return price >= 1_000 ? 1 : price >= 10 ? 2 : price >= 0.1 ? 4 : 8
}
