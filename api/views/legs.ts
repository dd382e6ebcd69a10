import type { Micros } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { Market } from '../../schemas/venues.ts'
import type { Catalogue } from '../present/catalogue.ts'
import { isRefused, type World } from './world.ts'

export const legStatuses = ['live', 'stale', 'unavailable', 'unlisted'] as const
export type LegStatus = (typeof legStatuses)[number]

/** Where every venue is silent, those count that are no further behind the last one heard than this. */
const BEHIND_MAX: Micros = 120_000_000

/** How old something is: time of its newest input, and when it becomes stale. */
export interface Aged {
  readonly asOf: Micros
  readonly freshUntil: Micros
}

/** One venue's part of an answer; `row` is null where it does not count. */
export interface Leg<Row> {
  readonly venue: string
  readonly status: LegStatus
  readonly row: Row | null
}

export interface LegFacts {
  readonly asset: string
  readonly world: World
  readonly catalogue: Catalogue
  readonly clock: Micros
  /** Where the rows come from, and the market that they are about. */
  readonly topic: TopicName
  readonly market: Market
}

/** The parts of an answer that count; undefined where none does. */
export function ageOfLegs<Row extends Aged>(legs: readonly Leg<Row>[]): Aged | undefined {
  const rows = legs.flatMap(({ row }) => (row === null ? [] : [row]))
  if (rows.length === 0) return undefined
  return {
    asOf: Math.max(...rows.map((row) => row.asOf)),
    freshUntil: Math.max(...rows.map((row) => row.freshUntil)),
  }
}

/**
 * Each venue of an answer in the given order. A venue counts while it is fresh; where none is, the last ones heard count
 * that still list it, and the answer is as stale as they are.
 */
export function legsOf<Row extends Aged & { readonly exchange: string }>(
  venues: readonly string[],
  rows: readonly Row[],
  facts: LegFacts,
): Leg<Row>[] {
  const last = Math.max(...rows.map((row) => row.freshUntil))
  const since = last >= facts.clock ? facts.clock : last - BEHIND_MAX
  return venues.map((venue) => {
    const row = rows.find(({ exchange }) => exchange === venue)
    const status = statusOf(venue, row, facts)
    const counts = row !== undefined && row.freshUntil >= since && status !== 'unlisted'
    return { venue, status, row: counts ? row : null }
  })
}

function statusOf(venue: string, row: Aged | undefined, facts: LegFacts): LegStatus {
  const { asset, world, catalogue, clock, topic, market } = facts
  if (row !== undefined && row.freshUntil >= clock) return 'live'
  if (catalogue.knows(venue, market) && !catalogue.venuesOf(asset, market).has(venue)) return 'unlisted'
  if (row === undefined || isRefused(world, topic, venue, clock)) return 'unavailable'
  return 'stale'
}
