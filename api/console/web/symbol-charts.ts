import {
  CandlestickSeries,
  createChart,
  createSeriesMarkers,
  createTextWatermark,
  HistogramSeries,
  LineSeries,
  LineStyle,
  LineType,
  type CandlestickData,
  type HistogramData,
  type IChartApi,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  type LineData,
  type LineSeriesPartialOptions,
  type LogicalRange,
  type SeriesMarker,
  type Time,
  type UTCTimestamp,
  type WhitespaceData,
} from 'lightweight-charts'
import {
  layers,
  type BasisPoint,
  type Candle,
  type ChartRows,
  type FlowPoint,
  type InterestPoint,
  type Layer,
} from './chart-data.ts'
import { followColours, pageColour, pageOptions } from './chart-colours.ts'
import { bucketOf, priceDigits, secondsOf, type Interval, lineOf, totalOf, venuesOf } from './chart-series.ts'
import { beforePaint } from './dom.ts'
import { grouped } from './format.ts'
import { HeatLayer } from './heat-layer.ts'

/** What the figures of a pane are in. */
const units: Partial<Record<Layer, string>> = { funding: ', percent', interest: ', USD', basis: ', percent' }

/** Colours that lines have; beyond them they begin again, dashed. */
const COLOURS = 4
/** Height of the candles against that of a pane below them. */
const CANDLES_SHARE = 2.5
/** The largest liquidations of what is in sight have a mark: so many at most, and no more than have room beside each other. */
const MARKS = 40
const MARK_PX = 16
/** Nearer to the oldest candle than so many, older ones are asked for. */
const NEAR = 30

type Line = ISeriesApi<'Line'>
type Colour = (name: string) => string

export interface ChartOptions {
  readonly shown: ReadonlySet<Layer>
  readonly interval: Interval
  /** The reader has scrolled to where the candles begin. */
  readonly beganToEnd: () => void
  /** The bucket under the crosshair; undefined: none. */
  readonly pointed: (time: UTCTimestamp | undefined) => void
}

/** Candles above, and on the same time axis a pane for each layer that is shown. */
export class SymbolCharts {
  readonly #options: ChartOptions
  readonly #chart: IChartApi
  readonly #candles: ISeriesApi<'Candlestick'>
  readonly #volume: ISeriesApi<'Histogram'> | undefined
  readonly #interest: Line | undefined
  readonly #total: Line | undefined
  /** Those of venues, by layer and venue. */
  readonly #lines = new Map<string, Line>()
  readonly #marks: ISeriesMarkersPluginApi<Time> | undefined
  readonly #heat: HeatLayer | undefined
  /** What takes its colours from the page. */
  readonly #paints: ((colour: Colour) => void)[] = []
  readonly #end = new AbortController()
  readonly #panes = new Map<Layer, number>()
  #rows: ChartRows | undefined
  #isFitted = false
  /** The candle that keys have moved the crosshair to: by its time, since older ones come before it. */
  #pointed: string | undefined

  constructor(container: HTMLElement, options: ChartOptions) {
    this.#options = options
    const timeScale = { rightOffsetPixels: 16, maxBarSpacing: 24 }
    this.#chart = createChart(container, { autoSize: true, layout: { attributionLogo: false }, timeScale })
    this.#candles = this.#chart.addSeries(CandlestickSeries, { borderVisible: true }, 0)
    const pane = (layer: Layer): number | undefined => this.#paneOf(layer)
    const [volume, cvd, interest] = [pane('volume'), pane('cvd'), pane('interest')]
    if (volume !== undefined) this.#volume = this.#chart.addSeries(HistogramSeries, quiet, volume)
    if (cvd !== undefined) this.#total = this.#addLine(cvd, '--text')
    if (interest !== undefined) this.#interest = this.#addLine(interest, '--text')
    for (const sum of [this.#total, this.#interest]) sum?.applyOptions({ lineWidth: 4 })
    // These panes are there before the venues are known.
    for (const at of [pane('funding'), pane('basis')])
      if (at !== undefined) this.#addLine(at, '--soft').applyOptions({ visible: false })
    if (options.shown.has('liquidations')) this.#marks = createSeriesMarkers(this.#candles, [])
    if (options.shown.has('heatmap')) this.#candles.attachPrimitive((this.#heat = new HeatLayer()))
    for (const [at, one] of this.#chart.panes().entries()) one.setStretchFactor(at === 0 ? CANDLES_SHARE : 1)
    for (const [layer, at] of this.#panes) this.#nameOf(layer, at)
    this.#paints.push((colour) => {
      this.#chart.applyOptions(pageOptions())
      this.#heat?.paint({ long: colour('--sell'), short: colour('--buy') })
    })
    this.#listen(container)
    this.paint()
  }

  /** Takes the colours of the page. */
  paint(): void {
    for (const paint of this.#paints) paint(pageColour)
    if (this.#rows !== undefined) this.show(this.#rows)
  }

  /** All of it, as of another symbol or interval, or with an older page. */
  show(rows: ChartRows): void {
    const isWhole = this.#isWhole
    this.#rows = rows
    const { candles, points } = rows
    const colours = coloursOf()
    const digits = priceDigits(candles.at(-1)?.close ?? 1)
    const formatter = (price: number): string => grouped(price, digits)
    this.#candles.applyOptions({ priceFormat: { type: 'custom', formatter, minMove: 10 ** -digits } })
    this.#candles.setData(candles.map((candle) => candleOf(candle, colours)))
    this.#volume?.setData(candles.map((candle) => volumeOf(candle, colours)))
    if (this.#total !== undefined) this.#showCvd(points)
    const first = candles[0] === undefined ? Infinity : secondsOf(candles[0].time)
    if (this.#interest !== undefined) this.#showInterest(rows.interest, first)
    if (this.#options.shown.has('funding')) this.#showFunding(rows.funding, first)
    if (this.#options.shown.has('basis')) this.#showBasis(rows.basis, first)
    this.#heat?.show(rows.heat)
    if (isWhole && candles.length > 0) this.#chart.timeScale().fitContent()
    this.#isFitted ||= candles.length > 0
    this.#mark()
  }

  /** What is in sight, as places among the candles. */
  get sight(): LogicalRange | null {
    return this.#chart.timeScale().getVisibleLogicalRange()
  }

  /** Shows what was in sight on another chart of the same candles. */
  set sight(range: LogicalRange | null) {
    if (range === null) return
    this.#chart.timeScale().setVisibleLogicalRange(range)
    this.#isFitted = true
  }

  /** Whether all candles are in sight: then it stays so with more of them. */
  get #isWhole(): boolean {
    const { sight } = this
    const last = (this.#rows?.candles.length ?? 0) - 1
    return !this.#isFitted || (sight !== null && sight.from <= 1 && sight.to >= last - 1)
  }

  close(): void {
    this.#end.abort()
    this.#chart.remove()
  }

  /** The pane of a layer, made when it is asked for; undefined: it is not shown. */
  #paneOf(layer: Layer): number | undefined {
    if (!this.#options.shown.has(layer)) return undefined
    this.#panes.set(layer, this.#panes.size + 1)
    return this.#panes.size
  }

  #nameOf(layer: Layer, at: number): void {
    const pane = this.#chart.panes()[at]
    if (pane === undefined) return
    const text = `${layers[layer]}${units[layer] ?? ''}`
    const name = createTextWatermark(pane, { horzAlign: 'left', vertAlign: 'top' })
    this.#paints.push((colour) => name.applyOptions({ lines: [{ text, color: colour('--soft'), fontSize: 11 }] }))
  }

  /** `name`: of its colour. */
  #addLine(pane: number, name: string): Line {
    const line = this.#chart.addSeries(LineSeries, { ...quiet, lineWidth: 2 }, pane)
    const paint = (colour: Colour): void => line.applyOptions({ color: colour(name) })
    this.#paints.push(paint)
    paint(pageColour)
    return line
  }

  #showCvd(points: readonly FlowPoint[]): void {
    const totals = totalOf(points)
    this.#total?.setData(lineData(points, ({ source }, at) => (source === null ? undefined : totals[at])))
    for (const [at, venue] of venuesOf(points).entries()) {
      const values = lineOf(points, venue)
      // Where nothing is known of the venue there is no line.
      this.#venueLine('cvd', { venue, at }).setData(
        lineData(points, ({ exchanges }, index) => (exchanges[venue]?.source === null ? undefined : values[index])),
      )
    }
  }

  /** Each venue, and the sum where as many venues are in it as ever: with fewer it would fall without anybody selling. */
  #showInterest(all: readonly InterestPoint[], first: number): void {
    const points = all.filter(({ time }) => secondsOf(time) >= first)
    const heard = ({ exchanges }: InterestPoint): number =>
      Object.values(exchanges).filter(({ open_interest_usd: usd }) => usd !== null).length
    const most = points.reduce((count, point) => Math.max(count, heard(point)), 0)
    this.#interest?.setData(
      lineData(points, (point) => (heard(point) === most ? (point.open_interest_usd ?? undefined) : undefined)),
    )
    for (const [at, venue] of Object.keys(points[0]?.exchanges ?? {}).entries())
      this.#venueLine('interest', { venue, at }).setData(
        lineData(points, ({ exchanges }) => exchanges[venue]?.open_interest_usd ?? undefined),
      )
  }

  #showFunding(funding: ChartRows['funding'], first: number): void {
    for (const [at, [venue, rates]] of Object.entries(funding).entries()) {
      const line = this.#venueLine('funding', { venue, at }, { ...inPercent, lineType: LineType.WithSteps })
      const byBucket = new Map(
        rates.map(({ time, funding_rate_pct: value }) => [bucketOf(time, this.#options.interval), value]),
      )
      line.setData([...byBucket].flatMap(([time, value]) => (time < first ? [] : [{ time, value }])))
    }
  }

  #showBasis(all: readonly BasisPoint[], first: number): void {
    const points = all.filter(({ time }) => secondsOf(time) >= first)
    for (const [at, venue] of Object.keys(points[0]?.exchanges ?? {}).entries())
      this.#venueLine('basis', { venue, at }, inPercent).setData(
        lineData(points, ({ exchanges }) => exchanges[venue]?.basis_pct ?? undefined),
      )
  }

  #venueLine(layer: Layer, { venue, at }: { venue: string; at: number }, options: LineSeriesPartialOptions = {}): Line {
    const key = `${layer} ${venue}`
    const known = this.#lines.get(key)
    if (known !== undefined) return known
    const line = this.#addLine(this.#panes.get(layer) ?? 0, `--v${(at % COLOURS) + 1}`)
    line.applyOptions({ ...options, ...(at >= COLOURS && { lineStyle: LineStyle.Dashed }) })
    this.#lines.set(key, line)
    return line
  }

  /** Marks the largest liquidations of what is in sight. */
  readonly #mark = beforePaint(() => {
    const rows = this.#rows
    const range = this.#end.signal.aborted ? null : this.#chart.timeScale().getVisibleRange()
    if (this.#marks === undefined || rows === undefined || range === null) return
    const { buy, sell } = coloursOf()
    const inSight = rows.liquidations.flatMap(({ time, long_usd: long, short_usd: short }) => {
      const at = secondsOf(time)
      if (at < Number(range.from) || at > Number(range.to)) return []
      return [
        { at, usd: long, mark: { time: at, position: 'aboveBar', shape: 'arrowDown', color: sell } as const },
        { at, usd: short, mark: { time: at, position: 'belowBar', shape: 'arrowUp', color: buy } as const },
      ].filter(({ usd }) => usd > 0)
    })
    const room = Math.min(MARKS, Math.floor(this.#chart.timeScale().width() / MARK_PX))
    const largest = inSight.toSorted((a, b) => b.usd - a.usd).slice(0, room)
    const most = largest[0]?.usd ?? 1
    const marks = largest
      .toSorted((a, b) => a.at - b.at)
      .map(({ mark, usd }): SeriesMarker<Time> => ({ ...mark, size: 0.4 + Math.sqrt(usd / most) }))
    this.#marks.setMarkers(marks)
  })

  #listen(container: HTMLElement): void {
    const { signal } = this.#end
    followColours(() => this.paint(), signal)
    this.#chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
      this.#mark()
      // Where all is in sight only who pulls beyond the beginning wants more.
      const near = this.#isWhole ? -NEAR / 5 : NEAR
      if (range !== null && this.#isFitted && range.from < near) this.#options.beganToEnd()
    })
    this.#chart.subscribeCrosshairMove(({ time }) => this.#options.pointed(time as UTCTimestamp | undefined))
    container.addEventListener('keydown', (event) => this.#pointByKey(event), { signal })
    container.addEventListener('blur', () => this.#point(-1), { signal })
  }

  /** Arrows move the crosshair from candle to candle, beginning with the newest. */
  #pointByKey(event: KeyboardEvent): void {
    const candles = this.#rows?.candles ?? []
    const last = candles.length - 1
    const known = candles.findIndex(({ time }) => time === this.#pointed)
    const from = known < 0 ? last + 1 : known
    const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -24, PageDown: 24 }
    const step = steps[event.key]
    if (event.key !== 'Escape' && step === undefined) return
    event.preventDefault()
    this.#point(step === undefined ? -1 : Math.min(last, Math.max(0, from + step)))
  }

  #point(at: number): void {
    const candle = this.#rows?.candles[at]
    this.#pointed = candle?.time
    if (candle === undefined) return this.#chart.clearCrosshairPosition()
    this.#chart.setCrosshairPosition(candle.close, secondsOf(candle.time), this.#candles)
    this.#options.pointed(secondsOf(candle.time))
    const range = this.sight
    if (range === null || (at >= range.from && at <= range.to)) return
    const shift = at < range.from ? at - range.from : at - range.to
    this.sight = { from: range.from + shift, to: range.to + shift } as LogicalRange
  }
}

const quiet = { priceLineVisible: false, lastValueVisible: false, priceFormat: { type: 'volume' } } as const
const inPercent = {
  lineWidth: 1,
  priceFormat: { type: 'custom', formatter: (value: number) => value.toFixed(4), minMove: 0.0001 },
} as const

interface Colours {
  readonly buy: string
  readonly sell: string
  readonly buyPale: string
  readonly sellPale: string
}

function coloursOf(): Colours {
  const [buy = '', sell = '', buyPale = '', sellPale = ''] = ['--buy', '--sell', '--buy-fill', '--sell-fill'].map(
    pageColour,
  )
  return { buy, sell, buyPale, sellPale }
}

/** What our own trades made is solid, what a venue says of its past is pale with a border. */
function candleOf({ time, open, high, low, close, source }: Candle, colours: Colours): CandlestickData<UTCTimestamp> {
  const [full, pale] = close >= open ? [colours.buy, colours.buyPale] : [colours.sell, colours.sellPale]
  const color = source === 'trades' ? full : pale
  return { time: secondsOf(time), open, high, low, close, color, borderColor: full, wickColor: full }
}

function volumeOf({ time, open, close, volume }: Candle, { buyPale, sellPale }: Colours): HistogramData<UTCTimestamp> {
  return { time: secondsOf(time), value: volume, color: close >= open ? buyPale : sellPale }
}

/** A line with a hole where there is no value: the part behind the last point before it is not drawn. */
function lineData<Point extends { readonly time: string }>(
  points: readonly Point[],
  valueOf: (point: Point, at: number) => number | undefined,
): (LineData<UTCTimestamp> | WhitespaceData<UTCTimestamp>)[] {
  const values = points.map(valueOf)
  return points.map(({ time }, at) => {
    const value = values[at]
    if (value === undefined) return { time: secondsOf(time) }
    const isEnd = at + 1 < values.length && values[at + 1] === undefined
    return { time: secondsOf(time), value, ...(isEnd && { color: 'transparent' }) }
  })
}
