import {
  createChart,
  createSeriesMarkers,
  LineSeries,
  LineStyle,
  LineType,
  type AutoscaleInfo,
  type IChartApi,
  type ISeriesApi,
  type Time,
} from 'lightweight-charts'
import type { Figure, Metric } from './alert-words.ts'
import { followColours, pageColour, pageOptions } from './chart-colours.ts'
import { secondsOf } from './chart-series.ts'
import { compact } from './format.ts'

/** A figure with what is known of its metric, and the bounds of its condition. */
export interface Drawn {
  readonly figure: Figure
  readonly metric: Metric | undefined
  readonly bounds: readonly (number | string)[]
}

/** Draws figures one below the other, each with its bounds, and a mark wherever the alert would have rung; gives what removes them. */
export function drawFigures(container: HTMLElement, figures: readonly Drawn[], rang: readonly string[]): () => void {
  container.style.setProperty('--panes', String(figures.length))
  const still = { handleScroll: false, handleScale: false }
  const chart = createChart(container, { autoSize: true, layout: { attributionLogo: false }, ...still })
  const lines = figures.map((drawn, pane) => addLine(chart, drawn, pane))
  for (const line of lines) mark(line, rang)
  const paint = (): void => {
    chart.applyOptions(pageOptions())
    for (const line of lines) line.applyOptions({ color: pageColour('--accent') })
  }
  paint()
  chart.timeScale().fitContent()
  const end = new AbortController()
  followColours(paint, end.signal)
  return () => {
    end.abort()
    chart.remove()
  }
}

function addLine(chart: IChartApi, { figure, metric, bounds }: Drawn, pane: number): ISeriesApi<'Line'> {
  const classes = metric?.classes ?? []
  const positionOf = (value: number | string): number => (typeof value === 'number' ? value : classes.indexOf(value))
  const isClass = classes.length > 0
  const words = (value: number): string => (isClass ? (classes[Math.round(value)] ?? '') : compact(value))
  const title = [metric?.says ?? figure.metric, figure.exchange, figure.window].filter(Boolean).join(' ')
  const line = chart.addSeries(
    LineSeries,
    {
      title,
      lineWidth: 2,
      lineType: isClass ? LineType.WithSteps : LineType.Simple,
      priceLineVisible: false,
      autoscaleInfoProvider: (own: () => AutoscaleInfo | null) => withBounds(own(), bounds.map(positionOf)),
      priceFormat: { type: 'custom', formatter: words, minMove: isClass ? 1 : 1e-9 },
    },
    pane,
  )
  const points = new Map(figure.points.map(({ time, value }) => [secondsOf(time), value]))
  line.setData([...points].map(([time, value]) => (value === null ? { time } : { time, value: positionOf(value) })))
  for (const bound of bounds)
    line.createPriceLine({
      price: positionOf(bound),
      lineWidth: 1,
      lineStyle: LineStyle.Dashed,
      color: pageColour('--warn'),
      axisLabelVisible: true,
      title: '',
    })
  return line
}

/** A bound that is not far off is seen, too. */
function withBounds(own: AutoscaleInfo | null, bounds: readonly number[]): AutoscaleInfo | null {
  const range = own?.priceRange ?? null
  if (range === null) return own
  const { minValue: low, maxValue: high } = range
  const reach = 3 * (high - low || Math.abs(high))
  const near = bounds.filter((bound) => bound > low - reach && bound < high + reach)
  return { ...own, priceRange: { minValue: Math.min(low, ...near), maxValue: Math.max(high, ...near) } }
}

function mark(line: ISeriesApi<'Line'>, rang: readonly string[]): void {
  const times = [...new Set(rang.map(secondsOf))].toSorted((a, b) => a - b)
  createSeriesMarkers<Time>(
    line,
    times.map((time) => ({ time, position: 'inBar', shape: 'circle', color: pageColour('--sell'), size: 1 })),
  )
}
