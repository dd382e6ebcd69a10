import type { Logger } from '../../../infra/log.ts'
import { hostNow, ticks } from './process-clock.ts'
import { askMarkets, seedOf, type ListedMarket, type InstrumentTable } from './instrument-table.ts'
import type { Doubt } from '../venues/assets.ts'
import type { VenueMarkets } from '../venues/instruments.ts'

/** How long the first start waits for a venue's list before it goes by the checked-in one. */
const firstWaitMs = 8_000
/** The same where the log knows the venue's markets from before: trades matter more than news of markets. */
const knownWaitMs = 1_500
/** A market whose list, or whose prices, could not be had, or that lost many rows, is asked again sooner than the others. */
const failedAgainMs = 60_000
/** A list that has lost more than this part of its live rows at once, and than so many, may be cut short, or its venue in maintenance. */
const lossMax = 0.1
const lossMin = 2
/** A new market is compared with prices that are not older. */
const pricesFreshMs = 60_000
/** A venue that refuses a symbol may have changed its list: it is asked again, but not more often than this. */
const soonMs = 30_000

/** Keeps the table of instruments true: asks at start, falls back, and asks again in the background. */
export class Listings {
  readonly #table: InstrumentTable
  readonly #markets: readonly ListedMarket[]
  readonly #againMs: number
  readonly #log: Logger
  readonly #apply: () => void
  readonly #newest = new Map<ListedMarket, VenueMarkets>()
  readonly #timers = new Map<ListedMarket, NodeJS.Timeout>()
  readonly #askedAt = new Map<ListedMarket, number>()
  /** Markets whose newest list was not believed. */
  readonly #doubted = new Set<ListedMarket>()
  /** Until when a market that lost many rows is asked again soon. */
  readonly #soonUntil = new Map<ListedMarket, number>()
  /** Instruments whose doubts the log has been told. */
  readonly #told = new Set<string>()
  #updating: Promise<void> = Promise.resolve()
  #stopped = false

  /** `againMs`: how often new listings, renames and changed contract values are learnt. */
  constructor(
    table: InstrumentTable,
    markets: readonly ListedMarket[],
    againMs: number,
    log: Logger,
    apply: () => void,
  ) {
    this.#table = table
    this.#markets = markets
    this.#againMs = againMs
    this.#log = log
    this.#apply = apply
  }

  /** Resolves when every market has a list, the venue's own or the checked-in one, and it is applied. */
  async first(): Promise<void> {
    await Promise.all(this.#markets.map((asked) => this.#firstOf(asked)))
    await this.#update()
  }

  /** The venue's lists seem to have changed. */
  soon(venue: string): void {
    for (const asked of this.#markets.filter(({ name }) => name === venue)) {
      const since = ticks() - (this.#askedAt.get(asked) ?? 0)
      if (this.#timers.has(asked)) this.#later(Math.min(this.#againMs, Math.max(0, soonMs - since)), asked)
    }
  }

  stop(): void {
    this.#stopped = true
    for (const timer of this.#timers.values()) clearTimeout(timer)
  }

  async #firstOf(asked: ListedMarket): Promise<void> {
    const waitMs = this.#table.knows(asked.name, asked.market) ? knownWaitMs : firstWaitMs
    const answer = this.#ask(asked)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), waitMs)
    })
    const first = await Promise.race([answer, late])
    clearTimeout(timer)
    if (first !== 'late') return
    this.#newest.set(asked, seedOf(asked))
    void answer.then(() => this.#update())
  }

  async #ask(asked: ListedMarket): Promise<void> {
    const { name: venue, market } = asked
    this.#askedAt.set(asked, ticks())
    const markets = await askMarkets(asked)
    const isSeed = markets.source === 'seed'
    const arePricesOld = markets.arePricesOld === true
    const before = this.#newest.get(asked)
    // What the venue said an hour ago is better than what is checked in, and than no price at all.
    if (isSeed && before?.source !== 'venue') this.#newest.set(asked, markets)
    else if (!isSeed && this.#believes(asked, markets))
      this.#newest.set(asked, arePricesOld ? { ...markets, prices: before?.prices ?? [] } : markets)
    if (isSeed) this.#log.warn({ venue, market }, 'no list of markets, using the newest one that is known')
    if (arePricesOld) this.#log.warn({ venue, market }, 'no list of prices, new markets wait for it')
    const isSoon = isSeed || arePricesOld || ticks() < (this.#soonUntil.get(asked) ?? 0)
    this.#later(isSoon ? Math.min(failedAgainMs, this.#againMs) : this.#againMs, asked)
  }

  /** A list without many of the rows that are live is believed when the next one is without them too. */
  #believes(asked: ListedMarket, markets: VenueMarkets): boolean {
    const { live, missing, stopped } = this.#table.lossOf(markets)
    const few = Math.max(lossMin, live * lossMax)
    if (missing + stopped > few) {
      this.#soonUntil.set(asked, ticks() + this.#againMs)
      const { venue, market } = markets
      this.#log.warn({ venue, market, live, missing, stopped }, 'many markets ended at once, asking again in a minute')
    }
    const isCut = missing > few && !this.#doubted.has(asked)
    if (isCut) this.#doubted.add(asked)
    else this.#doubted.delete(asked)
    return !isCut
  }

  /** New markets are joined to assets by their prices: whoever lists the same names tells them anew. */
  async #askNamesakes(asked: ListedMarket): Promise<void> {
    const names = this.#table.newIn(this.#newest.get(asked))
    const others = this.#markets.filter((other) => {
      const isOld = ticks() - (this.#askedAt.get(other) ?? 0) > pricesFreshMs
      return isOld && this.#newest.get(other)?.rows.some(({ live, base }) => live && names.has(base)) === true
    })
    await Promise.all(others.map((other) => this.#ask(other)))
  }

  /** One timer a market: a later call replaces it. */
  #later(ms: number, asked: ListedMarket): void {
    clearTimeout(this.#timers.get(asked))
    if (this.#stopped) return
    const timer = setTimeout(() => {
      this.#timers.delete(asked)
      void this.#ask(asked)
        .then(() => this.#askNamesakes(asked))
        .then(() => this.#update())
    }, ms)
    this.#timers.set(asked, timer)
  }

  /** One update after the other; joins all markets, since an asset is told by more than one. */
  #update(): Promise<void> {
    this.#updating = this.#updating.then(() => this.#updateNow())
    return this.#updating
  }

  async #updateNow(): Promise<void> {
    if (this.#stopped) return
    const markets = this.#markets.flatMap((asked) => this.#newest.get(asked) ?? [])
    const doubts = await this.#table.update(markets, hostNow() * 1_000)
    for (const doubt of doubts) this.#tell(doubt)
    this.#apply()
  }

  /** Once: it stands as long as a venue lists it so. */
  #tell(doubt: Doubt): void {
    if (this.#told.has(doubt.instrument)) return
    this.#told.add(doubt.instrument)
    const isLeftOut = doubt.price === null
    this.#log.warn(
      { doubt },
      isLeftOut ? 'a market is left out until it has a price' : 'a market that may not be its asset',
    )
  }
}
