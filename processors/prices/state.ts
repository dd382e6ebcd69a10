import type { CompositePrice, Micros } from '../../schemas/records.ts'
import type { PriceVenue } from '../../schemas/venues.ts'

const SECOND = 1_000_000

/** A ticker, or the word of a feed that a channel lives, counts this long. */
export const ALIVE: Micros = 15 * SECOND
/** A market that said nothing for this long has ended, whatever its channel does. */
export const SILENT: Micros = 3_600 * SECOND
/** An asset without a source for this long is forgotten. */
export const FORGOTTEN: Micros = 24 * 3_600 * SECOND

/** What one venue last said of an asset, in USD. */
export interface Source {
  readonly venue: PriceVenue
  readonly instrument: string
  /** Ticker of its quote currency. */
  readonly quote: string
  readonly price: number
  /** Bounds since its previous ticker, this one’s price included. */
  readonly low: number
  readonly high: number
  readonly change: number | null
  /** Venue time. */
  readonly time: Micros
  readonly received: Micros
  /** When the previous ticker of the venue was received; some seconds before its own for the first. */
  readonly previous: Micros
}

/** Bounds of a part of a time without prices, mostly of a minute, USD. */
export interface GapCandle {
  readonly from: Micros
  readonly to: Micros
  readonly low: number
  readonly high: number
}

/** What one venue's candles gave for a time without prices. */
export interface GapRange {
  readonly venue: PriceVenue
  readonly instrument: string
  readonly candles: readonly GapCandle[]
  /** End of what the candles cover. */
  readonly to: Micros
}

/** A time in which no venue counted, or several that are told as one. */
export interface PriceGap {
  readonly from: Micros
  /** Begin of the newest of several. */
  newest: Micros
  /** When a price was there again; so far, while there is none. */
  to: Micros
  /** What the venues' candles said of it, by venue. */
  readonly ranges: Map<PriceVenue, GapRange>
  /** When it is told: some time after the first range, so that one venue's wick does not speak for all. */
  due: Micros | null
  /** It is not put off beyond this for another that follows. */
  latest: Micros | null
  isTold: boolean
}

interface Told {
  readonly price: number
  readonly quality: CompositePrice['quality']
  readonly counted: string
  readonly time: Micros
}

export interface AssetState {
  readonly asset: string
  readonly sources: Map<PriceVenue, Source>
  /** Names of the venues that counted at the last look, to see a change without an input of its own. */
  counted: string
  /** What the last record said, to see whether the next would say anything else. */
  told: Told | null
  /** Newest gap, while candles of it may still come. */
  gap: PriceGap | null
  /** Since when no venue counts; null while one does. */
  awaySince: Micros | null
  isChanged: boolean
}

/** What one feed process says of one venue. */
export interface Channel {
  readonly writer: string
  readonly venue: string
  readonly since: Micros
  /** Of the mark that said it last. */
  said: Micros
}

/** Why a record was not used. */
export type Refusal =
  /** Not newer than what is known of the market. */
  | 'old'
  /** A market that stands behind another of the same venue. */
  | 'other_market'
  /** No price. */
  | 'bad_price'
  /** Candles of a time that had prices, or that came when all was told. */
  | 'range'

/** What the processor knows of one partition. Bounded: the catalogue's assets by five venues, one gap each. */
export interface PricesState {
  /** Partition time. */
  time: Micros
  readonly assets: Map<string, AssetState>
  /** Living channels by writer and venue. */
  readonly channels: Map<string, Channel>
  readonly refused: Record<Refusal, number>
  readonly forgotten: Set<string>
}

export function emptyState(): PricesState {
  return {
    time: 0,
    assets: new Map(),
    channels: new Map(),
    refused: { old: 0, other_market: 0, bad_price: 0, range: 0 },
    forgotten: new Set(),
  }
}

export function assetOf(state: PricesState, asset: string): AssetState {
  const known = state.assets.get(asset)
  if (known !== undefined) return known
  const made: AssetState = {
    asset,
    sources: new Map(),
    counted: '',
    told: null,
    gap: null,
    awaySince: null,
    isChanged: true,
  }
  state.assets.set(asset, made)
  state.forgotten.delete(asset)
  return made
}
