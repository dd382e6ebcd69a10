import type { Economy, PerpMarket, SimLiquidation, SpotMarket } from '../economy.ts'
import { priceText, sizeText } from '../amounts.ts'
import type { Link } from '../link.ts'
import type { Subscribers } from '../subscribers.ts'
import type { Micros } from '../trade.ts'
import { instruments, spotInstruments } from './listing.ts'
import { changedFields, linearTicker, spotTicker, type LinearTicker } from './tickers.ts'

/** "allLiquidation: push frequency 500ms". Tickers may come every 50 or 100 ms; once a second is enough here. */
const LIQUIDATIONS_MS = 500
const TICKERS_MS = 1000

export type Category = 'linear' | 'spot'

/** What Bybit streams beside trades: tickers of both categories, and liquidations. */
export class BybitDataStream {
  private readonly economy: Economy
  private readonly clock: () => Micros
  private readonly subscribers: Readonly<Record<Category, Subscribers>>
  /** What every reader of a topic knows: the newest snapshot with all changes since. */
  private readonly said = new Map<string, LinearTicker>()
  private readonly saidSpot = new Map<string, string>()
  /** Liquidations before this are told. */
  private toldUntil: Micros
  private tickersAtMs = 0
  private liquidationsAtMs = 0
  private sequence = 753_843_900_397

  constructor(economy: Economy, clock: () => Micros, subscribers: Readonly<Record<Category, Subscribers>>) {
    this.economy = economy
    this.clock = clock
    this.subscribers = subscribers
    this.toldUntil = clock()
  }

  /** Whether a topic exists beside the trades'. */
  exists(category: Category, topic: string): boolean {
    const [kind, symbol] = partsOf(topic)
    if (category === 'spot')
      return kind === 'tickers' && (this.spot(symbol) !== undefined || this.isQuiet('spot', symbol))
    if (kind !== 'tickers' && kind !== 'allLiquidation') return false
    return this.perp(symbol) !== undefined || this.isQuiet('linear', symbol)
  }

  /** Tickers begin with a snapshot; liquidations are never told again. */
  greet(category: Category, topic: string, link: Link): void {
    const [kind, symbol] = partsOf(topic)
    if (kind !== 'tickers') return
    if (category === 'spot') {
      const market = this.spot(symbol)
      if (market !== undefined) link.data(market, this.spotFrame(market))
      return
    }
    const market = this.perp(symbol)
    if (market === undefined) return
    const alone = this.subscribers.linear.of(topic).size <= 1
    const known = alone ? undefined : this.said.get(topic)
    const ticker = known ?? linearTicker(market, this.economy.perp(market))
    this.said.set(topic, ticker)
    link.data(market, this.linearFrame(topic, 'snapshot', ticker))
  }

  beat(nowMs: number): void {
    if (nowMs - this.liquidationsAtMs >= LIQUIDATIONS_MS) {
      this.liquidationsAtMs = nowMs
      this.tellLiquidations()
    }
    if (nowMs - this.tickersAtMs < TICKERS_MS) return
    this.tickersAtMs = nowMs
    for (const market of this.economy.perps('bybit')) this.tellLinear(market)
    for (const market of this.economy.spots('bybit')) this.tellSpot(market)
  }

  private tellLinear(market: PerpMarket): void {
    const topic = `tickers.${market.symbol}`
    const links = this.subscribers.linear.of(topic)
    if (links.size === 0) return
    const now = linearTicker(market, this.economy.perp(market))
    const before = this.said.get(topic)
    const changed = before === undefined ? now : changedFields(before, now)
    this.said.set(topic, now)
    if (changed === undefined) return
    const frame = this.linearFrame(topic, before === undefined ? 'snapshot' : 'delta', changed)
    for (const link of links) link.data(market, frame)
  }

  private tellSpot(market: SpotMarket): void {
    const topic = `tickers.${market.symbol}`
    const links = this.subscribers.spot.of(topic)
    if (links.size === 0) return
    const ticker = JSON.stringify(spotTicker(market, this.economy.spot(market)))
    if (this.saidSpot.get(topic) === ticker) return
    this.saidSpot.set(topic, ticker)
    const frame = this.spotFrame(market)
    for (const link of links) link.data(market, frame)
  }

  /** All of a symbol since the last time in one message. */
  private tellLiquidations(): void {
    const [from, to] = [this.toldUntil, this.clock()]
    this.toldUntil = to
    for (const market of this.economy.perps('bybit')) {
      const links = this.subscribers.linear.of(`allLiquidation.${market.symbol}`)
      if (links.size === 0) continue
      const liquidations = this.economy.liquidations(market, from, to)
      if (liquidations.length === 0) continue
      const frame = liquidationFrame(market, liquidations, Math.floor(to / 1000))
      for (const link of links) link.data(market, frame)
    }
  }

  private linearFrame(topic: string, type: 'snapshot' | 'delta', data: LinearTicker): string {
    return JSON.stringify({ topic, type, data, cs: this.next(), ts: Math.floor(this.clock() / 1000) })
  }

  private spotFrame(market: SpotMarket): string {
    const data = spotTicker(market, this.economy.spot(market))
    const ts = Math.floor(this.clock() / 1000)
    return JSON.stringify({ topic: `tickers.${market.symbol}`, ts, type: 'snapshot', cs: this.next(), data })
  }

  private next(): number {
    this.sequence += 1
    return this.sequence
  }

  /** Listed, and nothing is ever said of it. */
  private isQuiet(category: Category, symbol: string): boolean {
    const rows =
      category === 'spot' ? spotInstruments(this.economy.spots('bybit')) : instruments(this.economy.perps('bybit'))
    return rows.some((row) => row.symbol === symbol && row.status === 'Trading')
  }

  private perp(symbol: string): PerpMarket | undefined {
    return this.economy.perps('bybit').find((market) => market.symbol === symbol)
  }

  private spot(symbol: string): SpotMarket | undefined {
    return this.economy.spots('bybit').find((market) => market.symbol === symbol)
  }
}

/** `S` is the side of the position, not of the order: Buy where a long was closed. `p` is the bankruptcy price. */
export function liquidationFrame(market: PerpMarket, liquidations: readonly SimLiquidation[], sentMs: number): string {
  const data = liquidations.map(({ time, side, size, bankruptcyPrice }) => ({
    T: Math.floor(time / 1000),
    s: market.symbol,
    S: side === 'long' ? 'Buy' : 'Sell',
    v: sizeText(market, size),
    p: priceText(market, bankruptcyPrice),
  }))
  return JSON.stringify({ topic: `allLiquidation.${market.symbol}`, type: 'snapshot', ts: sentMs, data })
}

function partsOf(topic: string): [kind: string, symbol: string] {
  const point = topic.indexOf('.')
  return point < 0 ? [topic, ''] : [topic.slice(0, point), topic.slice(point + 1)]
}
