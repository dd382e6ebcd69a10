import { attemptRow, type Alert, type Attempt } from './alert-rows.ts'
import type { RuleAlertDeliveriesAnswer } from './answers.ts'
import { ask } from './ask.ts'
import { el, fill, setState } from './dom.ts'

const SHOWN = 100
const columns = [
  ['Began', ''],
  ['Delivery', ''],
  ['Attempt', 'num'],
  ['Outcome', ''],
  ['HTTP', 'num'],
  ['Took', 'num'],
  ['After the trigger', 'num'],
  ['Next', ''],
] as const
/** Attempts of all alerts that are kept as heard: the API lists an attempt a moment after the stream tells of it. */
const HEARD = 1_000

/** The attempts of one alert: those that the API lists, and those that the stream has brought. */
export class Deliveries {
  readonly element: HTMLElement
  readonly #heard = new Map<string, Attempt>()
  readonly #attempts = new Map<string, Attempt>()
  #alert: Alert | undefined
  #drawn = ''

  constructor() {
    const head = ([text, className]: readonly [string, string]): HTMLElement =>
      el('th', { scope: 'col', class: className }, text)
    const caption = el(
      'caption',
      {},
      el('span', {}, 'Every attempt, newest first. A delivery keeps its id over all of them.'),
    )
    const table = el('table', {}, caption, el('thead', {}, el('tr', {}, ...columns.map(head))), el('tbody'))
    const scroll = el('div', { class: 'scroll', role: 'region', 'aria-label': 'Deliveries', tabindex: '0' }, table)
    this.element = el('div', { class: 'panel deliveries' }, el('p', { class: 'note' }), scroll)
  }

  async show(alert: Alert, path: string): Promise<void> {
    const { element } = this
    if (this.#alert?.alert_id !== alert.alert_id) {
      this.#attempts.clear()
      for (const attempt of this.#heard.values()) if (attempt.alert_id === alert.alert_id) this.#put(attempt)
      setState(element, 'loading', 'Loading deliveries…')
    }
    this.#alert = alert
    const answer = await ask<RuleAlertDeliveriesAnswer>(`${path}/deliveries?limit=${SHOWN}`)
    if (this.#alert.alert_id !== alert.alert_id) return // another was chosen meanwhile
    if (answer.is === 'failed') {
      setState(element, 'error', `The deliveries cannot be read: ${answer.message}`)
      return
    }
    for (const row of answer.body.deliveries) {
      const {
        trigger_id,
        attempt,
        outcome,
        status,
        error,
        test,
        triggered_at,
        started_at,
        finished_at,
        next_attempt_at,
      } = row
      const times = {
        triggered: Date.parse(triggered_at),
        started: Date.parse(started_at),
        finished: Date.parse(finished_at),
      }
      const due = next_attempt_at === null ? null : Date.parse(next_attempt_at)
      const { alert_id } = alert
      this.#put({ trigger_id, alert_id, number: attempt, outcome, status, error, test, ...times, due })
    }
    this.draw(true)
  }

  heard(attempt: Attempt): void {
    this.#heard.set(keyOf(attempt), attempt)
    const [oldest] = this.#heard.keys()
    if (oldest !== undefined && this.#heard.size > HEARD) this.#heard.delete(oldest)
    if (attempt.alert_id === this.#alert?.alert_id) this.#put(attempt)
  }

  #put(attempt: Attempt): void {
    this.#attempts.set(keyOf(attempt), attempt)
  }

  draw(isRead = false): void {
    if (this.#alert === undefined || (!isRead && this.element.dataset['state'] === 'loading')) return
    const newest = [...this.#attempts.values()].toSorted((a, b) => b.started - a.started).slice(0, SHOWN)
    const drawn = newest.map(({ trigger_id, number, outcome }) => `${trigger_id}/${number}/${outcome}`).join(' ')
    if (drawn !== this.#drawn || isRead) fill(this.element, newest.map(attemptRow))
    this.#drawn = drawn
    setState(this.element, newest.length === 0 ? 'empty' : 'ready', 'Nothing has been sent for this alert yet.')
  }
}

/** The same whether the API or the stream tells of it; one that is sent again by hand keeps its number. */
function keyOf({ trigger_id, number, started }: Attempt): string {
  return `${trigger_id}/${number}/${started}`
}
