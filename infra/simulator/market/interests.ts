import { join } from 'node:path'
import { type BookState, closingsOf, LeverageBook, type Opening } from './book.ts'
import type { PerpMarket, SimLiquidation } from './economy.ts'
import { BookFiles, LiquidationLog, StepFile } from './files.ts'
import { dollarsPerSecond, type ReferencePrices } from './reference-prices.ts'
import { assets } from './markets.ts'
import { likeOf, quietDollars, tradedOf } from './perp-side.ts'
import { MINUTE } from './premium.ts'
import { Layers, streamOf, unitOf } from './random.ts'
import type { Micros } from './trade.ts'

const FIVE_MINUTES: Micros = 300_000_000
const SECOND: Micros = 1_000_000
const ROWS_KEPT = 31 * 288
/** Of what trades, this share ends old positions and begins new ones; sentiment adds to one of the two. */
const TURNOVER = 0.3
const SENTIMENT = 0.5
/** How fast the interest goes to where its course is, and the most of what trades that goes into it. */
const PULL = 3
const SHARE_MAX = 0.8

/** A perpetual whose trades are simulated, with its book. */
interface Slot {
  readonly index: number
  readonly market: PerpMarket
  readonly book: LeverageBook
  readonly sentiment: Layers
  readonly stream: number
  /** Base units that traded since the last step. */
  flow: number
}

/** Open interest and liquidations of the perpetuals that trade: both follow from trades and from the mark price. */
export class Interests {
  private readonly reference: ReferencePrices
  private readonly base: BaseInterest
  private readonly files: BookFiles
  private readonly rows: StepFile
  private readonly log: LiquidationLog
  private readonly slots = new Map<string, Slot>()
  private stepped: Micros
  private saved = 0

  /** `markets`: always the same ones in the same order; their place is their number on disk. */
  constructor(
    parts: { reference: ReferencePrices; base: BaseInterest; folder: string; now: Micros },
    markets: readonly PerpMarket[],
  ) {
    const { reference, base, folder, now } = parts
    this.reference = reference
    this.base = base
    this.stepped = now
    this.files = new BookFiles(join(folder, 'books'))
    this.log = new LiquidationLog(join(folder, 'liquidations'), now)
    const from = Math.floor(now / FIVE_MINUTES)
    this.rows = new StepFile(join(folder, 'interests'), { width: markets.length, from, kept: ROWS_KEPT })
    const past = new MinutePrices(reference, now)
    markets.forEach((market, index) => this.begin(market, index, past))
    this.roll(now)
  }

  /** Base units, one-sided; undefined where the market's trades are not simulated. */
  size(market: PerpMarket): number | undefined {
    return this.slots.get(keyOf(market))?.book.interest
  }

  /** Base units have traded. */
  traded(key: string, size: number): void {
    const slot = this.slots.get(key)
    if (slot !== undefined) slot.flow += size
  }

  /** Once a second: what traded opens and closes positions, and the mark reaches some. */
  advance(now: Micros): void {
    if (now - this.stepped < SECOND) return
    this.stepped = now
    for (const slot of this.slots.values()) this.step(slot, now)
    this.roll(now)
    // One after another: all of them at once would hold up the trades.
    this.saved = (this.saved + 1) % this.slots.size
    for (const [key, slot] of this.slots) if (slot.index === this.saved) this.files.save(key, slot.book.state())
  }

  /** At the end of each five minutes of [from, to). */
  history(market: PerpMarket, from: Micros, to: Micros): { time: Micros; size: number }[] {
    const slot = this.slots.get(keyOf(market))
    const history: { time: Micros; size: number }[] = []
    for (let step = Math.ceil(from / FIVE_MINUTES); step * FIVE_MINUTES < to; step += 1) {
      const time = step * FIVE_MINUTES
      const kept = slot === undefined ? undefined : this.rows.at(step, slot.index)
      history.push({ time, size: kept ?? this.base.at(market, time) })
    }
    return history
  }

  liquidations(market: PerpMarket, from: Micros, to: Micros): SimLiquidation[] {
    const slot = this.slots.get(keyOf(market))
    return slot === undefined ? [] : this.log.of(slot.index, from, to)
  }

  close(): void {
    for (const [key, slot] of this.slots) this.files.save(key, slot.book.state())
    this.rows.close()
    this.log.close()
  }

  private begin(market: PerpMarket, index: number, past: MinutePrices): void {
    const now = this.stepped
    const known = this.files.read(keyOf(market))
    const mark = this.mark(market, now)
    const maintenance = market.tiers[0]?.rate ?? 0.01
    const terms = { maxLeverage: market.maxLeverage, maintenance }
    const stream = streamOf(`interest ${keyOf(market)}`)
    const sentiment = new Layers(this.reference.seed, stream, [
      [3_600, 0.7],
      [300, 0.4],
    ])
    const begun = { interest: this.base.at(market, now), mark }
    const book = new LeverageBook(terms, begun)
    if (known !== undefined) book.restore(known, mark)
    const slot: Slot = { index, market, book, sentiment, stream, flow: 0 }
    this.slots.set(keyOf(market), slot)
    if (known !== undefined) return
    const made = warmUp({ reference: this.reference, base: this.base, market, stream, terms, past }, now)
    this.log.append(index, made.liquidations)
    book.restore({ ...made.state, interest: begun.interest }, mark)
    this.files.save(keyOf(market), book.state())
  }

  private step(slot: Slot, now: Micros): void {
    const { book, market, stream } = slot
    const mark = this.mark(market, now)
    const sentiment = SENTIMENT * slot.sentiment.at(now)
    const drift = PULL * Math.log(this.base.at(market, now) / book.interest)
    const second = Math.floor(now / SECOND)
    const draw = (index: number): number => unitOf(this.reference.seed, stream + 1, second * 32 + index)
    book.open(mark, slot.flow * (TURNOVER + within(sentiment)), 'replacing', draw)
    book.open(mark, slot.flow * within(drift), this.base.openingAt(market.asset, now), draw)
    book.close(slot.flow * (TURNOVER + within(-sentiment) + within(-drift)))
    slot.flow = 0
    for (const swept of book.move(mark)) {
      const closings = closingsOf(market, swept, { mark, time: now, draw: (index) => draw(8 + index) })
      this.log.append(slot.index, closings)
      for (const { side, size } of closings) book.liquidated(side, size)
    }
  }

  private mark(market: PerpMarket, now: Micros): number {
    return this.reference.price(market.asset, now) * (1 + this.reference.premium(market).at(now))
  }

  private roll(now: Micros): void {
    const sizes = [...this.slots.values()].map(({ book }) => book.interest)
    while (this.rows.end <= Math.floor(now / FIVE_MINUTES)) this.rows.append(sizes)
  }
}

function within(share: number): number {
  return Math.max(0, Math.min(SHARE_MAX, share))
}

export function keyOf({ venue, symbol }: { venue: string; symbol: string }): string {
  return `${venue} ${symbol}`
}

/** Open interest is this many times what a day trades at the demo's rate. */
const DAYS_TRADED = 0.8
const DEMO_RATE = 150
const GATE_SHARE = 0.15
const swings = [
  [259_200, 0.08],
  [43_200, 0.04],
  [3_600, 0.01],
  [600, 0.003],
] as const

/** Now and then, for a day or two, open interest is built up with leverage, on all venues of an asset alike, and let go. */
const rushes = [
  [172_800, 1],
  [21_600, 0.25],
] as const
/** Below this there is none; above, open interest is up to this much higher, as a logarithm, the more the wilder the asset. */
const CALM = 0.85
const RUSH_SIZE = 0.8
const WILD = 0.8

/** The open interest that a market had before it was first opened, and around which it moves later. */
export class BaseInterest {
  private readonly reference: ReferencePrices
  private readonly courses = new Map<PerpMarket, { course: Layers; size: number }>()
  private readonly rushes = new Map<string, Layers>()

  constructor(reference: ReferencePrices) {
    this.reference = reference
  }

  /** Base units, one-sided. */
  at(market: PerpMarket, time: Micros): number {
    let known = this.courses.get(market)
    if (known === undefined) {
      const course = new Layers(this.reference.seed, streamOf(`interest ${market.venue} ${market.symbol}`), swings)
      known = { course, size: this.size(market) }
      this.courses.set(market, known)
    }
    return known.size * Math.exp(known.course.at(time) + this.rush(market.asset, time))
  }

  /** What opens as long as the asset's open interest is built up is leveraged; at other times it comes and goes. */
  openingAt(asset: string, time: Micros): Opening {
    return this.rush(asset, time) > 0 ? 'building' : 'replacing'
  }

  /** By how much the open interest of an asset is higher than it usually is, as a logarithm. */
  private rush(asset: string, time: Micros): number {
    let layers = this.rushes.get(asset)
    if (layers === undefined) {
      layers = new Layers(this.reference.seed, streamOf(`rush ${asset}`), rushes)
      this.rushes.set(asset, layers)
    }
    const volatility = assets.find((row) => row.asset === asset)?.volatility ?? WILD
    return RUSH_SIZE * (0.5 + 0.5 * Math.min(1, volatility / WILD)) * Math.max(0, layers.at(time) - CALM)
  }

  private size(market: PerpMarket): number {
    const own = tradedOf(market)
    const like = likeOf(market)
    const price =
      this.reference.origin.prices[market.asset] ?? this.reference.price(market.asset, this.reference.origin.time)
    const dollars = (daily: number, share: number): number => (daily * DAYS_TRADED * share) / price
    if (own !== undefined) return dollars(dollarsPerSecond(own, DEMO_RATE) * 86_400, 1)
    if (like !== undefined) return dollars(dollarsPerSecond(like, DEMO_RATE) * 86_400, GATE_SHARE)
    return dollars(quietDollars(market), 2)
  }
}

const WARM_UP_DAYS = 2
const STEP: Micros = 5 * MINUTE
const STEPS = (WARM_UP_DAYS * 1440) / 5
/** Part of the open interest that is exchanged in a step. */
const STEP_TURNOVER = 0.004
/** Liquidations are remembered of the last day. */
const REMEMBERED: Micros = 24 * 60 * MINUTE

/** The assets' prices at each full minute of those days, made up once for all venues. */
class MinutePrices {
  private readonly reference: ReferencePrices
  private readonly begin: Micros
  private readonly prices = new Map<string, Float64Array>()

  constructor(reference: ReferencePrices, now: Micros) {
    this.reference = reference
    this.begin = beginOf(now)
  }

  at(asset: string, time: Micros): number {
    let known = this.prices.get(asset)
    if (known === undefined) {
      known = Float64Array.from({ length: STEPS * 5 }, (_, minute) =>
        this.reference.past(asset, this.begin + minute * MINUTE),
      )
      this.prices.set(asset, known)
    }
    return known[(time - this.begin) / MINUTE] ?? 0
  }
}

function beginOf(now: Micros): Micros {
  return Math.floor(now / STEP) * STEP - STEPS * STEP
}

interface Past {
  readonly state: BookState
  readonly liquidations: readonly SimLiquidation[]
}

/** The book that a market has when it is first opened: three made-up days of openings, closings and liquidations. */
function warmUp(
  {
    reference,
    base,
    market,
    stream,
    terms,
    past,
  }: {
    reference: ReferencePrices
    base: BaseInterest
    market: PerpMarket
    stream: number
    terms: { maxLeverage: number; maintenance: number }
    past: MinutePrices
  },
  now: Micros,
): Past {
  const begin = beginOf(now)
  const premium = reference.premium(market)
  const markAt = (time: Micros): number => past.at(market.asset, time) * (1 + premium.at(time))
  const book = new LeverageBook(terms, { interest: base.at(market, begin), mark: markAt(begin) })
  const liquidations: SimLiquidation[] = []
  for (let step = 0; step < STEPS; step += 1) {
    for (let minute = 0; minute < 5; minute += 1) {
      const time = begin + step * STEP + minute * MINUTE
      const mark = markAt(time)
      const draw = (index: number): number => unitOf(reference.seed, stream + 2, (step * 5 + minute) * 32 + index)
      for (const swept of book.move(mark)) {
        const closings = closingsOf(market, swept, { mark, time, draw: (index) => draw(8 + index) })
        if (time >= now - REMEMBERED && time < now) liquidations.push(...closings)
        for (const { side, size } of closings) book.liquidated(side, size)
      }
      if (minute > 0) continue
      const wanted = base.at(market, time) - book.interest
      book.open(mark, STEP_TURNOVER * book.interest, 'replacing', draw)
      book.open(mark, Math.max(0, wanted), base.openingAt(market.asset, time), draw)
      book.close(STEP_TURNOVER * book.interest + Math.max(0, -wanted))
    }
  }
  return { state: book.state(), liquidations }
}
