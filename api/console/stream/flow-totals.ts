import type { Flow, Micros } from '../../../schemas/records.ts'

/** Of data older than this nobody here knows any more whether it was seen: its first sight counts for nothing. */
const REMEMBERED: Micros = 600_000_000

interface Sums {
  readonly buy: number
  readonly sell: number
  readonly buyQuote: number
  readonly sellQuote: number
}

/** What traded since the console began to look, by asset: the differences of upserts, added up. */
interface Totals {
  readonly delta: number
  readonly delta_usd: number
  readonly volume_usd: number
}

const none: Totals = { delta: 0, delta_usd: 0, volume_usd: 0 }
const nothing: Sums = { buy: 0, sell: 0, buyQuote: 0, sellQuote: 0 }

/**
 * A period's volume delta moves by what comes on top of the last answer of the API: `derived.flow` holds absolute sums
 * per bucket and part, so what each record adds is its difference from the one before under the same key.
 */
export class FlowTotals {
  /** From this bucket on the first sight of a row counts. */
  #start: Micros
  readonly #last = new Map<string, { readonly bucket: Micros; readonly sums: Sums }>()
  readonly #totals = new Map<string, Totals>()

  /** `start`: buckets that were open before it were begun without us: their first sight counts for nothing. */
  constructor(start: Micros) {
    this.#start = start
  }

  /** The asset's totals after `flow`. */
  take(flow: Flow): Totals {
    const key = `${flow.instrument}|${flow.bucket}|${flow.part}`
    const before = this.#last.get(key)?.sums
    const sums = { buy: flow.buy, sell: flow.sell, buyQuote: flow.buy_quote, sellQuote: flow.sell_quote }
    if (before === undefined) this.#forget(flow.bucket)
    this.#last.set(key, { bucket: flow.bucket, sums })
    const base = before ?? (flow.bucket >= this.#start ? nothing : sums)
    const totals = added(this.of(flow.asset), base, sums)
    this.#totals.set(flow.asset, totals)
    return totals
  }

  of(asset: string): Totals {
    return this.#totals.get(asset) ?? none
  }

  #forget(newest: Micros): void {
    this.#start = Math.max(this.#start, newest - REMEMBERED)
    for (const [key, { bucket }] of this.#last) {
      if (bucket >= newest - REMEMBERED) return // they come about in order
      this.#last.delete(key)
    }
  }
}

function added(totals: Totals, before: Sums, after: Sums): Totals {
  const buy = after.buyQuote - before.buyQuote
  const sell = after.sellQuote - before.sellQuote
  return {
    delta: totals.delta + (after.buy - before.buy) - (after.sell - before.sell),
    delta_usd: totals.delta_usd + buy - sell,
    volume_usd: totals.volume_usd + buy + sell,
  }
}
