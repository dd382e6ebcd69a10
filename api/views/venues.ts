import { tradeVenues, usualTradeVenues, type TradeVenueName, type TradeVenueRow } from '../../schemas/venues.ts'
import type { Micros } from '../../schemas/records.ts'
import { isOfVenue, type GapRow } from './gaps.ts'
import type { Catalogue } from '../present/catalogue.ts'
import { object, type Schema } from '../request/schema.ts'
import { acknowledgedOf, freshReports, type World } from './world.ts'

/** Trades older than this are stale. */
export const TRADES_STALE: Micros = 30_000_000

export const venueStatuses = ['live', 'gap', 'stale', 'unavailable', 'unlisted'] as const
export type VenueStatus = (typeof venueStatuses)[number]

/** All that may be asked for; those that `CVD_VENUES` does not name are in no answer. */
export const venueNames: readonly TradeVenueName[] = tradeVenues.map(({ venue }) => venue)

/** An object with a value per venue whose trades count: the usual ones, and those that are switched on. */
export function byTradeVenue(value: Schema, description: string): Schema {
  const usual = new Set(usualTradeVenues.map(({ venue }) => venue))
  const further = venueNames.filter((venue) => !usual.has(venue))
  return object(description, Object.fromEntries(venueNames.map((venue) => [venue, value])), further)
}

/** What is known of one venue's stream of one asset. */
export interface VenueView {
  readonly venue: TradeVenueName
  readonly status: VenueStatus
  readonly listed: boolean
  /** Up to when we know its trades: the newest word of a feed that has it live, or its last trade; 0: never. */
  readonly asOf: Micros
}

export interface VenueFacts {
  readonly asset: string
  readonly world: World
  readonly catalogue: Catalogue
  readonly counted: readonly TradeVenueRow[]
  /** Host's clock, or on a tape the tape's. */
  readonly clock: Micros
  /** How far the derived data of the asset's partition are. */
  readonly partitionTime: Micros
  /** Newest trade by venue. */
  readonly newest: ReadonlyMap<string, Micros>
  /** Gaps that lie within what is answered. */
  readonly gaps: readonly GapRow[]
}

/** The venues whose trades count, in their order. */
export function viewVenues(facts: VenueFacts): VenueView[] {
  const listed = listedVenues(facts)
  return facts.counted.map(({ venue }) => {
    const asOf = Math.max(facts.newest.get(venue) ?? 0, heardUntil(facts, venue))
    const view = { venue, listed: listed.has(venue), asOf }
    return { ...view, status: statusOf(facts, view) }
  })
}

function statusOf(facts: VenueFacts, { venue, listed, asOf }: Omit<VenueView, 'status'>): VenueStatus {
  if (!listed) return 'unlisted'
  if (isUnavailable(facts, venue)) return 'unavailable'
  if (facts.clock - asOf > TRADES_STALE) return 'stale'
  return facts.gaps.some((gap) => isOfVenue(gap, venue) && isHole(gap)) ? 'gap' : 'live'
}

/** How old an answer from these venues is: as old as the newest of them. */
export function ageOf(venues: readonly VenueView[]): { asOf: Micros; freshUntil: Micros } {
  const asOf = Math.max(0, ...venues.map((venue) => venue.asOf))
  return { asOf, freshUntil: asOf + TRADES_STALE }
}

/** Trades are missing: still being fetched, or lost. */
export function isHole(gap: GapRow): boolean {
  return gap.state !== 'filled'
}

/**
 * Up to when a feed process says that it streams the asset from the venue, and no further than what has been derived: a
 * quiet market is not a dead one. 0: never.
 */
function heardUntil({ asset, world, partitionTime }: VenueFacts, venue: string): Micros {
  const rows = acknowledgedOf(world, asset).filter((row) => row.venue === venue)
  const writers = new Set(rows.map((row) => row.writer))
  const live = world.reports.filter((report) => report.venue === venue && report.state === 'live')
  const times = live.filter((report) => writers.has(report.writer)).map((report) => report.time)
  return Math.min(partitionTime, Math.max(0, ...times))
}

/** Every feed process that is alive says that the venue refuses it or is switched off. */
function isUnavailable({ world, clock }: VenueFacts, venue: string): boolean {
  const reports = freshReports(world, clock).filter((report) => report.venue === venue)
  return reports.length > 0 && reports.every(({ state }) => state === 'unavailable' || state === 'off')
}

type ListedFacts = Pick<VenueFacts, 'asset' | 'world' | 'catalogue' | 'counted'>

/** Venues whose trade market has the asset, by their own lists: a venue's other market is another story. */
export function listedVenues({ asset, world, catalogue, counted }: ListedFacts): Set<string> {
  const names = counted.filter(({ venue, market }) => catalogue.venuesOf(asset, market).has(venue))
  const listed = new Set<string>(names.map(({ venue }) => venue))
  for (const { venue } of acknowledgedOf(world, asset)) listed.add(venue)
  return listed
}

/** Venues that acknowledged a subscription of the asset to a feed process that is alive. */
export function acknowledgedVenues(asset: string, world: World, clock: Micros): Set<string> {
  const writers = new Set(freshReports(world, clock).map((report) => report.writer))
  const rows = acknowledgedOf(world, asset).filter((row) => writers.has(row.writer))
  return new Set(rows.map((row) => row.venue))
}
