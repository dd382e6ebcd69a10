import { Deliveries } from './alert-deliveries.ts'
import { AlertForm, type Shown, type Tables } from './alert-form.ts'
import { AlertList } from './alert-list.ts'
import { Preview, type Tried } from './alert-preview.ts'
import { termsOf, type Alert, type Attempt, type Action } from './alert-rows.ts'
import type { RuleAlertCreateAnswer, SymbolsAnswer } from './answers.ts'
import { ask, type Asked } from './ask.ts'
import { setClock } from './clock.ts'
import { beforePaint, byId, el, say, setState } from './dom.ts'
import * as format from './format.ts'
import { follow, type Change } from './stream.ts'

const alerts = new Map<string, Alert>()
/** The newest attempt of each alert. */
const attempts = new Map<string, Attempt>()
const prices = new Map<string, number>()
const panel = byId('alerts')
const deliveries = new Deliveries()

/** What the API's tables say; undefined: they could not be read. */
let tables: Tables | undefined
let form: AlertForm | undefined
/** An alert whose deliveries are to be opened. */
let awaited = ''
/** Whether the stream has told which alerts there are. */
let isKnown = false

const draw = beforePaint(() => {
  drawPrice()
  if (!isKnown) return
  list.draw(alerts, attempts)
  setState(panel, alerts.size === 0 ? 'empty' : 'ready', 'There are no alerts yet: make the first one above.')
  deliveries.draw()
})
const list = new AlertList((action, id) => void act(action, id), draw)

function drawPrice(): void {
  const price = form === undefined ? undefined : prices.get(form.symbol)
  form?.tellNow(price === undefined ? '' : `now at ${format.price(price)} USD`)
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
  void showAwaited()
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

function pathOf(id: string, path = alerts.get(id)?.path ?? ''): string {
  return `/api${path}/${encodeURIComponent(id)}`
}

async function act(action: Action, id: string): Promise<void> {
  const alert = alerts.get(id)
  if (alert === undefined) return
  const { opened } = list
  if (opened?.id === id && opened.action === action) return list.open(undefined)
  if (action === 'deliveries') await show(alert)
  if (action === 'edit') await edit(alert)
  if (action === 'pause') await rest(alert)
  if (action === 'test') await test(alert)
  if (action === 'cancel') await cancel(alert)
}

async function show(alert: Alert): Promise<void> {
  list.open({ id: alert.alert_id, action: 'deliveries', element: deliveries.element })
  await deliveries.show(alert, pathOf(alert.alert_id, alert.path))
}

async function test(alert: Pick<Alert, 'alert_id' | 'path'>): Promise<void> {
  const { alert_id: id, path } = alert
  const answer = await ask<{ trigger_id: string }>(`${pathOf(id, path)}/test`, { method: 'POST' })
  tell(answer, ({ trigger_id }) => `A test event is on its way: ${trigger_id}.`)
  if (answer.is === 'failed') return
  awaited = id
  await showAwaited()
}

/** Opens the deliveries of what was tested, as soon as the stream has told of it. */
async function showAwaited(): Promise<void> {
  const alert = alerts.get(awaited)
  if (alert === undefined) return
  awaited = ''
  await show(alert)
}

/** Lets it rest until it is resumed, or resumes it. */
async function rest({ alert_id: id, paused }: Alert): Promise<void> {
  const answer = await ask<Shown>(`${pathOf(id)}/${paused ? 'resume' : 'pause'}`, { method: 'POST' })
  tell(answer, () => (paused ? 'The alert waits again, anew.' : 'The alert rests until it is resumed.'))
}

async function cancel(alert: Alert): Promise<void> {
  const dialog = byId('ask-cancel')
  if (!(dialog instanceof HTMLDialogElement)) return
  say(byId('ask-cancel-terms'), termsOf(alert))
  dialog.returnValue = ''
  dialog.showModal()
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }))
  if (dialog.returnValue !== 'cancel') return
  const answer = await ask<{ message: string }>(pathOf(alert.alert_id), { method: 'DELETE' })
  tell(answer, ({ message }) => message)
}

function tell<Body>(answer: Asked<Body>, done: (body: Body) => string): void {
  const message = byId('said')
  message.dataset['kind'] = answer.is === 'ok' ? 'good' : 'bad'
  say(message, answer.is === 'ok' ? done(answer.body) : answer.message)
}

/** What a form says that can be tried out; undefined: it is not whole. */
function triedOf(made: AlertForm): Tried {
  if (!made.isWhole) return undefined
  const { symbols } = made
  return { body: { ...made.terms, symbol: made.symbol }, ...(symbols !== undefined && { symbols }) }
}

async function edit(alert: Alert): Promise<void> {
  const { alert_id: id, kind } = alert
  const answer = await ask<Shown>(pathOf(id))
  if (answer.is === 'failed' || tables === undefined) return tell(answer, () => 'The form cannot be made.')
  const keep = el('button', { type: 'button', class: 'quiet', click: () => void act('edit', id) }, 'Leave it')
  const save = el('button', { type: 'submit' }, 'Save')
  const tried = new Preview(tables.metrics, () => triedOf(made))
  const panel = { alert: { kind, shown: answer.body }, beside: tried.element, changed: () => tried.changed() }
  const made = new AlertForm({ tables, symbolsId: 'symbols', ...panel }, [save, keep])
  made.element.addEventListener('submit', (event) => {
    event.preventDefault()
    void change(id, made)
  })
  list.open({ id, action: 'edit', element: made.element, close: () => tried.close() })
  requestAnimationFrame(() => made.element.querySelector('select')?.focus())
}

async function change(id: string, made: AlertForm): Promise<void> {
  made.isBusy = true
  made.read()
  const answer = await ask<Shown>(pathOf(id), { method: 'PATCH', body: made.changes })
  made.isBusy = false
  made.tell(answer, () => 'Changed.')
  if (answer.is === 'failed') return
  list.open(undefined)
  tell(answer, () => 'The alert is changed: it waits anew.')
}

/** What was sent last and may have been done or not: sent again, it must not make a second alert. */
let sent = { text: '', key: '' }

async function create(made: AlertForm, isTested: boolean): Promise<void> {
  const { path, body } = made.read()
  const text = JSON.stringify([path, body])
  if (sent.text !== text) sent = { text, key: crypto.randomUUID() }
  made.isBusy = true
  const answer = await ask<RuleAlertCreateAnswer>(`/api${path}`, { method: 'POST', body, key: sent.key })
  made.isBusy = false
  made.tell(answer, ({ message }) => message)
  byId('secrets').hidden = answer.is !== 'ok'
  const isUnknown = answer.is === 'failed' && (answer.status === 0 || answer.status >= 500)
  if (!isUnknown) sent = { text: '', key: '' }
  if (answer.is === 'failed') return
  const { alert_id, webhook_secret, manage_token } = answer.body
  say(byId('webhook-secret'), webhook_secret)
  say(byId('manage-token'), manage_token)
  if (isTested) await test({ alert_id, path })
}

function openForm(known: Tables): void {
  const submit = (text: string, name: string): HTMLElement =>
    el('button', { type: 'submit', name, class: name === 'test' ? 'second' : '' }, text)
  const tried = new Preview(known.metrics, () => triedOf(made))
  const changed = (): void => {
    tried.changed()
    drawPrice()
  }
  const made = new AlertForm({ tables: known, symbolsId: 'symbols', beside: tried.element, changed }, [
    submit('Create alert', 'create'),
    submit('Create and send me a test', 'test'),
  ])
  made.element.addEventListener('submit', (event) => {
    event.preventDefault()
    const { submitter } = event
    void create(made, submitter instanceof HTMLButtonElement && submitter.name === 'test')
  })
  byId('create').replaceWith(made.element)
  form = made
  setState(byId('new'), 'ready')
}

async function start(): Promise<void> {
  const [symbols, rules] = await Promise.all([ask<SymbolsAnswer>('/view/symbols'), ask<Tables>('/view/rules')])
  if (symbols.is === 'ok') {
    setClock(symbols.body.now)
    byId('symbols').replaceChildren(...symbols.body.symbols.map(({ symbol }) => el('option', { value: symbol })))
  } else tell(symbols, () => '')
  if (rules.is === 'ok') {
    tables = rules.body
    openForm(rules.body)
  } else setState(byId('new'), 'error', `What alerts can watch cannot be read: ${rules.message} Load the page again.`)
  follow({ kinds: ['alert', 'attempt', 'price'], changed: heard, known: heardAnew })
  setInterval(draw, 1_000)
}

void start()
