import type { Micros, PeriodVolume } from '../../schemas/records.ts'
import { periods, type Period, type PeriodName } from './periods.ts'

/** Slots that are saved together: small enough to write often, large enough to keep the number of parts low. */
const CHUNK = 12

/** One slot with volume in it: its number since the Unix epoch, and what `Volume` has. */
export type RingSlot = readonly [slot: number, buy: number, sell: number, buyQuote: number, sellQuote: number]

/** What takers bought and sold: in base units, and in quote units. */
export interface Volume {
  readonly buy: number
  readonly sell: number
  readonly buy_quote: number
  readonly sell_quote: number
}

/** Numbers of a slot. */
const WIDTH = 4

/** What the slots from `from` up to before `to` add up to. */
interface SlotSum {
  readonly from: number
  to: number
  buy: number
  sell: number
  buy_quote: number
  sell_quote: number
}

const noSlots = new Float64Array(0)
const noVolume: Volume = { buy: 0, sell: 0, buy_quote: 0, sell_quote: 0 }

/**
 * Volumes of one instrument over one rolling period, in slots of the period's bucket width. Sums are made
 * slot by slot from the oldest on, so that nothing drifts and a restored ring gives the same sum to the last bit.
 * One that is empty takes no memory for slots.
 */
export class Ring {
  readonly #name: PeriodName
  readonly #period: Period
  readonly #slots: number
  /** Slot by slot, `WIDTH` numbers each. */
  #volumes = noSlots
  /** Number of the newest slot; the oldest is `slots - 1` before it. */
  #newest: number
  readonly #changed = new Set<number>()
  /** Chunks that were ever filled and not yet dropped. */
  readonly #chunks = new Set<number>()
  #oldestChunk = 0
  /** Of slots that have not changed since they were summed up, each from a slot that is asked for. */
  #older: SlotSum[] = []
  /** What is summed up now. */
  readonly #sum = emptySum(0)

  /** `end`: where the period ends, on a bound of 10 s. */
  constructor(name: PeriodName, end: Micros) {
    const period = periods[name]
    this.#name = name
    this.#period = period
    this.#slots = period.length / period.bucket
    this.#newest = newestSlot(period, end)
  }

  /** Where the period ends, on a bound of its slots. */
  get end(): Micros {
    return (this.#newest + 1) * this.#period.bucket
  }

  /** Moves the end of the period on; slots that fall out are emptied. */
  advance(end: Micros): void {
    const newest = newestSlot(this.#period, end)
    if (newest <= this.#newest) return
    const from = Math.max(this.#newest + 1, newest - this.#slots + 1)
    if (!this.#isEmpty) for (let slot = from; slot <= newest; slot++) this.#clear(slot)
    this.#newest = newest
    const oldest = this.#oldest
    if (this.#older.some((known) => known.from < oldest)) this.#older = this.#older.filter(({ from }) => from >= oldest)
    this.#dropChunks()
  }

  /** Whether nothing of a time is in the period any more, nor saved beside what is. */
  hasLeft(time: Micros): boolean {
    return Math.floor(Math.floor(time / this.#period.bucket) / CHUNK) < Math.floor(this.#oldest / CHUNK)
  }

  /** Adds volume at a time before the end; what is older than the period is let go. */
  add(time: Micros, volume: Volume): void {
    this.#put(Math.floor(time / this.#period.bucket), volume)
  }

  /** The period's sums, then those of the same slots once it has moved on by one slot, by two and so on up to `on`. */
  sums(on = 0): PeriodVolume[] {
    if (this.#isEmpty) return Array.from({ length: on + 1 }, (_, moved) => this.#told(noVolume, moved))
    const oldest = this.#oldest
    const sum = this.#sum
    const { to, buy, sell, buy_quote, sell_quote } = this.#olderFrom(oldest + on)
    setSum(sum, to, buy, sell, buy_quote, sell_quote)
    this.#extend(sum, this.#newest + 1)
    const sums = [this.#told(sum, on)]
    for (let moved = on - 1; moved >= 0; moved--) {
      sum.to = oldest + moved
      this.#extend(sum, sum.to + 1)
      sums.push(this.#told(sum, moved))
    }
    return on === 0 ? sums : sums.reverse()
  }

  /** The sum from a slot up to before the newest, which alone still changes as a rule. What was summed before is gone on from. */
  #olderFrom(from: number): SlotSum {
    let sum: SlotSum | undefined
    for (const known of this.#older) if (known.from === from) sum = known
    if (sum === undefined) return this.#begin(from)
    this.#extend(sum, this.#newest)
    return sum
  }

  /** The next one to be asked for is summed up beside it: a pass for two costs little more than for one. */
  #begin(from: number): SlotSum {
    const [sum, next] = [emptySum(from), emptySum(from + 1)]
    this.#older.push(sum, next)
    this.#extend(sum, Math.min(from + 1, this.#newest))
    this.#extendBoth(sum, next, this.#newest)
    return sum
  }

  /**
   * Adds slots in their order, up to before `to`: in plain variables, which cost a quarter of an object's fields, and without
   * a question at each slot whether the array ends there.
   */
  #extend(sum: SlotSum, to: number): void {
    if (sum.to >= to) return
    let { buy, sell, buy_quote, sell_quote } = sum
    const volumes = this.#volumes
    let at = this.#placeOf(sum.to)
    for (let left = (to - sum.to) * WIDTH; left > 0; at = 0) {
      const end = Math.min(volumes.length, at + left)
      left -= end - at
      for (; at < end; at += WIDTH) {
        buy += volumes[at] ?? 0
        sell += volumes[at + 1] ?? 0
        buy_quote += volumes[at + 2] ?? 0
        sell_quote += volumes[at + 3] ?? 0
      }
    }
    setSum(sum, to, buy, sell, buy_quote, sell_quote)
  }

  /** As `#extend`, two that end at the same slot. */
  #extendBoth(one: SlotSum, two: SlotSum, to: number): void {
    if (two.to >= to) return
    let { buy, sell, buy_quote, sell_quote } = one
    let buy2 = two.buy
    let sell2 = two.sell
    let buyQuote2 = two.buy_quote
    let sellQuote2 = two.sell_quote
    const volumes = this.#volumes
    let at = this.#placeOf(two.to)
    for (let left = (to - two.to) * WIDTH; left > 0; at = 0) {
      const end = Math.min(volumes.length, at + left)
      left -= end - at
      for (; at < end; at += WIDTH) {
        const a = volumes[at] ?? 0
        buy += a
        buy2 += a
        const b = volumes[at + 1] ?? 0
        sell += b
        sell2 += b
        const c = volumes[at + 2] ?? 0
        buy_quote += c
        buyQuote2 += c
        const d = volumes[at + 3] ?? 0
        sell_quote += d
        sellQuote2 += d
      }
    }
    setSum(one, to, buy, sell, buy_quote, sell_quote)
    setSum(two, to, buy2, sell2, buyQuote2, sellQuote2)
  }

  #told({ buy, sell, buy_quote, sell_quote }: Volume, moved: number): PeriodVolume {
    return { period: this.#name, to: this.end + moved * this.#period.bucket, buy, sell, buy_quote, sell_quote }
  }

  #placeOf(slot: number): number {
    return (slot % this.#slots) * WIDTH
  }

  get #isEmpty(): boolean {
    return this.#chunks.size === 0
  }

  get #oldest(): number {
    return this.#newest - this.#slots + 1
  }

  /** Chunks that changed since they were last forgotten; without slots: gone. */
  *changes(): Iterable<readonly [chunk: number, slots: RingSlot[]]> {
    for (const chunk of this.#changed) yield [chunk, this.#chunks.has(chunk) ? this.#slotsOf(chunk) : []]
  }

  forgetChanges(): void {
    this.#changed.clear()
  }

  /** Puts saved slots back; those that have left the period are dropped with the others of their chunk. */
  load(slots: readonly RingSlot[]): void {
    for (const [slot, buy, sell, buy_quote, sell_quote] of slots) {
      this.#hold(Math.floor(slot / CHUNK))
      this.#put(slot, { buy, sell, buy_quote, sell_quote })
    }
    this.#changed.clear()
  }

  #put(slot: number, { buy, sell, buy_quote, sell_quote }: Volume): void {
    if (slot > this.#newest || slot <= this.#newest - this.#slots) return
    const chunk = Math.floor(slot / CHUNK)
    this.#hold(chunk)
    this.#changed.add(chunk)
    const at = this.#placeOf(slot)
    const volumes = this.#volumes
    volumes[at] = (volumes[at] ?? 0) + buy
    volumes[at + 1] = (volumes[at + 1] ?? 0) + sell
    volumes[at + 2] = (volumes[at + 2] ?? 0) + buy_quote
    volumes[at + 3] = (volumes[at + 3] ?? 0) + sell_quote
    if (slot < this.#newest) this.#older = this.#older.filter(({ from, to }) => slot < from || slot >= to)
  }

  #hold(chunk: number): void {
    if (this.#isEmpty) this.#volumes = new Float64Array(this.#slots * WIDTH)
    this.#chunks.add(chunk)
  }

  #clear(slot: number): void {
    const at = this.#placeOf(slot)
    for (let index = at; index < at + WIDTH; index++) this.#volumes[index] = 0 // a fill costs more
  }

  #dropChunks(): void {
    const oldest = Math.floor(this.#oldest / CHUNK)
    if (oldest === this.#oldestChunk) return
    this.#oldestChunk = oldest
    for (const chunk of this.#chunks) {
      if (chunk >= oldest) continue
      this.#chunks.delete(chunk)
      this.#changed.add(chunk)
    }
    if (this.#isEmpty) this.#volumes = noSlots
  }

  #slotsOf(chunk: number): RingSlot[] {
    const slots: RingSlot[] = []
    for (let slot = chunk * CHUNK; slot < (chunk + 1) * CHUNK; slot++) {
      if (slot > this.#newest || slot <= this.#newest - this.#slots) continue
      const at = this.#placeOf(slot)
      const [buy = 0, sell = 0, buyQuote = 0, sellQuote = 0] = this.#volumes.subarray(at, at + WIDTH)
      if (buy !== 0 || sell !== 0) slots.push([slot, buy, sell, buyQuote, sellQuote])
    }
    return slots
  }
}

function emptySum(from: number): SlotSum {
  return { from, to: from, buy: 0, sell: 0, buy_quote: 0, sell_quote: 0 }
}

function setSum(sum: SlotSum, to: number, buy: number, sell: number, buyQuote: number, sellQuote: number): void {
  sum.to = to
  sum.buy = buy
  sum.sell = sell
  sum.buy_quote = buyQuote
  sum.sell_quote = sellQuote
}

/** The slot that holds the last moment before `end`. */
function newestSlot(period: Period, end: Micros): number {
  return Math.floor((end - 1) / period.bucket)
}
