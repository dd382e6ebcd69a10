import type { PerpMarket, SimLiquidation } from '../economy.ts'
import type { Micros } from '../trade.ts'
import type { BaseInterest } from './base-interest.ts'
import { LeverageBook, type BookState } from './book.ts'
import { closingsOf } from './closings.ts'
import type { Ground } from './ground.ts'
import { unitOf } from './noise.ts'
import { MINUTE } from './premium.ts'

const DAYS = 2
const STEP: Micros = 5 * MINUTE
const STEPS = (DAYS * 1440) / 5
/** Part of the open interest that is exchanged in a step. */
const TURNOVER = 0.004
/** Liquidations are remembered of the last day. */
const REMEMBERED: Micros = 24 * 60 * MINUTE

/** The assets' prices at each full minute of those days, made up once for all venues. */
export class MinutePrices {
  private readonly ground: Ground
  private readonly begin: Micros
  private readonly prices = new Map<string, Float64Array>()

  constructor(ground: Ground, now: Micros) {
    this.ground = ground
    this.begin = beginOf(now)
  }

  at(asset: string, time: Micros): number {
    let known = this.prices.get(asset)
    if (known === undefined) {
      known = Float64Array.from({ length: STEPS * 5 }, (_, minute) =>
        this.ground.past(asset, this.begin + minute * MINUTE),
      )
      this.prices.set(asset, known)
    }
    return known[(time - this.begin) / MINUTE] ?? 0
  }
}

function beginOf(now: Micros): Micros {
  return Math.floor(now / STEP) * STEP - STEPS * STEP
}

export interface Past {
  readonly state: BookState
  readonly liquidations: readonly SimLiquidation[]
}

/** The book that a market has when it is first opened: three made-up days of openings, closings and liquidations. */
export function warmUp(
  {
    ground,
    base,
    market,
    stream,
    terms,
    past,
  }: {
    ground: Ground
    base: BaseInterest
    market: PerpMarket
    stream: number
    terms: { maxLeverage: number; maintenance: number }
    past: MinutePrices
  },
  now: Micros,
): Past {
  const begin = beginOf(now)
  const premium = ground.premium(market)
  const markAt = (time: Micros): number => past.at(market.asset, time) * (1 + premium.at(time))
  const book = new LeverageBook(terms, { interest: base.at(market, begin), mark: markAt(begin) })
  const liquidations: SimLiquidation[] = []
  for (let step = 0; step < STEPS; step += 1) {
    for (let minute = 0; minute < 5; minute += 1) {
      const time = begin + step * STEP + minute * MINUTE
      const mark = markAt(time)
      const draw = (index: number): number => unitOf(ground.seed, stream + 2, (step * 5 + minute) * 32 + index)
      for (const swept of book.move(mark)) {
        const closings = closingsOf(market, swept, { mark, time, draw: (index) => draw(8 + index) })
        if (time >= now - REMEMBERED && time < now) liquidations.push(...closings)
        for (const { side, size } of closings) book.liquidated(side, size)
      }
      if (minute > 0) continue
      const wanted = base.at(market, time) - book.interest
      book.open(mark, TURNOVER * book.interest + Math.max(0, wanted), draw)
      book.close(TURNOVER * book.interest + Math.max(0, -wanted))
    }
  }
  return { state: book.state(), liquidations }
}
