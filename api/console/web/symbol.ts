import { again, ask } from './ask.ts'
import { now, setClock } from './clock.ts'
import { beforePaint, byId, el, say, setState } from './dom.ts'
import * as format from './format.ts'
import { follow, type Change } from './stream.ts'
import { readPanels } from './symbol-panels.ts'
import { lineOf, type CvdPoint } from './cvd-lines.ts'
import { Loaded } from './loaded.ts'
import { answered, failed } from './old-figures.ts'
import { SymbolCharts, venuesOf, type Candle } from './symbol-charts.ts'

const intervals = ['1m', '3m', '5m', '15m', '30m', '1h', '2h', '4h', '8h', '12h', '1d', '1w'] as const
type Interval = (typeof intervals)[number]

/** Answers are kept for 5 s: asking more often brings nothing new, milliseconds. */
const CHART_MS = 5_000
const PANELS_MS = 10_000
/** Rows of the newest page, which is read again and again, and of an older one, which is read once. */
const NEWEST = 200
const OLDER = 1_000
/** Rows that are shown at least where there are so many: 90 days of hours. */
const SHOWN = 2_160
const LISTED = 10

type CandleRow = Candle & {
  readonly volume: number
  /** Null: the venue's candle does not say. */
  readonly buy_volume: number | null
  readonly sell_volume: number | null
  readonly source: string
  readonly completeness: string
}
type PointRow = CvdPoint & { readonly cvd: number; readonly delta: number }

interface OhlcvAnswer {
  readonly as_of: string
  readonly stale: boolean
  readonly candles: readonly CandleRow[]
  readonly next: string | null
}

interface HistoryAnswer {
  readonly points: readonly PointRow[]
  readonly next: string | null
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
let interval: Interval = intervalOf(new URLSearchParams(location.search).get('interval'))
/** That of the candles on the screen. */
let shown: Interval | undefined
let candles = new Loaded<CandleRow>()
let points = new Loaded<PointRow>()
let price: Price | undefined

/** One without a name, or with an unknown one, is of hours: a new installation has 90 days of them. */
function intervalOf(name: string | null): Interval {
  return intervals.find((known) => known === name) ?? '1h'
}

async function readChart(): Promise<void> {
  const asked = interval
  const name = encodeURIComponent(symbol)
  const query = `interval=${asked}&limit=${NEWEST}`
  const [ohlcv, history] = await Promise.all([
    ask<OhlcvAnswer>(`/api/ohlcv/${name}?${query}&exchange=all`),
    ask<HistoryAnswer>(`/api/cvd/history/${name}?${query}`),
  ])
  if (asked !== interval) return // another was chosen meanwhile
  if (ohlcv.is === 'failed' || history.is === 'failed') {
    const why = ohlcv.is === 'failed' ? ohlcv.message : history.is === 'failed' ? history.message : ''
    // Candles of another width would be shown under the wrong button.
    if (shown === asked && panel.dataset['state'] === 'ready') failed(panel, why)
    else setState(panel, 'error', `There are no candles to show: ${why}`)
    return
  }
  shown = asked
  candles.takeNewest(ohlcv.body.candles, ohlcv.body.next)
  points.takeNewest(history.body.points, history.body.next)
  draw()
  answered(panel, Date.parse(ohlcv.body.as_of), { isStale: ohlcv.body.stale })
  await readOlder(asked)
}

/** Older pages, each drawn when it is there. One that fails is asked for again with the next reading. */
async function readOlder(asked: Interval): Promise<void> {
  const name = encodeURIComponent(symbol)
  const query = `interval=${asked}&limit=${OLDER}`
  if (candles.rows.length >= SHOWN || typeof candles.next !== 'string') return
  const [ohlcv, history] = await Promise.all([
    ask<OhlcvAnswer>(`/api/ohlcv/${name}?${query}&exchange=all&end=${candles.next}`),
    typeof points.next === 'string'
      ? ask<HistoryAnswer>(`/api/cvd/history/${name}?${query}&end=${points.next}`)
      : undefined,
  ])
  if (asked !== interval || ohlcv.is === 'failed' || history?.is === 'failed') return
  candles.takeOlder(ohlcv.body.candles, ohlcv.body.next)
  if (history !== undefined) points.takeOlder(history.body.points, history.body.next)
  charts.forget()
  draw()
  await readOlder(asked)
}

function draw(): void {
  const [candleRows, pointRows] = [candles.rows, points.rows]
  charts.show(candleRows, pointRows)
  drawLegend(pointRows)
  drawTable(candleRows, pointRows)
  setState(panel, candleRows.length === 0 ? 'empty' : 'ready', 'Nothing has traded yet.')
}

function drawLegend(points: readonly PointRow[]): void {
  const items = venuesOf(points).map((venue, at) =>
    el('li', { class: `v${(at % 4) + 1}` }, `${venue} ${format.signed(lineOf(points, venue).at(-1))}`),
  )
  const [first] = points
  const since = first === undefined ? '' : `Volume delta since ${format.moment(Date.parse(first.time))}, base units:`
  byId('legend').replaceChildren(el('li', { class: 'since' }, since), ...items)
}

function drawTable(candles: readonly CandleRow[], points: readonly PointRow[]): void {
  const byTime = new Map(points.map((point) => [point.time, point]))
  const base = (points[0]?.cvd ?? 0) - (points[0]?.delta ?? 0)
  const rows = candles
    .slice(-LISTED)
    .toReversed()
    .map((candle) => {
      const point = byTime.get(candle.time)
      const { buy_volume: buy, sell_volume: sell } = candle
      const delta = buy === null || sell === null ? null : buy - sell
      const number = (text: string, className = ''): HTMLElement => el('td', { class: `num ${className}` }, text)
      return el(
        'tr',
        { 'data-time': candle.time },
        el('td', {}, format.moment(Date.parse(candle.time))),
        ...[candle.open, candle.high, candle.low, candle.close].map((value) => number(format.price(value))),
        number(format.compact(candle.volume)),
        delta === null ? number(format.DASH) : number(format.signed(delta), format.side(delta)),
        number(point === undefined ? format.DASH : format.signed(point.cvd - base)),
        el('td', {}, candle.source === 'trades' ? candle.completeness : candle.source.replace('_', ' ')),
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
    if (choice instanceof HTMLSelectElement)
      location.assign(`/symbol/${encodeURIComponent(choice.value)}?interval=${interval}`)
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
  candles = new Loaded()
  points = new Loaded()
  const url = new URL(location.href)
  url.searchParams.set('interval', name)
  history.replaceState(null, '', url)
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
