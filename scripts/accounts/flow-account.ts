import type { Message } from '../../schemas/records.ts'
import { decimalOfSum, always, nothing, plus, type Totals, type Window } from './totals.ts'

interface Bucket {
  readonly instrument: string
  readonly start: number
  readonly buy: number
  readonly sell: number
  readonly count: number
  readonly final: boolean
  readonly v: number
  /** Highest version that the key ever had. */
  readonly highest: number
}

const HOUR_MICROS = 3_600_000_000

/** Folds `derived.flow`: the last record of a key stands, as a reader of the compacted topic finds it. */
export class FlowAccount {
  readonly #buckets = new Map<string, Bucket>()
  readonly #hours = new Map<string, Bucket>()
  /** Rises with every record. */
  version = 0

  add(key: string, message: Message): void {
    if (message.type !== 'flow' && message.type !== 'flow_hour') return
    const { instrument, buy, sell, buy_count, sell_count, final, v } = message.value
    const rows = message.type === 'flow' ? this.#buckets : this.#hours
    const start = message.type === 'flow' ? message.value.bucket : message.value.hour
    const highest = Math.max(rows.get(key)?.highest ?? v, v)
    this.version += 1
    rows.set(key, { instrument, start, buy, sell, count: buy_count + sell_count, final, v, highest })
  }

  /**
   * Keys whose last record is not the newest version of theirs. A new owner writes again what followed its snapshot, so
   * versions may fall for a moment; one that stays low was written by an owner that should have been shut out.
   */
  get stale(): number {
    return [...this.#buckets.values(), ...this.#hours.values()].filter(({ v, highest }) => v < highest).length
  }

  /** Hours that do not hold as many trades as their closed buckets. */
  get hoursOff(): number {
    const closed = countsByHour([...this.#buckets.values()].filter(({ final }) => final))
    return [...countsByHour(this.#hours.values())].filter(([hour, count]) => count !== closed.get(hour)).length
  }

  /** Sum of an instrument's buckets; `places` are those of its sizes, by which each bucket is exact. */
  totals(placesOf: (instrument: string) => number, window: Window = always): Map<string, Totals> {
    const sums = new Map<string, Totals>()
    for (const { instrument, start, buy, sell, count } of this.#buckets.values()) {
      if (start < window.from || start >= window.to) continue
      const places = placesOf(instrument)
      const one = { count, buy: decimalOfSum(buy, places), sell: decimalOfSum(sell, places) }
      sums.set(instrument, plus(sums.get(instrument) ?? nothing, one))
    }
    return sums
  }
}

function countsByHour(rows: Iterable<Bucket>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { instrument, start, count } of rows) {
    const hour = `${instrument} ${Math.floor(start / HOUR_MICROS)}`
    counts.set(hour, (counts.get(hour) ?? 0) + count)
  }
  return counts
}
