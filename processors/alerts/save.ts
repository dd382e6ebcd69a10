import type { CompositePrice, Micros } from '../../schemas/records.ts'
import type { Kinds, StoredAlert } from './kinds/kind.ts'
import { alertOf, savedOf, type SavedAlert } from './record.ts'
import { addSeries, bookOf, emptyState, IDEMPOTENT, noteRisk, OTHERS, PAYMENT_KNOWN } from './state.ts'
import { notePart, REQUEST_KNOWN, timersOf, watch } from './state.ts'
import { Series, type SavedSeries } from './series.ts'
import type { AlertsState, Bought, RecentTriggers } from './state.ts'

/** Parts of the saved state, as JSON: it writes doubles exactly. One alert a part, so that a change costs itself alone. */
type Saved =
  | {
      readonly kind: 'clock'
      readonly time: Micros
      readonly told?: Readonly<Record<string, Micros>>
      /** Left out: never. */
      readonly advanced?: { readonly time: Micros; readonly told: Readonly<Record<string, Micros>> }
    }
  | { readonly kind: 'alert'; readonly alert: SavedAlert }
  | { readonly kind: 'request'; readonly id: string; readonly at: Micros }
  | { readonly kind: 'payment'; readonly id: string; readonly bought: Bought }
  | { readonly kind: 'price'; readonly seen: { readonly price: CompositePrice } }
  | { readonly kind: 'risk'; readonly asset: string; readonly time: Micros }
  | {
      readonly kind: 'series'
      readonly asset: string
      readonly name: string
      readonly series: SavedSeries
      /** Partition time when it was saved; by a former release left out, which saved it whenever it moved. */
      readonly at?: Micros
    }
  | { readonly kind: 'rung'; readonly key: string; readonly rung: RecentTriggers }

type Of<Kind extends Saved['kind']> = Extract<Saved, { kind: Kind }>

type Part = readonly [key: string, part: Buffer | null]

/** What changed since the last call. */
export function* saveState(state: AlertsState): Generator<Part> {
  const { kinds, changed, alerts, requests, payments, prices, risks, rung } = state
  yield clockPart(state)
  for (const id of changed.alerts) {
    const alert = alerts.get(id)
    yield partOf(`alert|${id}`, alert && { kind: 'alert', alert: savedOf(kinds, alert) })
  }
  for (const id of changed.requests) {
    const at = requests.get(id)
    yield partOf(`request|${id}`, at === undefined ? undefined : { kind: 'request', id, at })
  }
  for (const id of changed.payments) {
    const bought = payments.get(id)
    yield partOf(`payment|${id}`, bought && { kind: 'payment', id, bought })
  }
  for (const asset of changed.prices) {
    const price = prices.get(asset)
    yield partOf(`price|${asset}`, price && { kind: 'price', seen: { price } })
  }
  for (const asset of changed.risks) {
    yield partOf(`risk|${asset}`, { kind: 'risk', asset, time: risks.get(asset) ?? 0 })
  }
  yield* changedSeries(state)
  for (const key of changed.rung) {
    const rang = rung.get(key)
    yield partOf(`rung|${key}`, rang && { kind: 'rung', key, rung: rang })
  }
  changed.alerts.clear()
  changed.requests.clear()
  changed.payments.clear()
  changed.prices.clear()
  changed.risks.clear()
  changed.rung.clear()
}

function clockPart({ time, told, advanced }: AlertsState): Part {
  return partOf('clock', {
    kind: 'clock',
    time,
    ...(told.size > 0 && { told: Object.fromEntries(told) }),
    ...(advanced.time > 0 && { advanced: { time: advanced.time, told: Object.fromEntries(advanced.told) } }),
  })
}

/** Of one that time has only moved the clock says enough. */
function* changedSeries({ changed, series, time }: AlertsState): Generator<Part> {
  for (const key of changed.series) {
    const asset = key.slice(0, key.indexOf('|'))
    const name = key.slice(asset.length + 1)
    const one = series.get(asset)?.get(name)
    yield partOf(`series|${key}`, one && { kind: 'series', asset, name, series: one.saved(), at: time })
  }
  changed.series.clear()
}

function partOf(key: string, saved: Saved | undefined): Part {
  return [key, saved === undefined ? null : Buffer.from(JSON.stringify(saved))]
}

/** The state made of the latest text of each part: books, timers and creations follow from the alerts. */
export function loadState(kinds: Kinds, parts: ReadonlyMap<string, Buffer>): AlertsState {
  const state = emptyState(kinds)
  state.risks.clear()
  state.changed.risks.clear()
  const texts = new Map<string, string>()
  const series: Of<'series'>[] = []
  for (const part of parts.values()) {
    const saved = JSON.parse(part.toString()) as Saved
    loadPart(state, saved, texts)
    if (saved.kind === 'series') series.push(saved)
  }
  for (const saved of series) moveSeries(state, saved)
  // A state that was saved before there was this has been told of the risk of all times up to its own.
  if (!state.risks.has(OTHERS)) noteRisk(state, OTHERS, state.time)
  state.changed.series.clear()
  for (const alert of state.alerts.values()) watch(state, alert, 1)
  for (const alert of state.alerts.values()) resume(state, alert)
  for (const books of state.books.values()) for (const book of books.values()) book.settle()
  sortRung(state)
  state.timers.settle()
  return state
}

/** Time may have moved it since it was saved. */
function moveSeries({ series, advanced }: AlertsState, { asset, name, at = Infinity }: Of<'series'>): void {
  const { time, told } = advanced
  const one = series.get(asset)?.get(name)
  if (at < time) one?.moveTo(time, told.get(one.input))
}

/** Parts come in any order; what rang lies in the order of its time, which is that of its versions. */
function sortRung({ rung }: AlertsState): void {
  const sorted = [...rung].sort(
    ([keyA, a], [keyB, b]) => a.v - b.v || a.cause.price - b.cause.price || (keyA < keyB ? -1 : 1),
  )
  rung.clear()
  for (const [key, rang] of sorted) rung.set(key, rang)
}

function loadPart(state: AlertsState, saved: Saved, texts: Map<string, string>): void {
  switch (saved.kind) {
    case 'clock':
      state.time = saved.time
      for (const [processor, time] of Object.entries(saved.told ?? {})) state.told.set(processor, time)
      if (saved.advanced !== undefined)
        state.advanced = { time: saved.advanced.time, told: new Map(Object.entries(saved.advanced.told)) }
      return
    case 'alert':
      state.alerts.set(
        saved.alert.alert_id,
        alertOf(state.kinds, saved.alert, (text) => shared(text, texts)),
      )
      return
    case 'request':
      state.requests.set(saved.id, saved.at)
      state.timers.append('request', saved.at + REQUEST_KNOWN, saved.id)
      return
    case 'payment':
      state.payments.set(saved.id, saved.bought)
      state.timers.append('payment', saved.bought.at + PAYMENT_KNOWN, saved.id)
      return
    case 'price':
      state.prices.set(saved.seen.price.asset, saved.seen.price)
      return
    case 'risk':
      state.risks.set(saved.asset, saved.time)
      return
    case 'series':
      addSeries(state, saved.asset, new Series(saved.name, saved.series))
      return
    case 'rung':
      state.rung.set(saved.key, saved.rung)
  }
}

/** Assets and symbols are the same few texts in all alerts: one copy of each is held. */
function shared(text: string, texts: Map<string, string>): string {
  const known = texts.get(text)
  if (known === undefined) texts.set(text, text)
  return known ?? text
}

function resume(state: AlertsState, alert: StoredAlert): void {
  const { alert_id: id, idempotency, created_at: created } = alert
  state.taken = Math.max(state.taken, alert.taken)
  notePart(state, id)
  bookOf(state, alert).append(alert)
  for (const [what, key] of timersOf(state, alert)) state.timers.append(what, key, id)
  if (idempotency === null || created + IDEMPOTENT <= state.time) return
  state.creations.set(idempotency, id)
  state.timers.append('creation', created + IDEMPOTENT, idempotency)
}
