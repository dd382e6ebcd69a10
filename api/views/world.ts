import { partitionOf } from '../../schemas/catalogue.ts'
import type { Micros } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'

/** A feed process' word is believed this long: it gives it once a second. */
export const MARK_FRESH: Micros = 10_000_000

/** What one feed process has of one venue, from its newest mark. */
export interface VenueReport {
  readonly writer: string
  readonly venue: string
  readonly state: string
  readonly sockets: number
  readonly since: Micros
  readonly time: Micros
}

export interface SubscriptionRow {
  readonly writer: string
  readonly instrument: string
  readonly asset: string
  readonly venue: string
  readonly state: string
  readonly since: Micros
}

export interface InstrumentRow {
  readonly asset: string
  readonly venue: string
  readonly market: string
  readonly base: string
  readonly live: boolean
}

/** What one feed process has of one venue for one topic, from its newest mark there. */
export interface ChannelRow extends VenueReport {
  readonly topic: string
}

/** What the log says about itself: who feeds it, how far it is, what is subscribed. */
export interface World {
  readonly reports: readonly VenueReport[]
  /** By asset. */
  readonly subscriptions: ReadonlyMap<string, readonly SubscriptionRow[]>
  readonly channels: readonly ChannelRow[]
  /** Newest mark by `topic/partition`. */
  readonly times: ReadonlyMap<string, Micros>
  /** Newest mark that a processor wrote, by `processor/partition`. */
  readonly derived: ReadonlyMap<string, Micros>
}

/** Of an asset, those that venues have acknowledged. */
export function acknowledgedOf({ subscriptions }: Pick<World, 'subscriptions'>, asset: string): SubscriptionRow[] {
  return subscriptions.get(asset)?.filter(({ state }) => state === 'acknowledged') ?? []
}

/** Newest mark of the asset's partition in `topic`; undefined before the first. */
export function partitionTime(world: World, topic: TopicName, asset: string, partitions: number): Micros | undefined {
  return world.times.get(`${topic}/${partitionOf(asset, partitions)}`)
}

/** Up to when all of these processors have come in the asset's partition; undefined: one of them has not begun. */
export function derivedTime(
  world: World,
  processors: readonly string[],
  asset: string,
  partitions: number,
): Micros | undefined {
  const times = processors.map((name) => world.derived.get(`${name}/${partitionOf(asset, partitions)}`) ?? 0)
  const least = Math.min(...times)
  return least === 0 ? undefined : least
}

/** Newest mark of a topic over all its partitions; undefined before the first. */
export function newestTime(world: World, topic: TopicName): Micros | undefined {
  const times = [...world.times].filter(([key]) => key.startsWith(`${topic}/`)).map(([, time]) => time)
  return times.length === 0 ? undefined : Math.max(...times)
}

/** The mark that all partitions of a topic have reached: what is older is there. Undefined before the first. */
export function settledTime(world: World, topic: TopicName): Micros | undefined {
  const times = [...world.times].filter(([key]) => key.startsWith(`${topic}/`)).map(([, time]) => time)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** The reports of feed processes that are alive at `clock`. */
export function freshReports(world: World, clock: Micros): VenueReport[] {
  return world.reports.filter((report) => clock - report.time <= MARK_FRESH)
}

/**
 * Up to when a feed process says that a venue's channels for a topic are alive, so that a quiet market is not taken for
 * a dead one; 0: none says so.
 */
export function heardOn(world: World, topic: TopicName, venue: string): Micros {
  let heard = 0
  for (const row of world.channels)
    if (row.venue === venue && row.topic === topic && row.state === 'live') heard = Math.max(heard, row.time)
  return heard
}

/** Every feed process that is alive says that the venue refuses it or is switched off, as far as the topic goes. */
export function isRefused(world: World, topic: TopicName, venue: string, clock: Micros): boolean {
  const rows = world.channels.filter(
    (row) => row.topic === topic && row.venue === venue && clock - row.time <= MARK_FRESH,
  )
  return rows.length > 0 && rows.every(({ state }) => state === 'unavailable' || state === 'off')
}

/** WebSocket connections that are open now, over all feed processes and venues. */
export function openSockets(world: World, clock: Micros): number {
  return freshReports(world, clock).reduce((sum, report) => sum + report.sockets, 0)
}
