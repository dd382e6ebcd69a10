import type {
  Candle,
  Instrument,
  Liquidation,
  LongShortRatio,
  Micros,
  PriceCandle,
  Settlement,
} from '../../../schemas/records.ts'
import { dividedByFactor, timesFactor } from '../venues/decimal.ts'
import { DerivativeState, TermsState } from './derivative-state.ts'
import type { CandleFact, FactRow, LiquidationFact, RatioFact, SettlementFact } from '../venues/events.ts'
import { type Scales, SpotState } from './spot-state.ts'

const minute: Micros = 60_000_000
/** Kept of each instrument to drop what comes twice: eight hours of minutes and more, a quarter of settlements. */
const minutesKept = 600
const settlementsKept = 600
const ratiosKept = 50
const candlesKept = 120
const liquidationsKept = 1_000

/** Everything that is known of one instrument: its states, and what has been written of it. */
export class FactMarket {
  readonly instrument: Instrument
  readonly spot: SpotState
  readonly derivative: DerivativeState
  readonly terms: TermsState
  readonly premiums = new SeenKeys<Micros>(minutesKept)
  readonly #scales: Scales
  readonly #settlements = new SeenKeys<Micros>(settlementsKept)
  readonly #ratios = new SeenKeys<string>(ratiosKept)
  readonly #candles = new SeenKeys<Micros>(candlesKept)
  readonly #liquidations = new SeenKeys<string>(liquidationsKept)

  constructor(instrument: Instrument) {
    this.instrument = instrument
    this.#scales = { price: dividedByFactor(instrument.price_factor), size: timesFactor(instrument.size_factor) }
    this.spot = new SpotState(instrument, this.#scales)
    this.derivative = new DerivativeState(instrument, this.#scales)
    this.terms = new TermsState(instrument)
  }

  hasSettled(at: Micros): boolean {
    return this.#settlements.has(wholeMinute(at))
  }

  /** Undefined: it is known. The same holds of all that follow. */
  settlement(fact: SettlementFact, received: Micros): Settlement | undefined {
    return this.#settlements.first(wholeMinute(fact.time)) ? this.settlementOf(fact, received) : undefined
  }

  /** The same whether it is known or not. So are `ratioOf` and `candleOf`. */
  settlementOf(fact: SettlementFact, received: Micros): Settlement {
    const mark = fact.mark === null ? null : this.#scales.price(fact.mark)
    return { ...this.#names(), settled_rate: Number(fact.rate), mark, time: wholeMinute(fact.time), received }
  }

  ratio(fact: RatioFact, received: Micros): LongShortRatio | undefined {
    const { cohort, basis, time } = fact
    return this.#ratios.first(`${cohort} ${basis} ${time}`) ? this.ratioOf(fact, received) : undefined
  }

  ratioOf({ cohort, basis, long, short, ratio, time }: RatioFact, received: Micros): LongShortRatio {
    return { ...this.#names(), cohort, basis, long_ratio: long, short_ratio: short, ls_ratio: ratio, time, received }
  }

  candle(fact: CandleFact, received: Micros): Candle | undefined {
    return this.#candles.first(fact.minute) ? this.candleOf(fact, received) : undefined
  }

  candleOf(fact: CandleFact, received: Micros): Candle {
    const { price, size } = this.#scales
    return {
      ...this.#names(),
      minute: fact.minute,
      open: price(fact.open),
      high: price(fact.high),
      low: price(fact.low),
      close: price(fact.close),
      volume: size(fact.volume),
      taker_buy: fact.takerBuy === null ? null : size(fact.takerBuy),
      trades: fact.trades,
      received,
    }
  }

  /** `time`: already bounded by `received`. */
  liquidation(fact: LiquidationFact, time: Micros, received: Micros): Liquidation | undefined {
    if (!this.#liquidations.first(fact.id)) return undefined
    const price = this.#scales.price(fact.price)
    const size = this.#scales.size(fact.size)
    const { id, side, priceKind, completeness } = fact
    const value = price * size
    return { ...this.#names(), id, side, size, price, price_kind: priceKind, value, completeness, time, received }
  }

  /** A candle's bounds in quote units of one base unit. */
  bounds({ low, high }: CandleFact): { low: number; high: number } {
    return { low: this.#scales.price(low), high: this.#scales.price(high) }
  }

  #names(): { instrument: string; asset: string } {
    return { instrument: this.instrument.instrument, asset: this.instrument.asset }
  }
}

/** Settlements come some milliseconds off their minute (08:00:00.003). */
function wholeMinute(time: Micros): Micros {
  return Math.round(time / minute) * minute
}

/** Lowest and highest price of each minute that touches [from, to) and has a candle among `rows`, oldest first. */
export function candlesIn(market: FactMarket, rows: readonly FactRow[], from: Micros, to: Micros): PriceCandle[] {
  return rows
    .filter((row) => 'kind' in row && row.kind === 'candle')
    .filter((candle) => candle.minute + minute > from && candle.minute < to)
    .map((candle) => ({ minute: candle.minute, ...market.bounds(candle) }))
    .sort((a, b) => a.minute - b.minute)
}

/** What has come before, of the newest `limit` keys: an older one that comes again is taken for new, and readers drop it. */
class SeenKeys<Key> {
  readonly #limit: number
  readonly #keys = new Set<Key>()

  constructor(limit: number) {
    this.#limit = limit
  }

  has(key: Key): boolean {
    return this.#keys.has(key)
  }

  /** Whether `key` is new; from then on it is not. */
  first(key: Key): boolean {
    if (this.#keys.has(key)) return false
    this.#keys.add(key)
    if (this.#keys.size > this.#limit) for (const oldest of this.#keys.keys()) return this.#keys.delete(oldest)
    return true
  }
}
