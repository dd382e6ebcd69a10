import { setTimeout as delay } from 'node:timers/promises'
import { instrumentId, partsOf, tradeVenues } from '../../schemas/venues.ts'
import { addTo, type BucketsOf } from './buckets.ts'
import { sum } from './compare.ts'
import { decimalOf, always, areEqual, type Stretch, type Totals, type Window } from './totals.ts'
import type { Source } from './books.ts'

/** Five hours of a busy market are added up for an answer. */
const ANSWER_MS = 60_000
const STILL_MS = 1_500

/** One line of the simulator's `GET /ledger`: what it meant to send. */
interface LedgerLine {
  readonly venue: string
  /** The venue's own symbol. */
  readonly instrument: string
  readonly trades: number
  readonly buy_volume: string
  readonly sell_volume: string
  readonly begin_time: number
}

/** One line of its `GET /ledger/buckets`. */
interface BucketLine extends Pick<LedgerLine, 'venue' | 'instrument' | 'trades'> {
  readonly bucket: number
  readonly buy_volume: number
  readonly sell_volume: number
  readonly buy_quote: number
  readonly sell_quote: number
  readonly low: number
  readonly high: number
  readonly times: number
}

/** The simulator's accounts and its switch. */
export class Ledger implements Source {
  readonly name = 'ledger'
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async totals(window: Window = always): Promise<Map<string, Totals>> {
    const lines = await this.#lines({
      ...(window.from > 0 && { from: window.from }),
      ...(Number.isFinite(window.to) && { to: window.to - 1 }),
    })
    return new Map(lines.map((line) => [instrumentOf(line), totalsOf(line)]))
  }

  /** It begins with the first subscription of a market: what the venue traded before is in REST alone. */
  async begins(): Promise<Map<string, number>> {
    const lines = await this.#lines({})
    return new Map(lines.map((line) => [instrumentOf(line), line.begin_time]))
  }

  async within(instrument: string, { from, to }: Stretch): Promise<Totals> {
    const { venue, symbol } = partsOf(instrument)
    return sum((await this.#lines({ venue, symbol, from, to })).map(totalsOf))
  }

  align(stretch: Stretch): Stretch {
    return stretch
  }

  readonly buckets = async ({ from, to }: Window): Promise<BucketsOf> => {
    const lines = (await this.#ask('GET', `/ledger/buckets?from=${from}&to=${to - 1}`)) as readonly BucketLine[]
    const buckets: BucketsOf = new Map()
    for (const line of lines) {
      const { bucket, trades: count, buy_volume: buy, sell_volume: sell, low, high, times } = line
      const amounts = { count, buy, sell, buyQuote: line.buy_quote, sellQuote: line.sell_quote }
      addTo(buckets, instrumentOf(line), bucket, { ...amounts, low, high, times })
    }
    return buckets
  }

  /** The venues' clock, on a tape the tape's: microseconds. */
  async now(): Promise<number> {
    return ((await this.#ask('GET', '/tape')) as { readonly now: number }).now
  }

  /** Whether nothing traded for a while: the simulator is paused, or its tape is over. */
  async isStill(): Promise<boolean> {
    const before = sum((await this.totals()).values())
    await delay(STILL_MS)
    return areEqual(before, sum((await this.totals()).values()))
  }

  /** Gives whether the market was paused before. */
  async pause(): Promise<boolean> {
    const { was_paused } = (await this.#ask('POST', '/pause')) as { readonly was_paused: boolean }
    return was_paused
  }

  /** Pauses the market while `work` goes on, and leaves it as it was. */
  async whilePaused<Result>(work: () => Promise<Result>): Promise<Result> {
    const wasPaused = await this.pause()
    try {
      return await work()
    } finally {
      if (!wasPaused) await this.resume()
    }
  }

  async resume(): Promise<void> {
    await this.#ask('POST', '/resume')
  }

  /** Times are microseconds, both ends included. */
  async #lines(bounds: Record<string, string | number>): Promise<readonly LedgerLine[]> {
    const query = new URLSearchParams(
      Object.entries(bounds).map(([name, value]): [string, string] => [name, String(value)]),
    )
    return (await this.#ask('GET', `/ledger?${query.toString()}`)) as readonly LedgerLine[]
  }

  async #ask(method: 'GET' | 'POST', target: string): Promise<unknown> {
    const answer = await fetch(this.#url + target, { method, signal: AbortSignal.timeout(ANSWER_MS) })
    if (!answer.ok) throw new Error(`the simulator answered ${answer.status} to ${method} ${target}`)
    return answer.json()
  }
}

function instrumentOf({ venue, instrument }: Pick<LedgerLine, 'venue' | 'instrument'>): string {
  const row = tradeVenues.find((candidate) => candidate.venue === venue)
  if (row === undefined) throw new Error(`the ledger names an unknown venue: ${venue}`)
  return instrumentId(venue, row.market, instrument)
}

function totalsOf(line: LedgerLine): Totals {
  return { count: line.trades, buy: decimalOf(line.buy_volume), sell: decimalOf(line.sell_volume) }
}
