import { drawAlertRow, isOver, makeAlertRow, stateOf, type Alert, type Attempt, type Action } from './alert-rows.ts'
import { now } from './clock.ts'
import { offer, type Choice } from './controls.ts'
import { byId, Rows, say } from './dom.ts'
import { count } from './format.ts'

/** Alerts of a page of the list, and those that have ended which are shown. */
const PAGE = 25
const ENDED = 50
/** As many as the stream tells of, at most. */
const TOLD = 1_000

/** What of the list is open in place: deliveries, or the form that changes it. */
export interface Opened {
  readonly id: string
  readonly action: Action
  readonly element: HTMLElement
  /** Ends what it does. */
  readonly close?: () => void
}

/** The alerts that the filter lets through, by pages; ended ones folded away; one of them open in place. */
export class AlertList {
  readonly #living: Rows
  readonly #ended: Rows
  readonly #filter = byId('filter')
  readonly #changed: () => void
  #page = 0
  #opened: Opened | undefined

  constructor(act: (action: Action, id: string) => void, changed: () => void) {
    const make = (id: string): HTMLElement => makeAlertRow(id, act)
    this.#living = new Rows(byId('living'), make)
    this.#ended = new Rows(byId('ended').querySelector('ol') ?? byId('ended'), make)
    this.#changed = changed
    this.#filter.addEventListener('submit', (event) => event.preventDefault())
    this.#filter.addEventListener('input', () => this.#turn(-this.#page))
    byId('newer').addEventListener('click', () => this.#turn(-1))
    byId('older').addEventListener('click', () => this.#turn(1))
  }

  get opened(): Opened | undefined {
    return this.#opened
  }

  /** Shows something in the place of an alert, and nothing else any more. */
  open(opened: Opened | undefined): void {
    this.#opened?.element.remove()
    this.#opened?.close?.()
    this.#opened = opened
    this.#changed()
  }

  draw(alerts: ReadonlyMap<string, Alert>, attempts: ReadonlyMap<string, Attempt>): void {
    const all = [...alerts.values()].toSorted((a, b) => b.order - a.order)
    this.#offer(all)
    const found = all.filter(this.#passes())
    const living = found.filter((alert) => !isOver(alert))
    const ended = found.filter(isOver)
    this.#page = Math.max(0, Math.min(this.#page, Math.ceil(living.length / PAGE) - 1))
    const from = this.#page * PAGE
    const shown = living.slice(from, from + PAGE)
    this.#arrange(this.#living, shown, attempts)
    this.#arrange(this.#ended, ended.slice(0, ENDED), attempts)
    this.#count(living.length, all.length)
    this.#fold(ended.length)
  }

  #arrange(rows: Rows, alerts: readonly Alert[], attempts: ReadonlyMap<string, Attempt>): void {
    rows.arrange(alerts.map(({ alert_id: id }) => id))
    for (const alert of alerts) {
      const { alert_id: id } = alert
      const row = rows.row(id)
      const opened = this.#opened?.id === id ? this.#opened : undefined
      drawAlertRow(row, alert, { attempt: attempts.get(id), now: now(), open: opened?.action })
      const container = row.querySelector<HTMLElement>('.opened')
      if (container === null) continue
      container.hidden = opened === undefined
      if (opened !== undefined && opened.element.parentElement !== container) container.append(opened.element)
    }
  }

  #passes(): (alert: Alert) => boolean {
    const { state, symbol, group, tag } = this.#said
    return (alert) =>
      (state === '' || stateOf(alert) === state) &&
      (symbol === '' || alert.symbol === symbol.trim().toUpperCase()) &&
      (group === '' || alert.group === group) &&
      (tag === '' || alert.tags.includes(tag))
  }

  get #said(): Readonly<Record<'state' | 'symbol' | 'group' | 'tag', string>> {
    const valueOf = (name: string): string => this.#control(name)?.value ?? ''
    return { state: valueOf('state'), symbol: valueOf('symbol'), group: valueOf('group'), tag: valueOf('tag') }
  }

  #control(name: string): HTMLSelectElement | null {
    return this.#filter.querySelector(`[name="${name}"]`)
  }

  /** The states, groups and tags that there are. */
  #offer(all: readonly Alert[]): void {
    const states = [...new Set(all.map(stateOf))].toSorted()
    const groups = [...new Set(all.flatMap(({ group }) => group ?? []))].toSorted()
    const tags = [...new Set(all.flatMap((alert) => alert.tags))].toSorted()
    const choices = (none: string, values: readonly string[]): readonly Choice[] => [
      ['', none],
      ...values.map((value): Choice => [value, value]),
    ]
    for (const [name, offered] of [
      ['state', choices('any', states)],
      ['group', choices('any', groups)],
      ['tag', choices('any', tags)],
    ] as const) {
      const select = this.#control(name)
      const known = [...(select?.options ?? [])].map(({ value }) => value)
      if (select !== null && known.join() !== offered.map(([value]) => value).join()) offer(select, offered)
    }
  }

  #turn(by: number): void {
    this.#page += by
    this.#changed()
  }

  #count(living: number, told: number): void {
    const from = this.#page * PAGE
    const to = Math.min(from + PAGE, living)
    const more = told < TOLD ? '' : `; older than the newest ${count(TOLD)}: by the API`
    say(byId('shown'), living === 0 ? '' : `${count(from + 1)} to ${count(to)} of ${count(living)}${more}`)
    byId('newer').toggleAttribute('disabled', this.#page === 0)
    byId('older').toggleAttribute('disabled', to >= living)
    for (const id of ['newer', 'older']) byId(id).hidden = living <= PAGE
  }

  /** Whoever asks for ended ones wants to see them. */
  #fold(ended: number): void {
    const fold = byId('ended')
    fold.hidden = ended === 0
    const most = ended > ENDED ? `, the newest ${ENDED} of them here` : ''
    say(fold.querySelector('summary'), `Ended in the last 7 days: ${count(ended)}${most}`)
    const { state } = this.#said
    if (state === 'expired' || state === 'cancelled') fold.setAttribute('open', '')
  }
}
