import { createHash } from 'node:crypto'
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import { fixedText, trimmedText, uuidOf } from '../market/text.ts'
import type { TradeVenueName, VenueName } from '../../../schemas/venues.ts'
import type { Market } from '../market/markets.ts'
import { type PastTrade, tradesOfMinutes } from '../market/past-trades.ts'
import type { Context, RestReply, VenueApi } from './venue-api.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** OKX's days are those of UTC+8. */
const OKX_DAY_MS = -8 * 3_600_000
/** A file is asked for after its checksum: so many are kept. */
const KEPT = 6

/** What a path asks for. */
interface Asked {
  readonly venue: TradeVenueName
  readonly symbol: string
  readonly startMs: number
  readonly pack: (market: Market, trades: readonly PastTrade[]) => Buffer
}

const binancePath =
  /^\/data\/(futures\/um|spot)\/daily\/aggTrades\/(\w+)\/(\2-aggTrades-(\d{4}-\d\d-\d\d))\.zip(\.CHECKSUM)?$/
const bybitPath = /^\/trading\/(\w+)\/\1(\d{4}-\d\d-\d\d)\.csv\.gz$/
const okxPath = /^\/cdn\/okex\/traderecords\/trades\/daily\/\d{8}\/(([\w-]+)-trades-(\d{4}-\d\d-\d\d))\.zip$/

/**
 * The venues' public archives of trades, one file a day and market, of the time before the simulated market began: made by the
 * seed when they are asked for, of the same minutes as the candles. A path's first part is `<venue>-archive`.
 */
export function archiveApisOf(context: Context): VenueApi[] {
  const files = new Files(context)
  return [
    api('binance', (path) => {
      const [, folder, symbol = '', name = '', date = '', isChecksum] = binancePath.exec(path) ?? []
      if (folder === undefined) return undefined
      const isSpot = folder === 'spot'
      const pack = (market: Market, trades: readonly PastTrade[]): Buffer =>
        zipOf(`${name}.csv`, aggTradesText(market, trades, isSpot))
      const asked = { venue: isSpot ? 'binance_spot' : 'binance', symbol, startMs: Date.parse(date), pack } as const
      const file = files.get(asked)
      if (file === undefined || isChecksum === undefined) return file
      return Buffer.from(`${createHash('sha256').update(file).digest('hex')}  ${name}.zip\n`)
    }),
    api('bybit', (path) => {
      const [, symbol, date = ''] = bybitPath.exec(path) ?? []
      return symbol && files.get({ venue: 'bybit', symbol, startMs: Date.parse(date), pack: packBybit })
    }),
    api('okx', (path) => {
      const [, name, symbol = '', date = ''] = okxPath.exec(path) ?? []
      if (name === undefined) return undefined
      const pack = (market: Market, trades: readonly PastTrade[]): Buffer =>
        zipOf(`${name}.csv`, okxText(market, trades))
      return files.get({ venue: 'okx', symbol, startMs: Date.parse(date) + OKX_DAY_MS, pack })
    }),
  ]
}

const notThere: RestReply = {
  status: 404,
  body: '<?xml version="1.0" encoding="UTF-8"?><Error><Code>NoSuchKey</Code></Error>',
}

function api(name: VenueName, find: (path: string) => Buffer | '' | undefined): VenueApi {
  return {
    name,
    prefix: `${name}-archive`,
    isFiles: true,
    tooMany: () => ({ status: 429, body: '' }),
    rest: ({ path }) => {
      const file = find(path)
      return file instanceof Buffer ? { status: 200, body: file } : notThere
    },
  }
}

/** Makes files, and keeps the newest. */
class Files {
  private readonly context: Context
  private readonly kept = new Map<string, Buffer>()

  constructor(context: Context) {
    this.context = context
  }

  /** Undefined: the market or the day is not there. */
  get({ venue, symbol, startMs, pack }: Asked): Buffer | undefined {
    const { world, economy, seed = 0 } = this.context
    const history = world.find(venue, symbol)
    const untilMs = history?.candles.beginMs ?? Math.floor(world.nowMs / MINUTE_MS) * MINUTE_MS
    if (history === undefined || Number.isNaN(startMs) || startMs + DAY_MS > untilMs) return undefined
    const key = `${venue} ${symbol} ${startMs}`
    const known = this.kept.get(key)
    if (known !== undefined) return known
    const span = { intervalMs: MINUTE_MS, fromMs: startMs, toMs: startMs + DAY_MS, untilMs }
    const trades = tradesOfMinutes(history.market, seed, economy.pastCandles(history.market, span))
    if (trades.length === 0) return undefined
    const file = pack(history.market, trades)
    this.kept.set(key, file)
    const [oldest] = this.kept.keys()
    if (this.kept.size > KEPT && oldest !== undefined) this.kept.delete(oldest)
    return file
  }
}

/** Futures with a header and milliseconds, spot without one, with another flag and, from 2025 on, microseconds. */
function aggTradesText(market: Market, trades: readonly PastTrade[], isSpot: boolean): string {
  const lines = trades.map((trade) => {
    const [id, first] = [trade.id, trade.id * 100]
    const time = isSpot ? `${trade.timeMs}000` : String(trade.timeMs)
    const maker = isSpot ? `${trade.buy ? 'False' : 'True'},True` : String(!trade.buy)
    return `${id},${priceOf(market, trade)},${sizeOf(market, trade)},${first},${first + trade.fills - 1},${time},${maker}`
  })
  const head = 'agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker'
  return textOf(isSpot ? lines : [head, ...lines])
}

function packBybit(market: Market, trades: readonly PastTrade[]): Buffer {
  const lines = trades.map((trade) => {
    const [price, size] = [priceOf(market, trade), trimmedText(trade.size, market.sizeDecimals)]
    const uuid = uuidOf(trade.id, market.symbol.length)
    const worth = (Number(price) * Number(size)).toFixed(4)
    const side = trade.buy ? 'Buy' : 'Sell'
    return `${fixedText(trade.timeMs * 10, 4)},${market.symbol},${side},${size},${price},ZeroPlusTick,${uuid},${Number(worth) * 1e8},${size},${worth}`
  })
  const head = 'timestamp,symbol,side,size,price,tickDirection,trdMatchID,grossValue,homeNotional,foreignNotional'
  return gzipSync(textOf([head, ...lines]))
}

function okxText(market: Market, trades: readonly PastTrade[]): string {
  const lines = trades.map(
    (trade) =>
      `${market.symbol},${trade.id},${trade.buy ? 'buy' : 'sell'},${priceOf(market, trade)},${sizeOf(market, trade)},${trade.timeMs}`,
  )
  return textOf(['instrument_name,trade_id,side,price,size,created_time', ...lines])
}

function priceOf({ priceDecimals }: Market, { price }: PastTrade): string {
  return fixedText(price, priceDecimals)
}

function sizeOf({ sizeDecimals }: Market, { size }: PastTrade): string {
  return fixedText(size, sizeDecimals)
}

function textOf(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`
}

/** A zip file of one entry, deflated (APPNOTE 4.3). */
export function zipOf(name: string, text: string): Buffer {
  const packed = deflateRawSync(text)
  const size = Buffer.byteLength(text)
  const crc = crc32(text)
  const common = Buffer.alloc(26)
  common.writeUInt16LE(20, 0)
  common.writeUInt16LE(8, 4)
  common.writeUInt32LE(crc, 10)
  common.writeUInt32LE(packed.length, 14)
  common.writeUInt32LE(size, 18)
  common.writeUInt16LE(name.length, 22)
  const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, Buffer.from(name), packed])
  const entry = Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\u0000'), common, Buffer.alloc(14), Buffer.from(name)])
  const end = Buffer.alloc(18)
  end.writeUInt16LE(1, 4)
  end.writeUInt16LE(1, 6)
  end.writeUInt32LE(entry.length, 8)
  end.writeUInt32LE(local.length, 12)
  return Buffer.concat([local, entry, Buffer.from('PK\u0005\u0006'), end])
}
