import { join } from 'node:path'
import type { PerpMarket, SimLiquidation } from '../economy.ts'
import type { Micros } from '../trade.ts'
import type { BaseInterest } from './base-interest.ts'
import { LeverageBook } from './book.ts'
import { BookFiles } from './book-files.ts'
import { closingsOf } from './closings.ts'
import type { Ground } from './ground.ts'
import { LiquidationLog } from './liquidation-log.ts'
import { Layers, streamOf, unitOf } from './noise.ts'
import { StepFile } from './step-file.ts'
import { MinutePrices, warmUp } from './warm-up.ts'

export const FIVE_MINUTES: Micros = 300_000_000
const SECOND: Micros = 1_000_000
const ROWS_KEPT = 31 * 288
/** Of what trades, this share ends old positions and begins new ones; the mood adds to one of the two. */
const TURNOVER = 0.3
const MOOD = 0.5

/** A perpetual whose trades are simulated, with its book. */
interface Slot {
  readonly index: number
  readonly market: PerpMarket
  readonly book: LeverageBook
  readonly mood: Layers
  readonly stream: number
  /** Base units that traded since the last step. */
  flow: number
}

/** Open interest and liquidations of the perpetuals that trade: both follow from trades and from the mark price. */
export class Interests {
  private readonly ground: Ground
  private readonly base: BaseInterest
  private readonly files: BookFiles
  private readonly rows: StepFile
  private readonly log: LiquidationLog
  private readonly slots = new Map<string, Slot>()
  private stepped: Micros
  private saved = 0

  /** `markets`: always the same ones in the same order; their place is their number on disk. */
  constructor(
    parts: { ground: Ground; base: BaseInterest; folder: string; now: Micros },
    markets: readonly PerpMarket[],
  ) {
    const { ground, base, folder, now } = parts
    this.ground = ground
    this.base = base
    this.stepped = now
    this.files = new BookFiles(join(folder, 'books'))
    this.log = new LiquidationLog(join(folder, 'liquidations'), now)
    const from = Math.floor(now / FIVE_MINUTES)
    this.rows = new StepFile(join(folder, 'interests'), { width: markets.length, from, kept: ROWS_KEPT })
    const past = new MinutePrices(ground, now)
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
    const mood = new Layers(this.ground.seed, stream, [
      [3_600, 0.7],
      [300, 0.4],
    ])
    const begun = { interest: this.base.at(market, now), mark }
    const book = new LeverageBook(terms, begun)
    if (known !== undefined) book.restore(known, mark)
    const slot: Slot = { index, market, book, mood, stream, flow: 0 }
    this.slots.set(keyOf(market), slot)
    if (known !== undefined) return
    const made = warmUp({ ground: this.ground, base: this.base, market, stream, terms, past }, now)
    this.log.append(index, made.liquidations)
    book.restore({ ...made.state, interest: begun.interest }, mark)
    this.files.save(keyOf(market), book.state())
  }

  private step(slot: Slot, now: Micros): void {
    const { book, market, stream } = slot
    const mark = this.mark(market, now)
    const pull = Math.log(book.interest / this.base.at(market, now))
    const mood = Math.max(-0.8, Math.min(0.8, MOOD * slot.mood.at(now) - 3 * pull))
    const second = Math.floor(now / SECOND)
    const draw = (index: number): number => unitOf(this.ground.seed, stream + 1, second * 32 + index)
    book.open(mark, slot.flow * (TURNOVER + Math.max(0, mood)), draw)
    book.close(slot.flow * (TURNOVER + Math.max(0, -mood)))
    slot.flow = 0
    for (const swept of book.move(mark)) {
      const closings = closingsOf(market, swept, { mark, time: now, draw: (index) => draw(8 + index) })
      this.log.append(slot.index, closings)
      for (const { side, size } of closings) book.liquidated(side, size)
    }
  }

  private mark(market: PerpMarket, now: Micros): number {
    return this.ground.price(market.asset, now) * (1 + this.ground.premium(market).at(now))
  }

  private roll(now: Micros): void {
    const sizes = [...this.slots.values()].map(({ book }) => book.interest)
    while (this.rows.end <= Math.floor(now / FIVE_MINUTES)) this.rows.append(sizes)
  }
}

export function keyOf({ venue, symbol }: { venue: string; symbol: string }): string {
  return `${venue} ${symbol}`
}
