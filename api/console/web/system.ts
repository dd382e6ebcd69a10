import type { HealthzAnswer, StreamsAnswer } from './answers.ts'
import { again, ask } from './ask.ts'
import { now, setClock } from './clock.ts'
import { badge, beforePaint, byId, el, fillOrSay, say, setState, td } from './dom.ts'
import * as format from './format.ts'
import { answered, failed } from './old-figures.ts'
import { follow, type Change } from './stream.ts'
import { inOrder, stateOf, type Gap, type StreamState } from './stream-states.ts'
import { drawHealth, drawView, type ViewAnswer } from './system-panels.ts'

const REFRESH_MS = 10_000
const HOUR_MS = 3_600_000
const GAPS_SHOWN = 50

/** Panels that an answer fills. */
const ofHealth = ['topics', 'audit'] as const
const ofView = ['promises', 'lag', 'hops', 'letters', 'payments', 'customers'] as const

const gaps = new Map<string, Gap>()
/** What is known of the streams; undefined: nothing has been read yet. */
let streams: StreamsAnswer | undefined
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

async function readStreams(): Promise<void> {
  const answer = await ask<StreamsAnswer>('/view/streams')
  if (answer.is === 'failed') {
    if (streams === undefined) setState(matrix, 'error', `The streams cannot be read: ${answer.message}`)
    else failed(matrix, answer.message)
    return
  }
  streams = answer.body
  setClock(streams.now)
  answered(matrix, streams.now)
  draw()
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

function drawMatrix(): void {
  if (streams === undefined) return
  const { venues } = streams
  byId('matrix-head').replaceChildren(
    el('th', { scope: 'col' }, 'Symbol'),
    ...venues.map((venue) => el('th', { scope: 'col' }, venue)),
  )
  const known = [...gaps.values()]
  const since = now() - HOUR_MS
  const rows = streams.streams.map(({ symbol, status }) => {
    const cells = venues.map((venue) => {
      const state = stateOf(status, known, { symbol, venue, since })
      return el('td', { 'data-venue': venue }, badge(state, badges[state]))
    })
    return el('tr', { 'data-symbol': symbol }, el('th', { scope: 'row' }, symbol), ...cells)
  })
  fillOrSay(matrix, rows, 'No symbol is streamed yet.')
}

function drawGaps(): void {
  if (!areGapsKnown) return
  const all = inOrder(gaps.values(), now())
  const open = all.filter(({ state }) => state === 'opened').length
  const lost = all.filter(({ state }) => state === 'unfillable').length
  say(byId('gap-stats'), `${open} open, ${lost} unfillable, ${all.length - open - lost} filled.`)
  const rows = all.slice(0, GAPS_SHOWN).map(gapRow)
  fillOrSay(byId('gaps'), rows, 'No gap in the last 24 h: every trade came by the stream.')
}

const gapBadges: Readonly<Record<string, string>> = { filled: 'good', opened: 'odd', unfillable: 'bad' }

function gapRow({ key, from, to, instrument, state, missing, reason }: Gap): HTMLElement {
  return el(
    'tr',
    { 'data-gap': key },
    td(format.moment(from)),
    td(instrument),
    el('td', {}, badge(state, gapBadges[state])),
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

again(readHealth, REFRESH_MS)
again(readView, REFRESH_MS)
again(readStreams, REFRESH_MS)
follow({ kinds: ['gap'], changed: heard, known: heardAnew })
