import { partitionOf } from '../../schemas/catalogue.ts'
import type { Micros } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { Row, type Database } from './database.ts'
import { microsSql } from './time.ts'

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
  readonly subscriptions: readonly SubscriptionRow[]
  readonly channels: readonly ChannelRow[]
  /** Newest mark by `topic/partition`. */
  readonly times: ReadonlyMap<string, Micros>
}

const reportsSql = `SELECT writer, venue, toString(state) AS state, sockets, ${microsSql('since')} AS since_us,
  ${microsSql('time')} AS time_us FROM venue_states`
const subscriptionsSql = `SELECT writer, instrument, asset, venue, toString(state) AS state,
  ${microsSql('since')} AS since_us FROM subscriptions`
const timesSql = `SELECT topic, partition, ${microsSql('time')} AS time_us FROM partition_times`
const channelsSql = `SELECT topic, writer, venue, toString(state) AS state, sockets, ${microsSql('since')} AS since_us,
  ${microsSql('time')} AS time_us FROM channel_states`
const instrumentsSql = 'SELECT asset, venue, market, base, toString(status) AS status FROM instruments'

export async function readWorld(database: Database): Promise<World> {
  const [reports, subscriptions, channels, times] = await Promise.all([
    database.query(reportsSql, {}),
    database.query(subscriptionsSql, {}),
    database.query(channelsSql, {}),
    database.query(timesSql, {}),
  ])
  return {
    reports: reports.map((row) => reportOf(new Row(row))),
    subscriptions: subscriptions.map((row) => subscriptionOf(new Row(row))),
    channels: channels.map((raw) => {
      const row = new Row(raw)
      return { topic: row.text('topic'), ...reportOf(row) }
    }),
    times: new Map(times.map((row) => timeOf(new Row(row)))),
  }
}

export async function readInstruments(database: Database): Promise<readonly InstrumentRow[]> {
  const rows = await database.query(instrumentsSql, {})
  return rows.map((raw) => {
    const row = new Row(raw)
    return {
      asset: row.text('asset'),
      venue: row.text('venue'),
      market: row.text('market'),
      base: row.text('base'),
      live: row.text('status') === 'live',
    }
  })
}

function reportOf(row: Row): VenueReport {
  return {
    writer: row.text('writer'),
    venue: row.text('venue'),
    state: row.text('state'),
    sockets: row.number('sockets'),
    since: row.number('since_us'),
    time: row.number('time_us'),
  }
}

function subscriptionOf(row: Row): SubscriptionRow {
  return {
    writer: row.text('writer'),
    instrument: row.text('instrument'),
    asset: row.text('asset'),
    venue: row.text('venue'),
    state: row.text('state'),
    since: row.number('since_us'),
  }
}

function timeOf(row: Row): [string, Micros] {
  return [`${row.text('topic')}/${row.number('partition')}`, row.number('time_us')]
}

/** Newest mark of the asset's partition in `topic`; undefined before the first. */
export function partitionTime(world: World, topic: TopicName, asset: string, partitions: number): Micros | undefined {
  return world.times.get(`${topic}/${partitionOf(asset, partitions)}`)
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
