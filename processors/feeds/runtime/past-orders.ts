import type { Micros } from '../../../schemas/records.ts'
import type { BackfillOrder } from '../../../schemas/records.ts'
import type { Span } from '../facts/archive-plan.ts'

/** Orders kept at once; what comes beyond is not taken. */
const maxOrders = 10_000
/** Nobody has archives from before that: an order reaches no further back. */
const oldestDay: Micros = Date.UTC(2017, 0, 1) * 1_000

/** The key of an order in `control.backfill`. */
export function orderKey({ asset, from, to }: BackfillOrder): string {
  return `order|${asset}|${from}|${to}`
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
