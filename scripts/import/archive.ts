import path from 'node:path'
import { normaliser, fromImport, type Normalise } from '../../processors/feeds/trades/stream.ts'
import { resolveInstruments } from '../../processors/feeds/venues/instruments.ts'
import type { Listing } from '../../processors/feeds/venues/venue.ts'
import { tradeStreams, venues } from '../../processors/feeds/venues/venues.ts'
import { TapeError } from '../../infra/tapes/tape.ts'
import type { Micros, Trade } from '../../schemas/records.ts'
import { tradeVenues, type Market, type TradeVenueName } from '../../schemas/venues.ts'
import { UsageError } from '../command/command.ts'
import { linesOf } from '../../processors/feeds/transport/archive-lines.ts'
import { layoutOf, type ArchiveTrade, type FileTold, type LayoutName, type Refusal } from './layouts.ts'

/** A file of an archive, as it was named on the command line. */
export interface ArchiveFile {
  readonly layout: LayoutName
  readonly file: string
}

/** A line may be this much older than the one before it; archives are in order but for neighbours. */
const DISORDER_MAX: Micros = 2_000_000
/** Beyond this share of refused lines a file is taken for something else. */
const REFUSED_SHARE_MAX = 0.01

/** Counted over all files. */
export type Refusals = Map<Refusal | 'unknown-symbol', number>

/**
 * The trades of one file in its order, as records of `market.trades`. A file goes whole where its first trade belongs, so
 * it is refused where `belongs` says of a further asset that it does not.
 */
export async function* tradesOf(
  { layout, file }: ArchiveFile,
  market: Market,
  refusals: Refusals,
  belongs: (asset: string) => boolean = () => true,
): AsyncGenerator<Trade> {
  const read = layoutOf(layout, told(layout, file, market))
  const normalise = new Normalisers()
  let lines = 0
  let refused = 0
  let latest = 0
  let first: string | undefined
  for await (const line of eachLine(file)) {
    lines += 1
    const found = read(line.split(','))
    const record = typeof found === 'string' ? undefined : normalise.record(found)
    if (record === undefined) {
      const reason = typeof found === 'string' ? found : 'unknown-symbol'
      if (reason === 'header' && lines === 1) continue
      refused += 1
      refusals.set(reason, (refusals.get(reason) ?? 0) + 1)
      if (refused > 10 && refused > lines * REFUSED_SHARE_MAX)
        throw new TapeError('corrupt', `${file}, line ${lines}: ${reason}; is it a ${layout} trades file?`)
      continue
    }
    if (record.time < latest - DISORDER_MAX)
      throw new TapeError(
        'corrupt',
        `${file}, line ${lines}: ${iso(record.time)} stands behind ${iso(latest)}; sort the file by time`,
      )
    first ??= record.asset
    if (record.asset !== first && !belongs(record.asset))
      throw new TapeError(
        'refused',
        `${file}, line ${lines}: ${record.instrument} belongs to another partition than the ${first} that the file begins ` +
          'with; split the file by symbol, and import the parts into an empty folder',
      )
    latest = Math.max(latest, record.time)
    yield record
  }
}

async function* eachLine(file: string): AsyncGenerator<string> {
  for await (const lines of linesOf(file)) yield* lines
}

function iso(time: Micros): string {
  return new Date(time / 1000).toISOString()
}

/** The asset of a file's first trade: it says which partition the file goes to. */
export async function assetOf(archive: ArchiveFile, market: Market): Promise<string> {
  for await (const { asset } of tradesOf(archive, market, new Map())) return asset
  throw new TapeError('no-data', `${archive.file} holds no trades`)
}

/** `BTCUSDT-aggTrades-2024-08-01.csv`: what stands before the first dash or underscore; of OKX, before `-trades-`. */
function told(layout: LayoutName, file: string, market: Market): FileTold {
  const pattern = layout === 'okx' ? /^(.+)-trades-/ : /^([A-Za-z0-9]+)[-_.]/
  const symbol = pattern.exec(path.basename(file))?.[1]?.toUpperCase()
  if (symbol === undefined && (layout === 'binance' || layout === 'okx'))
    throw new UsageError(
      `${file}: its name must begin with the symbol, as BTCUSDT-aggTrades-2024-08-01.csv or BTC-USDT-SWAP-trades-2024-08-01.zip`,
    )
  return { symbol: symbol ?? '', market }
}

/** Sizes and prices in our units: contract sizes and multipliers of the checked-in instruments. */
class Normalisers {
  readonly #known = new Map<string, Normalise | undefined>()

  record({ venue, market, trade, received }: ArchiveTrade): Trade | undefined {
    const name = `${venue}:${market}:${trade.symbol}`
    if (!this.#known.has(name)) this.#known.set(name, normaliserOf(venue, market, trade.symbol))
    return this.#known.get(name)?.(trade, received, fromImport)
  }
}

function normaliserOf(venue: TradeVenueName, market: Market, symbol: string): Normalise | undefined {
  const row = listingOf(venue, market)?.fromSymbol(symbol)
  if (row === undefined) return undefined
  const markets = [{ venue, market, source: 'seed' as const, rows: [row], prices: [] }]
  const [instrument] = resolveInstruments(markets, new Map(), 0).instruments
  return instrument === undefined ? undefined : normaliser(instrument)
}

/** Of the venue's trades where they are of that market, else of what it tells beside them. */
function listingOf(name: TradeVenueName, market: Market): Listing | undefined {
  if (tradeVenues.some((row) => row.venue === name && row.market === market)) return tradeStreams[name].listing
  return venues.find((venue) => venue.name === name)?.listings.find((one) => one.market === market)?.listing
}

/** A trade, and which of the files it is from. */
export interface FileTrade {
  readonly trade: Trade
  readonly file: number
}

/** Trades of several files as one stream in the order of time; at equal times in the order of the files. */
export async function* mergeFiles(streams: readonly AsyncIterable<Trade>[]): AsyncGenerator<FileTrade> {
  const heads: { next: Trade; file: number; rest: AsyncIterator<Trade> }[] = []
  for (const [file, stream] of streams.entries()) {
    const rest = stream[Symbol.asyncIterator]()
    const { done, value } = await rest.next()
    if (done !== true) heads.push({ next: value, file, rest })
  }
  while (heads.length > 0) {
    const head = heads.reduce((first, other) => (other.next.time < first.next.time ? other : first))
    yield { trade: head.next, file: head.file }
    const { done, value } = await head.rest.next()
    if (done === true) heads.splice(heads.indexOf(head), 1)
    else head.next = value
  }
}
