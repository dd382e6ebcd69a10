import type { CvdAnswer, SymbolsAnswer } from './answers.ts'
import { again, ask, inTurns } from './ask.ts'
import { now, setClock } from './clock.ts'
import { LiveCvd, type FlowTotals } from './cvd-live.ts'
import { beforePaint, byId, cell, el, Rows, say, setState } from './dom.ts'
import * as format from './format.ts'
import { Liquidations } from './liquidations.ts'
import { agedOf, runningOf, type Funding, type Price, type Risk } from './market-figures.ts'
import { answered, failed, forgotten } from './old-figures.ts'
import { compare, type Sortable } from './order.ts'
import { keepInAddress, Sorting } from './sorting.ts'
import { follow, type Change } from './stream.ts'
import { starOf, watched } from './watchlist.ts'

const HOUR_MS = 3_600_000
const periodMs = { '1h': HOUR_MS, '4h': 4 * HOUR_MS, '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS } as const
type Period = keyof typeof periodMs
const periods: readonly Period[] = ['1h', '4h', '24h', '7d']
/** How often the API's own figures set right what the stream has added up, milliseconds. */
const REFRESH_MS = 15_000
const AT_ONCE = 2
/** What the panel is called by where the list itself is old. */
const SYMBOLS = 'The list of symbols'

/** What is known of one symbol. */
interface Known {
  readonly asset: string
  readonly symbol: string
  readonly cvd: LiveCvd
  /** How much of each period is covered, 0 to 1. */
  readonly covered: Map<Period, number>
  price?: Price
  funding?: Funding
  risk?: Risk
}

const known = new Map<string, Known>()
const dirty = new Set<string>()
const panel = byId('symbols')
const rows = new Rows(panel.querySelector('tbody') ?? panel, makeRow)
const liquidations = new Liquidations(byId('liquidations'))
const draw = beforePaint(drawDirty)
const sorting = new Sorting(panel, arrange)
const watchedOnly = byId('watched')
let isWatchedOnly = new URLSearchParams(location.search).get('watched') === '1'
/** As the server lists them. */
let assets: readonly string[] = []

function makeRow(asset: string): HTMLElement {
  const symbol = known.get(asset)?.symbol ?? asset.toUpperCase()
  const number = (name: string): HTMLElement => el('td', { class: 'num', 'data-cell': name }, format.DASH)
  return el(
    'tr',
    { 'data-symbol': symbol },
    el(
      'th',
      { scope: 'row' },
      starOf(symbol, arrange),
      el('a', { href: `/symbol/${encodeURIComponent(symbol)}` }, symbol),
    ),
    number('price'),
    number('change'),
    ...periods.map((period) => number(`cvd-${period}`)),
    number('funding'),
    number('interest'),
    number('risk'),
    number('age'),
  )
}

const riskClasses = ['low', 'medium', 'high']

/** What a row is sorted by. */
function figureOf({ symbol, price, funding, risk, cvd }: Known, name: string): Sortable {
  switch (name) {
    case 'symbol':
      return symbol
    case 'price':
      return price?.price
    case 'change':
      return price?.change_24h
    case 'funding':
      return runningOf(funding, now())?.rate
    case 'interest':
      return risk?.open_interest_usd
    case 'risk':
      return risk === undefined ? undefined : riskClasses.indexOf(risk.cascade_risk)
    case 'age':
      return price === undefined ? undefined : now() - price.time
    default:
      return cvd.of(name.slice('cvd-'.length))
  }
}

/** Shows the symbols that are to be seen, in the order that was chosen. */
function arrange(): void {
  const stars = watched()
  const all = assets.flatMap((asset) => known.get(asset) ?? [])
  const seen = isWatchedOnly ? all.filter(({ symbol }) => stars.has(symbol)) : all
  const { order } = sorting
  const sorted =
    order === undefined
      ? seen
      : seen.toSorted((a, b) => compare(figureOf(a, order.by), figureOf(b, order.by), order.isFalling))
  rows.arrange(sorted.map(({ asset }) => asset))
  for (const { asset } of sorted) drawSymbol(asset)
  watchedOnly.setAttribute('aria-pressed', String(isWatchedOnly))
  if (assets.length === 0) return setState(panel, 'empty', 'No symbol is streamed yet.')
  const isEmpty = sorted.length === 0
  setState(panel, isEmpty ? 'empty' : 'ready', 'No symbol is watched yet: press the star beside its name.')
}

watchedOnly.addEventListener('click', () => {
  isWatchedOnly = !isWatchedOnly
  keepInAddress({ watched: isWatchedOnly ? '1' : undefined })
  arrange()
})

function heard(changes: readonly Change[]): void {
  for (const [kind, key, value] of changes) {
    if (kind === 'liquidation') liquidations.heard(key, value)
    else update(kind, key, value)
  }
  draw()
}

/** The stream's words are as `digest.ts` on the server writes them. */
function update(kind: string, asset: string, value: unknown): void {
  const symbol = known.get(asset)
  if (symbol === undefined) return
  if (kind === 'price') symbol.price = value as Price
  if (kind === 'funding') symbol.funding = value as Funding
  if (kind === 'risk') symbol.risk = value as Risk
  if (kind === 'flow') symbol.cvd.flowed(value as FlowTotals)
  dirty.add(asset)
}

function drawDirty(): void {
  for (const asset of dirty) drawSymbol(asset)
  dirty.clear()
  liquidations.draw(now())
}

function drawSymbol(asset: string): void {
  const symbol = known.get(asset)
  if (symbol === undefined || !rows.has(asset)) return
  const row = rows.row(asset)
  const { price, cvd } = symbol
  say(cell(row, 'price'), format.price(price?.price), price?.quality === 'degraded' ? 'num weak' : 'num')
  const change = format.inPercent(price?.change_24h, 2)
  say(cell(row, 'change'), change, `num ${format.sideOf(change)}`)
  for (const period of periods) {
    const value = format.signed(cvd.of(period))
    const part = format.coveredPart(symbol.covered.get(period), periodMs[period])
    const side = part === undefined ? format.side(cvd.of(period)) : 'weak'
    say(cell(row, `cvd-${period}`), part === undefined ? value : `${value} in ${part}`, `num ${side}`)
  }
  drawAged(row, symbol)
}

/** What grows old by itself. */
function drawAged(row: HTMLElement, symbol: Known): void {
  for (const [name, { text, classes, title }] of Object.entries(agedOf(symbol, now()))) {
    say(cell(row, name), text, classes)
    cell(row, name)?.setAttribute('title', title)
  }
}

async function readSymbols(): Promise<void> {
  const answer = await ask<SymbolsAnswer>('/view/symbols')
  if (answer.is === 'failed') {
    if (known.size === 0) setState(panel, 'error', `The symbols cannot be read: ${answer.message} Trying again.`)
    else failed(panel, answer.message, SYMBOLS)
    return
  }
  setClock(answer.body.now)
  const before = known.size
  for (const { asset, symbol } of answer.body.symbols)
    if (!known.has(asset)) known.set(asset, { asset, symbol, cvd: new LiveCvd(), covered: new Map() })
  const listed = answer.body.symbols.map(({ asset }) => asset)
  for (const asset of assets) if (!listed.includes(asset)) leave(asset)
  assets = listed
  arrange()
  answered(panel, answer.body.now, { part: SYMBOLS })
  if (before === 0 && known.size > 0)
    follow({ kinds: ['price', 'flow', 'funding', 'risk', 'liquidation'], changed: heard, known: heard })
}

/** It is streamed no longer. */
function leave(asset: string): void {
  for (const period of periods) forgotten(panel, partOf(asset, period))
}

/** What a figure is called where it is old. */
function partOf(asset: string, period: Period): string {
  return `CVD ${period} of ${known.get(asset)?.symbol ?? asset}`
}

async function readCvd(asset: string, period: Period): Promise<void> {
  const symbol = known.get(asset)
  if (symbol === undefined) return
  const path = `/api/cvd/${encodeURIComponent(symbol.symbol)}?period=${period}`
  const answer = await ask<CvdAnswer>(path, { onlyLooks: true })
  const part = partOf(asset, period)
  if (answer.is === 'failed') return failed(panel, answer.message, part)
  answered(panel, Date.parse(answer.body.coverage.to), { part, isStale: answer.body.stale })
  symbol.covered.set(period, answer.body.coverage.share)
  symbol.cvd.answered(period, answer.body.period_cvd_usd, Date.parse(answer.body.coverage.to))
  dirty.add(asset)
  draw()
}

async function refresh(): Promise<void> {
  await readSymbols()
  const jobs = periods.flatMap((period) => assets.map((asset) => () => readCvd(asset, period)))
  await Promise.all([inTurns(jobs, AT_ONCE), liquidations.read()])
}

again(refresh, REFRESH_MS)
setInterval(() => {
  if (sorting.order !== undefined) arrange()
  for (const [asset, symbol] of known) if (rows.has(asset)) drawAged(rows.row(asset), symbol)
  liquidations.draw(now())
}, 1_000)
