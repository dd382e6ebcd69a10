import { badge, cell, el, say, td } from './dom.ts'
import * as format from './format.ts'

/** An alert as the stream tells of it. */
export interface Alert {
  readonly alert_id: string
  /** Of its kind's routes. */
  readonly path: string
  readonly kind: string
  /** Its terms can be changed. */
  readonly editable: boolean
  /** Of alerts that belong together. */
  readonly group: string | null
  /** What it is found by. */
  readonly tags: readonly string[]
  readonly symbol: string
  /** What it waits for, in words. */
  readonly terms: string
  /** Where it tells, without secrets; null: a signed webhook. */
  readonly channel: string | null
  readonly status: 'active' | 'triggered' | 'expired' | 'cancelled'
  /** It rests; until when, null: until it is resumed. */
  readonly paused: boolean
  readonly paused_until: number | null
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
  paused: 'odd',
  delivered: 'good',
  retry: 'odd',
  exhausted: 'bad',
}

/** What it waits for, in words, and where it tells that where it is no webhook. */
export function termsOf({ symbol, terms, channel }: Alert): string {
  const symbols = symbol === 'all' ? 'All symbols:' : symbol.replaceAll(',', ', ')
  return `${symbols} ${terms}${channel === null ? '' : ` (${channel})`}`
}

/** The group and the tags that it is found by. */
function labelWords({ group, tags }: Alert): string {
  const words = [group === null ? [] : `group ${group}`, tags.length === 0 ? [] : `tags ${tags.join(', ')}`]
  return words.flat().join('; ')
}

/** Whether something can still come of it. */
export function isOver({ status }: Pick<Alert, 'status'>): boolean {
  return status === 'expired' || status === 'cancelled'
}

/** What one can do to an alert; `shown`: open in place. */
const actions = {
  deliveries: { text: 'Deliveries', opens: true },
  edit: { text: 'Edit', opens: true },
  pause: { text: 'Pause', opens: false },
  test: { text: 'Test', opens: false },
  cancel: { text: 'Cancel', opens: false },
} as const
export type Action = keyof typeof actions

/** How an alert is, in a word. */
export function stateOf({ status, paused }: Alert): string {
  if (isOver({ status })) return status
  return paused ? 'paused' : status
}

/** A row of the list: what it waits for, how it is, what one can do, and a place for what is opened. */
export function makeAlertRow(id: string, act: (action: Action, id: string) => void): HTMLElement {
  const buttons = Object.entries(actions).map(([action, { text, opens }]) => {
    const more = opens ? { 'aria-expanded': 'false' } : {}
    const click = (): void => act(action as Action, id)
    return el('button', { type: 'button', class: 'quiet', 'data-do': action, ...more, click }, text)
  })
  const cell = (name: string, tag = 'span'): HTMLElement => el(tag, { 'data-cell': name })
  const head = el('div', { class: 'row' }, cell('state'), cell('terms', 'h3'))
  const facts = ['count', 'rest', 'made', 'ends', 'delivery', 'group'].map((name) => cell(name))
  const details = el('p', { class: 'facts' }, ...facts)
  const doing = el('div', { class: 'row doing' }, ...buttons)
  return el('li', { 'data-alert': id }, el('div', {}, head, details), doing, el('div', { class: 'opened', hidden: '' }))
}

/** `now`: of the server, milliseconds; `open`: what of it is open. */
export function drawAlertRow(row: HTMLElement, alert: Alert, seen: Seen): void {
  const { trigger_count: count, last_triggered: last, created, expires, ended, alert_id } = alert
  const { attempt, now, open } = seen
  const terms = cell(row, 'terms')
  say(terms, termsOf(alert))
  terms?.setAttribute('title', alert_id)
  const state = cell(row, 'state')
  const word = stateOf(alert)
  if (state !== null && state.textContent !== word) state.replaceChildren(badge(word, badges[word]))
  const rang = count === 1 ? 'Rang once' : `Rang ${format.count(count)} times`
  say(cell(row, 'count'), last === null ? 'Has not rung' : `${rang}, last ${format.age(now - last)} ago`)
  say(cell(row, 'made'), `made ${format.age(now - created)} ago`)
  cell(row, 'made')?.setAttribute('title', `${format.moment(created)} UTC`)
  say(cell(row, 'rest'), restWords(alert, now))
  say(cell(row, 'ends'), endWords(ended, expires, now))
  say(cell(row, 'delivery'), attempt === undefined ? 'nothing sent' : deliveryText(attempt, now))
  say(cell(row, 'group'), labelWords(alert))
  for (const button of row.querySelectorAll<HTMLElement>('[data-do]')) {
    const action = button.dataset['do']
    if (button instanceof HTMLButtonElement) button.disabled = action !== 'deliveries' && isOver(alert)
    if (action === 'edit') button.hidden = !alert.editable
    if (action === 'pause') say(button, alert.paused ? 'Resume' : 'Pause')
    button.setAttribute('aria-label', `${button.textContent}: ${termsOf(alert)}`)
    if (button.hasAttribute('aria-expanded')) button.setAttribute('aria-expanded', String(open === action))
  }
}

/** What stands beside an alert: its newest attempt, the time of the server, and what of it is open. */
interface Seen {
  readonly attempt: Attempt | undefined
  readonly now: number
  readonly open: Action | undefined
}

function restWords({ paused, paused_until: until }: Alert, now: number): string {
  if (!paused) return ''
  return until === null ? 'rests until it is resumed' : `rests for ${format.duration(until - now)} more`
}

/** What never ends has an end beyond a reader's life. */
const FOREVER_MS = 100 * 366 * 86_400_000

function endWords(ended: number | null, expires: number, now: number): string {
  if (ended !== null) return `ended ${format.age(now - ended)} ago`
  return expires - now > FOREVER_MS ? 'has no end' : `ends in ${format.age(expires - now)}`
}

function deliveryText({ outcome, status, error, finished }: Attempt, now: number): string {
  const why = status === null ? (error ?? '') : `HTTP ${status}`
  return `${outcome}${why === '' ? '' : `, ${why}`}, ${format.age(now - finished)} ago`
}

/** One attempt in the list of deliveries. */
export function attemptRow(attempt: Attempt): HTMLElement {
  const { started, finished, trigger_id, number, outcome, status, error, test, triggered, due } = attempt
  return el(
    'tr',
    { 'data-attempt': `${trigger_id}/${number}` },
    td(format.clock(started)),
    el('td', {}, el('code', {}, trigger_id), test ? ' (test)' : ''),
    td(String(number), 'num'),
    el('td', {}, badge(outcome, badges[outcome]), error === null ? '' : ` ${error}`),
    td(status === null ? format.DASH : String(status), 'num'),
    td(format.latency(finished - started), 'num'),
    td(format.latency(finished - triggered), 'num'),
    td(due === null ? format.DASH : format.clock(due)),
  )
}
