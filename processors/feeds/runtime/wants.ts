import { knownAsset, knownAssets } from '../../../schemas/catalogue.ts'
import type { Micros, Subscription } from '../../../schemas/records.ts'

/** Wants kept at once; beyond it new ones are not taken, so that nobody can make us subscribe without end. */
export const maxWants = 20_000

/** Which assets are wanted: the pre-subscribed ones, and what stands in `control.subscriptions` and has not lapsed. */
export class Wants {
  readonly #always: readonly string[]
  readonly #wants = new Map<string, Subscription>()

  constructor(always: readonly string[]) {
    this.#always = always
  }

  /** Takes one record of the topic; null: the want was taken back. */
  apply(key: string, want: Subscription | null): void {
    if (want === null) this.#wants.delete(key)
    else if (this.#wants.has(key) || this.#wants.size < maxWants) this.#wants.set(key, want)
  }

  /** The assets that are wanted at `now`; lapsed wants are forgotten. */
  assets(now: Micros): Set<string> {
    const assets = new Set(this.#always)
    for (const [key, { asset, until }] of this.#wants) {
      if (until <= now) this.#wants.delete(key)
      else assets.add(asset)
    }
    return assets
  }
}

/** The assets that are streamed from the start: those of `symbols`, or the catalogue's own eight where it is empty. */
export function streamedAssets(symbols: readonly string[]): string[] {
  if (symbols.length === 0) return knownAssets.flatMap(({ id, streamed }) => (streamed === true ? [id] : []))
  return symbols.map((symbol) => knownAsset(symbol.toUpperCase())?.id ?? symbol.toLowerCase())
}
