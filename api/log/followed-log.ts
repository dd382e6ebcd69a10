import { setTimeout as delay } from 'node:timers/promises'
import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import { Follower, positionsAt, type FollowerOptions } from '../../infra/kafka/follower.ts'
import type { Log, LogReader, LogRecord, Writer } from '../../infra/kafka/seam.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { otherLogFrom } from '../../processors/kernel/position-check.ts'
import { ApiError } from '../request/errors.ts'
import type { Unread } from './unread.ts'
import { begunWithin, LogConnection, type LogAccess } from './log-connection.ts'

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

  /**
   * What `work` gives; throws `away` after `ms` milliseconds, and in place of every error that is not one for callers. Work
   * that waits for the first connection is given up then.
   */
  async within<Value>(
    ms: number,
    away: Away,
    work: (following: Following<Use>) => Promise<Value> | Value,
  ): Promise<Value> {
    const begin = (following: Following<Use> | undefined): Promise<Value> | Value => {
      if (following === undefined) throw away()
      return work(following)
    }
    try {
      return await begunWithin(ms, this.#connection.opened, begin, away)
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

/** Where the log goes on that is not the one that was read, for a follower. */
export function differsAt(reader: LogReader): NonNullable<FollowerOptions['differsAt']> {
  return otherLogFrom(reader, delay)
}

export interface CatchUpOptions {
  readonly topic: TopicName
  readonly partitions: number
  /** Not the follower's: its fetches wait long. */
  readonly reader: LogReader
  readonly follower: Follower
}

/**
 * Catches up with a topic's end as of a request. However many ask, one catching up is under way: who comes while it is
 * shares the next one, since the first asked for the end before that request.
 */
export class CatchUp {
  readonly #options: CatchUpOptions
  #asking: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(options: CatchUpOptions) {
    this.#options = options
  }

  /** Resolves when the follower has told all that was in the log at the call. */
  toEnd(): Promise<void> {
    if (this.#asking === undefined) return this.#ask()
    this.#next ??= this.#asking
      .catch(() => undefined) // who asked was told
      .then(() => {
        this.#next = undefined
        return this.#ask()
      })
    this.#next.catch(() => undefined) // who asked is told
    return this.#next
  }

  #ask(): Promise<void> {
    const { reader, follower, ...topic } = this.#options
    const asking = positionsAt(reader, topic, 'end')
      .then((ends) => follower.reach(ends))
      .finally(() => {
        this.#asking = undefined
      })
    this.#asking = asking
    return asking
  }
}
