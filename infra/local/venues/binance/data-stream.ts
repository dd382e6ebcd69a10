import type { Economy, PerpMarket, SimLiquidation } from '../economy.ts'
import type { Link } from '../link.ts'
import { TapeEconomy } from '../tape-economy.ts'
import type { Micros } from '../trade.ts'
import { forceOrderFrame, markPriceFrame } from './data-rows.ts'
import { combined } from './frames.ts'
import type { BinanceSubscribers } from './socket.ts'

const SECOND_MS = 1000
/** `@markPrice` and `!markPrice@arr` come every 3 seconds, with `@1s` each second. */
const SLOW_SECONDS = 3
/** Who the frames of all markets are about, for faults. */
const everybody = { venue: 'binance', symbol: '', asset: '' }

/** What Binance USD-M streams beside trades: mark prices with the running rate, and liquidations. */
export class BinanceDataStream {
  private readonly economy: Economy
  private readonly clock: () => Micros
  private readonly subscribers: BinanceSubscribers
  /** Liquidations of the seconds before this one are told. */
  private second: number

  constructor(economy: Economy, clock: () => Micros, subscribers: BinanceSubscribers) {
    this.economy = economy
    this.clock = clock
    this.subscribers = subscribers
    this.second = secondOf(clock())
  }

  /** Whether the market route has a stream of this name; symbols are not looked at, as at the venue. */
  static carries(stream: string): boolean {
    return /^(?:!markPrice@arr(?:@1s)?|!forceOrder@arr|[^!@]+@(?:markPrice(?:@1s)?|forceOrder))$/.test(stream)
  }

  /** Called several times a second; speaks once in each. */
  beat(): void {
    const second = secondOf(this.clock())
    if (second === this.second || this.economy instanceof TapeEconomy) return
    const from = this.second
    this.second = second
    this.tellMarks(second, second % SLOW_SECONDS === 0 ? ['', '@1s'] : ['@1s'])
    this.tellLiquidations(from, second)
  }

  private tellMarks(second: number, suffixes: readonly string[]): void {
    const whole = suffixes.map((suffix) => `!markPrice@arr${suffix}`).filter((stream) => this.isHeard(stream))
    const frames: string[] = []
    for (const market of this.economy.perps('binance')) {
      const own = suffixes.map((suffix) => `${market.symbol.toLowerCase()}@markPrice${suffix}`)
      const heard = own.filter((stream) => this.isHeard(stream))
      if (whole.length + heard.length === 0) continue
      const frame = markPriceFrame(market, this.economy.perp(market), second * SECOND_MS)
      for (const stream of heard) this.tell(stream, market, frame)
      frames.push(frame)
    }
    for (const stream of whole) this.tell(stream, everybody, `[${frames.join(',')}]`)
  }

  /** "For each symbol, only the largest liquidation order within 1000ms will be pushed." */
  private tellLiquidations(from: number, to: number): void {
    const all = this.isHeard('!forceOrder@arr')
    for (const market of this.economy.perps('binance')) {
      const own = `${market.symbol.toLowerCase()}@forceOrder`
      const heard = this.isHeard(own)
      if (!all && !heard) continue
      const span = [from, to].map((second) => second * SECOND_MS * 1000)
      for (const largest of largestPerSecond(this.economy.liquidations(market, span[0] ?? 0, span[1] ?? 0))) {
        // Pushed when its second is over.
        const frame = forceOrderFrame(market, largest, (secondOf(largest.time) + 1) * SECOND_MS)
        if (heard) this.tell(own, market, frame)
        if (all) this.tell('!forceOrder@arr', market, frame)
      }
    }
  }

  private isHeard(stream: string): boolean {
    return this.subscribers.raw.of(stream).size + this.subscribers.combined.of(stream).size > 0
  }

  private tell(stream: string, about: Pick<PerpMarket, 'symbol' | 'asset'> & { venue: string }, frame: string): void {
    const say = (links: ReadonlySet<Link>, text: string): void => {
      for (const link of links) link.data(about, text)
    }
    say(this.subscribers.raw.of(stream), frame)
    const wrapped = this.subscribers.combined.of(stream)
    if (wrapped.size > 0) say(wrapped, combined(stream, frame))
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
  return Math.floor(time / 1_000_000)
}
