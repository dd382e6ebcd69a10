import type { PerpMarket, SimLiquidation } from './economy.ts'
import type { Micros } from './trade.ts'

/** Levels are kept in steps of this part of the price. */
const STEP = 0.000_4
/** What a position is opened for: in another's place, or because open interest is built up. */
export type Opening = 'replacing' | 'building'

/**
 * Leverage and the share of new positions that take it: of those that replace others, and of those that are built up. What is
 * left over is hedged, low or cross: never at risk.
 */
const leverages = [
  [5, { replacing: 0.003, building: 0.045 }],
  [10, { replacing: 0.005, building: 0.09 }],
  [20, { replacing: 0.003, building: 0.135 }],
  [25, { replacing: 0.0015, building: 0.135 }],
  [50, { replacing: 0.002, building: 0.09 }],
  [75, { replacing: 0.002, building: 0.036 }],
  [100, { replacing: 0.003, building: 0.027 }],
  [125, { replacing: 0.002, building: 0.009 }],
] as const
/** How far entries are spread around the price at which they are counted. */
const ENTRY_SPREAD = 0.003
const SCALE_MIN = 1e-9

type PositionSide = 'long' | 'short'

/** Positions of one side by the step in which they are liquidated; `size` times `scale` is what is there. */
interface Side {
  readonly levels: Map<number, number>
  scale: number
  mass: number
}

/** Positions whose liquidation price has been reached. */
interface Swept {
  readonly side: PositionSide
  /** Mean liquidation price, weighted by size. */
  readonly price: number
  readonly size: number
}

/** What is written down of a book. */
export interface BookState {
  readonly interest: number
  readonly mark: number
  readonly long: readonly (readonly [number, number])[]
  readonly short: readonly (readonly [number, number])[]
}

/**
 * Who would be liquidated where. Every contract has a long and a short: each opening adds to both sides, each closing
 * takes from both in proportion, each liquidation takes the position and as much from the other side.
 */
export class LeverageBook {
  /** Open interest, one-sided, base units. */
  interest: number
  /** Sums since the book was begun: opened less closed less liquidated is what the interest has changed by. */
  readonly sums = { opened: 0, closed: 0, liquidated: 0 }
  private mark: number
  private readonly maintenance: number
  private readonly tiers: readonly (readonly [number, Readonly<Record<Opening, number>>])[]
  private readonly sides: Readonly<Record<PositionSide, Side>> = { long: emptySide(), short: emptySide() }

  constructor(
    { maxLeverage, maintenance }: { maxLeverage: number; maintenance: number },
    { interest, mark }: { interest: number; mark: number },
  ) {
    this.interest = interest
    this.mark = mark
    this.maintenance = maintenance
    this.tiers = leverages.filter(([leverage]) => leverage <= maxLeverage)
  }

  /** New contracts at about `price`; `draw` gives numbers in [0, 1). */
  open(price: number, size: number, opening: Opening, draw: (index: number) => number): void {
    if (size <= 0) return
    this.interest += size
    this.sums.opened += size
    this.tiers.forEach(([leverage, shares], index) => {
      const spread = 1 + ENTRY_SPREAD * (2 * draw(index) - 1)
      const long = (price * spread * (1 - 1 / leverage)) / (1 - this.maintenance)
      const short = (price * spread * (1 + 1 / leverage)) / (1 + this.maintenance)
      if (long < this.mark) this.put('long', Math.floor(Math.log(long) / STEP), size * shares[opening])
      if (short > this.mark) this.put('short', Math.ceil(Math.log(short) / STEP), size * shares[opening])
    })
  }

  /** Contracts that end because both sides want it. */
  close(size: number): void {
    const gone = Math.min(size, this.interest * 0.9)
    if (gone <= 0) return
    this.shrink('long', gone)
    this.shrink('short', gone)
    this.interest -= gone
    this.sums.closed += gone
  }

  /** Takes out the positions whose liquidation price lies between the last mark and this one. */
  move(mark: number): Swept[] {
    const swept = (['long', 'short'] as const).flatMap((side) => this.reached(side, mark))
    this.mark = mark
    return swept
  }

  /** `size` of one side's positions was closed by force: the other side is closed by as much. */
  liquidated(side: PositionSide, size: number): void {
    this.shrink(side === 'long' ? 'short' : 'long', size)
    this.interest -= size
    this.sums.liquidated += size
  }

  /** Size at risk on one side. */
  mass(side: PositionSide): number {
    return this.sides[side].mass
  }

  state(): BookState {
    const levels = (side: PositionSide): [number, number][] =>
      [...this.sides[side].levels].map(([step, size]) => [step, Number((size * this.sides[side].scale).toPrecision(6))])
    return { interest: this.interest, mark: this.mark, long: levels('long'), short: levels('short') }
  }

  /** Goes on from `state`; what was written down before it was swept is not swept again. */
  restore(state: BookState, mark: number): void {
    this.interest = state.interest
    this.mark = mark
    for (const side of ['long', 'short'] as const) {
      for (const [step, size] of state[side]) if (!beyond(side, step, mark)) this.put(side, step, size)
    }
  }

  private put(side: PositionSide, step: number, size: number): void {
    const { levels, scale } = this.sides[side]
    levels.set(step, (levels.get(step) ?? 0) + size / scale)
    this.sides[side].mass += size
  }

  private reached(side: PositionSide, mark: number): Swept[] {
    const { levels, scale } = this.sides[side]
    let [size, worth] = [0, 0]
    for (const step of between(side, this.mark, mark)) {
      const level = levels.get(step)
      if (level === undefined || !beyond(side, step, mark)) continue
      levels.delete(step)
      size += level * scale
      worth += level * scale * Math.exp(step * STEP)
    }
    this.sides[side].mass = Math.max(0, this.sides[side].mass - size)
    return size > 0 ? [{ side, size, price: worth / size }] : []
  }

  private shrink(side: PositionSide, size: number): void {
    const left = Math.max(0, 1 - size / this.interest)
    const own = this.sides[side]
    own.scale *= left
    own.mass *= left
    if (own.scale > SCALE_MIN) return
    for (const [step, level] of own.levels) own.levels.set(step, level * own.scale)
    own.scale = 1
  }
}

/** A long is liquidated at or below its level, a short at or above. */
function beyond(side: PositionSide, step: number, mark: number): boolean {
  const price = Math.exp(step * STEP)
  return side === 'long' ? mark <= price : mark >= price
}

/** Steps that the mark went through, if it went that side's way. */
function* between(side: PositionSide, from: number, to: number): Iterable<number> {
  const [first, last] = [Math.log(from) / STEP, Math.log(to) / STEP]
  if (side === 'long') for (let step = Math.ceil(first); step >= Math.floor(last); step -= 1) yield step
  else for (let step = Math.floor(first); step <= Math.ceil(last); step += 1) yield step
}

function emptySide(): Side {
  return { levels: new Map(), scale: 1, mass: 0 }
}

/** One liquidation order is about this large at most, dollars. */
const ORDER_USD = 60_000
const ORDERS_MAX = 8
/** Smaller ones are not worth an order: such positions live on, unlevered. */
const ORDER_USD_MIN = 40
const SLIPPAGE = 0.0008

/** The orders that close what was swept: whole lots of the venue, prices with its decimals. */
export function closingsOf(
  market: PerpMarket,
  swept: Swept,
  { mark, time, draw }: { mark: number; time: Micros; draw: (index: number) => number },
): SimLiquidation[] {
  const places = market.sizeDecimals - market.factor
  const worth = swept.size * swept.price
  const count = Math.min(ORDERS_MAX, 1 + Math.floor((worth * draw(0)) / ORDER_USD))
  const maintenance = market.tiers[0]?.rate ?? 0.01
  const sign = swept.side === 'long' ? -1 : 1
  const closings: SimLiquidation[] = []
  let left = swept.size
  for (let index = 0; index < count; index += 1) {
    const part = index === count - 1 ? left : left * (0.3 + 0.6 * draw(1 + index))
    const size = floored(part, places)
    if (size <= 0 || size * swept.price < ORDER_USD_MIN) continue
    left -= size
    const bankruptcy = swept.price * (1 + sign * maintenance)
    const fill = mark * (1 + sign * SLIPPAGE * draw(10 + index))
    // A fund pays what the order loses beyond the bankruptcy price.
    const filled = swept.side === 'long' ? Math.max(fill, bankruptcy) : Math.min(fill, bankruptcy)
    const [bankruptcyPrice, fillPrice] = [priced(market, bankruptcy), priced(market, filled)]
    closings.push({ time, side: swept.side, size, bankruptcyPrice, fillPrice })
  }
  return closings
}

function priced(market: PerpMarket, price: number): number {
  const places = market.priceDecimals + market.priceFactor
  return Number(`${Math.round(Number(`${price.toPrecision(15)}e${places}`))}e${-places}`)
}

function floored(size: number, places: number): number {
  return Number(`${Math.floor(size * 10 ** places)}e${-places}`)
}
