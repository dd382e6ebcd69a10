import type { SimLiquidation } from '../../market/economy.ts'
import type { Micros } from '../../market/trade.ts'
import { TapeEconomy } from '../../tape/economy.ts'
import type { Context, RestReply, VenueApi } from '../venue-api.ts'
import { CallLimit, notFound, tooMany, WeightLimit, weightOf } from './calls.ts'
import { calls } from './rest.ts'
import { aggTradeFrame, forceOrderFrame, markPriceFrame, rawTradeFrames } from './rows.ts'
import { BinanceSession, Listeners, openingOf } from './socket.ts'

/** "10 incoming messages per second"; "a ping frame every 3 minutes", no pong within 10 minutes ends the connection. */
const limits = { messagesPerSecond: 10, pingMs: 180_000, pongWithinMs: 600_000 }
/** "2400 request weight per minute per IP." */
const WEIGHT_PER_MINUTE = 2400

/** Binance USD-M futures. */
export function binanceApi(context: Context): VenueApi {
  const { world } = context
  const listeners = new Listeners()
  const stream = new BinanceStream(context, listeners)
  const weight = new WeightLimit(WEIGHT_PER_MINUTE)
  // `/futures/data/*` and the two funding calls are counted by themselves, per address in 5 minutes.
  const [statistics, funding] = [new CallLimit(1000), new CallLimit(500)]
  const limitOf = (path: string, nowMs: number): RestReply | undefined => {
    if (path.startsWith('/futures/data/')) return statistics.refuse(nowMs)
    return /^\/fapi\/v1\/funding(?:Rate|Info)$/.test(path) ? funding.refuse(nowMs) : undefined
  }
  return {
    name: 'binance',
    tooMany: (leftMs) => tooMany(leftMs, `${WEIGHT_PER_MINUTE} requests per minute`),
    sockets: { most: 300, windowMs: 300_000 },
    /** `/market/ws/...`, `/market/stream?...`; without a route it behaves as `/public`. */
    connect(path, query) {
      const [, route = 'public', rest = ''] = /^(?:\/(market|public|private))?(\/.*)$/.exec(path) ?? []
      const opening = openingOf(rest, query)
      if (opening === undefined) return 404
      const carries = (name: string): boolean => carriedBy(route, name)
      return (link) => new BinanceSession(link, { context, listeners, limits, carries, trades: 'binance', ...opening })
    },
    rest({ path, query, nowMs }) {
      const known = Object.hasOwn(calls, path) ? calls[path] : undefined
      const used = path.startsWith('/futures/data/') ? 0 : weightOf(known, query)
      const refused = weight.refuse(used, nowMs) ?? limitOf(path, nowMs)
      return refused ?? weight.marked(known?.call(context, query) ?? notFound, nowMs)
    },
    beat: () => stream.beat(),
    publish(market, trades) {
      const name = market.symbol.toLowerCase()
      const sentMs = (time: number): number => Math.max(world.nowMs, Math.floor(time / 1000))
      listeners.trade(`${name}@aggTrade`, market, () =>
        trades.map((trade) => aggTradeFrame(market, trade, sentMs(trade.time))),
      )
      listeners.trade(`${name}@trade`, market, () =>
        trades.flatMap((trade) => rawTradeFrames(market, trade, sentMs(trade.time))),
      )
    },
  }
}

/** Each route has its own streams; another route's are accepted and never push anything. */
function carriedBy(route: string, stream: string): boolean {
  if (route === 'public') return stream.endsWith('@trade')
  return route === 'market' && (stream.endsWith('@aggTrade') || BinanceStream.carries(stream))
}

const SECOND: Micros = 1_000_000
const SECOND_MS = 1000
/** All marks each second, and all liquidations. */
const MARKS = '!markPrice@arr@1s'
const LIQUIDATIONS = '!forceOrder@arr'
/** Who the frames of all markets are about, for faults. */
const everybody = { venue: 'binance', symbol: '', asset: '' }

/** What Binance USD-M streams beside trades: mark prices with the running rate, and liquidations. */
class BinanceStream {
  private readonly context: Context
  private readonly listeners: Listeners
  /** Liquidations of the seconds before this one are told. */
  private second: number

  constructor(context: Context, listeners: Listeners) {
    this.context = context
    this.listeners = listeners
    this.second = secondOf(context.world.now)
  }

  static carries(stream: string): boolean {
    return stream === MARKS || stream === LIQUIDATIONS
  }

  /** Called several times a second; speaks once in each. */
  beat(): void {
    const second = secondOf(this.context.world.now)
    if (second === this.second || this.context.economy instanceof TapeEconomy) return
    const from = this.second
    this.second = second
    this.tellMarks(second)
    this.tellLiquidations(from, second)
  }

  private tellMarks(second: number): void {
    const { economy } = this.context
    this.listeners.tell(MARKS, everybody, () => {
      const marks = economy.perps('binance')
      return `[${marks.map((market) => markPriceFrame(market, economy.perp(market), second * SECOND_MS)).join(',')}]`
    })
  }

  /** "For each symbol, only the largest liquidation order within 1000ms will be pushed." */
  private tellLiquidations(from: number, to: number): void {
    if (!this.listeners.isHeard(LIQUIDATIONS)) return
    const { economy } = this.context
    for (const market of economy.perps('binance')) {
      for (const largest of largestPerSecond(economy.liquidations(market, from * SECOND, to * SECOND))) {
        // Pushed when its second is over.
        const sentMs = (secondOf(largest.time) + 1) * SECOND_MS
        this.listeners.tell(LIQUIDATIONS, market, () => forceOrderFrame(market, largest, sentMs))
      }
    }
  }
}

/** Of each second's liquidations the one of the largest worth, in order of time. */
export function largestPerSecond(liquidations: readonly SimLiquidation[]): SimLiquidation[] {
  const largest = new Map<number, SimLiquidation>()
  for (const liquidation of liquidations) {
    const second = secondOf(liquidation.time)
    const known = largest.get(second)
    if (known === undefined || worthOf(liquidation) > worthOf(known)) largest.set(second, liquidation)
  }
  return [...largest.values()]
}

function worthOf({ size, fillPrice }: SimLiquidation): number {
  return size * fillPrice
}

function secondOf(time: Micros): number {
  return Math.floor(time / SECOND)
}
