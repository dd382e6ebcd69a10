import type { BackfillOrder, Micros } from '../../../schemas/records.ts'
import type { Span } from './archive-plan.ts'

/** Orders kept at once; what comes beyond is not taken. */
const maxOrders = 10_000
/** Nobody has archives from before that: an order reaches no further back. */
const oldestDay: Micros = Date.UTC(2017, 0, 1) * 1_000

/** The key of an order in `control.backfill`. */
export function orderKey({ asset, from, to }: BackfillOrder): string {
  return `order|${asset}|${from}|${to}`
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

/** What was ordered of the past, beside what is read back of what is streamed. */
export class PastOrders {
  readonly #orders = new Map<string, BackfillOrder>()
  /** Counts what was taken: who looks again sees whether there is something new. */
  version = 0

  /** Takes one record of the topic; null: it was taken back. */
  apply(key: string, order: BackfillOrder | null): void {
    if (order !== null && !this.#orders.has(key) && this.#orders.size >= maxOrders) return
    this.version += 1
    if (order === null) this.#orders.delete(key)
    else this.#orders.set(key, { ...order, from: Math.max(order.from, oldestDay) })
  }

  get assets(): ReadonlySet<string> {
    return new Set([...this.#orders.values()].map(({ asset }) => asset))
  }

  /** From when on candles of an asset were ordered; undefined: they were not. */
  candlesSince(wanted: string): Micros | undefined {
    const own = [...this.#orders.values()].filter(({ asset }) => asset === wanted)
    return own.length === 0 ? undefined : Math.min(...own.map(({ from }) => from))
  }

  archivesOf(wanted: string): Span[] {
    return [...this.#orders.values()].filter(({ asset, archives }) => archives && asset === wanted)
  }
}
