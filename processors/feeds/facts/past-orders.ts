import type { BackfillOrder, Micros } from '../../../schemas/records.ts'
import type { Span } from './archive-plan.ts'

/** Spans kept at once; what comes beyond is told and not taken. */
const maxOrders = 10_000
/** Nobody has archives from before that: an order reaches no further back. */
const oldestDay: Micros = Date.UTC(2017, 0, 1) * 1_000

/** The key of an order in `control.backfill`. */
export function orderKey({ asset, from, to }: BackfillOrder): string {
  return `order|${asset}|${from}|${to}`
}

/** Why orders cannot be taken beside those that stand, which hold them then as far as they go; undefined: they can. */
export function beyondLimit(standing: PastOrders, orders: readonly BackfillOrder[]): string | undefined {
  return orders.every((order) => standing.apply(orderKey(order), order))
    ? undefined
    : `${maxOrders} orders of the past stand, the most that there can be; take some back: npm run backfill -- --symbols A,B --cancel`
}

/** Days of one order at most. */
const mostDays = 4_000
const DAY: Micros = 86_400_000_000

/** What somebody asks for: the last `days`, or the days from `from` on (to `to`, exclusive, else to now), microseconds. */
export interface Asked {
  readonly assets: readonly string[]
  readonly days?: number | undefined
  readonly from?: Micros | undefined
  readonly to?: Micros | undefined
  readonly archives: boolean
}

/** The orders that it comes to, one an asset; a text: what is wrong with it. `now`: microseconds. */
export function ordersOf({ assets, days, from, to, archives }: Asked, now: Micros): BackfillOrder[] | string {
  if (days !== undefined && from !== undefined) return 'give days, or from and to, not both'
  if (days !== undefined && !(Number.isInteger(days) && days > 0 && days <= mostDays))
    return `days must be a whole number from 1 to ${mostDays}`
  const end = dayOf(to ?? now + DAY - 1)
  const begin = from === undefined ? end - (days ?? 90) * DAY : dayOf(from)
  if (begin < oldestDay || begin >= end || begin > now)
    return 'from must be a day from 2017 on that has begun, and before to'
  return assets.map((asset) => ({ asset, from: begin, to: end, archives, time: now }))
}

function dayOf(time: Micros): Micros {
  return Math.floor(time / DAY) * DAY
}

/** What was ordered of the past, beside what is read back of what is streamed: of each asset, spans that do not touch. */
export class PastOrders {
  readonly #byAsset = new Map<string, readonly BackfillOrder[]>()
  #count = 0
  /** Counts what was taken: who looks again sees whether there is something new. */
  version = 0

  /** Takes one record of the topic; null: the asset's orders were taken back. False: there are too many, it is left out. */
  apply(key: string, order: BackfillOrder | null): boolean {
    const asset = order?.asset ?? key.split('|')[1] ?? ''
    const had = this.#byAsset.get(asset) ?? []
    const has = order === null ? [] : merged(had, { ...order, from: Math.max(order.from, oldestDay) })
    const count = this.#count + has.length - had.length
    if (count > maxOrders && has.length > had.length) return false
    this.#count = count
    this.version += 1
    if (has.length === 0) this.#byAsset.delete(asset)
    else this.#byAsset.set(asset, has)
    return true
  }

  get assets(): ReadonlySet<string> {
    return new Set(this.#byAsset.keys())
  }

  /** From when on candles of an asset were ordered; undefined: they were not. */
  candlesSince(wanted: string): Micros | undefined {
    const own = this.#byAsset.get(wanted)
    return own && Math.min(...own.map(({ from }) => from))
  }

  archivesOf(wanted: string): Span[] {
    return (this.#byAsset.get(wanted) ?? []).filter(({ archives }) => archives)
  }
}

/** The order as one with those that it touches, so that one of each day's last days stays one. */
function merged(orders: readonly BackfillOrder[], order: BackfillOrder): BackfillOrder[] {
  const touches = ({ from, to, archives }: BackfillOrder): boolean =>
    archives === order.archives && from <= order.to && to >= order.from
  const joined = [order, ...orders.filter(touches)]
  const [from, to] = [Math.min(...joined.map((one) => one.from)), Math.max(...joined.map((one) => one.to))]
  return [...orders.filter((one) => !touches(one)), { ...order, from, to }]
}
