import { closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import type { Trade } from '../market/trade.ts'
import type { RowFile } from './rows.ts'

const MINUTE_MS = 60_000
/** Minutes that are served; as many as the venues' pages reach. */
const KEPT = 1_500
/** Little endian: minute, open, high, low, close, buy, sell, count as f64, buy quote, sell quote as i64. */
const RECORD_BYTES = 80

/** One minute or longer of a market, in its whole units; volumes by taker side. */
export interface Candle {
  readonly startMs: number
  open: number
  high: number
  low: number
  close: number
  buy: number
  sell: number
  /** Price times size, in units of both: 10^-(priceDecimals + sizeDecimals). */
  buyQuote: bigint
  sellQuote: bigint
  /** Orders filled (Binance) or trades. */
  count: number
}

/** A market's one-minute candles: closed ones on disk, the open one made again from the rows after a restart. */
export class Candles {
  private readonly fd: number
  private readonly minutes: Candle[]
  /** Start of the newest candle on disk. */
  private writtenMs: number

  constructor(file: string, rows: RowFile) {
    this.minutes = readCandles(file)
    // What is older than the venues serve is left behind at each start, so the file stays small.
    writeFileSync(file, Buffer.concat(this.minutes.map(encode)))
    this.fd = openSync(file, 'a')
    const closed = this.minutes.at(-1)
    this.writtenMs = closed?.startMs ?? -1
    const from = closed === undefined ? rows.begin : rows.firstAt((closed.startMs + MINUTE_MS) * 1000)
    for (const page of rows.pages(from, rows.end)) for (const trade of page) this.add(trade)
  }

  /** Adds one trade; trades come in order of time. Block trades are in no candle. */
  add(trade: Trade): void {
    if (trade.block) return
    const startMs = Math.floor(trade.time / 60_000_000) * MINUTE_MS
    const open = this.minutes.at(-1)
    if (open?.startMs === startMs) {
      addTrade(open, trade)
      return
    }
    if (open !== undefined && !this.onDisk(open)) this.write(open)
    const next = emptyCandle(startMs, trade.price)
    addTrade(next, trade)
    this.minutes.push(next)
    if (this.minutes.length > KEPT) this.minutes.shift()
  }

  /** Start of the oldest minute that is kept; undefined: nothing has traded yet. */
  get beginMs(): number | undefined {
    return this.minutes[0]?.startMs
  }

  /** Candles of `intervalMs` that begin in [fromMs, toMs), oldest first; minutes without a trade are absent. */
  every(intervalMs: number, fromMs: number, toMs: number): Candle[] {
    return joined(this.minutes, { intervalMs, fromMs, toMs })
  }

  close(): void {
    closeSync(this.fd)
  }

  private onDisk(candle: Candle): boolean {
    return candle.startMs <= this.writtenMs
  }

  private write(candle: Candle): void {
    writeSync(this.fd, encode(candle))
    this.writtenMs = candle.startMs
  }
}

/** Minutes in their order put together to candles of `intervalMs`, of which those that begin in [fromMs, toMs). */
export function joined(
  minutes: readonly Candle[],
  { intervalMs, fromMs, toMs }: { readonly intervalMs: number; readonly fromMs: number; readonly toMs: number },
): Candle[] {
  const candles: Candle[] = []
  for (const minute of minutes) {
    const startMs = Math.floor(minute.startMs / intervalMs) * intervalMs
    if (startMs < fromMs || startMs >= toMs) continue
    const last = candles.at(-1)
    if (last?.startMs === startMs) merge(last, minute)
    else candles.push({ ...minute, startMs })
  }
  return candles
}

/** As `every`, with a flat candle wherever nothing traded since the one before, as most venues show it. */
export function withFlatCandles(candles: readonly Candle[], intervalMs: number): Candle[] {
  const filled: Candle[] = []
  for (const candle of candles) {
    let last = filled.at(-1)
    while (last !== undefined && last.startMs + intervalMs < candle.startMs) {
      last = emptyCandle(last.startMs + intervalMs, last.close)
      filled.push(last)
    }
    filled.push(candle)
  }
  return filled
}

export function emptyCandle(startMs: number, price: number): Candle {
  const prices = { open: price, high: price, low: price, close: price }
  return { startMs, ...prices, buy: 0, sell: 0, buyQuote: 0n, sellQuote: 0n, count: 0 }
}

function addTrade(candle: Candle, trade: Trade): void {
  candle.high = Math.max(candle.high, trade.price)
  candle.low = Math.min(candle.low, trade.price)
  candle.close = trade.price
  candle.count += trade.first === 0 || trade.sequence > 0 ? 1 : trade.last - trade.first + 1
  const quote = BigInt(trade.price) * BigInt(trade.size)
  if (trade.buy) {
    candle.buy += trade.size
    candle.buyQuote += quote
  } else {
    candle.sell += trade.size
    candle.sellQuote += quote
  }
}

/** Adds what follows on a candle to it. */
export function merge(into: Candle, minute: Candle): void {
  into.high = Math.max(into.high, minute.high)
  into.low = Math.min(into.low, minute.low)
  into.close = minute.close
  into.buy += minute.buy
  into.sell += minute.sell
  into.buyQuote += minute.buyQuote
  into.sellQuote += minute.sellQuote
  into.count += minute.count
}

function encode(candle: Candle): Buffer {
  const bytes = Buffer.alloc(RECORD_BYTES)
  const { startMs, open, high, low, close, buy, sell, count } = candle
  ;[startMs, open, high, low, close, buy, sell, count].forEach((value, index) => bytes.writeDoubleLE(value, 8 * index))
  bytes.writeBigInt64LE(candle.buyQuote, 64)
  bytes.writeBigInt64LE(candle.sellQuote, 72)
  return bytes
}

function readCandles(file: string): Candle[] {
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
  const whole = Math.floor(bytes.length / RECORD_BYTES)
  const candles: Candle[] = []
  for (let index = Math.max(0, whole - KEPT); index < whole; index += 1)
    candles.push(decode(bytes, index * RECORD_BYTES))
  return candles
}

function decode(bytes: Buffer, offset: number): Candle {
  const value = (index: number): number => bytes.readDoubleLE(offset + 8 * index)
  return {
    startMs: value(0),
    open: value(1),
    high: value(2),
    low: value(3),
    close: value(4),
    buy: value(5),
    sell: value(6),
    count: value(7),
    buyQuote: bytes.readBigInt64LE(offset + 64),
    sellQuote: bytes.readBigInt64LE(offset + 72),
  }
}
