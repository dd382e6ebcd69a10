import type { Logger } from '../../infra/log.ts'
import { askMarkets, seedOf, type Asked, type InstrumentTable } from './instruments-socket.ts'
import type { VenueMarkets } from './instruments.ts'

/** How long the first start waits for a venue's list before it goes by the checked-in one. */
const firstWaitMs = 8_000
/** The same where the log knows the venue's markets from before: trades matter more than news of markets. */
const knownWaitMs = 1_500
/** New listings and renames are learnt this often; a venue whose list could not be had is asked again sooner. */
const againMs = 3_600_000
const failedAgainMs = 60_000

/** Keeps the table of instruments true: asks at start, falls back, and asks again in the background. */
export class Listings {
  readonly #table: InstrumentTable
  readonly #venues: readonly Asked[]
  readonly #log: Logger
  readonly #apply: () => void
  readonly #newest = new Map<string, VenueMarkets>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #updating: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(table: InstrumentTable, venues: readonly Asked[], log: Logger, apply: () => void) {
    this.#table = table
    this.#venues = venues
    this.#log = log
    this.#apply = apply
  }

  /** Resolves when every venue has a list, its own or the checked-in one, and it is applied. */
  async first(): Promise<void> {
    await Promise.all(this.#venues.map((asked) => this.#firstOf(asked)))
    await this.#update()
  }

  stop(): void {
    this.#stopped = true
    for (const timer of this.#timers) clearTimeout(timer)
  }

  async #firstOf(asked: Asked): Promise<void> {
    const { venue } = asked
    const waitMs = this.#table.knows(venue.name) ? knownWaitMs : firstWaitMs
    const answer = this.#ask(asked)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), waitMs)
    })
    const first = await Promise.race([answer, late])
    clearTimeout(timer)
    if (first !== 'late') return
    this.#newest.set(venue.name, seedOf(venue))
    void answer.then(() => this.#update())
  }

  async #ask(asked: Asked): Promise<void> {
    const { venue } = asked
    const markets = await askMarkets(asked)
    this.#newest.set(venue.name, markets)
    if (markets.source === 'seed') this.#log.warn({ venue: venue.name }, 'no list of markets, using the checked-in one')
    this.#later(markets.source === 'seed' ? failedAgainMs : againMs, asked)
  }

  #later(ms: number, asked: Asked): void {
    if (this.#stopped) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      void this.#ask(asked).then(() => this.#update())
    }, ms)
    this.#timers.add(timer)
  }

  /** One update after the other; joins all venues, since an asset is told by more than one. */
  #update(): Promise<void> {
    this.#updating = this.#updating.then(() => this.#updateNow())
    return this.#updating
  }

  async #updateNow(): Promise<void> {
    if (this.#stopped) return
    const markets = this.#venues.flatMap(({ venue }) => this.#newest.get(venue.name) ?? [])
    const doubts = await this.#table.update(markets, Date.now() * 1_000)
    for (const doubt of doubts) this.#log.warn({ doubt }, 'a market that may not be its asset')
    this.#apply()
  }
}
