import type { SymbolsAnswer } from './answers.ts'
import { again, ask } from './ask.ts'
import { now, setClock } from './clock.ts'
import { beforePaint, byId, cell, el, Rows, say, setState } from './dom.ts'
import * as format from './format.ts'
import { Liquidations } from './liquidations.ts'
import {
  agedOf,
  periods,
  runningOf,
  type Cvd,
  type Funding,
  type Period,
  type Price,
  type Risk,
} from './market-figures.ts'
import { answered, failed } from './old-figures.ts'
import { compare, type Sortable } from './order.ts'
import { Sorting } from './sorting.ts'
import { follow, type Change } from './stream.ts'
import { starOf, WatchedOnly } from './watchlist.ts'

/** How often the list of symbols and the liquidations are read, milliseconds. */
const REFRESH_MS = 15_000
/** What the panel is called by where the list itself is old. */
const SYMBOLS = 'The list of symbols'

/** What is known of one symbol. */
interface Known {
  readonly asset: string
  readonly symbol: string
  cvd?: Cvd
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
const watchedOnly = new WatchedOnly(arrange)
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
      return cvd?.periods[name.slice('cvd-'.length) as Period].usd // of a column that the page has
  }
}

/** Shows the symbols that are to be seen, in the order that was chosen. */
function arrange(): void {
  const seen = watchedOnly.of(assets.flatMap((asset) => known.get(asset) ?? []))
  const { order } = sorting
  const sorted =
    order === undefined
      ? seen
      : seen.toSorted((a, b) => compare(figureOf(a, order.by), figureOf(b, order.by), order.isFalling))
  rows.arrange(sorted.map(({ asset }) => asset))
  for (const { asset } of sorted) drawSymbol(asset)
  if (assets.length === 0) return setState(panel, 'empty', 'No symbol is streamed yet.')
  const isEmpty = sorted.length === 0
  setState(panel, isEmpty ? 'empty' : 'ready', 'No symbol is watched yet: press the star beside its name.')
}

function heard(changes: readonly Change[]): void {
  for (const [kind, key, value] of changes) {
    if (kind === 'liquidation') liquidations.heard(key, value)
    else if (kind === 'cvd') for (const [asset, cvd] of Object.entries(value as object)) update(kind, asset, cvd)
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
  if (kind === 'cvd') symbol.cvd = value as Cvd
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
  const { price } = symbol
  say(cell(row, 'price'), format.price(price?.price), price?.quality === 'degraded' ? 'num weak' : 'num')
  const change = format.inPercent(price?.change_24h, 2)
  say(cell(row, 'change'), change, `num ${format.sideOf(change)}`)
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
  for (const { asset, symbol } of answer.body.symbols) if (!known.has(asset)) known.set(asset, { asset, symbol })
  assets = answer.body.symbols.map(({ asset }) => asset)
  arrange()
  answered(panel, answer.body.now, { part: SYMBOLS })
  if (before === 0 && known.size > 0)
    follow({ kinds: ['price', 'cvd', 'funding', 'risk', 'liquidation'], changed: heard, known: heard })
}

/** The volume delta that was told longest ago says how old they are, where it is stale. */
function tellAge(): void {
  const told = assets.flatMap((asset) => known.get(asset)?.cvd ?? [])
  const [oldest] = told.toSorted((a, b) => a.fresh_until - b.fresh_until)
  if (oldest !== undefined) answered(panel, oldest.time, { part: 'CVD', isStale: now() > oldest.fresh_until })
}

async function refresh(): Promise<void> {
  await Promise.all([readSymbols(), liquidations.read()])
}

again(refresh, REFRESH_MS)
setInterval(() => {
  if (sorting.order !== undefined) arrange()
  for (const [asset, symbol] of known) if (rows.has(asset)) drawAged(rows.row(asset), symbol)
  tellAge()
  liquidations.draw(now())
}, 1_000)
