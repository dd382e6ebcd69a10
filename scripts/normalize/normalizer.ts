import { jsonOf, isRecord, textOf } from '../../processors/feeds/venues/fields.ts'
import { bySymbol, resolveInstruments } from '../../processors/feeds/venues/instruments.ts'
import {
  fromImport,
  fromStream,
  isClamped,
  type Normalise,
  normaliser,
  type Origin,
} from '../../processors/feeds/trades/stream.ts'
import type { FrameEvent, VenueTrade } from '../../processors/feeds/venues/events.ts'
import type { Listed, RestAnswer, TradeStream } from '../../processors/feeds/venues/venue.ts'
import type { Instrument, Trade, Micros } from '../../schemas/records.ts'

/** What a run counts: events by kind, refusals by reason. */
export type Counts = Map<string, number>

export interface NormalizeOptions {
  readonly venue: TradeStream
  /** One of the venue's stream channels, `rest-trades` or `instruments`. */
  readonly channel: string
  /** Symbol of REST pages that do not say it. */
  readonly symbol?: string
  /** The venue's list of instruments, in place of the checked-in seeds. */
  readonly listed?: readonly Listed[]
  /** Called with each refusal and the line that it is about. */
  readonly onRefusal: (reason: string, line: string) => void
}

/** Makes normalised records of recorded lines, as the feed would, without a venue or a log. */
export class Normalizer {
  readonly counts: Counts = new Map()
  readonly #options: NormalizeOptions
  readonly #normalisers = new Map<string, Normalise | undefined>()

  constructor(options: NormalizeOptions) {
    this.#options = options
  }

  records(line: string): (Trade | Instrument)[] {
    this.#count('lines')
    const recorded = readRecordedMessage(line)
    switch (this.#options.channel) {
      case 'instruments':
        return this.#instruments(recorded, line)
      case 'rest-trades':
        return this.#page(recorded, line)
      default:
        return this.#options.venue.parse(recorded.text).flatMap((event) => this.#event(event, recorded, line))
    }
  }

  #event(event: FrameEvent, recorded: RecordedMessage, line: string): Trade[] {
    if (event.kind === 'trade') return this.#trade(event.trade, recorded, fromStream, line)
    if (event.kind === 'refused') return this.#refuse(event.reason, line)
    this.#count(event.kind)
    return []
  }

  #page(recorded: RecordedMessage, line: string): Trade[] {
    const body = jsonOf(recorded.text)
    if (body === undefined) return this.#refuse('not-json', line)
    const symbol = this.#options.symbol ?? symbolAsked(recorded.url, body)
    if (symbol === undefined) return this.#refuse('unknown-symbol', line)
    return this.#rows(this.#options.venue.backfill.parse(symbol, body), line).flatMap((row) =>
      'refused' in row ? this.#refuse(row.refused, line) : this.#trade(row, recorded, fromImport, line),
    )
  }

  #instruments(recorded: RecordedMessage, line: string): Instrument[] {
    const { venue: name, market, listing } = this.#options.venue
    const rows = this.#rows(listing.parse(jsonOf(recorded.text)), line)
    // No list with prices will follow: all are placed by their names, as seeds are.
    const markets = [{ venue: name, market, source: 'seed' as const, rows, prices: [] }]
    const { instruments } = resolveInstruments(markets, new Map(), recorded.received ?? 0)
    this.#count('instruments', instruments.length)
    return instruments.map((row) => ({ ...row, source: 'venue' }))
  }

  #rows<Row>(answer: RestAnswer<Row>, line: string): readonly Row[] {
    if (answer.kind === 'rows') return answer.rows
    return this.#refuse(answer.kind === 'error' ? `error ${answer.code}` : answer.kind, line)
  }

  /** A message without a receive time is taken to have come when the trade was made. */
  #trade(trade: VenueTrade, { received }: RecordedMessage, origin: Origin, line: string): Trade[] {
    const normalise = this.#normaliserOf(trade.symbol)
    if (normalise === undefined) return this.#refuse('unknown-symbol', line)
    const record = normalise(trade, received ?? trade.time, origin)
    this.#count('trades')
    if (isClamped(trade, record)) this.#count('clamped')
    return [record]
  }

  #normaliserOf(symbol: string): Normalise | undefined {
    if (this.#normalisers.has(symbol)) return this.#normalisers.get(symbol)
    const { venue, listed } = this.#options
    const row = listed?.find((candidate) => candidate.symbol === symbol) ?? venue.listing.fromSymbol(symbol)
    const normalise = row === undefined ? undefined : normaliserFor(venue, row)
    this.#normalisers.set(symbol, normalise)
    return normalise
  }

  #refuse(reason: string, line: string): never[] {
    this.#count(`refused ${reason}`)
    this.#options.onRefusal(reason, line)
    return []
  }

  #count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by)
  }
}

function normaliserFor({ venue: name, market }: TradeStream, row: Listed): Normalise | undefined {
  const markets = [{ venue: name, market, source: 'seed' as const, rows: [row], prices: [] }]
  const { instruments } = resolveInstruments(markets, new Map(), 0)
  const instrument = bySymbol(instruments).get(name)?.get(row.symbol)
  return instrument === undefined ? undefined : normaliser(instrument)
}

/** The symbol that a REST answer is about: what its address asked for, else what its first row says. */
export function symbolAsked(url: string | undefined, body: unknown): string | undefined {
  return (url === undefined ? undefined : inUrl(url)) ?? inBody(body)
}

/** `?symbol=BTCUSDT`, `?instId=BTC-USDT-SWAP`, `/products/BTC-USD/trades` */
function inUrl(url: string): string | undefined {
  if (!URL.canParse(url, 'http://venue')) return undefined
  const { searchParams, pathname } = new URL(url, 'http://venue')
  const product = /\/products\/([^/]+)\/trades$/.exec(pathname)?.[1]
  return searchParams.get('symbol') ?? searchParams.get('instId') ?? (product && decodeURIComponent(product))
}

function inBody(body: unknown): string | undefined {
  const row = firstRow(body)
  const symbol = row?.['symbol'] ?? row?.['instId']
  return typeof symbol === 'string' ? symbol : undefined
}

function firstRow(body: unknown): Record<string, unknown> | undefined {
  if (!isRecord(body)) return undefined
  const { data, result } = body
  const rows: unknown = isRecord(result) ? result['list'] : data
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined
  return isRecord(row) ? row : undefined
}

/** One message with what its recorder knew. */
export interface RecordedMessage {
  /** The text that the venue sent. */
  readonly text: string
  /** When the recorder had it, microseconds; undefined where it did not say. */
  readonly received?: Micros
  /** What was asked, for answers of REST. */
  readonly url?: string
}

/**
 * Reads one line: `{"recv_ns"?, "url"?, "raw": <message>}`, or the bare message. The text of a message is kept as it
 * was written where `raw` is the last key, as recorders write it; a text frame (`pong`) stands as a JSON string.
 */
export function readRecordedMessage(line: string): RecordedMessage {
  const value = jsonOf(line)
  if (!isRecord(value) || !('raw' in value)) return { text: line }
  const received = receivedOf(line)
  const url = textOf(value['url'])
  return {
    text: messageOf(line, value),
    ...(received === undefined ? {} : { received }),
    ...(url === '' ? {} : { url }),
  }
}

function messageOf(line: string, value: Record<string, unknown>): string {
  const raw = value['raw']
  if (typeof raw === 'string') return raw
  const isLast = Object.keys(value).at(-1) === 'raw'
  const written = isLast ? /"raw":(?<message>.*)\}\s*$/s.exec(line)?.groups?.['message'] : undefined
  return written ?? JSON.stringify(raw)
}

/** Nanoseconds do not fit a double: the last three digits are cut from the text. */
function receivedOf(line: string): Micros | undefined {
  const nanos = /^\{"recv_ns":(\d{4,19})[,}]/.exec(line)?.[1]
  return nanos === undefined ? undefined : Number(nanos.slice(0, -3))
}
