import type { Micros } from '../../schemas/records.ts'
import type { Services } from '../services.ts'
import { nullable, oneOf, type Schema } from '../schema.ts'
import { factSources, readFirst, readNewest, type Reading, type Series } from '../views/readings.ts'
import type { AssetContext } from './answers.ts'
import type { SeriesSource } from './series.ts'

/** How long it is remembered when the first reading of an asset was, milliseconds. */
const FIRST_TTL_MS = 60_000

/** What a venue said last in a bucket, a list of values for each series; undefined: nothing. */
export type Values = readonly (readonly number[] | undefined)[]

interface ReadingsRow {
  readonly venues: readonly string[]
  /** The first tells how far back the history goes. */
  readonly series: readonly [Series, ...Series[]]
  /** The figures of one venue. */
  readonly venueOf: (said: Values) => object
  /** The figures of all venues, in their order. */
  readonly totalOf: (said: readonly Values[]) => object
  /** Whether a venue was heard in a bucket; else: where it said all of the series. */
  readonly isHeard?: (said: Values) => boolean
}

/** Of a venue in a bucket: where its figure is from. */
export const sourceField: Readonly<Record<'source', Schema>> = {
  source: nullable(
    oneOf(factSources, 'live: told when it was so; venue_history: told by the venue of its past; null: not heard'),
  ),
}

/** Histories of what venues say again and again: a bucket tells the newest that each has said in it. */
export function readingsOf({ venues, series, venueOf, totalOf, isHeard = saidAll }: ReadingsRow): SeriesSource {
  const [main] = series
  return {
    first: (services, about) => firstOf(services, about, main),
    newest: ({ present, asset }) => Math.max(0, ...main.held(present, asset).map(({ time }) => time)),
    async read({ database }, { present, asset }, { from, to, width }) {
      const all = await Promise.all(
        series.map((one) => readNewest(database, one, { asset, from, to, width, held: one.held(present, asset) })),
      )
      const readBy = (venue: string, time: Micros): (Reading | undefined)[] =>
        series.map((one, index) => all[index]?.get(time)?.get(one.venue ?? venue))
      return (time) => {
        const read = venues.map((venue) => readBy(venue, time))
        const said = read.map((readings): Values => readings.map((reading) => reading?.values))
        const shown = (index: number): object => ({
          ...venueOf(said[index] ?? []),
          source: read[index]?.[0]?.source ?? null,
        })
        return {
          total: totalOf(said),
          exchanges: Object.fromEntries(venues.map((venue, index) => [venue, shown(index)])),
          heard: new Set(venues.filter((_, index) => isHeard(said[index] ?? []))),
        }
      }
    },
  }
}

function saidAll(said: Values): boolean {
  return said.every((values) => values !== undefined)
}

/** The first reading that there is, be it one that only memory has. */
export async function firstOf(
  { cache, database }: Services,
  { present, asset }: AssetContext,
  series: Series,
): Promise<Micros | undefined> {
  const load = (): Promise<Micros | undefined> => readFirst(database, series, asset)
  const { value } = await cache.get(`first|${series.view}|${asset}`, FIRST_TTL_MS, load)
  const first = Math.min(value ?? Infinity, ...series.held(present, asset).map(({ time }) => time))
  return Number.isFinite(first) ? first : undefined
}
