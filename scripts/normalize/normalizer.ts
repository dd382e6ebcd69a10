import { jsonOf } from '../../processors/feeds/venues/fields.ts'
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
import type { Instrument, Trade } from '../../schemas/records.ts'
import { readRecordedMessage, type RecordedMessage } from './recorded-message.ts'
import { symbolAsked } from './symbol-asked.ts'

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
    const markets = [{ venue: name, market, source: 'venue' as const, rows, prices: [] }]
    const { instruments } = resolveInstruments(markets, new Map(), recorded.received ?? 0)
    this.#count('instruments', instruments.length)
    return [...instruments]
  }

  #rows<Row>(answer: RestAnswer<Row>, line: string): readonly Row[] {
    if (answer.kind === 'rows') return answer.rows
    return this.#refuse(answer.kind === 'limited' ? 'limited' : `error ${answer.code}`, line)
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
