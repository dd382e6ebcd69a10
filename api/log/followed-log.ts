import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import { Follower, positionsAt } from '../../infra/kafka/follower.ts'
import type { Log, LogReader, LogRecord, Writer } from '../../infra/kafka/seam.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { ApiError } from '../errors.ts'
import type { Unread } from '../unread.ts'
import { CatchUp, differsAt } from './catch-up.ts'
import { within } from './deadline.ts'
import { LogConnection, type LogAccess } from './log-connection.ts'

/** What of the log is used once it is connected. */
export interface Connected {
  readonly log: Log
  readonly codec: RegistryCodec
  readonly writer: Writer
  /** Its fetches do not wait. */
  readonly reader: LogReader
}

export interface FollowedTopic {
  readonly topic: TopicName
  readonly partitions: number
  /** Where it is followed from, at first and anew. */
  readonly from: Parameters<LogReader['offsets']>[2]
  /** What cannot be taken in is passed over and told. */
  readonly take: (record: LogRecord) => Promise<void> | void
}

export interface FollowedOptions<Use> extends LogAccess {
  readonly clientId: string
  /** How long one request to the broker is tried, milliseconds. */
  readonly giveUpMs: number
  /** Logged while it cannot be connected. */
  readonly warning: string
  readonly unread: Unread
  /** Called at each attempt to connect. */
  readonly open: (connected: Connected) => { readonly topics: readonly FollowedTopic[]; readonly use: Use }
  /** Something of a topic was missed: it is told anew. Left out: what is gone is passed over. */
  readonly onMissed?: (topic: TopicName) => void
}

export interface Following<Use> extends Connected {
  readonly use: Use
  /** Resolves when all that was in a followed topic at the call was taken. */
  readonly toEnd: (topic: TopicName) => Promise<void>
}

type Away = (cause?: unknown) => ApiError

/** Topics of the log that are followed by one reader, and written to; connected however long it takes. */
export class FollowedLog<Use> {
  readonly #connection: LogConnection<Following<Use> & { close(): Promise<void> }>

  constructor(options: FollowedOptions<Use>) {
    this.#connection = new LogConnection(options, (log, codec) => follow(options, log, codec))
  }

  /** What `work` gives; throws `away` after `ms` milliseconds, and in place of every error that is not one for callers. */
  async within<Value>(
    ms: number,
    away: Away,
    work: (following: Following<Use>) => Promise<Value> | Value,
  ): Promise<Value> {
    const done = this.#connection.opened.then((following) => {
      if (following === undefined) throw away()
      return work(following)
    })
    try {
      return await within(ms, done, () => away())
    } catch (error) {
      throw error instanceof ApiError ? error : away(error)
    }
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }
}

async function follow<Use>(
  { log, unread, open, onMissed }: FollowedOptions<Use>,
  kafka: Log,
  codec: RegistryCodec,
): Promise<Following<Use> & { close(): Promise<void> }> {
  const connected = { log: kafka, codec, writer: kafka.writer(), reader: kafka.reader() }
  const { reader } = connected
  const { topics, use } = open(connected)
  const rules = new Map(
    topics.map((rule) => [rule.topic, { ...rule, take: unread.passing(rule.topic, log, rule.take) }]),
  )
  const follower = new Follower({
    reader: kafka.reader(),
    log,
    take: (record, { topic, partition }) => rules.get(topic)?.take(record, partition),
    differsAt: differsAt(reader),
    ...(onMissed !== undefined && {
      onMissed: async ({ topic }) => {
        const rule = rules.get(topic)
        if (rule === undefined) return []
        onMissed(topic)
        return positionsAt(reader, rule, rule.from)
      },
    }),
  })
  const starts = await Promise.all(topics.map((rule) => positionsAt(reader, rule, rule.from)))
  follower.start(starts.flat())
  const ends = new Map(
    topics.map(({ topic, partitions }) => [topic, new CatchUp({ topic, partitions, reader, follower })]),
  )
  return {
    ...connected,
    use,
    toEnd: (topic) => ends.get(topic)?.toEnd() ?? Promise.reject(new Error(`${topic} is not followed`)),
    close: async () => {
      await follower.close()
      await kafka.close()
    },
  }
}
