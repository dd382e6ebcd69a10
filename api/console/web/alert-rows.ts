import { cell, el, say } from './dom.ts'
import * as format from './format.ts'

/** An alert as the stream tells of it. */
export interface Alert {
  readonly alert_id: string
  /** Of its kind's routes. */
  readonly path: string
  readonly symbol: string
  /** What it waits for, in words. */
  readonly terms: string
  /** Where it tells, without secrets; null: a signed webhook. */
  readonly channel: string | null
  readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
  readonly trigger_count: number
  readonly created: number
  /** Higher than that of every alert that was made before. */
  readonly order: number
  readonly expires: number
  readonly ended: number | null
  readonly last_triggered: number | null
}

/** An attempt as the stream tells of it. */
export interface Attempt {
  readonly trigger_id: string
  readonly alert_id: string
  readonly number: number
  readonly outcome: string
  readonly status: number | null
  readonly error: string | null
  readonly test: boolean
  readonly started: number
  readonly finished: number
  readonly due: number | null
  readonly triggered: number
}

const badges: Readonly<Record<string, string>> = {
  active: 'good',
  triggered: 'odd',
  delivered: 'good',
  retry: 'odd',
  exhausted: 'bad',
}

/** A word that stands for a state: its colour only helps to find it. */
function badge(word: string): HTMLElement {
  return el('span', { class: `badge ${badges[word] ?? ''}` }, word)
}

/** What it waits for, in words, and where it tells that where it is no webhook. */
export function termsOf({ symbol, terms, channel }: Alert): string {
  return `${symbol} ${terms}${channel === null ? '' : ` (${channel})`}`
}

/** Whether something can still come of it. */
function isOver({ status }: Alert): boolean {
  return status === 'expired' || status === 'cancelled'
}

export interface Actions {
  readonly deliveries: (id: string) => void
  readonly test: (id: string) => void
  readonly cancel: (id: string) => void
}

export function makeAlertRow(id: string, actions: Actions): HTMLElement {
  const button = (name: keyof Actions, text: string): HTMLElement =>
    el('button', { type: 'button', class: 'quiet', 'data-do': name, click: () => actions[name](id) }, text)
  const td = (name: string, className = ''): HTMLElement => el('td', { 'data-cell': name, class: className })
  const cells = [td('state'), td('count', 'num'), td('last'), td('made'), td('ends'), td('delivery')]
  const buttons = [button('deliveries', 'Deliveries'), button('test', 'Test'), button('cancel', 'Cancel')]
  const head = el('th', { scope: 'row', 'data-cell': 'terms' })
  return el('tr', { 'data-alert': id }, head, ...cells, el('td', {}, el('div', { class: 'row nowrap' }, ...buttons)))
}

/** `now`: of the server, milliseconds. */
export function drawAlertRow(row: HTMLElement, alert: Alert, attempt: Attempt | undefined, now: number): void {
  const { status, trigger_count, last_triggered, created, expires, ended, alert_id } = alert
  const terms = cell(row, 'terms')
  say(terms, termsOf(alert))
  terms?.setAttribute('title', alert_id)
  const state = cell(row, 'state')
  if (state !== null && state.textContent !== status) state.replaceChildren(badge(status))
  say(cell(row, 'count'), format.count(trigger_count))
  say(cell(row, 'last'), last_triggered === null ? format.DASH : `${format.age(now - last_triggered)} ago`)
  say(cell(row, 'made'), `${format.age(now - created)} ago`)
  cell(row, 'made')?.setAttribute('title', `${format.moment(created)} UTC`)
  say(cell(row, 'ends'), ended === null ? `in ${format.age(expires - now)}` : `${format.age(now - ended)} ago`)
  say(cell(row, 'delivery'), attempt === undefined ? format.DASH : deliveryText(attempt, now))
  for (const button of row.querySelectorAll('button')) {
    const name = button.dataset['do'] ?? ''
    button.disabled = name !== 'deliveries' && isOver(alert)
    button.setAttribute('aria-label', `${button.textContent}: ${termsOf(alert)}`)
  }
}

function deliveryText({ outcome, status, error, finished }: Attempt, now: number): string {
  const why = status === null ? (error ?? '') : `HTTP ${status}`
  return `${outcome}${why === '' ? '' : `, ${why}`}, ${format.age(now - finished)} ago`
}

/** One attempt in the list of deliveries. */
export function attemptRow(attempt: Attempt): HTMLElement {
  const { started, finished, trigger_id, number, outcome, status, error, test, triggered, due } = attempt
  const td = (text: string, className = ''): HTMLElement => el('td', { class: className }, text)
  return el(
    'tr',
    { 'data-attempt': `${trigger_id}/${number}` },
    td(format.clock(started)),
    el('td', {}, el('code', {}, trigger_id), test ? ' (test)' : ''),
    td(String(number), 'num'),
    el('td', {}, badge(outcome), error === null ? '' : ` ${error}`),
    td(status === null ? format.DASH : String(status), 'num'),
    td(format.latency(finished - started), 'num'),
    td(format.latency(finished - triggered), 'num'),
    td(due === null ? format.DASH : format.clock(due)),
  )
}
