import { digitsOf } from './alert-words.ts'
import type { ScreenerAnswer } from './answers.ts'
import { again, ask } from './ask.ts'
import { byId, cell, el, Rows, say, setState } from './dom.ts'
import * as format from './format.ts'
import { answered, failed } from './old-figures.ts'
import { keepInAddress, Sorting } from './sorting.ts'
import { starOf, WatchedOnly } from './watchlist.ts'

/** Scans are made once a second; a reader needs them less often, milliseconds. */
const REFRESH_MS = 5_000
const ROWS_MAX = 1_000
const CONDITIONS_MAX = 8

type Text = (value: format.Maybe) => string
const percents: Text = (value) => format.inPercent(value, 2)
const deltas: Text = (value) => format.signed(value)

/** The columns: what the API calls them, what people do, and how a value is written; `coloured` by its sign. */
const columns = [
  ['price', 'Price', 'USD', format.price, false],
  ['change_24h_pct', '24 h', '', percents, true],
  ['funding_rate_pct', 'Funding', 'per interval', (value: format.Maybe) => format.inPercent(value, 4), true],
  ['funding_annualized_pct', 'By the year', '', percents, true],
  ['open_interest_usd', 'Open interest', 'USD', format.compact, false],
  ['open_interest_change_1h_pct', 'OI 1 h', '', percents, true],
  ['open_interest_change_24h_pct', 'OI 24 h', '', percents, true],
  ['cvd_1h_usd', 'CVD 1 h', 'USD', deltas, true],
  ['cvd_24h_usd', 'CVD 24 h', 'USD', deltas, true],
  ['volume_24h_usd', 'Volume 24 h', 'USD', format.compact, false],
  ['long_liquidated_24h_usd', 'Longs liq. 24 h', 'USD', format.compact, false],
  ['short_liquidated_24h_usd', 'Shorts liq. 24 h', 'USD', format.compact, false],
  ['liquidated_1h_usd', 'Liq. 1 h', 'USD', format.compact, false],
  ['liquidated_24h_usd', 'Liq. 24 h', 'USD', format.compact, false],
] as const satisfies readonly (readonly [string, string, string, Text, boolean])[]
const panel = byId('screen')
drawHead()
const sorting = new Sorting(panel, () => void read())
const rows = new Rows(panel.querySelector('tbody') ?? panel, makeRow)
const watchedOnly = new WatchedOnly(draw)
let conditions = conditionsOf(new URLSearchParams(location.search).get('where'))
let last: ScreenerAnswer | undefined

/** As `figure>number` and `figure<number`, of figures that there are. */
function conditionsOf(text: string | null): readonly string[] {
  const names = new Set<string>(columns.map(([name]) => name))
  const all = text?.split(',') ?? []
  return all
    .filter((one) => /^\w+[<>]-?\d{1,15}(?:\.\d{1,12})?$/.test(one) && names.has(one.split(/[<>]/)[0] ?? ''))
    .slice(0, CONDITIONS_MAX)
}

function drawHead(): void {
  const head = (name: string, label: string, unit: string, isText = false): HTMLElement => {
    const attributes = { type: 'button', 'data-sort': name, ...(isText && { 'data-text': '' }) }
    const words = unit === '' ? [label] : [`${label} `, el('span', { class: 'unit' }, unit)]
    return el('th', { scope: 'col', class: isText ? '' : 'num' }, el('button', attributes, ...words))
  }
  const heads = columns.map(([name, label, unit]) => head(name, label, unit))
  panel.querySelector('thead tr')?.replaceChildren(head('symbol', 'Symbol', '', true), ...heads)
  byId('figure').replaceChildren(
    ...columns.map(([name, label, unit]) => el('option', { value: name }, unit === '' ? label : `${label}, ${unit}`)),
  )
}

function makeRow(symbol: string): HTMLElement {
  const link = el('a', { href: `/symbol/${encodeURIComponent(symbol)}` }, symbol)
  const cells = columns.map(([name]) => el('td', { class: 'num', 'data-cell': name }, format.DASH))
  return el('tr', { 'data-symbol': symbol }, el('th', { scope: 'row' }, starOf(symbol, draw), link), ...cells)
}

function draw(): void {
  if (last === undefined) return
  const seen = watchedOnly.of(last.symbols)
  rows.arrange(seen.map(({ symbol }) => symbol))
  for (const one of seen) drawSymbol(one)
  say(byId('matching'), countWords(last, seen.length))
  setState(panel, seen.length === 0 ? 'empty' : 'ready', 'No symbol meets this.')
}

function countWords({ known, matching }: ScreenerAnswer, shown: number): string {
  const all = `${format.count(known)} symbols are listed`
  const met = conditions.length === 0 ? all : `${all}, ${format.count(matching)} of them meet the conditions`
  return shown === matching ? `${met}.` : `${met}; ${format.count(shown)} are shown.`
}

function drawSymbol(one: ScreenerAnswer['symbols'][number]): void {
  const row = rows.row(one.symbol)
  for (const [name, , , text, coloured] of columns) {
    const figure = text(one[name])
    say(cell(row, name), figure, coloured ? `num ${format.sideOf(figure)}` : 'num')
  }
  cell(row, 'funding_rate_pct')?.setAttribute('title', one.funding_exchange ?? '')
}

async function read(): Promise<void> {
  const { order } = sorting
  const asked = new URLSearchParams({
    limit: String(ROWS_MAX),
    ...(order !== undefined && { sort: order.by, order: order.isFalling ? 'desc' : 'asc' }),
    ...(conditions.length > 0 && { where: conditions.join(',') }),
  })
  const answer = await ask<ScreenerAnswer>(`/api/screener?${asked}`)
  if (answer.is === 'failed') {
    if (last === undefined) setState(panel, 'error', `The symbols cannot be read: ${answer.message} Trying again.`)
    else failed(panel, answer.message)
    return
  }
  last = answer.body
  draw()
  answered(panel, Date.parse(answer.body.as_of), { isStale: answer.body.stale })
}

function drawConditions(): void {
  byId('conditions').replaceChildren(
    ...conditions.map((one) => {
      const [name = '', bound = ''] = one.split(/[<>]/)
      const label = columns.find(([known]) => known === name)?.[1] ?? name
      const words = `${label} ${one.includes('>') ? 'above' : 'below'} ${bound}`
      const leave = (): void => setConditions(conditions.filter((other) => other !== one))
      const remove = el('button', { type: 'button', 'aria-label': `Remove: ${words}`, click: leave }, '×')
      return el('li', { class: 'badge' }, `${words} `, remove)
    }),
  )
}

function setConditions(wanted: readonly string[]): void {
  conditions = wanted.slice(0, CONDITIONS_MAX)
  keepInAddress({ where: conditions.join(',') })
  drawConditions()
  void read()
}

/** What a field of the form says. */
function valueOf(id: string): string {
  const field = byId(id)
  return field instanceof HTMLInputElement || field instanceof HTMLSelectElement ? field.value.trim() : ''
}

byId('screen-filter').addEventListener('submit', (event) => {
  event.preventDefault()
  const bound = digitsOf(valueOf('bound') || '0')
  const [added] = bound === undefined ? [] : conditionsOf(`${valueOf('figure')}${valueOf('side')}${bound}`)
  const field = byId('bound') as HTMLInputElement
  field.setCustomValidity(added === undefined ? 'Write a number such as 0.01 or -1000000.' : '')
  field.reportValidity()
  if (added !== undefined) setConditions([...new Set([...conditions, added])])
})
byId('bound').addEventListener('input', () => (byId('bound') as HTMLInputElement).setCustomValidity(''))
drawConditions()
again(read, REFRESH_MS)
