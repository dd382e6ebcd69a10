import { sharedCodec, SchemaError, type RegistryCodec } from '../../../infra/kafka/codec.ts'
import { Follower, positionsAt } from '../../../infra/kafka/follower.ts'
import { connectLog } from '../../../infra/kafka/kafkajs.ts'
import type { Log, LogRecord, Position } from '../../../infra/kafka/seam.ts'
import type { Logger } from '../../../infra/log.ts'
import type { RecordType } from '../../../schemas/records.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import { differsAt } from '../../alerts/catching.ts'
import { decode } from '../../alerts/decode.ts'
import type { Unread } from '../../unread.ts'
import { Board, type Place, type Update } from '../../stream/board.ts'
import { Digest, followed, keysMax } from './digest.ts'
import type { Latencies } from './latencies.ts'

const GIVE_UP_MS = 60_000
/** Half of the time between two flushes to the pages. */
const FETCH_EVERY_MS = 100

export interface FollowOptions {
  readonly brokers: readonly string[]
  readonly namespace: string
  readonly registryUrl: string
  readonly partitions: number
  readonly log: Logger
  /** Host's clock, milliseconds. */
  readonly now: () => number
  readonly latencies: Latencies
  readonly unread: Unread
}

export interface Following {
  readonly board: Board
  close(): Promise<void>
}

/** Follows the log once for all pages: one follower of all topics into one board. Resolves when all of them follow. */
export async function follow(options: FollowOptions): Promise<Following> {
  const { registryUrl, brokers, namespace, log } = options
  const codec = await sharedCodec(registryUrl)
  const kafka = await connectLog({ brokers, namespace, clientId: 'console', log, giveUpMs: GIVE_UP_MS })
  try {
    return await followAll(kafka, codec, options)
  } catch (error) {
    await kafka.close()
    throw error
  }
}

async function followAll(kafka: Log, codec: RegistryCodec, options: FollowOptions): Promise<Following> {
  const { partitions, log, now, unread } = options
  const asking = kafka.reader()
  const starts: Position[][] = []
  for (const { topic, sinceMs } of followed)
    starts.push(
      await positionsAt(asking, { topic, partitions }, sinceMs === 'start' ? 'start' : { time: now() - sinceMs }),
    )
  const board = new Board(
    starts.map((positions) => positions.map(({ offset }) => offset)),
    keysMax,
  )
  const reading: Reading = { codec, digest: new Digest(now() * 1000), log, unread }
  const began = now()
  const follower = new Follower({
    reader: kafka.reader(),
    log,
    everyMs: FETCH_EVERY_MS,
    differsAt: differsAt(asking),
    take: async (record, { topic, partition }) => {
      // What was written before we looked was not late.
      if (record.time >= began) options.latencies.seen(topic, now() - record.time, now())
      const place = { topic: placeOf(topic), partition, offset: record.offset }
      board.take(place, await updatesOf(record, place, reading))
    },
    // What is told of other topics is forgotten by itself; an alert is there until it is deleted.
    onMissed: async ({ topic, partition }) => {
      if (topic === 'alerts.state') board.forget('alert')
      const again = await positionsAt(asking, { topic, partitions }, 'start')
      return topic === 'alerts.state' ? again : again.filter((position) => position.partition === partition)
    },
  })
  follower.start(starts.flat())
  return {
    board,
    close: async () => {
      await follower.close()
      await kafka.close()
    },
  }
}

/** A topic's place in the order in which topics are followed. */
function placeOf(topic: TopicName): number {
  return followed.findIndex((each) => each.topic === topic)
}

interface Reading {
  readonly codec: RegistryCodec
  readonly digest: Digest
  readonly log: Logger
  readonly unread: Unread
}

/** What a record says; most say nothing and are not decoded. One that cannot be read must not stop the others. */
async function updatesOf(record: LogRecord, place: Place, { codec, digest, log, unread }: Reading): Promise<Update[]> {
  const topic = followed[place.topic]
  if (topic === undefined) return []
  if (record.value === null) return tombstone(topic.topic, record.key)
  const wanted: readonly RecordType[] = topic.records
  const type = codec.typeOf(record.value)
  if (type !== undefined && !wanted.includes(type)) return []
  try {
    return digest.of(await decode(codec, record.value), topic.topic, place.partition)
  } catch (error) {
    if (error instanceof SchemaError) throw error // the record is fetched again
    unread.add({ topic: topic.topic, partition: place.partition, offset: place.offset }, error, log)
    return []
  }
}

function tombstone(topic: string, key: Buffer | null): Update[] {
  if (topic !== 'alerts.state' || key === null) return []
  return [{ kind: 'alert', key: key.toString(), asset: null, value: null }]
}
