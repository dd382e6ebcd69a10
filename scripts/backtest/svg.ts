import type { Micros } from '../../schemas/records.ts'

/** Hand-drawn charts: no script, no font, no file beside the page. */

const WIDTH = 960
const HEIGHT = 260
const PAD = { left: 70, right: 14, top: 12, bottom: 28 } as const

export interface Marker {
  readonly time: Micros
  readonly side: 'long' | 'short' | 'alert'
  readonly description: string
}

const MARKERS_MAX = 400

/** A price line with markers on it; times along the bottom, prices at the left. */
export function priceChart(points: readonly { time: Micros; value: number }[], markers: readonly Marker[]): string {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return '<p class="none">No prices in the range.</p>'
  const values = points.map(({ value }) => value)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const x = (time: Micros): number => scale(time, first.time, last.time, PAD.left, WIDTH - PAD.right)
  const y = (value: number): number => scale(value, low, high, HEIGHT - PAD.bottom, PAD.top)
  const line = points.map(({ time, value }) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
  const shown = markers.slice(0, MARKERS_MAX).flatMap((marker) => {
    const near = nearest(points, marker.time)
    return near === undefined ? [] : [markerShape(marker, x(near.time), y(near.value))]
  })
  return svg(
    HEIGHT,
    [
      ...[0, 1, 2, 3, 4].map((step) => priceTick(low + ((high - low) * step) / 4, y)),
      ...[0, 1, 2, 3, 4, 5].map((step) => timeTick(first.time + ((last.time - first.time) * step) / 5, x)),
      `<polyline class="price" points="${line}"/>`,
      ...shown,
    ].join(''),
  )
}

function markerShape({ side, description }: Marker, x: number, y: number): string {
  const title = `<title>${escape(description)}</title>`
  if (side === 'alert')
    return `<circle class="alert" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="4.5">${title}</circle>`
  const up = side === 'long'
  const base = up ? y + 13 : y - 13
  const tip = up ? y + 4 : y - 4
  const points = [
    [x, tip],
    [x - 5, base],
    [x + 5, base],
  ]
  return `<polygon class="${side}" points="${points.map(([px = 0, py = 0]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(' ')}">${title}</polygon>`
}

function priceTick(value: number, y: (value: number) => number): string {
  const at = y(value).toFixed(1)
  return `<line class="grid" x1="${PAD.left}" x2="${WIDTH - PAD.right}" y1="${at}" y2="${at}"/><text x="${PAD.left - 8}" y="${at}" dy="4" text-anchor="end">${price(value)}</text>`
}

function timeTick(time: Micros, x: (time: Micros) => number): string {
  const at = x(time)
  const anchor = at > WIDTH - PAD.left ? 'end' : 'middle' // the last one must not leave the picture
  return `<text x="${at.toFixed(1)}" y="${HEIGHT - 8}" text-anchor="${anchor}">${clock(time)}</text>`
}

/** A bar with whiskers for each horizon: the mean and its bounds, around zero. */
export function returnsChart(
  rows: readonly { readonly label: string; readonly mean: number; readonly low: number; readonly high: number }[],
): string {
  if (rows.length === 0) return '<p class="none">Too few returns for a confidence interval.</p>'
  const height = 26 * rows.length + 30
  const reach = Math.max(
    ...rows.flatMap(({ low, high, mean }) => [Math.abs(low), Math.abs(high), Math.abs(mean)]),
    1e-9,
  )
  const x = (value: number): number => scale(value, -reach, reach, 120, WIDTH - 130)
  const zero = x(0).toFixed(1)
  const bars = rows.map(({ label, mean, low, high }, at) => {
    const y = 14 + at * 26
    const kind = low > 0 ? 'up' : high < 0 ? 'down' : 'unsure'
    const [left, right] = [Math.min(x(0), x(mean)), Math.max(x(0), x(mean))]
    return [
      `<text x="110" y="${y + 4}" text-anchor="end">${escape(label)}</text>`,
      `<rect class="${kind}" x="${left.toFixed(1)}" y="${y - 8}" width="${Math.max(1, right - left).toFixed(1)}" height="16"/>`,
      `<line class="whisker" x1="${x(low).toFixed(1)}" x2="${x(high).toFixed(1)}" y1="${y}" y2="${y}"/>`,
      `<text x="${WIDTH - 120}" y="${y + 4}">${percent(mean)} (${percent(low)} to ${percent(high)})</text>`,
    ].join('')
  })
  return svg(height, `<line class="axis" x1="${zero}" x2="${zero}" y1="0" y2="${height - 16}"/>${bars.join('')}`)
}

function svg(height: number, content: string): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img">${content}</svg>`
}

function scale(value: number, low: number, high: number, from: number, to: number): number {
  return high === low ? (from + to) / 2 : from + ((value - low) / (high - low)) * (to - from)
}

/** Points are in the order of time. */
function nearest<Point extends { time: Micros }>(points: readonly Point[], time: Micros): Point | undefined {
  let low = 0
  let high = points.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((points[middle]?.time ?? 0) <= time) low = middle
    else high = middle - 1
  }
  return points[low]
}

export function percent(value: number): string {
  return `${value >= 0 ? '+' : ''}${(value * 100).toFixed(3)} %`
}

export function price(value: number): string {
  return value >= 100 ? value.toLocaleString('en', { maximumFractionDigits: 2 }) : String(Number(value.toPrecision(6)))
}

export function clock(time: Micros): string {
  return new Date(time / 1000).toISOString().slice(5, 19).replace('T', ' ')
}

export function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
