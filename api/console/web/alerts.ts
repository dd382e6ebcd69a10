import { drawAlertRow, makeAlertRow, type Alert, type Attempt } from './alert-rows.ts'
import { wireForm } from './alert-form.ts'
import { Deliveries } from './alert-deliveries.ts'
import { ask } from './ask.ts'
import { now, setClock } from './clock.ts'
import { beforePaint, byId, Rows, say, setState } from './dom.ts'
import * as format from './format.ts'
import { follow, type Change } from './stream.ts'

/** Most rows; older alerts are found by their id over the API. */
const SHOWN = 200

interface SymbolsAnswer {
  readonly now: number
  readonly symbols: readonly { readonly symbol: string }[]
}

const alerts = new Map<string, Alert>()
/** The newest attempt of each alert. */
const attempts = new Map<string, Attempt>()
const prices = new Map<string, number>()
const panel = byId('alerts')
const rows = new Rows(panel.querySelector('tbody') ?? panel, (id) => makeAlertRow(id, actions))
const deliveries = new Deliveries(byId('deliveries'))

const actions = {
  deliveries: (id: string) => void show(id, true),
  test: (id: string) => void test(id),
  cancel: (id: string) => void cancel(id),
}

/** Whether the stream has told which alerts there are. */
let isKnown = false

const draw = beforePaint(() => {
  drawPrice()
  if (!isKnown) return
  const newest = [...alerts.values()].toSorted((a, b) => b.order - a.order).slice(0, SHOWN)
  rows.arrange(newest.map(({ alert_id: id }) => id))
  for (const alert of newest) drawAlertRow(rows.row(alert.alert_id), alert, attempts.get(alert.alert_id), now())
  setState(panel, newest.length === 0 ? 'empty' : 'ready', 'There are no alerts yet: make the first one above.')
  deliveries.draw()
})

function drawPrice(): void {
  const chosen = byId('symbol')
  const price = chosen instanceof HTMLSelectElement ? prices.get(chosen.value) : undefined
  say(byId('now'), price === undefined ? '' : `(now ${format.price(price)})`)
}

/** The stream's words are as `digest.ts` on the server writes them. */
function heard(changes: readonly Change[]): void {
  for (const [kind, key, value] of changes) {
    if (kind === 'alert' && value === null) alerts.delete(key)
    else if (kind === 'alert') alerts.set(key, value as Alert)
    else if (kind === 'attempt') heardAttempt(value as Attempt)
    else if (kind === 'price') {
      const { symbol, price } = value as { symbol: string; price: number }
      prices.set(symbol, price)
    }
  }
  draw()
}

function heardAttempt(attempt: Attempt): void {
  const before = attempts.get(attempt.alert_id)
  if (before === undefined || before.started <= attempt.started) attempts.set(attempt.alert_id, attempt)
  deliveries.heard(attempt)
}

/** All that is known: what was here before may be gone. */
function heardAnew(changes: readonly Change[]): void {
  isKnown = true
  alerts.clear()
  heard(changes)
}

function pathOf(id: string): string {
  return `/api${alerts.get(id)?.path ?? ''}/${encodeURIComponent(id)}`
}

async function show(id: string, isAsked: boolean): Promise<void> {
  const alert = alerts.get(id)
  if (alert !== undefined) await deliveries.show(alert, pathOf(id), isAsked)
}

async function test(id: string): Promise<void> {
  const answer = await ask<{ trigger_id: string }>(`${pathOf(id)}/test`, { method: 'POST' })
  tell(answer.is === 'ok' ? `A test event is on its way: ${answer.body.trigger_id}.` : answer.message, answer.is)
  if (answer.is === 'ok') await show(id, false)
}

async function cancel(id: string): Promise<void> {
  const answer = await ask<{ message: string }>(pathOf(id), { method: 'DELETE' })
  tell(answer.is === 'ok' ? answer.body.message : answer.message, answer.is)
}

function tell(words: string, is: 'ok' | 'failed'): void {
  const said = byId('said')
  said.dataset['kind'] = is === 'ok' ? 'good' : 'bad'
  say(said, words)
}

async function start(): Promise<void> {
  const answer = await ask<SymbolsAnswer>('/view/symbols')
  if (answer.is === 'ok') setClock(answer.body.now)
  else tell(`The symbols cannot be read: ${answer.message}`, 'failed')
  wireForm(answer.is === 'ok' ? answer.body.symbols.map(({ symbol }) => symbol) : [], tell)
  byId('symbol').addEventListener('change', drawPrice)
  follow({ kinds: ['alert', 'attempt', 'price'], changed: heard, known: heardAnew })
  setInterval(draw, 1_000)
}

void start()
