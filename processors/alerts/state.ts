import { symbolOf } from '../../schemas/catalogue.ts'
import type { CompositePrice, Mark, Micros } from '../../schemas/records.ts'
import { Book, type AlertBook } from './book.ts'
import { FigureBook, nowhere } from './figure-book.ts'
import type { AlertKind, Cause, Kinds, Sight, StoredAlert, Terms } from './kinds/kind.ts'
import { alertKinds } from './kinds/kinds.ts'
import { tellersOfSums } from './metrics.ts'
import { EVERYWHERE, everywhereOf, isEverywhere, isListPart, symbolPart } from './parts.ts'
import { Series, type SavedSeries } from './series.ts'
import { SharedBook } from './shared-book.ts'
import { Timers } from './timers.ts'

const MINUTE: Micros = 60_000_000
const HOUR: Micros = 60 * MINUTE
const DAY: Micros = 24 * HOUR

/** After a trigger an alert does not ring for this long. */
export const COOLDOWN: Micros = MINUTE
/** A lifetime of so many hours has no end, */
export const FOREVER_HOURS = 0
/** which is as far as times of the log go. */
export const NEVER: Micros = Number.MAX_SAFE_INTEGER - 1
/** Series of one partition; a rule that needs more is refused. */
const SERIES_MAX = 20_000
/** An ended alert is told of for this long. */
const RETENTION: Micros = 7 * DAY
/** The same creation gives the same answer for this long. */
export const IDEMPOTENT: Micros = DAY
/** A command that comes twice is known for this long. */
export const REQUEST_KNOWN: Micros = HOUR
/** A payment is known for this long: by then its authorization, valid for a day at most, has long ended. */
export const PAYMENT_KNOWN: Micros = 2 * DAY
/** Requests that are remembered; beyond, the oldest is forgotten. */
export const REQUESTS_MAX = 100_000
/** An alert may be extended to at most this far from now. */
export const AHEAD_MAX: Micros = 30 * DAY
/** Alerts of one partition, ended ones included; a creation beyond it is refused. */
export const ALERTS_MAX = 1_000_000
/** With the parts that rules for all symbols have; where there are so many, none begins for a further symbol. */
export const PARTS_MAX = 2 * ALERTS_MAX
/** In the place of an asset: all of which no risk is known. */
export const OTHERS = ''
/** Timers that no longer hold are thrown out when there are this many and they are the larger part. */
const SWEEP_MIN = 1_000

/** An alert that a payment made or prolonged. */
export interface Bought {
  readonly alert_id: string
  readonly at: Micros
}

/** Where a trigger comes from in the log. */
export interface Origin {
  /** Id of the record that caused it. */
  readonly record: string
  readonly v: number
}

/** Alerts that one record made ring, all for one cause. */
export interface RecentTriggers extends Origin {
  readonly cause: Cause
  /** Partition time. */
  readonly time: Micros
  readonly alerts: (readonly [id: string, count: number])[]
}

interface Advanced {
  readonly time: Micros
  readonly told: ReadonlyMap<string, Micros>
}

/** What the processor knows of one partition. */
export interface AlertsState {
  /** What alerts there may be. */
  readonly kinds: Kinds
  /** Partition time; 0 before the first mark. */
  time: Micros
  /** The place of the newest alert in the order of creations. */
  taken: Micros
  readonly alerts: Map<string, StoredAlert>
  /** By kind and asset. */
  readonly books: Map<string, Map<string, AlertBook>>
  /** Series that rules look at, by asset and name. */
  readonly series: Map<string, Map<string, Series>>
  seriesCount: number
  /** How many rules for all symbols look at a series, by its name: each asset of which there is a record has it. */
  readonly everywhere: Map<string, number>
  /** Symbols' parts of rules for all, by rule. */
  readonly parts: Map<string, Set<string>>
  /** By asset: what a test event shows, and what late prices are judged by. */
  readonly prices: Map<string, CompositePrice>
  /** By processor: up to when it has told what sums add up; one that has never said so is not waited for. */
  readonly told: Map<string, Micros>
  /** When time was last told to series, and by processor up to when it had told by then what sums add up. */
  advanced: Advanced
  /** By asset: up to when its risk has been told of. */
  readonly risks: Map<string, Micros>
  /** Commands that were handled, by request id, and when. */
  readonly requests: Map<string, Micros>
  /** What each payment has bought, and when. */
  readonly payments: Map<string, Bought>
  /** Alert ids by idempotency hash. */
  readonly creations: Map<string, string>
  readonly timers: Timers
  /** What rang in the last minutes, in that order. */
  readonly rung: Map<string, RecentTriggers>
  readonly changed: {
    alerts: Set<string>
    requests: Set<string>
    payments: Set<string>
    prices: Set<string>
    risks: Set<string>
    rung: Set<string>
    /** Asset and name. */
    series: Set<string>
  }
}

export function emptyState(kinds: Kinds = alertKinds): AlertsState {
  return {
    kinds,
    time: 0,
    taken: 0,
    alerts: new Map(),
    books: new Map(),
    series: new Map(),
    seriesCount: 0,
    everywhere: new Map(),
    parts: new Map(),
    prices: new Map(),
    told: new Map(),
    advanced: { time: 0, told: new Map() },
    risks: new Map([[OTHERS, 0]]),
    requests: new Map(),
    payments: new Map(),
    creations: new Map(),
    timers: new Timers(),
    rung: new Map(),
    changed: {
      alerts: new Set(),
      requests: new Set(),
      payments: new Set(),
      prices: new Set(),
      risks: new Set([OTHERS]),
      rung: new Set(),
      series: new Set(),
    },
  }
}

export function bookOf(state: AlertsState, { terms, asset: scope }: StoredAlert): AlertBook {
  const { kinds, books } = state
  const asset = isEverywhere(scope) ? EVERYWHERE : scope
  const kind = kinds.of(terms)
  const ofKind = books.get(kind.kind) ?? new Map<string, AlertBook>()
  if (ofKind.size === 0) books.set(kind.kind, ofKind)
  const book = ofKind.get(asset) ?? newBook(state, kind, asset)
  if (book.size === 0) ofKind.set(asset, book)
  return book
}

function newBook(state: AlertsState, kind: AlertKind, asset: string): AlertBook {
  const find = (id: string): StoredAlert | undefined => state.alerts.get(id)
  const { stand } = kind
  if (stand === undefined) return new Book(kind, find)
  if (asset === EVERYWHERE) return new SharedBook(find, (alert) => stand(alert, undefined, state.time))
  return new FigureBook(find, (alert) => stand(alert, sightOf(state, asset), state.time))
}

/** The figures of an asset as they are now. */
export function sightOf({ series, prices }: AlertsState, asset: string): Sight {
  return { series: series.get(asset) ?? noSeries, price: prices.get(asset) }
}

const noSeries: ReadonlyMap<string, Series> = new Map()

/** A rule looks at series while it has not ended; one that nobody looks at any more is forgotten. */
export function watch(state: AlertsState, alert: StoredAlert, change: 1 | -1): void {
  const { asset, terms, ended_at: ended } = alert
  if (ended > 0 || everywhereOf(alert.alert_id) !== undefined) return // a part looks at what its rule looks at
  for (const name of state.kinds.of(terms).series?.(terms) ?? []) {
    if (isEverywhere(asset)) {
      watchEverywhere(state, name, change)
      continue
    }
    const known = state.series.get(asset)?.get(name)
    const series = known ?? addSeries(state, asset, new Series(name, { ...fresh(state.time), maker: alert.alert_id }))
    series.watchers += change
    if (series.watchers === 0 && !state.everywhere.has(name)) removeSeries(state, asset, name)
  }
}

function watchEverywhere(state: AlertsState, name: string, change: 1 | -1): void {
  const watchers = (state.everywhere.get(name) ?? 0) + change
  if (watchers > 0) {
    state.everywhere.set(name, watchers)
    return
  }
  state.everywhere.delete(name)
  for (const [asset, ofAsset] of state.series) if (ofAsset.get(name)?.watchers === 0) removeSeries(state, asset, name)
}

/** What rules for all symbols look at of an asset that nothing was told of begins with its first record. */
export function openSeries(state: AlertsState, asset: string, { names, maker }: Opened = {}): void {
  for (const name of names ?? state.everywhere.keys()) {
    if (state.seriesCount >= SERIES_MAX || state.series.get(asset)?.has(name) === true) continue
    addSeries(state, asset, new Series(name, { ...fresh(state.time), ...(maker !== undefined && { maker }) }))
  }
}

interface Opened {
  /** Left out: all that rules for all symbols look at. */
  readonly names?: readonly string[] | undefined
  /** The rule with which they begin. */
  readonly maker?: string
}

/** The assets that anything was told of, in an order that a restart does not change. */
function toldOf({ series, prices, risks }: AlertsState): readonly string[] {
  const tellers = [...risks.keys()].filter((teller) => teller !== OTHERS)
  const told = tellers.map((teller) => teller.split('|')[0] ?? teller)
  return [...new Set([...series.keys(), ...prices.keys(), ...told])].sort()
}

/** What a rule for all symbols is for one of them, as it began. */
export function partOf(rule: StoredAlert, asset: string): StoredAlert {
  const id = symbolPart(rule.alert_id, asset)
  return { ...rule, alert_id: id, asset, symbol: symbolOf(asset), idempotency: null, stands: nowhere }
}

/** A rule for all symbols begins to wait: where it is met already, or has to see the other side and does, it has a part. */
export function begin(state: AlertsState, rule: StoredAlert): void {
  const kind = state.kinds.of(rule.terms)
  const { stand } = kind
  if (!isEverywhere(rule.asset) || stand === undefined || rule.ended_at > 0 || rule.paused_until > 0) return
  for (const asset of toldOf(state)) {
    openSeries(state, asset, { names: kind.series?.(rule.terms), maker: rule.alert_id })
    const part = partOf(rule, asset)
    if (state.alerts.has(part.alert_id) || state.alerts.size >= PARTS_MAX) continue
    const stands = stand(part, sightOf(state, asset), state.time)
    if (stands.some(({ name }) => name.endsWith('*'))) put(state, part)
  }
}

/** The symbols' parts of a rule for all. */
export function partsOf(state: AlertsState, id: string): StoredAlert[] {
  return [...(state.parts.get(id) ?? [])].sort().flatMap((part) => state.alerts.get(part) ?? [])
}

export function notePart({ parts }: AlertsState, id: string): void {
  const rule = everywhereOf(id)
  if (rule === undefined) return
  const known = parts.get(rule)
  if (known === undefined) parts.set(rule, new Set([id]))
  else known.add(id)
}

/** A series of which nothing is known yet. */
export function fresh(since: Micros): SavedSeries {
  return { since, samples: [], value: null, time: 0, venues: '', raw: null }
}

export function addSeries(state: AlertsState, asset: string, series: Series): Series {
  const ofAsset = state.series.get(asset) ?? new Map<string, Series>()
  state.series.set(asset, ofAsset.set(series.name, series))
  state.seriesCount += 1
  state.changed.series.add(`${asset}|${series.name}`)
  return series
}

function removeSeries(state: AlertsState, asset: string, name: string): void {
  state.series.get(asset)?.delete(name)
  if (state.series.get(asset)?.size === 0) state.series.delete(asset)
  state.seriesCount -= 1
  state.changed.series.add(`${asset}|${name}`)
}

export function hasTooManySeries(state: AlertsState, asset: string, terms: Terms): boolean {
  const names = state.kinds.of(terms).series?.(terms) ?? []
  const more = isEverywhere(asset)
    ? names.filter((name) => !state.everywhere.has(name)).length * Math.max(1, toldOf(state).length)
    : names.filter((name) => state.series.get(asset)?.has(name) !== true).length
  return more > 0 && state.seriesCount + more > SERIES_MAX
}

export function cooldownOf({ kinds }: AlertsState, { terms }: Pick<StoredAlert, 'terms'>): Micros {
  return kinds.of(terms).cooldown?.(terms) ?? COOLDOWN
}

export function noteRisk({ risks, changed }: AlertsState, asset: string, time: Micros): void {
  risks.set(asset, time)
  changed.risks.add(asset)
}

/** A mark of who tells what sums add up says up to when all of it has been told. */
export function noteTold({ told }: AlertsState, { writer, time }: Mark): void {
  if (tellersOfSums.has(writer)) told.set(writer, Math.max(time, told.get(writer) ?? 0))
}

/** Puts an alert's new state in the place of the old, with all that follows from it: its wait and its timers. */
export function put(state: AlertsState, alert: StoredAlert): void {
  const before = state.alerts.get(alert.alert_id)
  state.alerts.set(alert.alert_id, alert)
  state.taken = Math.max(state.taken, alert.taken)
  state.changed.alerts.add(alert.alert_id)
  if (before === undefined) notePart(state, alert.alert_id)
  watch(state, alert, 1)
  if (before !== undefined) watch(state, before, -1)
  bookOf(state, alert).move(before, alert)
  for (const [what, key] of timersOf(state, alert)) {
    if (before !== undefined && hasTimer(state, before, what, key)) continue
    state.timers.set(what, key, alert.alert_id)
  }
  for (const what of ['expires', 'resumed'] as const)
    if (state.timers.size(what) > SWEEP_MIN + 2 * state.alerts.size) sweep(state, what)
}

/** An extension leaves the timer of the earlier end behind, another pause that of the earlier one. */
function sweep(state: AlertsState, what: 'expires' | 'resumed'): void {
  state.timers.sweep(what, (id, key) => {
    const alert = state.alerts.get(id)
    return alert !== undefined && hasTimer(state, alert, what, key)
  })
}

/** Something that time alone does to an alert. */
export type AlertTimer = 'expires' | 'resumed' | 'held' | 'cooled' | 'purged'

/** What time alone will do to an alert as it is, and when. */
export function timersOf(
  state: AlertsState,
  alert: StoredAlert,
): readonly (readonly [what: AlertTimer, key: Micros])[] {
  const isPart = everywhereOf(alert.alert_id) !== undefined // its life is that of its rule
  if (alert.ended_at > 0) return isPart || toldTill(alert) === NEVER ? [] : [['purged', toldTill(alert) + RETENTION]]
  const timers: (readonly [AlertTimer, Micros])[] = []
  if (isPart && alert.paused_until > 0) return timers
  if (!isPart && alert.expires_at !== NEVER) timers.push(['expires', alert.expires_at])
  if (alert.paused_until > 0) {
    if (alert.paused_until !== NEVER) timers.push(['resumed', alert.paused_until])
    return timers
  }
  if (isCooling(alert)) timers.push(['cooled', alert.last_triggered + cooldownOf(state, alert)])
  if (alert.held > 0) timers.push(['held', alert.held + (state.kinds.of(alert.terms).holds?.(alert.terms) ?? 0)])
  return timers
}

/** What a list's symbol has rung is told of as long as the list may live for others, of which it knows nothing. */
function toldTill({ alert_id: id, status, ended_at: ended, expires_at: expires }: StoredAlert): Micros {
  return status === 'triggered' && isListPart(id) ? Math.max(ended, expires) : ended
}

/** It rang, has not ended, and has been back or has other terms now: it becomes active when its minute is over. */
function isCooling({ status, armed }: StoredAlert): boolean {
  return status === 'triggered' && armed
}

export function hasTimer(state: AlertsState, alert: StoredAlert, what: AlertTimer, key: Micros): boolean {
  return timersOf(state, alert).some((timer) => timer[0] === what && timer[1] === key)
}
