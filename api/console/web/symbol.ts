import type { HealthzAnswer, SymbolsAnswer } from './answers.ts'
import { again, ask } from './ask.ts'
import { now, setClock } from './clock.ts'
import { beforePaint, byId, el, fill, say, setState, td } from './dom.ts'
import * as format from './format.ts'
import { follow, type Change } from './stream.ts'
import { readPanels } from './symbol-panels.ts'
import { ChartData, layerNames, layers, type Candle, type FlowPoint, type Layer } from './chart-data.ts'
import { intervals, type Interval } from './chart-series.ts'
import { drawReadout, originOf } from './chart-readout.ts'
import type { Price } from './market-figures.ts'
import { answered, failed } from './old-figures.ts'
import { SymbolCharts } from './symbol-charts.ts'

/** Answers are kept for 5 s: asking more often brings nothing new, milliseconds. */
const CHART_MS = 5_000
const PANELS_MS = 10_000
/** What moves seldom, milliseconds. */
const FURTHER_MS = 30_000
/** How often it is asked whether the past grows, milliseconds. */
const PAST_MS = 15_000
/** Candles that are read at least where there are so many: 90 days of hours; as many again where the reader scrolls there. */
const WANTED = 2_160
const WANTED_MAX = 20_000
const LISTED = 10

const symbol = decodeURIComponent(location.pathname.split('/').at(-1) ?? '').toUpperCase()
const panel = byId('chart-panel')
const query = new URLSearchParams(location.search)
let interval = intervalOf(query.get('interval'))
let shown = layersOf(query.get('show'))
let data = new ChartData(symbol, interval)
let charts = chartsOf()
/** Whether candles of this width are on the screen. */
let isShown = false
let wanted = WANTED
let pointed: number | undefined
let price: Price | undefined

/** One without a name, or with an unknown one, is of hours: a new installation has 90 days of them. */
function intervalOf(name: string | null): Interval {
  return intervals.find((known) => known === name) ?? '1h'
}

/** Without a list all but the heatmap, which is a model, and the basis, which few look at. */
function layersOf(list: string | null): ReadonlySet<Layer> {
  const names = list?.split(',') ?? layerNames.filter((name) => name !== 'heatmap' && name !== 'basis')
  return new Set(layerNames.filter((name) => names.includes(name)))
}

function chartsOf(): SymbolCharts {
  const container = byId('chart')
  const panes = layerNames.filter((name) => shown.has(name) && name !== 'liquidations' && name !== 'heatmap')
  container.style.setProperty('--panes', String(panes.length))
  return new SymbolCharts(container, {
    shown,
    interval,
    beganToEnd: () => void readMore(),
    pointed(time) {
      pointed = time
      drawPointed()
    },
  })
}

const drawPointed = beforePaint(() => drawReadout({ rows: data.rows, interval, shown, at: pointed }))

async function readChart(): Promise<void> {
  const asked = data
  const [candles, points] = await Promise.all([asked.candles.readNewest(), asked.points.readNewest()])
  if (asked !== data) return // another interval was chosen meanwhile
  if (candles.is === 'failed' || points.is === 'failed') {
    const why = candles.is === 'failed' ? candles.message : points.is === 'failed' ? points.message : ''
    // Candles of another width would be shown under the wrong button.
    if (isShown && panel.dataset['state'] === 'ready') failed(panel, why)
    else setState(panel, 'error', `There are no candles to show: ${why}`)
    return
  }
  const isFirst = !isShown
  isShown = true
  draw()
  answered(panel, Date.parse(candles.body.as_of), { isStale: candles.body.stale })
  await readOlder(asked)
  if (isFirst) void readFurther()
}

/** Older pages up to what is wanted, each drawn when it is there. One that fails is asked for again with the next reading. */
async function readOlder(asked: ChartData): Promise<void> {
  await asked.readOlder(wanted, () => {
    if (asked === data) draw()
    return asked === data
  })
}

let isReadingMore = false

/** The reader is where the candles begin: what is older, of all that is shown. */
async function readMore(): Promise<void> {
  if (isReadingMore || !isShown || data.candles.isWhole || data.candles.rows.length < wanted) return
  isReadingMore = true
  wanted = Math.min(WANTED_MAX, wanted + WANTED)
  await readOlder(data)
  await readFurther()
  isReadingMore = false
}

/** What is shown beside candles and CVD. What cannot be read is not drawn; the next reading tries again. */
async function readFurther(): Promise<void> {
  const asked = data
  if (!isShown) return
  await asked.readFurther(shown)
  if (asked === data) draw()
}

let isGrowing = false

/** While the past is read back, and once behind it, all is read anew: pages of before have holes that are filled since. */
async function followPast(): Promise<void> {
  const health = await ask<HealthzAnswer>('/api/healthz')
  if (health.is === 'failed') return
  const { backfill } = health.body
  const wasGrowing = isGrowing
  isGrowing = ['starting', 'running', 'paused'].includes(backfill?.state ?? '')
  const part = backfill === undefined || backfill.wanted === 0 ? 0 : 1 - backfill.missing / backfill.wanted
  const how = backfill?.state === 'paused' ? 'waits for room on the disk' : 'is being read back'
  say(byId('growing'), isGrowing ? `The venues’ past ${how}: ${Math.floor(part * 100)} % is there.` : '')
  if (isShown && (isGrowing || wasGrowing)) await readAnew()
}

async function readAnew(): Promise<void> {
  const asked = data
  const fresh = new ChartData(symbol, interval)
  await Promise.all([fresh.candles.readNewest(), fresh.points.readNewest()])
  await fresh.readOlder(wanted, () => asked === data)
  await fresh.readFurther(shown)
  if (asked !== data || fresh.candles.rows.length < asked.candles.rows.length) return
  data = fresh
  draw()
}

function draw(): void {
  const { rows } = data
  charts.show(rows)
  drawPointed()
  drawTable(rows.candles, rows.points)
  setState(panel, rows.candles.length === 0 ? 'empty' : 'ready', 'Nothing has traded yet.')
}

function drawTable(candles: readonly Candle[], points: readonly FlowPoint[]): void {
  const byTime = new Map(points.map((point) => [point.time, point]))
  const base = (points[0]?.cvd ?? 0) - (points[0]?.delta ?? 0)
  const rows = candles
    .slice(-LISTED)
    .toReversed()
    .map((candle) => {
      const point = byTime.get(candle.time)
      const { buy_volume: buy, sell_volume: sell } = candle
      const delta = buy === null || sell === null ? null : buy - sell
      return el(
        'tr',
        { 'data-time': candle.time },
        td(format.moment(Date.parse(candle.time))),
        ...[candle.open, candle.high, candle.low, candle.close].map((value) => td(format.price(value), 'num')),
        td(format.compact(candle.volume), 'num'),
        delta === null ? td(format.DASH, 'num') : td(format.signed(delta), `num ${format.side(delta)}`),
        td(point === undefined ? format.DASH : format.signed(point.cvd - base), 'num'),
        td(candle.source === 'trades' ? candle.completeness : originOf(candle.source)),
      )
    })
  fill(byId('candles'), rows)
}

const drawPrice = beforePaint(() => {
  if (price === undefined) return
  say(byId('price'), format.price(price.price))
  const change = format.inPercent(price.change_24h, 2)
  say(byId('change'), `${change} in 24 h`, format.sideOf(change))
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

/** Writes what is chosen into the address, so that it can be kept and sent on. */
function keepInAddress(): void {
  const url = new URL(location.href)
  url.searchParams.set('interval', interval)
  url.searchParams.set('show', [...shown].join(','))
  history.replaceState(null, '', url)
}

function pressed(name: string, label: string, isOn: boolean, press: () => void): HTMLElement {
  return el('button', { type: 'button', 'aria-pressed': String(isOn), 'data-name': name, click: press }, label)
}

function drawButtons(): void {
  byId('intervals').replaceChildren(
    ...intervals.map((name) => pressed(name, name, name === interval, () => choose(name))),
  )
  byId('layers').replaceChildren(
    ...layerNames.map((name) => pressed(name, layers[name], shown.has(name), () => toggle(name))),
  )
}

/** The button that was pressed keeps the focus. */
function redrawButtons(group: string, name: string): void {
  drawButtons()
  byId(group).querySelector<HTMLElement>(`[data-name="${name}"]`)?.focus()
}

function choose(name: Interval): void {
  interval = name
  data = new ChartData(symbol, interval)
  isShown = false
  wanted = WANTED
  pointed = undefined
  charts.close()
  charts = chartsOf()
  keepInAddress()
  redrawButtons('intervals', name)
  void readChart()
}

function toggle(name: Layer): void {
  shown = new Set(layerNames.filter((layer) => shown.has(layer) !== (layer === name)))
  const { sight } = charts
  charts.close()
  charts = chartsOf()
  keepInAddress()
  redrawButtons('layers', name)
  if (!isShown) return
  draw()
  charts.sight = sight
  void readFurther()
}

say(byId('symbol-name'), symbol)
drawButtons()
again(readChart, CHART_MS)
again(readFurther, FURTHER_MS)
again(followPast, PAST_MS)
again(() => readPanels(symbol), PANELS_MS)
const answer = await ask<SymbolsAnswer>('/view/symbols')
if (answer.is === 'ok') setClock(answer.body.now)
const known = answer.is === 'ok' ? answer.body.symbols.find((item) => item.symbol === symbol) : undefined
follow({ kinds: ['price'], asset: known?.asset ?? symbol.toLowerCase(), changed: heard, known: heard })
setInterval(drawPrice, 1_000)
