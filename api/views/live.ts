import type { Stretch } from '../../processors/cvd/covered-time.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { Row, type Database } from './database.ts'
import { microsSql, timeParam } from './time.ts'
import type { World } from './world.ts'

/** Most times of live channels that are looked at for one answer; the newest. */
const STRETCHES_MAX = 10_000

const liveSql = `SELECT venue, ${microsSql('time')} AS from_us, ${microsSql('until')} AS to_us FROM live_stretches
  WHERE topic = {topic:String} AND until >= ${timeParam('from')} AND time < ${timeParam('to')}
  ORDER BY from_us DESC LIMIT ${STRETCHES_MAX}`

/** Channels of these venues for a topic. */
interface Channels {
  readonly topic: TopicName
  readonly venues: readonly string[]
}

/** Whether each venue's channels for a topic are live since before a time began up to its end, as the newest marks say. */
export function areLive({ channels }: World, { topic, venues }: Channels, { from, to }: Stretch): boolean {
  const live = channels.filter(
    (row) => row.topic === topic && row.state === 'live' && row.since <= from && row.time >= to,
  )
  return venues.every((name) => live.some(({ venue }) => venue === name))
}

/**
 * Whether a venue's channels for a topic were live over all of a time within the range, as feeds' marks say: from memory, and from
 * ClickHouse where that does not know of all of the range, which ends now at the latest.
 */
export async function readLive(
  { database, world }: { readonly database: Database; readonly world: World },
  { topic, venues }: Channels,
  range: Stretch,
): Promise<(venue: string, time: Stretch) => boolean> {
  const held = world.channels
    .filter((row) => row.topic === topic && row.state === 'live')
    .map(({ venue, since, time }) => ({ venue, from: since, to: time }))
  const rows = areLive(world, { topic, venues }, range) ? [] : await database.query(liveSql, { topic, ...range })
  const stretches = [...rows.map((raw) => stretchOf(new Row(raw))), ...held]
  const byVenue = new Map([...Map.groupBy(stretches, ({ venue }) => venue)].map(([name, own]) => [name, joined(own)]))
  return (venue, { from, to }) => byVenue.get(venue)?.some((live) => live.from <= from && live.to >= to) === true
}

function stretchOf(row: Row): Stretch & { readonly venue: string } {
  return { venue: row.text('venue'), from: row.number('from_us'), to: row.number('to_us') }
}

/** The same times, none of which touches another. */
function joined(stretches: readonly Stretch[]): Stretch[] {
  const apart: Stretch[] = []
  for (const { from, to } of stretches.toSorted((a, b) => a.from - b.from)) {
    const last = apart.at(-1)
    if (last === undefined || last.to < from) apart.push({ from, to })
    else apart[apart.length - 1] = { from: last.from, to: Math.max(last.to, to) }
  }
  return apart
}
