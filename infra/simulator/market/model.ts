import { knownAssets } from '../../../schemas/catalogue.ts'
import { type AssetRow, assets, type Market, simulatedMarkets } from './markets.ts'
import { Random } from './random.ts'
import type { Fill, Micros } from './trade.ts'

/** The market moves in steps of this length, so its course does not depend on when it is asked. */
const STEP_MICROS = 4_000
/** After a longer standstill (a stopped process, a paused market) time is skipped, not made up for. */
const CATCH_UP_MICROS_MAX = 5_000_000
const YEAR_SECONDS = 31_557_600

/** Of all orders, this share follows from an earlier one of the same asset, and of any asset: arrivals cluster. */
const OWN_EXCITATION = 0.45
const SHARED_EXCITATION = 0.2
const OWN_DECAY_SECONDS = 0.3
const SHARED_DECAY_SECONDS = 3
/** However excited, never more orders a second than this many times the mean rate and some more. */
const BURST_MAX = 12
const BURST_MORE = 20

const streamed = new Set(knownAssets.filter((asset) => asset.streamed === true).map((asset) => asset.symbols[0]))
const streamedMarkets = simulatedMarkets.filter((market) => streamed.has(market.asset))

/** One asset's part of the market's state. */
interface AssetState {
  readonly row: AssetRow
  readonly markets: readonly Market[]
  readonly rate: number
  /** Price relative to the start's, as a logarithm. */
  drift: number
  excitation: number
  /** Lean of the order flow, -1 to 1; slow, so that volume delta trends. */
  lean: number
  lastBuy: boolean
  offsets: Map<Market, number>
}

export interface DrawnFills {
  readonly market: Market
  readonly fills: readonly Fill[]
}

/**
 * A seeded market: correlated random walks whose volatility clusters, orders that arrive in bursts and lean to one
 * side for a while, heavy-tailed sizes, and venues that differ by some basis points. The same seed and start give the
 * same trades, however `advance` is called.
 */
export class MarketModel {
  private readonly random: Random
  private readonly states: readonly AssetState[]
  private readonly orderRate: number
  private time: Micros
  private sharedExcitation = 0
  private volatility = 0
  private activity = 0
  private dollar = 0.0004
  private readonly basis: ((market: Market, time: Micros) => number) | undefined

  /**
   * `rate`: trades a second over the markets of the assets that are streamed from the start, in the long run; the others
   * trade beside them. `prices`: of one size unit, to go on from, without their basis. `basis`: how far a market's price
   * is from its asset's, as a factor; by itself dollar markets differ by what a tether dollar is worth.
   */
  constructor(options: {
    seed: number
    rate: number
    start: Micros
    prices?: ReadonlyMap<Market, number>
    basis?: (market: Market, time: Micros) => number
  }) {
    this.random = new Random(options.seed)
    this.basis = options.basis
    this.time = Math.floor(options.start / STEP_MICROS) * STEP_MICROS
    this.orderRate = options.rate / RECORDS_PER_ORDER
    const weights = streamedMarkets.reduce((sum, market) => sum + market.weight, 0)
    this.states = assets.map((row) => stateOf(row, this.orderRate / weights, options.prices))
  }

  /** What trades until `to`, market by market, each in order of time. */
  advance(to: Micros): DrawnFills[] {
    if (to - this.time > CATCH_UP_MICROS_MAX) this.skip(to)
    const drawn = new Map<Market, Fill[]>()
    while (this.time + STEP_MICROS <= to) this.step(drawn)
    return [...drawn].map(([market, fills]) => ({ market, fills: fills.sort((left, right) => left.time - right.time) }))
  }

  /** Nothing trades until `to`. */
  skip(to: Micros): void {
    this.time = Math.max(this.time, Math.floor(to / STEP_MICROS) * STEP_MICROS)
  }

  private step(drawn: Map<Market, Fill[]>): void {
    const seconds = STEP_MICROS / 1e6
    this.moveMood(seconds)
    const shared = this.random.normal()
    const heat = Math.sqrt(Math.min(4, 1 + this.sharedExcitation / Math.max(1, this.orderRate)))
    const scale = Math.exp(this.volatility) * heat * Math.sqrt(seconds / YEAR_SECONDS)
    for (const state of this.states) {
      move(state, this.random, { seconds, scale, shared })
      const count = this.random.poisson(this.intensity(state) * seconds)
      for (let order = 0; order < count; order += 1) this.order(state, drawn)
    }
    this.time += STEP_MICROS
  }

  /** Slow moods: how volatile and how busy it is, and what a dollar is worth in USDT. */
  private moveMood(seconds: number): void {
    this.volatility = towards(this.volatility, { mean: 0, spread: 0.5, seconds, memory: 120, random: this.random })
    this.activity = towards(this.activity, { mean: -0.06, spread: 0.35, seconds, memory: 60, random: this.random })
    this.dollar = towards(this.dollar, { mean: 0.0004, spread: 0.0002, seconds, memory: 600, random: this.random })
    this.sharedExcitation *= Math.exp(-seconds / SHARED_DECAY_SECONDS)
    for (const state of this.states) state.excitation *= Math.exp(-seconds / OWN_DECAY_SECONDS)
  }

  /** Orders a second. */
  private intensity(state: AssetState): number {
    const base = state.rate * (1 - OWN_EXCITATION - SHARED_EXCITATION) * Math.exp(this.activity)
    const shared = (this.sharedExcitation * state.rate) / this.orderRate
    return Math.min(BURST_MAX * state.rate + BURST_MORE, base + state.excitation + shared)
  }

  private order(state: AssetState, drawn: Map<Market, Fill[]>): void {
    const { random } = this
    state.excitation += OWN_EXCITATION / OWN_DECAY_SECONDS
    this.sharedExcitation += SHARED_EXCITATION / SHARED_DECAY_SECONDS
    const market = pickMarket(state.markets, random)
    const buy = random.chance(0.62) ? state.lastBuy : random.chance(0.5 + state.lean / 2)
    state.lastBuy = buy
    const offset = 0.12 * random.normal() * 0.0001 + 0.98 * (state.offsets.get(market) ?? 0)
    state.offsets.set(market, offset)
    const basis = this.basis?.(market, this.time) ?? (market.quote === 'USD' ? Math.exp(this.dollar) : 1)
    const price = market.startPrice * Math.exp(state.drift + offset) * basis
    const time = this.time + random.below(STEP_MICROS)
    const fills = fillsOf({ market, price, buy, time, depth: state.row.weight }, random)
    state.drift += (buy ? 1 : -1) * 2e-6 * Math.sqrt(fills.length / (1 + state.row.weight))
    const others = drawn.get(market)
    if (others === undefined) drawn.set(market, fills)
    else others.push(...fills)
  }
}

function stateOf(row: AssetRow, ratePerWeight: number, prices: ReadonlyMap<Market, number> | undefined): AssetState {
  const markets = simulatedMarkets.filter((market) => market.asset === row.asset)
  const known = markets.find((market) => prices?.has(market) === true)
  const price = known === undefined ? undefined : prices?.get(known)
  return {
    row,
    markets,
    rate: markets.reduce((sum, market) => sum + market.weight, 0) * ratePerWeight,
    drift: known === undefined || price === undefined ? 0 : Math.log(price / known.startPrice),
    excitation: 0,
    lean: 0,
    lastBuy: true,
    offsets: new Map(),
  }
}

/** One step of the price, pulled back over weeks so that a demo left running stays plausible. */
function move(
  state: AssetState,
  random: Random,
  { seconds, scale, shared }: { seconds: number; scale: number; shared: number },
): void {
  const own = Math.sqrt(Math.max(0.05, state.row.volatility ** 2 - (0.4 * state.row.beta) ** 2))
  state.drift += scale * (0.4 * state.row.beta * shared + own * random.normal())
  state.drift *= 1 - seconds / (30 * 86_400)
  state.lean = towards(state.lean, { mean: 0, spread: 0.25, seconds, memory: 240, random })
}

/** One step of an Ornstein-Uhlenbeck process. */
function towards(
  value: number,
  way: { mean: number; spread: number; seconds: number; memory: number; random: Random },
): number {
  const pull = way.seconds / way.memory
  return value + (way.mean - value) * pull + way.spread * Math.sqrt(2 * pull) * way.random.normal()
}

function pickMarket(markets: readonly Market[], random: Random): Market {
  const total = markets.reduce((sum, market) => sum + market.weight, 0)
  let point = random.unit() * total
  const found = markets.find((market) => (point -= market.weight) < 0)
  const market = found ?? markets[0]
  if (market === undefined) throw new Error('an asset without a market')
  return market
}

/** Mean number of trade records that one taker order makes; measured over a million orders. */
export const RECORDS_PER_ORDER = 1.44

const LEVELS_MAX = 6
const NOTIONAL_MAX = 4_000_000

interface Order {
  readonly market: Market
  /** Middle of the book, for one unit of size, in quote currency. */
  readonly price: number
  readonly buy: boolean
  readonly time: Micros
  /** How liquid the asset is; larger orders come to deeper books. */
  readonly depth: number
}

/** What one taker order trades: from the best price on, level by level. */
function fillsOf(order: Order, random: Random): Fill[] {
  const { market, buy, time } = order
  const block = market.venue === 'bybit' && random.chance(0.0005)
  const size = sizeOf(order, random) * (block ? 40 : 1)
  const rpi = (market.venue === 'bybit' || market.venue === 'binance') && random.chance(0.03)
  const parts = block ? [size] : cut(size, partsOf(market, random), random)
  const best = bestPrice(order)
  return parts.map((part, level) => ({
    time,
    price: Math.max(market.tick, best + (buy ? 1 : -1) * levelOf(market, level, random) * market.tick),
    size: part,
    buy,
    fills: market.venue === 'binance' ? Math.min(part, 1 + random.below(1 + random.below(6))) : 1,
    block,
    rpi,
  }))
}

/** In whole units: the ask for a buyer, the bid for a seller, a tenth of a basis point from the middle, on the grid. */
function bestPrice({ market, price, buy }: Order): number {
  // A contract's price is quoted per base unit on OKX, which `startPrice` already is.
  const ticks = (price * 10 ** market.priceDecimals) / market.tick
  const spread = Math.max(0.5, ticks * 0.000_01)
  return market.tick * (buy ? Math.ceil(ticks + spread) : Math.floor(ticks - spread))
}

/** Heavy-tailed: most orders are small, a few move the market; people like round sizes. Whole units of size. */
function sizeOf({ market, price, depth }: Order, random: Random): number {
  const kind = random.unit()
  const usd =
    kind < 0.7
      ? 160 * Math.exp(1.5 * random.normal())
      : kind < 0.95
        ? 2_600 * Math.exp(1.2 * random.normal())
        : 15_000 * (1 - random.unit()) ** (-1 / 1.5)
  const notional = Math.min(NOTIONAL_MAX, usd) * Math.sqrt(Math.max(0.05, depth / 10))
  // OKX quotes per base unit but counts contracts, so one unit of size is worth 10^factor of the price.
  const worth = market.venue === 'okx' ? price * 10 ** market.factor : price
  const units = Math.max(1, Math.round((notional / worth) * 10 ** market.sizeDecimals))
  if (!random.chance(0.25)) return units
  const step = 10 ** Math.max(0, Math.floor(Math.log10(units)))
  return Math.max(1, Math.round(units / step)) * step
}

/** Binance merges what one order fills at one price, so it shows fewer records than venues that list each fill. */
function partsOf(market: Market, random: Random): number {
  const more = market.venue === 'binance' ? 0.12 : 0.42
  let parts = 1
  while (parts < 12 && random.chance(more)) parts += 1
  return parts
}

function levelOf(market: Market, part: number, random: Random): number {
  if (market.venue === 'binance') return Math.min(part, LEVELS_MAX)
  return Math.min(LEVELS_MAX, Math.floor(part * random.unit()))
}

/** Cuts a size into at most `parts` whole pieces of at least one unit each. */
function cut(size: number, parts: number, random: Random): number[] {
  const pieces: number[] = []
  let left = size
  for (let open = Math.min(parts, size); open > 1; open -= 1) {
    const piece = 1 + Math.floor((left - open) * random.unit() ** 2)
    pieces.push(piece)
    left -= piece
  }
  pieces.push(left)
  return pieces
}
