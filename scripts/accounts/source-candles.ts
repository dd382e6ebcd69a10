import { partsOf, type TradeVenueName } from '../../schemas/venues.ts'
import type { TheirVolume } from '../../processors/audit/compare.ts'
import {
  decimalOf,
  decimalText,
  type Decimal,
  type SourceTotals,
  type Stretch,
  type Totals,
  type Window,
} from './totals.ts'
import type { InstrumentAccount } from './log-account.ts'
import type { Source } from './books.ts'

const MINUTE_MS = 60_000
const MINUTE_MICROS = 60_000_000
/** Fewer than the least that a venue gives in one answer (OKX and Coinbase: 300). */
const PAGE_MINUTES = 240
const ANSWER_MS = 10_000
const ONE: Decimal = decimalOf('1')

/** One minute as a venue tells it, in the venue's own units of size; `buy` where it publishes the taker's side. */
export interface Minute {
  readonly startMs: number
  readonly volume: Decimal
  readonly buy?: Decimal
}

interface CandleReader {
  /** Path and query of the minutes from `fromMs` to `lastMs`, the start of the last one. */
  path(symbol: string, fromMs: number, lastMs: number): string
  parse(body: unknown): Minute[]
  /** Whether volumes are contracts, to be multiplied by the size factor; else base units already. */
  readonly inContracts: boolean
}

type Cell = string | number

/** Source: each venue's public candle endpoint. Binance alone publishes the takers' buys (its tenth column). */
export const candleReaders: Readonly<Partial<Record<TradeVenueName, CandleReader>>> = {
  binance: {
    path: (symbol, from, last) =>
      `/fapi/v1/klines?symbol=${symbol}&interval=1m&startTime=${from}&endTime=${last}&limit=1000`,
    parse: (body) => rowsOf(body).map((row) => ({ ...minute(row, 0, 5), buy: cell(row, 9) })),
    inContracts: true,
  },
  binance_spot: {
    path: (symbol, from, last) =>
      `/api/v3/klines?symbol=${symbol}&interval=1m&startTime=${from}&endTime=${last}&limit=1000`,
    parse: (body) => rowsOf(body).map((row) => ({ ...minute(row, 0, 5), buy: cell(row, 9) })),
    inContracts: true,
  },
  bybit: {
    path: (symbol, from, last) =>
      `/v5/market/kline?category=linear&symbol=${symbol}&interval=1&start=${from}&end=${last}&limit=1000`,
    parse: (body) => rowsOf(at(at(body, 'result'), 'list')).map((row) => minute(row, 0, 5)),
    inContracts: true,
  },
  okx: {
    // `after` and `before` are exclusive: older than, newer than. The seventh column is the volume in base units.
    path: (symbol, from, last) =>
      `/api/v5/market/candles?instId=${symbol}&bar=1m&after=${last + 1}&before=${from - 1}&limit=300`,
    parse: (body) => rowsOf(at(body, 'data')).map((row) => minute(row, 0, 6)),
    inContracts: false,
  },
  coinbase: {
    path: (symbol, from, last) => `/products/${symbol}/candles?granularity=60&start=${iso(from)}&end=${iso(last)}`,
    parse: (body) => rowsOf(body).map((row) => ({ ...minute(row, 0, 5), startMs: Number(row[0]) * 1000 })),
    inContracts: true,
  },
}

/** The venues' own candles, for live systems: volumes by whole minutes, by taker side where the venue tells it. */
export class Candles implements Source {
  readonly name = 'candles'
  readonly #urls: Readonly<Record<string, string>>
  readonly #factors = new Map<string, Decimal>()

  /** `urls`: REST base by venue. */
  constructor(urls: Readonly<Record<string, string>>) {
    this.#urls = urls
  }

  async totals(
    window: Window,
    ours: ReadonlyMap<string, InstrumentAccount>,
  ): Promise<Map<string, SourceTotals | 'unread'>> {
    const found = new Map<string, SourceTotals | 'unread'>()
    for (const [instrument, { sizeFactor }] of ours) {
      if (candleReaders[partsOf(instrument).venue as TradeVenueName] === undefined) {
        found.set(instrument, 'unread')
        continue
      }
      this.#factors.set(instrument, decimalOf(String(sizeFactor)))
      found.set(instrument, await this.#sum(instrument, window))
    }
    return found
  }

  /** Volume without a side counts as buys: whoever compares it adds both sides up. */
  async within(instrument: string, { from, to }: Stretch): Promise<Totals> {
    const totals = await this.#sum(instrument, { from, to: to + 1 })
    return 'volume' in totals
      ? { count: 0, buy: totals.volume, sell: 0n }
      : { count: 0, buy: totals.buy, sell: totals.sell }
  }

  async begins(): Promise<Map<string, number>> {
    return new Map() // venues have all candles
  }

  align({ from, to }: Stretch): Stretch {
    const start = Math.floor(from / MINUTE_MICROS) * MINUTE_MICROS
    return { from: start, to: (Math.floor(to / MINUTE_MICROS) + 1) * MINUTE_MICROS - 1 }
  }

  /** Each minute of an instrument that `totals` was asked for, as the audit compares it; nothing where nothing traded. */
  async minutes(instrument: string, window: Window): Promise<Map<number, TheirVolume>> {
    const { rows, factor } = await this.#read(instrument, window)
    const plain = (value: Decimal): number => Number(decimalText((value * factor) / ONE))
    return new Map(
      rows.map(({ startMs, volume, buy }) => [
        startMs * 1000,
        { volume: plain(volume), taker_buy: buy === undefined ? null : plain(buy), trades: null },
      ]),
    )
  }

  async #sum(instrument: string, window: Window): Promise<SourceTotals> {
    const { rows, factor } = await this.#read(instrument, window)
    return summed(rows, factor)
  }

  async #read(instrument: string, { from, to }: Window): Promise<{ rows: readonly Minute[]; factor: Decimal }> {
    const { venue, symbol } = partsOf(instrument)
    const reader = candleReaders[venue as TradeVenueName]
    if (reader === undefined)
      throw new Error(`candles of ${venue} are not read here: add a reader to source-candles.ts`)
    const factor = reader.inContracts ? (this.#factors.get(instrument) ?? ONE) : ONE
    const seen = new Map<number, Minute>()
    const [first, end] = [from / 1000, to / 1000]
    for (let start = first; start < end; start += PAGE_MINUTES * MINUTE_MS) {
      const last = Math.min(start + PAGE_MINUTES * MINUTE_MS, end) - MINUTE_MS
      const body = await this.#ask(venue, reader.path(symbol, start, last))
      for (const row of reader.parse(body)) if (row.startMs >= start && row.startMs <= last) seen.set(row.startMs, row)
    }
    return { rows: [...seen.values()], factor }
  }

  async #ask(venue: string, target: string): Promise<unknown> {
    const answer = await fetch(`${this.#urls[venue]}${target}`, { signal: AbortSignal.timeout(ANSWER_MS) })
    if (!answer.ok) throw new Error(`${venue} answered ${answer.status} to ${target}`)
    return answer.json()
  }
}

function summed(minutes: readonly Minute[], factor: Decimal): SourceTotals {
  const scaled = (value: Decimal): Decimal => (value * factor) / ONE
  const volume = minutes.reduce((total, row) => total + row.volume, 0n)
  const sided = minutes.every((row) => row.buy !== undefined)
  if (!sided) return { volume: scaled(volume) }
  const buy = minutes.reduce((total, row) => total + (row.buy ?? 0n), 0n)
  return { buy: scaled(buy), sell: scaled(volume - buy) }
}

function rowsOf(body: unknown): readonly (readonly Cell[])[] {
  if (!Array.isArray(body)) throw new Error(`no candles in ${JSON.stringify(body ?? null).slice(0, 200)}`)
  return body as readonly (readonly Cell[])[]
}

function at(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined
}

function minute(row: readonly Cell[], time: number, volume: number): Minute {
  return { startMs: Number(row[time]), volume: cell(row, volume) }
}

function cell(row: readonly Cell[], column: number): Decimal {
  return decimalOf(String(row[column]))
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
