import { shortPrice, shortSize } from '../amounts.ts'
import type { Economy, PerpMarket, SimLiquidation, SpotMarket } from '../economy.ts'
import type { Link } from '../link.ts'
import type { Subscribers } from '../subscribers.ts'
import type { Micros } from '../trade.ts'
import {
  familyOf,
  fundingRow,
  indexRow,
  markRow,
  msText,
  openInterestRow,
  spotTickerRow,
  swapTickerRow,
  type Row,
} from './data-rows.ts'
import { instruments, isLive } from './listing.ts'

/** What an argument of a subscription asks for; as the client wrote it, so that the answer repeats it. */
export interface Arg {
  readonly channel: string
  readonly instId?: string
  readonly instType?: string
}

/**
 * How often a channel speaks of an instrument: when something has changed, and when nothing has. "mark-price: every
 * 200 ms when it changes, every 10 s when not; open-interest: every 3 s; funding-rate: every 30 to 90 s". Once a second
 * is enough here for what is faster.
 */
const channels = {
  tickers: { changedMs: 1_000, unchangedMs: Number.POSITIVE_INFINITY },
  'mark-price': { changedMs: 1_000, unchangedMs: 10_000 },
  'index-tickers': { changedMs: 1_000, unchangedMs: 60_000 },
  'open-interest': { changedMs: 3_000, unchangedMs: 3_000 },
  'funding-rate': { changedMs: 30_000, unchangedMs: 30_000 },
} as const
type Channel = keyof typeof channels

const LIQUIDATIONS = 'liquidation-orders'
const LIQUIDATIONS_MS = 500
/** How far back the old event that comes first may lie. */
const OLD: Micros = 3_600_000_000

/** What OKX streams beside trades. */
export class OkxDataStream {
  private readonly economy: Economy
  private readonly clock: () => Micros
  private readonly subscribers: Subscribers
  private readonly said = new Map<string, { readonly row: string; readonly atMs: number }>()
  private toldUntil: Micros
  private liquidationsAtMs = 0
  private spokenAtMs = 0

  constructor(economy: Economy, clock: () => Micros, subscribers: Subscribers) {
    this.economy = economy
    this.clock = clock
    this.subscribers = subscribers
    this.toldUntil = clock()
  }

  exists(arg: Arg): boolean {
    if (arg.channel === LIQUIDATIONS) return arg.instType === 'SWAP'
    if (!isChannel(arg.channel) || arg.instId === undefined) return false
    return this.rowOf(arg.channel, arg.instId) !== undefined || this.isQuiet(arg.instId)
  }

  /** Whether the venue lists a swap. */
  lists(instId: string): boolean {
    return this.economy.perps('okx').some(({ symbol }) => symbol === instId) || this.isQuiet(instId)
  }

  /** Listed, and nothing is ever said of it. */
  private isQuiet(instId: string): boolean {
    return isLive(instruments(this.economy.perps('okx'), 'SWAP'), instId)
  }

  /** What is known now comes at once; of liquidations an old one, as the venue has it. */
  greet(arg: Arg, link: Link): void {
    if (arg.channel === LIQUIDATIONS) {
      const old = this.newestLiquidation()
      if (old !== undefined) link.data(old.market, liquidationFrame(old.market, [old.liquidation]))
      return
    }
    if (!isChannel(arg.channel) || arg.instId === undefined) return
    const found = this.rowOf(arg.channel, arg.instId)
    if (found !== undefined) link.data(found.market, frameOf(arg.channel, arg.instId, found.row))
  }

  beat(nowMs: number): void {
    if (nowMs - this.liquidationsAtMs >= LIQUIDATIONS_MS) {
      this.liquidationsAtMs = nowMs
      this.tellLiquidations()
    }
    if (nowMs - this.spokenAtMs < 1000) return
    this.spokenAtMs = nowMs
    for (const channel of ['tickers', 'mark-price', 'index-tickers', 'open-interest', 'funding-rate'] as const) {
      for (const { symbol } of this.economy.perps('okx')) {
        this.tell(channel, channel === 'index-tickers' ? symbol.replace(/-SWAP$/, '') : symbol, nowMs)
      }
    }
    for (const { symbol } of this.economy.spots('okx')) this.tell('tickers', symbol, nowMs)
  }

  private tell(channel: Channel, instId: string, nowMs: number): void {
    const topic = topicOf({ channel, instId })
    const links = this.subscribers.of(topic)
    if (links.size === 0) return
    const before = this.said.get(topic)
    const ageMs = nowMs - (before?.atMs ?? Number.NEGATIVE_INFINITY)
    if (ageMs < channels[channel].changedMs) return
    const found = this.rowOf(channel, instId)
    if (found === undefined) return
    const row = JSON.stringify({ ...found.row, ts: '' })
    if (row === before?.row && ageMs < channels[channel].unchangedMs) return
    this.said.set(topic, { row, atMs: nowMs })
    const frame = frameOf(channel, instId, found.row)
    for (const link of links) link.data(found.market, frame)
  }

  private tellLiquidations(): void {
    const [from, to] = [this.toldUntil, this.clock()]
    this.toldUntil = to
    const links = this.subscribers.of(topicOf({ channel: LIQUIDATIONS, instType: 'SWAP' }))
    if (links.size === 0) return
    for (const market of this.economy.perps('okx')) {
      const liquidations = this.economy.liquidations(market, from, to)
      if (liquidations.length === 0) continue
      const frame = liquidationFrame(market, liquidations)
      for (const link of links) link.data(market, frame)
    }
  }

  private newestLiquidation(): { market: PerpMarket; liquidation: SimLiquidation } | undefined {
    const all = this.economy.perps('okx').flatMap((market) => {
      const liquidation = this.economy.liquidations(market, this.toldUntil - OLD, this.toldUntil).at(-1)
      return liquidation === undefined ? [] : [{ market, liquidation }]
    })
    return all.sort((left, right) => right.liquidation.time - left.liquidation.time)[0]
  }

  private rowOf(channel: Channel, instId: string): { market: PerpMarket | SpotMarket; row: Row } | undefined {
    const perp = this.economy.perps('okx').find((market) => {
      return channel === 'index-tickers' ? familyOf(market) === instId : market.symbol === instId
    })
    if (perp !== undefined) return { market: perp, row: perpRows[channel](perp, this.economy.perp(perp)) }
    if (channel !== 'tickers') return undefined
    const market = this.economy.spots('okx').find(({ symbol }) => symbol === instId)
    return market === undefined ? undefined : { market, row: spotTickerRow(market, this.economy.spot(market)) }
  }
}

const perpRows = {
  tickers: swapTickerRow,
  'mark-price': markRow,
  'index-tickers': indexRow,
  'open-interest': openInterestRow,
  'funding-rate': fundingRow,
} as const

export function topicOf({ channel, instId, instType }: Arg): string {
  return `${channel}:${instId ?? instType ?? ''}`
}

function frameOf(channel: string, instId: string, row: Row): string {
  return JSON.stringify({ arg: { channel, instId }, data: [row] })
}

/** `side` is that of the order that closes the position; `bkPx` the bankruptcy price, `sz` counts contracts. */
function liquidationFrame(market: PerpMarket, liquidations: readonly SimLiquidation[]): string {
  const details = liquidations.map(({ time, side, size, bankruptcyPrice }) => ({
    bkLoss: '0',
    bkPx: shortPrice(market, bankruptcyPrice),
    ccy: '',
    posSide: side,
    side: side === 'long' ? 'sell' : 'buy',
    sz: shortSize(market, size),
    ts: msText(time),
  }))
  const instFamily = familyOf(market)
  const row = { details, instFamily, instId: market.symbol, instType: 'SWAP', uly: instFamily }
  return JSON.stringify({ arg: { channel: LIQUIDATIONS, instType: 'SWAP' }, data: [row] })
}

function isChannel(name: string): name is Channel {
  return Object.hasOwn(channels, name)
}
