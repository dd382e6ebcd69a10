import { again, ask } from './ask.ts'
import { now, setClock } from './clock.ts'
import { beforePaint, byId, el, say, setState } from './dom.ts'
import * as format from './format.ts'
import { follow, type Change } from './stream.ts'
import { readPanels } from './symbol-panels.ts'
import { lineOf, type CvdPoint } from './cvd-lines.ts'
import { answered, failed } from './old-figures.ts'
import { SymbolCharts, venuesOf, type Candle } from './symbol-charts.ts'

const intervals = ['1m', '5m', '15m', '1h'] as const
type Interval = (typeof intervals)[number]

/** Answers are kept for 5 s: asking more often brings nothing new, milliseconds. */
const CHART_MS = 5_000
const PANELS_MS = 10_000
const CANDLES = 200
const LISTED = 10

interface OhlcvAnswer {
  readonly as_of: string
  readonly stale: boolean
  readonly candles: readonly (Candle & {
    readonly volume: number
    readonly buy_volume: number
    readonly sell_volume: number
    readonly completeness: string
  })[]
}

interface HistoryAnswer {
  readonly points: readonly (CvdPoint & { readonly cvd: number; readonly delta: number })[]
}

interface Price {
  readonly price: number
  readonly change_24h: number | null
  readonly sources: number
  readonly quality: string
  readonly time: number
}

const symbol = decodeURIComponent(location.pathname.split('/').at(-1) ?? '').toUpperCase()
const panel = byId('chart-panel')
const charts = new SymbolCharts(byId('chart'))
let interval: Interval = '1m'
/** That of the candles on the screen. */
let shown: Interval | undefined
let price: Price | undefined

async function readChart(): Promise<void> {
  const query = `interval=${interval}&limit=${CANDLES}`
  const asked = interval
  const name = encodeURIComponent(symbol)
  const [candles, history] = await Promise.all([
    ask<OhlcvAnswer>(`/api/ohlcv/${name}?${query}&exchange=all`),
    ask<HistoryAnswer>(`/api/cvd/history/${name}?${query}`),
  ])
  if (asked !== interval) return // another was chosen meanwhile
  if (candles.is === 'failed' || history.is === 'failed') {
    const why = candles.is === 'failed' ? candles.message : history.is === 'failed' ? history.message : ''
    // Candles of another width would be shown under the wrong button.
    if (shown === asked && panel.dataset['state'] === 'ready') failed(panel, why)
    else setState(panel, 'error', `There are no candles to show: ${why}`)
    return
  }
  shown = asked
  charts.show(candles.body.candles, history.body.points)
  drawLegend(history.body)
  drawTable(candles.body, history.body)
  setState(panel, candles.body.candles.length === 0 ? 'empty' : 'ready', 'Nothing has traded yet.')
  answered(panel, Date.parse(candles.body.as_of), { isStale: candles.body.stale })
}

function drawLegend({ points }: HistoryAnswer): void {
  const items = venuesOf(points).map((venue, at) =>
    el('li', { class: `v${(at % 4) + 1}` }, `${venue} ${format.signed(lineOf(points, venue).at(-1))}`),
  )
  const [first] = points
  const since = first === undefined ? '' : `Volume delta since ${format.moment(Date.parse(first.time))}, base units:`
  byId('legend').replaceChildren(el('li', { class: 'since' }, since), ...items)
}

function drawTable({ candles }: OhlcvAnswer, { points }: HistoryAnswer): void {
  const byTime = new Map(points.map((point) => [point.time, point]))
  const base = (points[0]?.cvd ?? 0) - (points[0]?.delta ?? 0)
  const rows = candles
    .slice(-LISTED)
    .toReversed()
    .map((candle) => {
      const point = byTime.get(candle.time)
      const delta = candle.buy_volume - candle.sell_volume
      const number = (text: string, className = ''): HTMLElement => el('td', { class: `num ${className}` }, text)
      return el(
        'tr',
        { 'data-time': candle.time },
        el('td', {}, format.moment(Date.parse(candle.time))),
        ...[candle.open, candle.high, candle.low, candle.close].map((value) => number(format.price(value))),
        number(format.compact(candle.volume)),
        number(format.signed(delta), format.side(delta)),
        number(point === undefined ? format.DASH : format.signed(point.cvd - base)),
        el('td', {}, candle.completeness),
      )
    })
  byId('candles')
    .querySelector('tbody')
    ?.replaceChildren(...rows)
}

const drawPrice = beforePaint(() => {
  if (price === undefined) return
  say(byId('price'), format.price(price.price))
  say(byId('change'), `${format.inPercent(price.change_24h, 2)} in 24 h`, format.side(price.change_24h))
  const old = format.age(now() - price.time)
  say(
    byId('price-note'),
    `USD, median of ${price.sources} venues${price.quality === 'good' ? '' : `, ${price.quality}`}, ${old} old`,
  )
  document.title = `${symbol} ${format.price(price.price)} · Market console`
})

function heard(changes: readonly Change[]): void {
  for (const [kind, , value] of changes) if (kind === 'price') price = value as Price // as `digest.ts` writes it
  drawPrice()
}

async function drawChoice(): Promise<string> {
  const answer = await ask<{ now: number; symbols: readonly { asset: string; symbol: string }[] }>('/view/symbols')
  if (answer.is === 'ok') setClock(answer.body.now)
  const known = answer.is === 'ok' ? answer.body.symbols : []
  const choice = byId('symbol-choice')
  const names = [...new Set([symbol, ...known.map((item) => item.symbol)])].toSorted()
  choice.replaceChildren(
    ...names.map((name) => el('option', name === symbol ? { value: name, selected: '' } : { value: name }, name)),
  )
  choice.addEventListener('change', () => {
    if (choice instanceof HTMLSelectElement) location.assign(`/symbol/${encodeURIComponent(choice.value)}`)
  })
  return known.find((item) => item.symbol === symbol)?.asset ?? symbol.toLowerCase()
}

function drawIntervals(): void {
  const buttons = intervals.map((name) =>
    el('button', { type: 'button', 'aria-pressed': String(name === interval), click: () => choose(name) }, name),
  )
  byId('intervals').replaceChildren(...buttons)
}

function choose(name: Interval): void {
  interval = name
  charts.forget()
  for (const button of byId('intervals').children)
    button.setAttribute('aria-pressed', String(button.textContent === name))
  void readChart()
}

say(byId('symbol-name'), symbol)
drawIntervals()
again(readChart, CHART_MS)
again(() => readPanels(symbol), PANELS_MS)
follow({ kinds: ['price'], asset: await drawChoice(), changed: heard, known: heard })
setInterval(drawPrice, 1_000)
