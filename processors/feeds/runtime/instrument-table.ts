import type { LogReader, Writer } from '../../../infra/kafka/seam.ts'
import type { Codec } from '../../../schemas/codec.ts'
import type { Instrument, Micros } from '../../../schemas/records.ts'
import { instrumentId, priceVenues, quotesOf, type Market } from '../../../schemas/venues.ts'
import type { Doubt } from '../venues/assets.ts'
import { changedInstruments, resolveInstruments, type VenueMarkets } from '../venues/instruments.ts'
import { Readback, type ReadbackPorts } from './readback.ts'
import type { Listed, Listing, RestAnswer, RestCall, RestOutcome } from '../venues/venue.ts'
import type { RestClient } from '../transport/rest-client.ts'

const TOPIC = 'market.instruments'
/** Pages of one list; more mean that its cursor does not move on. */
const maxPages = 50

/** One market of one venue, and who can be asked what it lists. */
export interface ListedMarket {
  readonly name: string
  readonly market: Market
  readonly listing: Listing
  readonly rest: Pick<RestClient, 'get'>
}

/** The venues' markets, joined to assets, with the newest row of each instrument in `market.instruments`. */
export class InstrumentTable {
  readonly #codec: Codec
  readonly #writer: Writer
  readonly #known: Map<string, Instrument>

  private constructor(codec: Codec, writer: Writer, known: Map<string, Instrument>) {
    this.#codec = codec
    this.#writer = writer
    this.#known = known
  }

  /** Reads what the topic has. */
  static async read(reader: LogReader, ports: ReadbackPorts): Promise<InstrumentTable> {
    const known = new Map<string, Instrument>()
    const readback = new Readback(TOPIC, ports)
    for await (const records of reader.toEnd(TOPIC, 0)) {
      for (const { message } of await readback.read(records)) {
        if (message?.type === 'instrument') known.set(message.value.instrument, message.value)
      }
    }
    return new InstrumentTable(ports.codec, ports.writer, known)
  }

  /** Whether the log knows instruments of this market. */
  knows(venue: string, market: Market): boolean {
    return [...this.#known.values()].some((row) => row.venue === venue && row.market === market)
  }

  /** How many instruments of a market are live, and how many of these a list of it does not have, or has as live no more. */
  lossOf({ venue, market, rows }: VenueMarkets): { live: number; missing: number; stopped: number } {
    const known = [...this.#known.values()]
    const live = known.filter((row) => row.venue === venue && row.market === market && row.status === 'live')
    const listed = new Map(rows.map((row) => [row.symbol, row.live]))
    return {
      live: live.length,
      missing: live.filter(({ symbol }) => !listed.has(symbol)).length,
      stopped: live.filter(({ symbol }) => listed.get(symbol) === false).length,
    }
  }

  /** Bases of live markets that the log does not know. */
  newIn(markets: VenueMarkets | undefined): ReadonlySet<string> {
    if (markets === undefined) return new Set()
    const { venue, market, rows } = markets
    const isNew = ({ symbol, live }: Listed): boolean => live && !this.#known.has(instrumentId(venue, market, symbol))
    return new Set(rows.filter(isNew).map(({ base }) => base))
  }

  /** Joins the lists, writes what is new, and returns what a person should look at. */
  async update(markets: readonly VenueMarkets[], now: Micros): Promise<readonly Doubt[]> {
    const { instruments, doubts } = resolveInstruments(markets, this.#known, now)
    const changed = changedInstruments(instruments, this.#known)
    for (const row of changed) this.#known.set(row.instrument, row)
    const records = changed.map((row) => ({
      key: row.instrument,
      value: this.#codec.encode(TOPIC, 'instrument', row),
      time: Math.floor(now / 1_000),
    }))
    for (let at = 0; at < records.length; at += 1_000) {
      await this.#writer.send(TOPIC, 0, records.slice(at, at + 1_000))
    }
    return doubts
  }

  /** The live instruments of a venue's market by asset: of several the one of its first quote, of equals the log's first. */
  of(venue: string, market: Market): ReadonlyMap<string, Instrument> {
    const byAsset = new Map<string, Instrument>()
    const quotes = market === 'spot' ? spotQuotesOf(venue) : []
    for (const row of this.#known.values()) {
      if (row.venue !== venue || row.market !== market || row.status !== 'live') continue
      const before = byAsset.get(row.asset)
      if (before === undefined || rankOf(row, quotes) < rankOf(before, quotes)) byAsset.set(row.asset, row)
    }
    return byAsset
  }
}

function spotQuotesOf(venue: string): readonly string[] {
  const priced = priceVenues.find((name) => name === venue)
  return priced === undefined ? [] : quotesOf(priced)
}

function rankOf({ quote }: Instrument, quotes: readonly string[]): number {
  return quotes.includes(quote) ? quotes.indexOf(quote) : quotes.length
}

/**
 * Asks for one market's instruments and their prices; the checked-in rows where there is no answer, or one without a row
 * that can be read: a venue does not end all of a market at once.
 */
export async function askMarkets(asked: ListedMarket): Promise<VenueMarkets> {
  const { listing, name, market, rest } = asked
  const rows = await allPages(rest, listing.first, (body) => listing.parse(body))
  if (rows === undefined || rows.length === 0) return seedOf(asked)
  const { prices } = listing
  const priced = prices === undefined ? [] : await allPages(rest, prices.first, (body) => prices.parse(body))
  const listed = { venue: name, market, source: 'venue', rows } as const
  return priced === undefined ? { ...listed, prices: [], arePricesOld: true } : { ...listed, prices: priced }
}

/** What is checked in of a market. */
export function seedOf({ name, market, listing }: ListedMarket): VenueMarkets {
  return { venue: name, market, source: 'seed', rows: listing.seed, prices: [] }
}

async function allPages<Row>(
  rest: ListedMarket['rest'],
  first: RestCall,
  parse: (body: unknown) => RestAnswer<Row>,
): Promise<Row[] | undefined> {
  const rows: Row[] = []
  let call: RestCall | undefined = first
  for (let page = 0; call !== undefined && page < maxPages; page++) {
    const outcome: RestOutcome<Row> = await rest.get(call, parse, 'poll')
    if (outcome.kind !== 'rows') return undefined
    rows.push(...outcome.rows)
    call = outcome.next
  }
  return rows
}
