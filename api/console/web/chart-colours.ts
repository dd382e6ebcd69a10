/** Colours of the page on a chart. */
import { ColorType, type ChartOptions, type DeepPartial } from 'lightweight-charts'

export function pageColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

/** What every chart looks like, in the page's colours of now. */
export function pageOptions(): DeepPartial<ChartOptions> {
  const [grid, line] = [{ color: pageColour('--chart-grid') }, pageColour('--line')]
  return {
    layout: {
      background: { type: ColorType.Solid, color: pageColour('--panel') },
      textColor: pageColour('--soft'),
      fontFamily: getComputedStyle(document.documentElement).fontFamily,
      panes: { separatorColor: line },
    },
    grid: { vertLines: grid, horzLines: grid },
    // 90 days of hours are in sight on a phone, too.
    timeScale: { timeVisible: true, secondsVisible: false, minBarSpacing: 0.1, borderColor: line },
    rightPriceScale: { borderColor: line },
  }
}

/** Calls `paint` whenever the page takes other colours. */
export function followColours(paint: () => void, signal: AbortSignal): void {
  document.addEventListener('themechange', paint, { signal })
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint, { signal })
}
