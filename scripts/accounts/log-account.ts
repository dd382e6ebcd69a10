import type { Gap, Message, Trade } from '../../schemas/records.ts'
import { partsOf, tradeVenues } from '../../schemas/venues.ts'
import { addTo, bucketOf, type BucketsOf } from './buckets.ts'
import {
  BUCKET_MICROS,
  decimalOf,
  placesOf,
  always,
  isWithin,
  nothing,
  plus,
  type Stretch,
  type Totals,
  type Window,
} from './totals.ts'

/** Unordered ids are compared within their bucket; buckets this far behind the newest are forgotten. */
const KEPT_BUCKETS = 3 * 360

const unordered = new Set<string>(tradeVenues.filter(({ ids }) => ids === 'none').map(({ venue }) => venue))

/** What `market.trades` says of one instrument, each trade counted once. */
export interface InstrumentAccount {
  readonly asset: string
  totals: Totals
  /** Trades within the stretches that are left out of the comparison; a part of `totals`. */
  leftOut: Totals
  duplicates: number
  /** Records that overlap what was covered already without being equal to it: refused as the processors do. */
  refused: number
  /** Most places behind the point of any size. */
  places: number
  firstTime: number
  /** Base units in one unit of the venue's size. */
  sizeFactor: number
  /** The latest state of each gap. */
  readonly gaps: Map<number, Gap>
}

/** Folds the records of `market.trades` by the identity rule, apart from and independent of the processors. */
export class LogAccount {
  readonly instruments = new Map<string, InstrumentAccount>()
  readonly buckets: BucketsOf = new Map()
  readonly #seen = new Map<string, CoveredRanges | SeenIds>()
  readonly #window: Window
  readonly #leftOut: ReadonlyMap<string, readonly Stretch[]>
  readonly #bucketsFrom: number

  /** `bucketsFrom`: from then on it keeps buckets as well. */
  constructor(
    window: Window = always,
    leftOut: ReadonlyMap<string, readonly Stretch[]> = new Map(),
    bucketsFrom = Infinity,
  ) {
    this.#window = window
    this.#leftOut = leftOut
    this.#bucketsFrom = bucketsFrom
  }

  add(message: Message): void {
    if (message.type === 'gap') this.#of(message.value).gaps.set(message.value.gap_id, message.value)
    if (message.type === 'trade') this.#trade(message.value)
  }

  #trade(trade: Trade): void {
    const account = this.#of(trade)
    const seen = this.#look(trade)
    if (seen === 'duplicate') account.duplicates += 1
    if (seen === 'partly') account.refused += 1
    if (seen !== 'new' || trade.time < this.#window.from || trade.time >= this.#window.to) return
    const size = decimalOf(String(trade.size))
    const one = { count: 1, buy: trade.taker === 'buy' ? size : 0n, sell: trade.taker === 'sell' ? size : 0n }
    account.totals = plus(account.totals, one)
    account.places = Math.max(account.places, placesOf(trade.size))
    account.sizeFactor = trade.size_factor
    account.firstTime = Math.min(account.firstTime, trade.time)
    if (isWithin(this.#leftOut.get(trade.instrument) ?? [], trade.time)) account.leftOut = plus(account.leftOut, one)
    if (trade.time >= this.#bucketsFrom) this.#bucket(trade)
  }

  #bucket({ instrument, time, taker, price, size }: Trade): void {
    const [buy, sell] = [taker === 'buy' ? size : 0, taker === 'sell' ? size : 0]
    const start = bucketOf(time)
    const amounts = { count: 1, buy, sell, buyQuote: price * buy, sellQuote: price * sell }
    addTo(this.buckets, instrument, start, { ...amounts, low: price, high: price, times: time - start })
  }

  /** Where ids have no order only their equality says something. */
  #look({ instrument, first_id, last_id, time }: Trade): Seen {
    let seen = this.#seen.get(instrument)
    if (seen === undefined) {
      seen = unordered.has(partsOf(instrument).venue) ? new SeenIds() : new CoveredRanges()
      this.#seen.set(instrument, seen)
    }
    return seen instanceof SeenIds ? seen.add(first_id, time) : seen.add(first_id, last_id)
  }

  #of({ instrument, asset }: { instrument: string; asset: string }): InstrumentAccount {
    let account = this.instruments.get(instrument)
    if (account === undefined) {
      account = {
        asset,
        totals: nothing,
        leftOut: nothing,
        duplicates: 0,
        refused: 0,
        places: 0,
        firstTime: Infinity,
        sizeFactor: 1,
        gaps: new Map(),
      }
      this.instruments.set(instrument, account)
    }
    return account
  }
}

export type Seen = 'new' | 'duplicate' | 'partly'

/** Which contiguous ids of one instrument were seen, as ascending ranges that do not touch. */
export class CoveredRanges {
  readonly #from: number[] = []
  readonly #to: number[] = []

  add(first: number, last: number): Seen {
    const at = this.#above(first)
    const before = at - 1
    if ((this.#to[before] ?? -1) >= first) return (this.#to[before] ?? -1) >= last ? 'duplicate' : 'partly'
    if ((this.#from[at] ?? Infinity) <= last) return 'partly'
    const joinsLeft = this.#to[before] === first - 1
    const joinsRight = this.#from[at] === last + 1
    const from = joinsLeft ? (this.#from[before] ?? first) : first
    const to = joinsRight ? (this.#to[at] ?? last) : last
    const start = joinsLeft ? before : at
    const gone = Number(joinsLeft) + Number(joinsRight)
    this.#from.splice(start, gone, from)
    this.#to.splice(start, gone, to)
    return 'new'
  }

  /** Index of the first range that begins above `id`. */
  #above(id: number): number {
    let low = 0
    let high = this.#from.length
    if ((this.#from[high - 1] ?? -1) <= id) return high
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#from[middle] ?? 0) <= id) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Which unordered ids of one instrument were seen: an id counts as known within the 10 s bucket of its trade. */
export class SeenIds {
  readonly #buckets = new Map<number, Set<number>>()

  add(id: number, time: number): Seen {
    const bucket = Math.floor(time / BUCKET_MICROS)
    const known = this.#buckets.get(bucket)
    if (known?.has(id) === true) return 'duplicate'
    if (known === undefined) this.#open(bucket, id)
    else known.add(id)
    return 'new'
  }

  #open(bucket: number, id: number): void {
    this.#buckets.set(bucket, new Set([id]))
    for (const old of this.#buckets.keys()) {
      if (this.#buckets.size <= KEPT_BUCKETS) return
      this.#buckets.delete(old) // in the order of their first trade
    }
  }
}
