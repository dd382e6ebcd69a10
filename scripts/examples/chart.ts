/** One line of a chart: its values over the chart's times, null where there is none. */
export interface Line {
  readonly name: string
  readonly values: readonly (number | null)[]
  readonly color: string
  /** Which scale it is read by. */
  readonly side: 'left' | 'right'
}

export interface Chart {
  readonly title: string
  /** ISO 8601, ascending, as many as each line has values. */
  readonly times: readonly string[]
  readonly lines: readonly Line[]
}

const WIDTH = 960
const HEIGHT = 420
const LEFT = 70
const TOP = 40
const PLOT = { width: WIDTH - 2 * LEFT, height: HEIGHT - 2 * TOP }
const TICKS = 5

/** The chart as an SVG document of its own: two scales, a grid, a legend. */
export function drawSvg({ title, times, lines }: Chart): string {
  const scales = { left: scaleOf(lines, 'left'), right: scaleOf(lines, 'right') }
  const x = (at: number): number => LEFT + (times.length < 2 ? 0.5 : at / (times.length - 1)) * PLOT.width
  const parts = [
    `<text x="${LEFT}" y="24" font-size="16">${escape(title)}</text>`,
    ...gridOf(scales),
    ...timesOf(times, x),
    ...lines.map((line, at) => legendOf(line, at)),
    ...lines.map((line) => pathOf(line, scales[line.side], x)),
  ]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="11">
<rect width="100%" height="100%" fill="white"/>
${parts.filter((part) => part !== '').join('\n')}
</svg>
`
}

interface Scale {
  readonly low: number
  readonly high: number
}

/** From the lowest to the highest value; a line that does not move lies in the middle. */
function scaleOf(lines: readonly Line[], side: Line['side']): Scale {
  const values = lines.filter((line) => line.side === side).flatMap((line) => line.values.filter((v) => v !== null))
  if (values.length === 0) return { low: 0, high: 1 }
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return low === high ? { low: low - 1, high: high + 1 } : { low, high }
}

function yOf(value: number, { low, high }: Scale): number {
  return TOP + (1 - (value - low) / (high - low)) * PLOT.height
}

function gridOf(scales: Readonly<Record<Line['side'], Scale>>): string[] {
  return Array.from({ length: TICKS }, (_, at) => at / (TICKS - 1)).flatMap((share) => {
    const y = TOP + (1 - share) * PLOT.height
    const label = ({ low, high }: Scale): string => String(Number((low + share * (high - low)).toPrecision(6)))
    return [
      `<line x1="${LEFT}" x2="${LEFT + PLOT.width}" y1="${y}" y2="${y}" stroke="#ddd"/>`,
      `<text x="${LEFT - 6}" y="${y + 4}" text-anchor="end">${label(scales.left)}</text>`,
      `<text x="${LEFT + PLOT.width + 6}" y="${y + 4}">${label(scales.right)}</text>`,
    ]
  })
}

function timesOf(times: readonly string[], x: (at: number) => number): string[] {
  const shown = [...new Set([0, Math.floor((times.length - 1) / 2), times.length - 1])]
  return shown.flatMap((at) => {
    const time = times[at]
    if (time === undefined) return []
    return [`<text x="${x(at)}" y="${HEIGHT - 14}" text-anchor="middle">${time.slice(0, 16).replace('T', ' ')}</text>`]
  })
}

function legendOf({ name, color, side }: Line, at: number): string {
  return `<text x="${WIDTH - LEFT}" y="${16 + 13 * at}" text-anchor="end" fill="${color}">${escape(name)} (${side})</text>`
}

/** A move to a value after a gap, else a line to it; empty without a value. */
function pathOf({ values, color }: Line, scale: Scale, x: (at: number) => number): string {
  const steps = values.flatMap((value, at) => {
    if (value === null) return []
    const isNew = at === 0 || (values[at - 1] ?? null) === null
    return [`${isNew ? 'M' : 'L'}${x(at).toFixed(1)} ${yOf(value, scale).toFixed(1)}`]
  })
  return steps.length === 0 ? '' : `<path d="${steps.join(' ')}" fill="none" stroke="${color}" stroke-width="1.5"/>`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
