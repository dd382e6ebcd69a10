import type { RecordPosition } from '../../../schemas/record-id.ts'
import type { Micros } from '../../../schemas/records.ts'

/** A price that was there to be had. */
export interface Fill {
  readonly price: number
  /** When it was so. */
  readonly time: Micros
  /** The record of the tape that says so. */
  readonly place: RecordPosition
}

interface Wait {
  readonly due: Micros
  readonly take: (fill: Fill) => void
}

/**
 * Who waits for an asset's first price at or after a time. So a decision is never filled at a price that was known when
 * it was made: the wait begins a latency later, and only a price that comes then ends it.
 */
export class Fills {
  /** By asset, those with the latest due first. */
  readonly #waits = new Map<string, Wait[]>()

  /** Calls `take` with the first price of `asset` whose time is `due` or later, if one comes. */
  waitFor(asset: string, due: Micros, take: (fill: Fill) => void): void {
    const waits = this.#waits.get(asset) ?? []
    this.#waits.set(asset, waits)
    let at = waits.length
    while (at > 0 && (waits[at - 1]?.due ?? Infinity) < due) at -= 1
    waits.splice(at, 0, { due, take })
  }

  price(asset: string, fill: Fill): void {
    const waits = this.#waits.get(asset)
    for (let next = waits?.at(-1); next !== undefined && next.due <= fill.time; next = waits?.at(-1)) {
      waits?.pop()
      next.take(fill)
    }
  }
}
