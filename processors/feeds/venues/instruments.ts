import { knownAsset } from '../../../schemas/catalogue.ts'
import type { Instrument, Micros } from '../../../schemas/records.ts'
import { instrumentId } from '../../../schemas/venues.ts'
import type { Market } from '../../../schemas/venues.ts'
import { Assets, type Candidate, type Doubt } from './assets.ts'
import type { Listed, ListedPrice } from './venue.ts'

/** What one venue said about its markets, or, where it could not be asked, what we have checked in. */
export interface VenueMarkets {
  readonly venue: string
  readonly market: Market
  readonly source: 'venue' | 'seed'
  readonly rows: readonly Listed[]
  readonly prices: readonly ListedPrice[]
  /** Its prices could not be had: these are of before, if there are any. */
  readonly arePricesOld?: true
}

interface Resolution {
  readonly instruments: readonly Instrument[]
  /** To be looked at by a person. */
  readonly doubts: readonly Doubt[]
}

/** Instrument id to its latest row in `market.instruments`. */
type KnownInstruments = ReadonlyMap<string, Instrument>

/**
 * Joins the venues' listings to assets; the order of `markets` is that of `venues.ts`.
 *
 * - A ticker of the checked-in map means its asset, under an old name or a new one (POL is matic, GRAM is ton).
 * - Any other market joins a same-named asset of an earlier venue when its price is within 5 % of it; else it is an
 *   asset of its own: the first venue that lists a base owns the plain id (`wif`), others get `wif.okx`.
 * - Without a price nothing tells whether it is that asset: it is left out until it has one, a doubt to be looked at, where
 *   it is not the only one of its name. One that is not traded yet, or whose venue did not tell its prices, is left out too:
 *   it must not keep others from the name. So that no order of venues matters, the log's own are placed first.
 * - A market whose price is absurdly far from its asset's is an asset of its own too, and a doubt to be looked at.
 * - `known` are the rows in the log: an instrument keeps the asset it had, and a venue that could not be asked keeps
 *   what it listed before (seeds only add to it). What a venue, when asked, no longer lists is closed.
 */
export function resolveInstruments(markets: readonly VenueMarkets[], known: KnownInstruments, at: Micros): Resolution {
  const candidates = markets.flatMap((market) => candidatesOf(market, known))
  const assets = new Assets(candidates, known.values())
  const inTurn = candidates.toSorted((a, b) => turnOf(a, known) - turnOf(b, known))
  const placed = new Map(inTurn.map((one) => [one, assets.assetOf(one, known.get(one.instrument))]))
  const listed = candidates.flatMap((candidate) => {
    const asset = placed.get(candidate)?.asset
    return asset === undefined ? [] : [recordOf(candidate, asset, at)]
  })
  const doubts = candidates.flatMap((candidate) => placed.get(candidate)?.doubt ?? [])
  return { instruments: [...listed, ...unlisted(markets, listed, known, at)], doubts }
}

/** What has an asset tells its price before others are compared with it, and what has a price is placed before what has none. */
function turnOf({ instrument, row, unitPrice }: Candidate, known: KnownInstruments): number {
  if (known.has(instrument) || knownAsset(row.base) !== undefined) return 0
  return unitPrice === undefined ? 2 : 1
}

/** The rows that say something new, to be written to the log. */
export function changedInstruments(resolved: readonly Instrument[], known: KnownInstruments): Instrument[] {
  return resolved.filter((row) => {
    const before = known.get(row.instrument)
    return before === undefined || JSON.stringify({ ...before, valid_from: row.valid_from }) !== JSON.stringify(row)
  })
}

/** The live instruments by venue and by the venue's own symbol; a venue's spot and perpetuals may share symbols: give one. */
export function bySymbol(instruments: readonly Instrument[]): ReadonlyMap<string, ReadonlyMap<string, Instrument>> {
  const live = instruments.filter(({ status }) => status === 'live')
  const venues = Map.groupBy(live, ({ venue }) => venue)
  return new Map([...venues].map(([venue, rows]) => [venue, new Map(rows.map((row) => [row.symbol, row]))]))
}

/** The row of one market of a venue as listed. */
function recordOf({ instrument, from, row }: ListedCandidate, asset: string, at: Micros): Instrument {
  return {
    instrument,
    asset,
    venue: from.venue,
    market: from.market,
    symbol: row.symbol,
    base: row.base,
    quote: row.quote,
    settle: row.settle,
    size_factor: row.sizeFactor,
    price_factor: row.priceFactor,
    tick: row.tick,
    status: row.live ? 'live' : 'closed',
    source: from.source,
    valid_from: at,
  }
}

interface ListedCandidate extends Candidate {
  readonly from: VenueMarkets
}

/** What the log knows of a market beats a seed. */
function candidatesOf(from: VenueMarkets, known: KnownInstruments): ListedCandidate[] {
  const prices = new Map(from.prices.map(({ symbol, price }) => [symbol, price]))
  const candidates = from.rows.map((row) => {
    // A market that has ended may still be told with its last price, which says nothing of those that live.
    const price = row.live ? prices.get(row.symbol) : undefined
    const unitPrice = price === undefined ? undefined : price / row.priceFactor
    const instrument = instrumentId(from.venue, from.market, row.symbol)
    return { instrument, venue: from.venue, from, row, unitPrice, byName: byNameOf(from, row) }
  })
  return from.source === 'venue' ? candidates : candidates.filter(({ instrument }) => !known.has(instrument))
}

function byNameOf({ source, arePricesOld }: VenueMarkets, { live }: Listed): Candidate['byName'] {
  if (source === 'seed') return 'always'
  return live && arePricesOld !== true ? 'alone' : 'never'
}

/** Rows of the log that were not listed now: closed where the venue was asked, as they were where it was not. */
function unlisted(
  markets: readonly VenueMarkets[],
  listed: readonly Instrument[],
  known: KnownInstruments,
  at: Micros,
): Instrument[] {
  const asked = new Set(markets.filter(({ source }) => source === 'venue').map(marketOf))
  const there = new Set(listed.map(({ instrument }) => instrument))
  return [...known.values()]
    .filter((row) => !there.has(row.instrument))
    .map((row) =>
      asked.has(marketOf(row)) && row.status === 'live'
        ? { ...row, status: 'closed', source: 'venue', valid_from: at }
        : row,
    )
}

function marketOf({ venue, market }: { readonly venue: string; readonly market: string }): string {
  return `${venue}:${market}`
}
