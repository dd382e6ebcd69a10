import type { Micros } from '../../schemas/records.ts'
import { windowOf, type Period } from './periods.ts'

/** Slots that are saved together: small enough to write often, large enough to keep the number of parts low. */
const CHUNK = 12

/** One slot with volume in it: its number since the Unix epoch, buy and sell volume in base units. */
export type RingSlot = readonly [slot: number, buy: number, sell: number]

/**
 * Volumes of one asset over one rolling period, in slots of the period's bucket width. Sums are made anew each time, slot
 * by slot from the oldest, so that nothing drifts and a restored ring gives the same sum to the last bit.
 */
export class Ring {
  readonly #period: Period
  readonly #slots: number
  readonly #buy: Float64Array
  readonly #sell: Float64Array
  /** Number of the newest slot; the oldest is `slots - 1` before it. */
  #newest: number
  readonly #changed = new Set<number>()
  /** Chunks that were ever filled and not yet dropped. */
  readonly #chunks = new Set<number>()

  /** `end`: where the period ends, on a bound of 10 s. */
  constructor(period: Period, end: Micros) {
    this.#period = period
    this.#slots = period.length / period.bucket
    this.#buy = new Float64Array(this.#slots)
    this.#sell = new Float64Array(this.#slots)
    this.#newest = newestSlot(period, end)
  }

  /** Moves the end of the period on; slots that fall out are emptied. */
  advance(end: Micros): void {
    const newest = newestSlot(this.#period, end)
    const from = Math.max(this.#newest + 1, newest - this.#slots + 1)
    for (let slot = from; slot <= newest; slot++) this.#clear(slot)
    this.#newest = Math.max(this.#newest, newest)
    this.#dropChunks()
  }

  /** Adds volume at a time before the end; what is older than the period is let go. */
  add(time: Micros, buy: number, sell: number): void {
    this.#put(Math.floor(time / this.#period.bucket), buy, sell)
  }

  sums(): { buy: number; sell: number } {
    const oldest = (this.#newest + 1) % this.#slots
    return { buy: sumFrom(this.#buy, oldest), sell: sumFrom(this.#sell, oldest) }
  }

  get isEmpty(): boolean {
    return this.#chunks.size === 0
  }

  /** Chunks that changed since they were last forgotten; without slots: gone. */
  *changes(): Iterable<readonly [chunk: number, slots: RingSlot[]]> {
    for (const chunk of this.#changed) yield [chunk, this.#chunks.has(chunk) ? this.#slotsOf(chunk) : []]
  }

  forgetChanges(): void {
    this.#changed.clear()
  }

  /** Puts saved slots back. */
  load(slots: readonly RingSlot[]): void {
    for (const [slot, buy, sell] of slots) this.#put(slot, buy, sell)
    this.#changed.clear()
  }

  #put(slot: number, buy: number, sell: number): void {
    if (slot > this.#newest || slot <= this.#newest - this.#slots) return
    const at = slot % this.#slots
    this.#buy[at] = (this.#buy[at] ?? 0) + buy
    this.#sell[at] = (this.#sell[at] ?? 0) + sell
    const chunk = Math.floor(slot / CHUNK)
    this.#chunks.add(chunk)
    this.#changed.add(chunk)
  }

  #clear(slot: number): void {
    this.#buy[slot % this.#slots] = 0
    this.#sell[slot % this.#slots] = 0
  }

  #dropChunks(): void {
    const oldest = Math.floor((this.#newest - this.#slots + 1) / CHUNK)
    for (const chunk of this.#chunks) {
      if (chunk >= oldest) continue
      this.#chunks.delete(chunk)
      this.#changed.add(chunk)
    }
  }

  #slotsOf(chunk: number): RingSlot[] {
    const slots: RingSlot[] = []
    for (let slot = chunk * CHUNK; slot < (chunk + 1) * CHUNK; slot++) {
      if (slot > this.#newest || slot <= this.#newest - this.#slots) continue
      const buy = this.#buy[slot % this.#slots] ?? 0
      const sell = this.#sell[slot % this.#slots] ?? 0
      if (buy !== 0 || sell !== 0) slots.push([slot, buy, sell])
    }
    return slots
  }
}

/** The sum of a ring's values, in order from the one at `oldest`: once round. */
function sumFrom(values: Float64Array, oldest: number): number {
  let sum = 0
  for (let at = oldest; at < values.length; at++) sum += values[at] ?? 0
  for (let at = 0; at < oldest; at++) sum += values[at] ?? 0
  return sum
}

/** The slot that holds the last moment before `end`. */
function newestSlot(period: Period, end: Micros): number {
  return windowOf(period, end - 1).to / period.bucket - 1
}
