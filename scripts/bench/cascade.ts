import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { BaseInterest, Interests, keyOf } from '../../infra/simulator/market/interests.ts'
import { perpMarkets } from '../../infra/simulator/market/catalogue.ts'
import { ReferencePrices } from '../../infra/simulator/market/reference-prices.ts'
import type { PerpMarket } from '../../infra/simulator/market/economy.ts'
import { cascadeRisks, type CascadeRisk } from '../../processors/liquidations/cascade.ts'
import { liquidations } from '../../processors/liquidations/liquidations.ts'
import type { Output } from '../../processors/kernel/processor.ts'
import { versionOf } from '../../processors/kernel/version.ts'
import type { DerivativeTicker, LiquidationRisk, Message, Micros } from '../../schemas/records.ts'
import type { Bench, Figure } from '../figure.ts'

const DAYS = 14
/** The weights were chosen in the market of the first; the others are markets that they have not seen. */
const SEEDS = [7, 11, 23, 41]

/**
 * What the classes of cascade risk are worth, in the simulator's market: over a fortnight of it, class by class, what was
 * liquidated in the hour that followed, as a share of open interest, and how far the price went, beside the mean of all
 * hours. Beside them what was liquidated of what the model had where marks went.
 */
const bench: Bench = () =>
  Promise.resolve(SEEDS.flatMap((seed) => figuresOf(`market ${seed}`, hoursOf({ days: DAYS, seed }))))
export default bench

const STEP: Micros = 300_000_000
const HOUR: Micros = 12 * STEP
const DAY: Micros = 24 * HOUR
const END: Micros = Date.UTC(2026, 10, 21) * 1000
/** The model begins without knowing anything: its first day tells nothing of its classes. */
const FIRST: Micros = DAY
const RATE = 150
/** A market's open interest is this many times what it trades in a day. */
const DAYS_OF_VOLUME = 0.8

/** What the model said at an hour's begin, and what came in it. */
export interface Hour {
  readonly asset: string
  readonly risk: LiquidationRisk
  /** Reported liquidations of the hour over open interest at its begin. */
  readonly liquidated: number
  /** Highest less lowest mark over the mark at its begin. */
  readonly range: number
}

/** Prices follow their made-up course all the time, so that weeks can be lived in seconds. */
class FastReferencePrices extends ReferencePrices {
  override price(asset: string, time: Micros): number {
    return this.past(asset, time)
  }
}

/** Lives the simulator's books and the processor's core side by side, in steps of five minutes. */
export function hoursOf({ days, seed, assets }: { days: number; seed: number; assets?: readonly string[] }): Hour[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'cascade-'))
  try {
    return new Fortnight(folder, { days, seed, assets: assets ?? streamed }).hours()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const streamed = ['BTC', 'ETH', 'SOL', 'XRP', 'BNB', 'DOGE', 'LINK', 'ARB']

class Fortnight {
  readonly #reference: ReferencePrices
  readonly #interests: Interests
  readonly #markets: readonly PerpMarket[]
  readonly #begin: Micros
  readonly #state = liquidations.empty()
  readonly #risks = new Map<string, LiquidationRisk>()
  #offset = 0

  constructor(folder: string, { days, seed, assets }: { days: number; seed: number; assets: readonly string[] }) {
    this.#begin = END - days * DAY
    this.#reference = new FastReferencePrices({ folder, seed, rate: RATE, now: this.#begin, newest: [] })
    this.#markets = perpMarkets([]).filter(({ asset, venue }) => venue !== 'gate' && assets.includes(asset))
    const base = new BaseInterest(this.#reference)
    this.#interests = new Interests({ reference: this.#reference, base, folder, now: this.#begin }, this.#markets)
  }

  hours(): Hour[] {
    const hours: Hour[] = []
    for (let from = this.#begin; from < END; from += HOUR) {
      const ranges = new Map(this.#markets.map((market) => [market, [Infinity, -Infinity] as [number, number]]))
      for (let time = from; time < from + HOUR; time += STEP) {
        this.#live(time, ranges)
        if (time === from) this.#tell(time)
      }
      if (from >= this.#begin + FIRST)
        for (const [asset, risk] of this.#risks) hours.push(this.#hour(asset, risk, ranges))
    }
    this.#interests.close()
    this.#reference.close()
    return hours
  }

  #mark(market: PerpMarket, time: Micros): number {
    return this.#reference.price(market.asset, time) * (1 + this.#reference.premium(market).at(time))
  }

  #live(time: Micros, ranges: Map<PerpMarket, [number, number]>): void {
    for (const market of this.#markets) {
      const size = this.#interests.size(market) ?? 0
      this.#interests.traded(keyOf(market), (size / DAYS_OF_VOLUME) * (STEP / DAY))
      const mark = this.#mark(market, time)
      const [low, high] = ranges.get(market) ?? [mark, mark]
      ranges.set(market, [Math.min(low, mark), Math.max(high, mark)])
      this.#apply(tickerOf(market, { mark, size, time }))
    }
    this.#interests.advance(time)
  }

  /** What the processor says at the hour's begin. */
  #tell(time: Micros): void {
    this.#apply({
      type: 'mark',
      value: { writer: 'feeds', run: 0, time, venue_time: time, venues: [], changes: [], positions: [] },
    })
  }

  #apply(message: Message): void {
    this.#offset += 1
    const entry = { topic: 'market.funding', offset: this.#offset, time: 0, message } as const
    const context = { partition: 0, v: versionOf(1, this.#offset), partitionTime: this.#state.time }
    liquidations.apply(this.#state, entry, context, ({ message: output }: Output) => {
      if (output?.type === 'liquidation_risk') this.#risks.set(output.value.asset, output.value)
    })
  }

  #hour(asset: string, risk: LiquidationRisk, ranges: ReadonlyMap<PerpMarket, readonly [number, number]>): Hour {
    const own = this.#markets.filter((market) => market.asset === asset)
    const usd = own
      .flatMap((market) => this.#interests.liquidations(market, risk.time + 1, risk.time + HOUR + 1))
      .reduce((sum, { size, bankruptcyPrice }) => sum + size * bankruptcyPrice, 0)
    const range = Math.max(...own.map((market) => spanOf(ranges.get(market)) / risk.price))
    return { asset, risk, liquidated: usd / risk.open_interest_usd, range }
  }
}

function spanOf(range: readonly [number, number] | undefined): number {
  return range === undefined ? 0 : range[1] - range[0]
}

function tickerOf(
  { venue, asset, symbol }: PerpMarket,
  { mark, size, time }: { mark: number; size: number; time: Micros },
): Message<'derivative_ticker'> {
  const nothing = { rate: null, next_settlement: null, rate_time: null, index: null, premium: null, premium_time: null }
  const value: DerivativeTicker = {
    instrument: `${venue}:perp:${symbol}`,
    asset,
    channel: 'bench',
    ...nothing,
    mark,
    mark_time: time,
    open_interest: size,
    open_interest_time: time,
    received: time,
  }
  return { type: 'derivative_ticker', value }
}

/**
 * For each class how many hours began in it, what was liquidated in them and how far the price went, beside the same of all
 * hours; and the model's mass beside what was liquidated.
 */
export function figuresOf(market: string, hours: readonly Hour[]): Figure[] {
  const classes = cascadeRisks.flatMap((name) => {
    const own = ofClass(hours, name)
    const figure = (metric: string, unit: string, value: (hour: Hour) => number): Figure => {
      const [after, baseline] = [mean(own.map(value)), mean(hours.map(value))]
      const what = `${market}, ${name}: ${metric}`
      return { metric: what, value: after, unit, baseline, n: own.length }
    }
    const share = { value: (100 * own.length) / hours.length, unit: '% of hours', n: hours.length }
    return [
      { metric: `${market}, ${name}: share`, ...share },
      figure('liquidated in the next hour', '% of OI', ({ liquidated }) => 100 * liquidated),
      figure('range of the next hour', '%', ({ range }) => 100 * range),
    ]
  })
  return [...classes, { metric: `${market}: liquidated over swept`, ...sweptShare(hours), unit: 'share' }]
}

export function ofClass(hours: readonly Hour[], name: CascadeRisk): Hour[] {
  return hours.filter(({ risk }) => risk.cascade_risk === name)
}

/** Over all assets: what was liquidated of what the model had where marks went, from the first to the last hour. */
export function sweptShare(hours: readonly Hour[]): { value: number; n: number } {
  const swept = [...Map.groupBy(hours, ({ asset }) => asset).values()].map(
    (own) => sweptBy(own.at(-1)) - sweptBy(own[0]),
  )
  const seen = hours.reduce((sum, { liquidated, risk }) => sum + liquidated * risk.open_interest_usd, 0)
  return { value: seen / swept.reduce((sum, usd) => sum + usd, 0), n: hours.length }
}

function sweptBy(hour: Hour | undefined): number {
  return hour === undefined ? 0 : hour.risk.swept_long_usd + hour.risk.swept_short_usd
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
