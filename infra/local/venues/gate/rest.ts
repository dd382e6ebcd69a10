import type { Economy, PerpMarket } from '../economy.ts'
import { ok, whole } from '../query.ts'
import { Throttle } from '../throttle.ts'
import type { Micros } from '../trade.ts'
import type { RestReply, RestRequest } from '../venue-server.ts'
import type { World } from '../world.ts'
import { contractRow, liquidationRow, settledRow, statsRow, tickerRow, type ContractRow } from './rows.ts'

const ROOT = '/api/v4/futures/usdt/'
/** "200 requests in 10 seconds per endpoint and address." */
const REQUESTS_PER_WINDOW = 200
const WINDOW_MS = 10_000
const SECOND: Micros = 1_000_000
/** A window of liquidations is one hour at most. */
const LIQUIDATIONS_SECONDS = 3600

/** The shortest period of the economy's ratios. */
const FIVE_MINUTES = 300
const intervals: Readonly<Record<string, number>> = {
  '5m': 300,
  '15m': 900,
  '30m': 1800,
  '1h': 3600,
  '4h': 14_400,
  '1d': 86_400,
}

/** Gate's futures in USDT: REST alone. Times are in seconds, sizes in contracts. */
export class GateRest {
  private readonly world: World
  private readonly economy: Economy
  private readonly requests = new Map<string, Throttle>()

  constructor(world: World, economy: Economy) {
    this.world = world
    this.economy = economy
  }

  answer({ path, query, nowMs }: RestRequest): RestReply {
    if (!path.startsWith(ROOT)) return refuse(404, 'NOT_FOUND', 'path not found')
    const [endpoint = '', name] = path.slice(ROOT.length).split('/')
    const throttle = this.requests.get(endpoint) ?? new Throttle(WINDOW_MS)
    this.requests.set(endpoint, throttle)
    const used = throttle.use(nowMs)
    const headers = {
      'x-gate-ratelimit-limit': String(REQUESTS_PER_WINDOW),
      'x-gate-ratelimit-requests-remain': String(Math.max(0, REQUESTS_PER_WINDOW - used)),
      'x-gate-ratelimit-reset-timestamp': String(Math.ceil((nowMs + throttle.left(nowMs)) / 1000)),
    }
    if (used > REQUESTS_PER_WINDOW)
      return { ...refuse(429, 'TOO_MANY_REQUESTS', 'Request Rate Limit Exceeded'), headers }
    return { ...this.route(endpoint, name, query), headers }
  }

  private route(endpoint: string, name: string | undefined, query: URLSearchParams): RestReply {
    switch (endpoint) {
      case 'contracts':
        return name === undefined ? this.contracts(query) : this.of(name, (market) => ok(this.contract(market)))
      case 'tickers':
        return this.tickers(query)
      case 'contract_stats':
        return this.of(query.get('contract'), (market) => this.stats(market, query))
      case 'funding_rate':
        return this.of(query.get('contract'), (market) => this.settlements(market, query))
      case 'liq_orders':
        return this.of(query.get('contract'), (market) => this.liquidations(market, query))
      default:
        return refuse(404, 'NOT_FOUND', 'path not found')
    }
  }

  private of(name: string | null, found: (market: PerpMarket) => RestReply): RestReply {
    if (name === null) return refuse(400, 'MISSING_REQUIRED_PARAM', 'Missing required parameter: contract')
    const market = this.economy.perps('gate').find(({ symbol }) => symbol === name)
    return market === undefined ? refuse(400, 'CONTRACT_NOT_FOUND', 'contract not found') : found(market)
  }

  private contract(market: PerpMarket): ContractRow {
    return contractRow(market, this.economy.perp(market))
  }

  private contracts(query: URLSearchParams): RestReply {
    const rows = this.economy.perps('gate').map((market) => this.contract(market))
    const [first] = rows
    // What a reader of crypto contracts has to leave out.
    const decoys =
      first === undefined
        ? []
        : [
            { ...first, name: 'TSLAX_USDT', contract_type: 'stocks' },
            { ...first, name: 'OLD_USDT', in_delisting: true, status: 'delisting' },
            { ...first, name: 'FRESH_USDT', is_pre_market: true, status: 'prelaunch' },
          ]
    return ok(pageOf([...rows, ...decoys], query, 100_000))
  }

  private tickers(query: URLSearchParams): RestReply {
    const wanted = query.get('contract')
    const markets = this.economy.perps('gate').filter(({ symbol }) => wanted === null || symbol === wanted)
    return ok(markets.map((market) => tickerRow(market, this.economy.perp(market))))
  }

  /** Oldest first: from `from` on, or the newest `limit` (default 30, at most 100). */
  private stats(market: PerpMarket, query: URLSearchParams): RestReply {
    const step = intervals[query.get('interval') ?? '5m']
    if (step === undefined) return refuse(400, 'INVALID_PARAM_VALUE', 'Invalid interval')
    const limit = whole(query, 'limit') ?? 30
    if (!(limit >= 1 && limit <= 100)) return refuse(400, 'INVALID_PARAM_VALUE', 'limit must be between 1 and 100')
    const newest = Math.floor(this.world.now / SECOND / step) * step
    const from = whole(query, 'from')
    const first = from === undefined ? newest - (limit - 1) * step : Math.ceil(from / step) * step
    const times = Array.from({ length: limit }, (_, index) => (first + index * step) * SECOND)
    const until = Math.min(newest, whole(query, 'to') ?? newest) * SECOND
    return ok(times.filter((time) => time <= until).flatMap((time) => this.statsAt(market, time, step)))
  }

  private statsAt(market: PerpMarket, time: Micros, step: number): object[] {
    const ratios = this.economy.topTraders(market, time)
    if (ratios === undefined) return []
    const { openInterest: now, mark } = this.economy.perp(market)
    const known = this.economy.openInterests(market, time, time + FIVE_MINUTES * SECOND)[0]
    const minute = this.economy.minutes(market, time, time + 60 * SECOND)[0]
    const liquidations = this.economy.liquidations(market, time, time + step * SECOND)
    const openInterest = known?.size ?? now
    return [statsRow(market, { time, ratios, openInterest, mark: minute?.mark.close ?? mark, liquidations })]
  }

  /** Newest first. */
  private settlements(market: PerpMarket, query: URLSearchParams): RestReply {
    const limit = Math.min(1000, whole(query, 'limit') ?? 100)
    const to = whole(query, 'to')
    const before = to === undefined ? undefined : (to + 1) * SECOND
    const from = (whole(query, 'from') ?? 0) * SECOND
    const rows = this.economy.settlements(market, limit, before).filter(({ time }) => time >= from)
    return ok(rows.map(settledRow))
  }

  /** Newest first. */
  private liquidations(market: PerpMarket, query: URLSearchParams): RestReply {
    const to = whole(query, 'to') ?? Math.floor(this.world.now / SECOND)
    const from = whole(query, 'from') ?? to - LIQUIDATIONS_SECONDS
    if (!(to - from <= LIQUIDATIONS_SECONDS)) return refuse(400, 'INVALID_PARAM_VALUE', 'time range exceeds 1 hour')
    const rows = this.economy.liquidations(market, from * SECOND, (to + 1) * SECOND)
    const limit = Math.min(1000, whole(query, 'limit') ?? 100)
    return ok(
      rows
        .slice(-limit)
        .toReversed()
        .map((liquidation) => liquidationRow(market, liquidation)),
    )
  }
}

function pageOf<Row>(rows: readonly Row[], query: URLSearchParams, usual: number): Row[] {
  const offset = whole(query, 'offset') ?? 0
  return rows.slice(offset, offset + (whole(query, 'limit') ?? usual))
}

function refuse(status: number, label: string, message: string): RestReply {
  return { status, body: { label, message } }
}
