import type { FactRow } from '../events.ts'
import { candleOf, refusedField, tickerOf } from '../fact-fields.ts'
import { badBody, isCount, isRecord, microsOf, textOf } from '../fields.ts'
import type { PastPages, RestAnswer } from '../venue.ts'

/** WebSocket v2 says BTC and DOGE; REST and the names in its list still say XBT and XDG. Ours are those of v2: BTC/USD. */
const renamed = [
  ['XBT', 'BTC'],
  ['XDG', 'DOGE'],
] as const

/** BTC/USD for XBT/USD. */
export function symbolOf(wsname: string): string {
  return wsname
    .split('/')
    .map((name) => renamed.find(([old]) => old === name)?.[1] ?? name)
    .join('/')
}

/**
 * The symbol of a key of `Ticker`. With `assetVersion=1` keys are names like BTC/USD; without it XXBTZUSD, USDTZUSD,
 * XBTUSD or SOLUSD, of which only those in dollars are told.
 */
export function symbolOfKey(key: string): string | undefined {
  if (key.includes('/')) return symbolOf(key)
  const base = /^X(\w{3})ZUSD$/.exec(key)?.[1] ?? /^(USDT)ZUSD$/.exec(key)?.[1] ?? /^(\w+)USD$/.exec(key)?.[1]
  return base === undefined ? undefined : symbolOf(`${base}/USD`)
}

/** XBTUSD for BTC/USD: what REST takes for a pair. */
export function pairOf(symbol: string): string {
  return symbol
    .split('/')
    .map((name) => renamed.find(([, now]) => now === name)?.[0] ?? name)
    .join('')
}

/** Every pair at once, under the names of WebSocket v2. */
export const TICKERS = '/0/public/Ticker?assetVersion=1'

/** Pairs in dollars; others, and second books of the same pair (ETH/USD:BTNL), are not ours. The answer has no time. */
export function parseMarket(body: unknown): RestAnswer<FactRow> {
  const result = resultOf(body)
  if (result === undefined) return refusal(body)
  const rows = Object.entries(result).map(([key, row]) => readTicker(symbolOfKey(key), row))
  return { kind: 'rows', rows: rows.filter((row) => row !== undefined) }
}

/** "a: ask [price, whole lot volume, lot volume], b: bid, c: last, v: volume [today, last 24 hours]". */
function readTicker(symbol: string | undefined, row: unknown): FactRow | undefined {
  if (symbol === undefined || !symbol.endsWith('/USD')) return undefined
  if (!isRecord(row)) return refusedField
  const [ask, bid, last, volumes] = [row['a'], row['b'], row['c'], row['v']]
  if (!Array.isArray(ask) || !Array.isArray(bid) || !Array.isArray(last) || !Array.isArray(volumes)) return refusedField
  return tickerOf(symbol, null, { bid: bid[0], ask: ask[0], last: last[0], volume24h: volumes[1] })
}

/** The newest 720 rows alone, whatever `since` says, the one that runs among them; they do not say who took. */
export const pastCandles: PastPages = {
  host: 'rest',
  pageSize: 719,
  depth: 719,
  call: (symbol, seconds, from) => ({
    path: `/0/public/OHLC?pair=${encodeURIComponent(pairOf(symbol))}&interval=${seconds / 60}&since=${from / 1_000_000 - 1}`,
    cost: 1,
  }),
  parse: (symbol, seconds, body, now) => parseCandles(symbol, body, now - seconds * 1_000),
}

/** Candles that begin at `newest`, milliseconds, at the latest. */
function parseCandles(symbol: string, body: unknown, newest: number): RestAnswer<FactRow> {
  const result = resultOf(body)
  if (result === undefined) return refusal(body)
  // Under the venue's own name of the pair, beside "last".
  const list = Object.values(result).find(Array.isArray) ?? []
  const rows = list.map((row: unknown) => readCandle(symbol, row, newest))
  return { kind: 'rows', rows: rows.filter((row) => row !== undefined) }
}

/** "[time, open, high, low, close, vwap, volume, count]", time in seconds. */
function readCandle(symbol: string, row: unknown, newest: number): FactRow | undefined {
  if (!Array.isArray(row)) return refusedField
  const [seconds, open, high, low, close, , volume, trades]: unknown[] = row
  const minute = isCount(seconds) ? microsOf(seconds * 1_000) : undefined
  if (minute !== undefined && minute / 1_000 > newest) return undefined
  return candleOf(symbol, minute, [open, high, low, close, volume], { trades })
}

/** The `result` of a body whose `error` is empty. */
export function resultOf(body: unknown): Record<string, unknown> | undefined {
  if (!isRecord(body) || !Array.isArray(body['error']) || body['error'].length > 0) return undefined
  return isRecord(body['result']) ? body['result'] : undefined
}

/** `EService:Unavailable`, `EService:Busy`, `EGeneral:Internal error`: what other venues say by HTTP 5xx. */
const forNow = /^(EService|EGeneral:Internal error)/

/** `{"error":["EAPI:Rate limit exceeded"]}`, with HTTP 200. */
export function refusal(body: unknown): RestAnswer<never> {
  const errors = isRecord(body) && Array.isArray(body['error']) ? body['error'].map(textOf) : []
  const [first] = errors
  if (first === undefined) return badBody('a result')
  if (/rate limit|too many requests|throttled/i.test(first)) return { kind: 'limited' }
  if (forNow.test(first)) return { kind: 'failed', message: errors.join(' ') }
  return { kind: 'error', code: first.slice(0, 40), message: errors.join(' ') }
}
