import { createReadStream, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import type { TradeVenueName } from '../../../schemas/venues.ts'
import type { Micros } from '../market/trade.ts'

/** One trade as a recorded frame says it; numbers still as text, so that nothing is lost. */
export interface TapeTrade {
  readonly venue: TradeVenueName
  readonly symbol: string
  readonly time: Micros
  readonly price: string
  readonly size: string
  readonly buy: boolean
  /** The venue's own id; 0 where ids are made up when it is played (Bybit has none that count). */
  readonly id: number
  /** Raw trade ids, fills or orders merged into it. */
  readonly first: number
  readonly last: number
  readonly sequence: number
  readonly uuid: readonly [number, number, number, number] | undefined
  readonly direction: number
  readonly block: boolean
  readonly rpi: boolean
  /** A Binance spot frame: played only where the tape has no futures frames of that symbol. */
  readonly spot: boolean
}

/** Trades of one recorded frame, whatever its venue; undefined: it is no trade frame that we know. */
export function tapeTrades(raw: unknown): TapeTrade[] | undefined {
  const frame = fieldsOf(raw)
  const inner = 'stream' in frame ? fieldsOf(frame['data']) : frame
  if (inner['e'] === 'aggTrade' || inner['e'] === 'trade') return fromBinance(inner)
  if (frame['type'] === 'match') return [fromCoinbase(frame)]
  const topic = frame['topic']
  if (typeof topic === 'string' && topic.startsWith('publicTrade.')) return rowsOf(frame['data']).map(fromBybit)
  const channel = fieldsOf(frame['arg'])['channel']
  if (channel === 'trades' || channel === 'trades-all') return rowsOf(frame['data']).map(fromOkx)
  return undefined
}

const plain = {
  id: 0,
  first: 0,
  last: 0,
  sequence: 0,
  uuid: undefined,
  direction: 2,
  block: false,
  rpi: false,
  spot: false,
}

type Fields = Readonly<Record<string, unknown>>

/** `trade` frames become aggregates of one trade each; those that were not made on the book are left out. */
function fromBinance(frame: Fields): TapeTrade[] {
  const raw = frame['e'] === 'trade'
  const kind = frame['X']
  if (kind !== undefined && kind !== 'MARKET' && kind !== 'RPI') return []
  const id = numberOf(frame[raw ? 't' : 'a'])
  return [
    {
      ...plain,
      venue: 'binance',
      symbol: textOf(frame['s']),
      time: numberOf(frame['T']) * 1000,
      price: textOf(frame['p']),
      size: textOf(frame['q']),
      buy: frame['m'] !== true,
      id: raw ? 0 : id,
      first: raw ? id : numberOf(frame['f']),
      last: raw ? id : numberOf(frame['l']),
      rpi: kind === 'RPI' || (typeof frame['nq'] === 'string' && Number(frame['nq']) === 0),
      spot: 'M' in frame,
    },
  ]
}

function fromBybit(row: Fields): TapeTrade {
  return {
    ...plain,
    venue: 'bybit',
    symbol: textOf(row['s']),
    time: numberOf(row['T']) * 1000,
    price: textOf(row['p']),
    size: textOf(row['v']),
    buy: row['S'] === 'Buy',
    id: numberOf(row['seq']),
    uuid: wordsOf(textOf(row['i'])),
    direction: { PlusTick: 2, ZeroPlusTick: 1, ZeroMinusTick: -1, MinusTick: -2 }[textOf(row['L'])] ?? 2,
    block: row['BT'] === true,
    rpi: row['RPI'] === true,
    spot: !textOf(row['i']).includes('-'),
  }
}

/** `tradeId` is the last of the `count` fills that a message of `trades` merges. */
function fromOkx(row: Fields): TapeTrade {
  const id = numberOf(row['tradeId'])
  return {
    ...plain,
    venue: 'okx',
    symbol: textOf(row['instId']),
    time: numberOf(row['ts']) * 1000,
    price: textOf(row['px']),
    size: textOf(row['sz']),
    buy: row['side'] === 'buy',
    id,
    first: id - (row['count'] === undefined ? 1 : numberOf(row['count'])) + 1,
    last: id,
    sequence: row['seqId'] === undefined ? 0 : numberOf(row['seqId']),
    rpi: row['source'] === '1',
    spot: !textOf(row['instId']).endsWith('-SWAP'),
  }
}

/** `side` is the maker's. */
function fromCoinbase(frame: Fields): TapeTrade {
  const id = numberOf(frame['trade_id'])
  const text = textOf(frame['time'])
  const micros = /\.(\d+)Z$/.exec(text)?.[1]?.padEnd(6, '0').slice(3, 6) ?? '0'
  return {
    ...plain,
    venue: 'coinbase',
    symbol: textOf(frame['product_id']),
    time: Date.parse(text) * 1000 + Number(micros),
    price: textOf(frame['price']),
    size: textOf(frame['size']),
    buy: frame['side'] === 'sell',
    id,
    first: id,
    last: id,
    sequence: numberOf(frame['sequence']),
  }
}

function wordsOf(uuid: string): readonly [number, number, number, number] {
  const hex = uuid.replaceAll('-', '').padEnd(32, '0')
  const word = (index: number): number => Number.parseInt(hex.slice(8 * index, 8 * index + 8), 16) >>> 0
  return [word(0), word(1), word(2), word(3)]
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function rowsOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** NaN where it is no number; the reader leaves such a trade out and counts it. */
function numberOf(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
}

/** Lines that gave no trade, by reason. */
export type Skipped = Map<string, number>

/** The tapes at `path`: itself, or every `.jsonl` and `.jsonl.gz` below it, in order of name. */
export function tapeFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true })
    .map((name) => join(path, String(name)))
    .filter((file) => /\.jsonl(\.gz)?$/.test(file))
    .sort()
}

/** Trades of one file in its order. */
async function* fileTrades(file: string, skipped: Skipped): AsyncGenerator<TapeTrade> {
  const bytes = createReadStream(file)
  const input = file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    for (const trade of lineTrades(line, skipped)) yield trade
  }
}

/** Trades of all files by time; equal times in order of the files, and each file in its own order. */
export async function* mergedTrades(files: readonly string[], skipped: Skipped): AsyncGenerator<TapeTrade> {
  const heads: { trades: AsyncGenerator<TapeTrade>; next: TapeTrade }[] = []
  for (const file of files) {
    const trades = fileTrades(file, skipped)
    const { value, done } = await trades.next()
    if (done !== true) heads.push({ trades, next: value })
  }
  while (heads.length > 0) {
    const first = heads.reduce((best, head) => (head.next.time < best.next.time ? head : best))
    yield first.next
    const { value, done } = await first.trades.next()
    if (done === true) heads.splice(heads.indexOf(first), 1)
    else first.next = value
  }
}

function lineTrades(line: string, skipped: Skipped): TapeTrade[] {
  if (line === '') return []
  const trades = framesOf(line)
  if (typeof trades === 'string') {
    count(skipped, trades)
    return []
  }
  const good = trades.filter((trade) => Number.isFinite(trade.time) && Number.isFinite(trade.id) && trade.symbol !== '')
  if (good.length < trades.length) count(skipped, 'bad field')
  if (trades.length === 0) count(skipped, 'off book')
  return good
}

/** The recorder writes `raw` as JSON where it is JSON, else as text. */
function framesOf(line: string): TapeTrade[] | string {
  try {
    const { raw } = JSON.parse(line) as { raw?: unknown }
    const frame: unknown = typeof raw === 'string' ? JSON.parse(raw) : raw
    return tapeTrades(frame) ?? 'no trade frame'
  } catch {
    return 'not JSON'
  }
}

export function count(skipped: Skipped, reason: string): void {
  skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
}
