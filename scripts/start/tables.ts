import { connectClickhouse, type Clickhouse } from '../../infra/clickhouse/client.ts'
import { identityOf } from '../../infra/clickhouse/migrate.ts'
import { ingestedTopics, readingOf } from '../../infra/clickhouse/readings.ts'
import { readingOptions, readingSettings } from '../../infra/config/clickhouse.ts'
import { readConfig } from '../../infra/config/config.ts'
import { GroupOffsets } from '../../infra/kafka/group-offsets.ts'
import { connectLog } from '../../infra/kafka/kafkajs.ts'
import type { Log, LogReader } from '../../infra/kafka/seam.ts'
import { partitionsOf } from '../../infra/kafka/topic-settings.ts'
import { terminalClock, type TerminalClock } from './words.ts'

const CLIENT = 'tables'
const LOOK_MS = 1_000
const QUERY_MS = 10_000
/** Fewer offsets than this are what came while ClickHouse was restarted. */
const WORTH_TELLING = 1_000
/** Behind the last record lie marks of claims, a few; so far back it is looked for, and farther where there is none. */
const BACK = [8, 256, 8_192]

/** How far ClickHouse has come with what the log had when it began. */
interface Progress {
  /** Records that it has read since. */
  readonly read: number
  /** Offsets to come. */
  readonly left: number
}

/** What is looked at; `close` ends its connections. */
interface Tables {
  look(): Promise<Progress>
  close(): Promise<void>
}

/**
 * Tells in a terminal how long it took until ClickHouse had what the log has, where that is more than a restart leaves: a
 * database that is made again. Never rejects: who does not answer is asked again.
 *
 * @param began When ClickHouse began to read, by the clock.
 * @param open Undefined: there is little to read.
 */
export async function tellTables(
  open: () => Promise<Tables | undefined>,
  say: (line: string) => void,
  began: number,
  { now, wait }: TerminalClock = terminalClock,
): Promise<void> {
  let failure = ''
  for (;;) {
    let tables: Tables | undefined
    try {
      tables = await open()
      if (tables === undefined) return
      let progress = await tables.look()
      for (; progress.left > 0; progress = await tables.look()) await wait(LOOK_MS)
      const seconds = (now() - began) / 1_000
      const each = Math.round((seconds / Math.max(1, progress.read)) * 1e6)
      const count = progress.read.toLocaleString('en')
      say(
        `the tables: ${count} records of the log are in ClickHouse, after ${seconds.toFixed(1)} s, ${each} s a million`,
      )
      return
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      if (text !== failure) say(`the tables: how far they are is not known now: ${text}`)
      failure = text
    } finally {
      await tables?.close()
    }
    await wait(LOOK_MS)
  }
}

interface Wanted {
  readonly topic: string
  readonly group: string
  /** One past the last record, by partition. */
  readonly ends: ReadonlyMap<number, number>
}

/** ClickHouse and the log, as the environment of a system's services has them; undefined: little is to be read. */
export async function openTables(
  env: Readonly<Record<string, string | undefined>>,
  partitions: number,
): Promise<Tables | undefined> {
  const options = readingOptions(readConfig(env, readingSettings))
  const tables = await LogTables.connect(options)
  try {
    if ((await tables.begin(partitions)) >= WORTH_TELLING) return tables
    await tables.close()
    return undefined
  } catch (error) {
    await tables.close()
    throw error
  }
}

type Options = ReturnType<typeof readingOptions>

class LogTables implements Tables {
  readonly #options: Options
  readonly #log: Log
  readonly #reader: LogReader
  readonly #offsets: GroupOffsets
  readonly #server: Clickhouse
  #wanted: readonly Wanted[] = []

  static async connect(options: Options): Promise<LogTables> {
    const { brokers, namespace } = options
    return new LogTables(options, await connectLog({ brokers, namespace, clientId: CLIENT }))
  }

  private constructor(options: Options, log: Log) {
    const { brokers, url, user, password } = options
    this.#options = options
    this.#log = log
    this.#reader = log.reader()
    this.#offsets = new GroupOffsets({ brokers, clientId: CLIENT })
    this.#server = connectClickhouse({ url, user, password, deadlineMs: QUERY_MS })
  }

  /** Offsets that are to be read of what the log has now. */
  async begin(partitions: number): Promise<number> {
    const databaseId = await identityOf(this.#server, this.#options.database)
    if (databaseId === undefined) throw new Error(`there is no database ${this.#options.database}`)
    const all: Wanted[] = []
    for (const row of ingestedTopics) {
      const numbers = [...Array(partitionsOf(row, { partitions })).keys()]
      const starts = await this.#reader.offsets(row.name, numbers, 'start')
      const ends = await this.#reader.offsets(row.name, numbers, 'end')
      const filled = [...ends].filter(([partition, end]) => end > (starts.get(partition) ?? 0))
      const { group } = readingOf(row.name, { ...this.#options, databaseId })
      all.push({ topic: row.name, group, ends: new Map(filled) })
    }
    this.#wanted = all
    const left = await this.#left()
    if (left >= WORTH_TELLING)
      this.#wanted = await Promise.all(all.map(async (each) => ({ ...each, ends: await this.#lasts(each) })))
    return left
  }

  async look(): Promise<Progress> {
    const left = await this.#left()
    const [row] = await this.#server.rows<{ read: number }>(
      'SELECT sum(num_messages_read) AS read FROM system.kafka_consumers WHERE database = {database:String}',
      { database: this.#options.database },
    )
    return { read: row?.read ?? 0, left }
  }

  async close(): Promise<void> {
    await Promise.all([this.#offsets.close(), this.#reader.close(), this.#server.close()])
    await this.#log.close()
  }

  async #left(): Promise<number> {
    let left = 0
    for (const { topic, group, ends } of this.#wanted) {
      const committed = await this.#offsets.committed(group, this.#options.namespace + topic, [...ends.keys()])
      for (const [partition, end] of ends) left += Math.max(0, end - (committed.get(partition)?.offset ?? 0))
    }
    return left
  }

  /** One past the last record of each partition: nobody reads, nor commits, the marks of claims behind it. */
  async #lasts({ topic, ends }: Wanted): Promise<Map<number, number>> {
    const lasts = new Map<number, number>()
    for (const [partition, end] of ends)
      for (const back of BACK) {
        for await (const records of this.#reader.toEnd(topic, partition, Math.max(0, end - back)))
          for (const { offset } of records) if (offset < end) lasts.set(partition, offset + 1)
        if (lasts.has(partition)) break
      }
    return lasts
  }
}
