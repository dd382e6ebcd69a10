import type { Instrument } from '../../schemas/records.ts'
import { median } from '../prices/median.ts'

/** What quotes are worth in dollars, as this process last saw it: the median of the venues' USDT-USD and USDC-USD. */
export class QuoteRates {
  /** Quote ticker to the newest price of each instrument. */
  readonly #prices = new Map([
    ['USDT', new Map<string, number>()],
    ['USDC', new Map<string, number>()],
  ])
  readonly #medians = new Map<string, number>()

  /** Takes the price of any spot instrument; those of other assets say nothing of a quote. */
  see({ instrument, asset, quote }: Instrument, price: number): void {
    if (quote !== 'USD') return
    const ticker = asset.toUpperCase()
    const prices = this.#prices.get(ticker)
    if (prices === undefined) return
    prices.set(instrument, price)
    this.#medians.set(ticker, median([...prices.values()]) ?? price)
  }

  /** Dollars for one unit; 1 before anything was seen, undefined for a quote that we do not follow. */
  of(quote: string): number | undefined {
    if (quote === 'USD') return 1
    return this.#prices.has(quote) ? (this.#medians.get(quote) ?? 1) : undefined
  }
}
