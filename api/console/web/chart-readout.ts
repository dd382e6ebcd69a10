/** The figures of one bucket of the chart, in words. */
import {
  type BasisPoint,
  type Candle,
  type ChartRows,
  type FlowPoint,
  type InterestPoint,
  type Layer,
} from './chart-data.ts'
import { bucketOf, lineOf, secondsOf, totalOf, venuesOf, type Interval } from './chart-series.ts'
import { byId, el } from './dom.ts'
import * as format from './format.ts'

/** Where a figure comes from, as people say it; our own trades need no word. */
const origins: Readonly<Record<string, string>> = {
  trades: 'own trades',
  archive: 'venue’s archive of trades',
  venue_candles: 'venue’s candles',
  venue_history: 'venue’s history',
  mixed: 'own trades and venue’s past',
}

export function originOf(source: string): string {
  return origins[source] ?? source.replaceAll('_', ' ')
}

/** Which bucket: seconds; undefined: the newest. */
type At = number | undefined

export interface Reading {
  readonly rows: ChartRows
  readonly interval: Interval
  readonly shown: ReadonlySet<Layer>
  readonly at: At
}

/** Writes the figures of a bucket above the chart. */
export function drawReadout({ rows, interval, shown, at }: Reading): void {
  const candle = at === undefined ? rows.candles.at(-1) : rows.candles.find(({ time }) => secondsOf(time) === at)
  byId('ohlc').replaceChildren(...(candle === undefined ? [] : candleItems(candle)))
  byId('legend').hidden = !shown.has('cvd')
  byId('legend').replaceChildren(...cvdItems(rows.points, at))
  const time = candle === undefined ? at : secondsOf(candle.time)
  byId('further').replaceChildren(...(time === undefined ? [] : furtherItems({ rows, interval, shown, at: time })))
}

function item(name: string, value: string, className = ''): HTMLElement {
  return el('li', { class: className }, `${name} `, el('b', {}, value))
}

function candleItems({ time, open, high, low, close, volume, source }: Candle): HTMLElement[] {
  const side = format.side(close - open)
  const prices = { O: open, H: high, L: low, C: close }
  return [
    el('li', {}, el('time', { datetime: time }, format.moment(Date.parse(time)))),
    ...Object.entries(prices).map(([name, price]) => item(name, format.price(price), side)),
    item('', format.inPercent((close / open - 1) * 100, 2), side),
    item('Vol', format.compact(volume)),
    el('li', { class: source === 'trades' ? 'whence' : 'whence weak' }, originOf(source)),
  ]
}

function cvdItems(points: readonly FlowPoint[], at: At): HTMLElement[] {
  const [first] = points
  if (first === undefined) return []
  const index = at === undefined ? points.length - 1 : points.findIndex(({ time }) => secondsOf(time) === at)
  const point = points[index]
  const since = `CVD since ${format.moment(Date.parse(first.time))}, base units:`
  const venues = venuesOf(points).map((venue, order) => {
    const isTold = point !== undefined && point.exchanges[venue]?.source !== null
    const value = isTold ? format.signed(lineOf(points, venue)[index]) : format.DASH
    return el('li', { class: `v${(order % 4) + 1}` }, `${venue} ${value}`)
  })
  const total = point === undefined || point.source === null ? format.DASH : format.signed(totalOf(points)[index])
  return [el('li', { class: 'since' }, since), el('li', { class: 'total' }, `total ${total}`), ...venues]
}

function furtherItems({ rows, interval, shown, at }: Reading & { at: number }): HTMLElement[] {
  const items: HTMLElement[] = []
  const interest = rows.interest.find(({ time }) => secondsOf(time) === at)
  if (shown.has('interest') && interest !== undefined)
    items.push(
      item('Open interest', `${format.compact(interest.open_interest_usd)} USD${whence(interestSource(interest))}`),
    )
  if (shown.has('funding')) items.push(...fundingItem(rows.funding, (time) => bucketOf(time, interval) <= at))
  const basis = rows.basis.find(({ time }) => secondsOf(time) === at)
  if (shown.has('basis') && basis !== undefined) items.push(...basisItem(basis))
  const liquidated = rows.liquidations.find(({ time }) => secondsOf(time) === at)
  if (shown.has('liquidations') && liquidated !== undefined) {
    items.push(item('Longs liquidated', `${format.compact(liquidated.long_usd)} USD`, 'sell'))
    items.push(item('Shorts', `${format.compact(liquidated.short_usd)} USD`, 'buy'))
  }
  return items
}

/** The rate that each venue settled last before the end of the bucket. */
function fundingItem(funding: ChartRows['funding'], isBefore: (time: string) => boolean): HTMLElement[] {
  const rates = Object.entries(funding).flatMap(([venue, settled]) => {
    const last = settled.findLast(({ time }) => isBefore(time))
    if (last === undefined) return []
    return [{ figure: `${venue} ${format.inPercent(last.funding_rate_pct, 4)}`, of: whence(last.source) }]
  })
  return rates.length === 0 ? [] : [item('Funding', listOf(rates))]
}

/** Of each venue, and what it is held against where that is not the spot price. */
function basisItem({ exchanges }: BasisPoint): HTMLElement[] {
  const told = Object.entries(exchanges).flatMap(([venue, { basis_pct, against, source }]) => {
    const of = `${against === 'index' ? ' of index' : ''}${whence(source)}`
    return basis_pct === null ? [] : [{ figure: `${venue} ${format.inPercent(basis_pct, 3)}`, of }]
  })
  return told.length === 0 ? [] : [item('Basis', listOf(told))]
}

/** The venues' figures, each with what it is of; what is the same of all stands once. */
function listOf(told: readonly { readonly figure: string; readonly of: string }[]): string {
  const [first] = told
  const isSame = told.every(({ of }) => of === first?.of)
  const figures = told.map(({ figure, of }) => (isSame ? figure : figure + of))
  return figures.join(', ') + (isSame ? (first?.of ?? '') : '')
}

/** The venues' history, where any of the sum is from there. */
function interestSource({ exchanges }: InterestPoint): string | undefined {
  return Object.values(exchanges).find(({ source }) => source !== null && source !== 'live')?.source ?? undefined
}

function whence(source: string | null | undefined): string {
  return source === undefined || source === null || source === 'live' || source === 'trades'
    ? ''
    : ` (${originOf(source)})`
}
