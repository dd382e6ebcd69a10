import type { IPrimitivePaneRenderer, ISeriesPrimitive, SeriesAttachedParameter } from 'lightweight-charts'
import type { HeatColumn, Level } from './levels.ts'
import { secondsOf } from './chart-series.ts'

type Target = Parameters<IPrimitivePaneRenderer['draw']>[0]

/** Half the height of a level, as a share of its price. */
const HALF = 0.0025
/** The largest level is as solid as this. */
const SOLID = 0.75

/** Levels by price and time behind the candles: the more USD, the more solid. */
export class HeatLayer implements ISeriesPrimitive {
  #place: SeriesAttachedParameter | undefined
  #columns: readonly HeatColumn[] = []
  #largest = 0
  #colours = { long: '', short: '' }

  attached(attached: SeriesAttachedParameter): void {
    this.#place = attached
  }

  detached(): void {
    this.#place = undefined
  }

  paneViews(): readonly { zOrder: () => 'bottom'; renderer: () => IPrimitivePaneRenderer }[] {
    return [{ zOrder: () => 'bottom', renderer: () => ({ draw: (target) => this.#draw(target) }) }]
  }

  paint(colours: { readonly long: string; readonly short: string }): void {
    this.#colours = { ...colours }
    this.#place?.requestUpdate()
  }

  show(columns: readonly HeatColumn[]): void {
    this.#columns = columns
    this.#largest = 0
    for (const { levels } of columns)
      for (const { long_usd, short_usd } of levels) this.#largest = Math.max(this.#largest, long_usd, short_usd)
    this.#place?.requestUpdate()
  }

  #draw(target: Target): void {
    const series = this.#place
    if (series === undefined || this.#largest === 0) return
    target.useBitmapCoordinateSpace(({ context, bitmapSize, horizontalPixelRatio, verticalPixelRatio }) => {
      const scale = series.chart.timeScale()
      const [one, two] = [scale.logicalToCoordinate(0 as never), scale.logicalToCoordinate(1 as never)]
      const width = Math.max(1, ((two ?? 1) - (one ?? 0)) * horizontalPixelRatio)
      for (const { time, levels } of this.#columns) {
        const middle = scale.timeToCoordinate(secondsOf(time))
        if (middle === null) continue
        const left = middle * horizontalPixelRatio - width / 2
        if (left + width < 0 || left > bitmapSize.width) continue
        for (const level of levels) this.#drawLevel(context, level, { left, width, ratio: verticalPixelRatio })
      }
      context.globalAlpha = 1
    })
  }

  #drawLevel(
    context: CanvasRenderingContext2D,
    { price, long_usd, short_usd }: Level,
    { left, width, ratio }: { left: number; width: number; ratio: number },
  ): void {
    const { series } = this.#place ?? {}
    const top = series?.priceToCoordinate(price * (1 + HALF)) ?? null
    const bottom = series?.priceToCoordinate(price * (1 - HALF)) ?? null
    if (top === null || bottom === null) return
    context.globalAlpha = SOLID * Math.sqrt(Math.max(long_usd, short_usd) / this.#largest)
    context.fillStyle = long_usd >= short_usd ? this.#colours.long : this.#colours.short
    context.fillRect(left, top * ratio, width, Math.max(1, (bottom - top) * ratio))
  }
}
