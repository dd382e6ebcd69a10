import type { CvdAnswer, HealthzAnswer, SymbolsAnswer } from './answers.ts'
import { again, ask, inTurns } from './ask.ts'
import { now, setClock } from './clock.ts'
import { beforePaint, byId, el, say, setState } from './dom.ts'
import * as format from './format.ts'
import { answered, failed, forgotten } from './old-figures.ts'
import { follow, type Change } from './stream.ts'
import { inOrder, stateOf, type Gap, type StreamState } from './stream-states.ts'
import { drawHealth, drawView, type ViewAnswer } from './system-panels.ts'

/** Those whose trades count, as answers name them; the usual ones before the first. */
let venues: readonly string[] = ['binance', 'bybit', 'okx', 'coinbase']
const REFRESH_MS = 10_000
const HOUR_MS = 3_600_000
const AT_ONCE = 2
const GAPS_SHOWN = 50

/** Panels that an answer fills. */
const ofHealth = ['topics', 'audit'] as const
const ofView = ['promises', 'lag', 'hops', 'letters', 'payments', 'customers'] as const

const gaps = new Map<string, Gap>()
/** By symbol, what the API says of each venue, or why it says nothing. */
const statuses = new Map<string, Readonly<Record<string, { readonly status: string }>> | 'WARMING UP' | 'NOT READ'>()
/** In the order of the market page. */
let symbols: readonly string[] = []
const matrix = byId('matrix')
/** Whether the stream has told which gaps there are. */
let areGapsKnown = false

async function readHealth(): Promise<void> {
  const answer = await ask<HealthzAnswer>('/api/healthz')
  if (answer.is === 'ok') {
    drawHealth(answer.body)
    for (const id of ofHealth) answered(byId(id), Date.parse(answer.body.timestamp))
  } else {
    const why = answer.status === 503 ? 'ClickHouse cannot be read, so no view can answer.' : answer.message
    setState(byId('health'), 'error', `The system cannot say how it is: ${why} Trying again.`)
    for (const id of ofHealth) failed(byId(id), why)
  }
}

async function readView(): Promise<void> {
  const answer = await ask<ViewAnswer>('/view/system')
  if (answer.is === 'failed') {
    for (const id of ofView)
      if (['ready', 'empty'].includes(byId(id).dataset['state'] ?? '')) failed(byId(id), answer.message)
      else setState(byId(id), 'error', answer.message)
    return
  }
  for (const id of ofView) answered(byId(id), now())
  drawView(answer.body)
}

async function readStates(): Promise<void> {
  const answer = await ask<SymbolsAnswer>('/view/symbols')
  if (answer.is === 'failed') {
    if (statuses.size === 0) setState(matrix, 'error', `The symbols cannot be read: ${answer.message}`)
    for (const symbol of statuses.keys()) failed(matrix, answer.message, symbol)
    return
  }
  setClock(answer.body.now)
  symbols = answer.body.symbols.map(({ symbol }) => symbol)
  for (const symbol of statuses.keys()) if (!symbols.includes(symbol)) leave(symbol)
  const jobs = symbols.map((symbol) => async () => {
    const cvd = await ask<CvdAnswer>(`/api/cvd/${encodeURIComponent(symbol)}?period=1h`, { onlyLooks: true })
    if (cvd.is === 'ok') {
      statuses.set(symbol, cvd.body.exchanges)
      venues = Object.keys(cvd.body.exchanges)
      answered(matrix, Date.parse(cvd.body.timestamp), { part: symbol })
    } else {
      if (typeof statuses.get(symbol) !== 'object') statuses.set(symbol, cvd.status === 202 ? 'WARMING UP' : 'NOT READ')
      failed(matrix, cvd.message, symbol)
    }
    draw()
  })
  await inTurns(jobs, AT_ONCE)
}

/** It is streamed no longer. */
function leave(symbol: string): void {
  statuses.delete(symbol)
  forgotten(matrix, symbol)
}

const draw = beforePaint(() => {
  drawMatrix()
  drawGaps()
})

const badges: Readonly<Record<StreamState, string>> = {
  LIVE: 'good',
  BACKFILLED: 'odd',
  GAP: 'bad',
  STALE: 'bad',
  UNAVAILABLE: 'bad',
  UNLISTED: '',
  'WARMING UP': 'odd',
  'NOT READ': 'odd',
}

function drawHead(): void {
  byId('matrix-head').replaceChildren(
    el('th', { scope: 'col' }, 'Symbol'),
    ...venues.map((venue) => el('th', { scope: 'col' }, venue)),
  )
}

function drawMatrix(): void {
  drawHead()
  const since = now() - HOUR_MS
  const rows = symbols.flatMap((symbol) => {
    const exchanges = statuses.get(symbol)
    if (exchanges === undefined) return []
    const cells = venues.map((venue) => {
      const state =
        typeof exchanges === 'string'
          ? exchanges
          : stateOf(exchanges[venue]?.status ?? 'unlisted', [...gaps.values()], { symbol, venue, since })
      return el('td', { 'data-venue': venue }, el('span', { class: `badge ${badges[state]}` }, state))
    })
    return [el('tr', { 'data-symbol': symbol }, el('th', { scope: 'row' }, symbol), ...cells)]
  })
  if (rows.length === 0) return
  matrix.querySelector('tbody')?.replaceChildren(...rows)
  setState(matrix, 'ready')
}

function drawGaps(): void {
  const panel = byId('gaps')
  if (!areGapsKnown) return
  const all = inOrder(gaps.values(), now())
  const open = all.filter(({ state }) => state === 'opened').length
  const lost = all.filter(({ state }) => state === 'unfillable').length
  say(byId('gap-stats'), `${open} open, ${lost} unfillable, ${all.length - open - lost} filled.`)
  panel.querySelector('tbody')?.replaceChildren(...all.slice(0, GAPS_SHOWN).map(gapRow))
  setState(panel, all.length === 0 ? 'empty' : 'ready', 'No gap in the last 24 h: every trade came by the stream.')
}

const gapBadges: Readonly<Record<string, string>> = { filled: 'good', opened: 'odd', unfillable: 'bad' }

function gapRow({ key, from, to, instrument, state, missing, reason }: Gap): HTMLElement {
  const td = (text: string, className = ''): HTMLElement => el('td', { class: className }, text)
  return el(
    'tr',
    { 'data-gap': key },
    td(format.moment(from)),
    td(instrument),
    el('td', {}, el('span', { class: `badge ${gapBadges[state] ?? ''}` }, state)),
    td(format.duration(to - from), 'num'),
    td(format.count(missing), 'num'),
    td(reason),
  )
}

/** The stream's words are as `digest.ts` on the server writes them. */
function heard(changes: readonly Change[]): void {
  for (const [, key, value] of changes) {
    const gap = value as Omit<Gap, 'key'>
    // The later word on a gap stands.
    if (gap.time >= (gaps.get(key)?.time ?? 0)) gaps.set(key, { ...gap, key })
  }
  draw()
}

/** All that is known: what was here before may have been of another log. */
function heardAnew(changes: readonly Change[]): void {
  areGapsKnown = true
  gaps.clear()
  heard(changes)
}

drawHead()
again(readHealth, REFRESH_MS)
again(readView, REFRESH_MS)
again(readStates, REFRESH_MS)
follow({ kinds: ['gap'], changed: heard, known: heardAnew })
