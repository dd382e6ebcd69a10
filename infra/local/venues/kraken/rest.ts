import type { Economy, SpotMarket } from '../economy.ts'
import { longerCandles, withOpenMinute } from '../minutes.ts'
import { ok, whole } from '../query.ts'
import type { RestReply, RestRequest } from '../venue-server.ts'
import type { World } from '../world.ts'
import { canonicalName, slashName, socketName } from './names.ts'
import { candleRow, pairRow, tickerRow, type PairRow } from './rows.ts'

/** About one public call a second and address is safe; some more at once. */
const CALLS_PER_SECOND = 1
const BURST = 15
/** "Returns up to 720 of the most recent entries." */
const CANDLES_MAX = 720
const intervals: ReadonlySet<number> = new Set([1, 5, 15, 30, 60, 240, 1440, 10_080, 21_600])

/** Kraken's public REST. Refusals stand in `error`, mostly with HTTP 200. */
export class KrakenRest {
  private readonly world: World
  private readonly economy: Economy
  private tokens = BURST
  private filledAtMs = 0

  constructor(world: World, economy: Economy) {
    this.world = world
    this.economy = economy
  }

  answer({ path, query, nowMs }: RestRequest): RestReply {
    if (!this.within(nowMs)) return { status: 429, body: { error: ['EAPI:Rate limit exceeded'] } }
    switch (path) {
      case '/0/public/Time':
        return this.time()
      case '/0/public/SystemStatus':
        return say({ status: 'online', timestamp: new Date(this.world.nowMs).toISOString().replace(/\.\d+/, '') })
      case '/0/public/AssetPairs':
        return this.pairs(query)
      case '/0/public/Ticker':
        return this.tickers(query)
      case '/0/public/OHLC':
        return this.candles(query)
      default:
        return refuse('EGeneral:Unknown method')
    }
  }

  private within(nowMs: number): boolean {
    const refill = ((nowMs - this.filledAtMs) / 1000) * CALLS_PER_SECOND
    this.tokens = Math.min(BURST, this.tokens + Math.max(0, refill))
    this.filledAtMs = nowMs
    if (this.tokens < 1) return false
    this.tokens -= 1
    return true
  }

  private time(): RestReply {
    const date = new Date(this.world.nowMs)
    // Tue, 11 Nov 25 00:17:04 +0000
    const rfc1123 = date
      .toUTCString()
      .replace(/ \d\d(\d\d) /, ' $1 ')
      .replace('GMT', '+0000')
    return say({ unixtime: Math.floor(this.world.nowMs / 1000), rfc1123 })
  }

  private pairs(query: URLSearchParams): RestReply {
    const markets = this.wanted(query)
    if (markets === undefined) return refuse('EQuery:Unknown asset pair')
    const rows = markets.map((market) => [canonicalName(market), pairRow(market)] as const)
    return say(Object.fromEntries([...rows, ...(query.has('pair') ? [] : this.decoys())]))
  }

  /** What a reader of dollar pairs of coins has to leave out. */
  private decoys(): (readonly [string, PairRow])[] {
    const [first] = this.economy.spots('kraken')
    if (first === undefined) return []
    const like = (altname: string, wsname: string, more: object): readonly [string, PairRow] => {
      return [altname, { ...pairRow(first), altname, wsname, ...more }]
    }
    const eur = like('XBTEUR', 'XBT/EUR', { quote: 'ZEUR' })
    const all = [
      ['XXBTZEUR', eur[1]] as const,
      like('AAPLxUSD', 'AAPLx/USD', { aclass_base: 'tokenized_asset', base: 'AAPLx', quote: 'ZUSD' }),
      like('MATICUSD', 'MATIC/USD', { base: 'MATIC', quote: 'ZUSD', status: 'cancel_only' }),
    ]
    const traded = new Set(this.economy.spots('kraken').map(({ symbol }) => symbol))
    return all.filter(([, { altname }]) => !traded.has(altname))
  }

  /** With `assetVersion=1` keys are as in the second WebSocket version. */
  private tickers(query: URLSearchParams): RestReply {
    const markets = this.wanted(query)
    if (markets === undefined) return refuse('EQuery:Unknown asset pair')
    const key = query.get('assetVersion') === '1' ? socketName : canonicalName
    const rows = markets.map((market) => [key(market), tickerRow(market, this.economy.spot(market))] as const)
    return say(Object.fromEntries(rows))
  }

  /** Oldest first; the last row is of the candle that is still open, `last` the time of the one before. */
  private candles(query: URLSearchParams): RestReply {
    const [market] = query.has('pair') ? (this.wanted(query) ?? []) : []
    if (market === undefined) return refuse('EQuery:Unknown asset pair')
    const minutes = whole(query, 'interval') ?? 1
    if (!intervals.has(minutes)) return refuse('EGeneral:Invalid arguments')
    const intervalMs = minutes * 60_000
    const from = this.world.nowMs - CANDLES_MAX * intervalMs
    const known = this.economy.spotMinutes(market, from * 1000, this.world.now)
    const shown = withOpenMinute(known, this.economy.spot(market).last, this.world.now)
    const since = (whole(query, 'since') ?? 0) * 1_000_000
    const all = longerCandles(shown, intervalMs).slice(-CANDLES_MAX)
    const last = (all.at(-2) ?? all.at(-1))?.start ?? 0
    const rows = all.filter(({ start }) => start > since).map((minute) => candleRow(market, minute))
    return say({ [canonicalName(market)]: rows, last: last / 1_000_000 })
  }

  /** The pairs that are asked for by any of their names, all where none is; undefined where one is unknown. */
  private wanted(query: URLSearchParams): SpotMarket[] | undefined {
    const all = this.economy.spots('kraken')
    const names = query.get('pair')?.split(',')
    if (names === undefined) return [...all]
    const found = names.map((name) => {
      return all.find((market) => {
        return [market.symbol, canonicalName(market), slashName(market), socketName(market)].includes(name)
      })
    })
    return found.every((market) => market !== undefined) ? found : undefined
  }
}

function say(result: object): RestReply {
  return ok({ error: [], result })
}

function refuse(error: string): RestReply {
  return ok({ error: [error] })
}
