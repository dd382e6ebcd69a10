import { setTimeout as delay } from 'node:timers/promises'
import type { Topic } from '../../schemas/topics.ts'
import type { ClickhouseAccess } from '../config/clickhouse.ts'
import type { GroupOffsets, ReachedOffsets, Reached } from '../kafka/group-offsets.ts'
import type { LogReader } from '../kafka/seam.ts'
import { partitionsOf } from '../kafka/topic-settings.ts'
import type { Logger } from '../log.ts'
import { connectClickhouse, type Clickhouse } from './client.ts'
import { identityOf } from './migrate.ts'
import { ingestedTopics, keptBy, readingOf, rereadingOf, type Reading, type Surroundings } from './readings.ts'

export interface RereadOptions extends Omit<Surroundings, 'databaseId'>, ClickhouseAccess {
  readonly reader: LogReader
  readonly offsets: GroupOffsets
  /** Partitions of the topics that are partitioned by asset. */
  readonly partitions: number
  readonly report: Logger
  readonly topics?: readonly Topic[]
  /** Whether it is this process that does it; left out: always. */
  readonly isOurs?: () => boolean
  /** Time between two looks at leaders and groups, milliseconds. */
  readonly lookMs?: number
}

const LOOK_MS = 10_000
/** Whether all is there that is read again is asked this often. */
const DONE_LOOK_MS = 500
/** So long; what is wanted may have been deleted meanwhile, and the next look says what still is. */
const DONE_MS = 300_000
/** Of all topics; their tables stand beside those that go on. */
const AT_ONCE = 4
/** How often is kept how far ClickHouse has all: what came since is read again where this process ended meanwhile. */
const KEEP_MS = 60_000
/** Of a statement: dropping a Kafka table waits for its consumer to leave. */
const DEADLINE_MS = 150_000

/** What a topic is read again for. */
interface Task {
  readonly topic: Topic
  readonly around: Surroundings
  /** Where each partition is read from. */
  readonly from: ReachedOffsets
  /** Behind the last record that is wanted of a partition; those of which nothing is wanted are left out. */
  readonly wanted: ReadonlyMap<number, number>
  /** The ends as they were when it was found; then there is all before them. */
  readonly ends: ReachedOffsets
}

/**
 * Has ClickHouse read again what it may have missed of partitions whose leader has changed.
 *
 * Its Kafka client, when it finds that a leader has less than the one before, goes on at that leader's end, and drops what
 * it had fetched and not handed over yet; and a server that was away meanwhile goes on behind what others wrote there. So it
 * is kept up to where ClickHouse has all of a partition, and under which leader; under another one all since then is read by
 * a second Kafka table, beside the first. A record that comes twice is the same row. Several processes may do this at once,
 * but take each other's tables away: of several hosts one does.
 */
export class Rereader {
  readonly #options: RereadOptions
  readonly #clickhouse: Clickhouse
  readonly #server: Clickhouse
  readonly #stopped = new AbortController()
  /** By topic: ClickHouse has all before it. */
  readonly #complete = new Map<string, ReachedOffsets>()
  #databaseId = ''
  #keptAt = 0
  #running: Promise<void> | undefined

  constructor(options: RereadOptions) {
    this.#options = options
    const { url, user, password, database } = options
    this.#clickhouse = connectClickhouse({ url, user, password, database, deadlineMs: DEADLINE_MS })
    this.#server = connectClickhouse({ url, user, password, deadlineMs: DEADLINE_MS })
  }

  /** Looks until it is stopped. */
  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#options.offsets.close() // what is asked of the brokers ends by it
    await this.#running
    await Promise.all([this.#clickhouse.close(), this.#server.close()])
  }

  async #run(): Promise<void> {
    const { report, lookMs = LOOK_MS } = this.#options
    let failed = false
    while (!this.#stopped.signal.aborted) {
      try {
        await this.look()
        failed = false
      } catch (error) {
        if (!failed && !this.#stopped.signal.aborted)
          report.warn({ err: error }, 'whether ClickHouse has all of the log is not known now; asked again and again')
        failed = true
      }
      await this.#pause(lookMs)
    }
  }

  /** One look at all topics; resolves when what was found is read again. */
  async look(): Promise<void> {
    if (this.#options.isOurs?.() === false) {
      this.#complete.clear() // whoever takes over begins at what was kept
      return
    }
    const databaseId = await identityOf(this.#server, this.#options.database)
    if (databaseId === undefined) return // not made yet
    if (databaseId !== this.#databaseId) this.#complete.clear()
    this.#databaseId = databaseId
    const around = { ...this.#options, databaseId }
    const isKept = Date.now() - this.#keptAt < KEEP_MS
    const tasks: Task[] = []
    for (const topic of this.#options.topics ?? ingestedTopics) {
      const task = await this.#check(topic, around)
      if (task !== undefined) tasks.push(task)
      else if (!isKept) await this.#keep(topic, around)
    }
    if (!isKept) this.#keptAt = Date.now()
    // none goes on beside the next look
    const worked = await Promise.allSettled(Array.from({ length: AT_ONCE }, () => this.#work(tasks)))
    for (const work of worked) if (work.status === 'rejected') throw work.reason
  }

  async #work(tasks: Task[]): Promise<void> {
    for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) await this.#reread(task)
  }

  /** Takes the topic's figures forward, or says what has to be read again. */
  async #check(topic: Topic, around: Surroundings): Promise<Task | undefined> {
    const { offsets } = this.#options
    const { group } = readingOf(topic.name, around)
    const name = around.namespace + topic.name
    const partitions = [...Array(partitionsOf(topic, this.#options)).keys()]
    const complete = this.#complete.get(topic.name) ?? (await offsets.committed(keptBy(group), name, partitions))
    this.#complete.set(topic.name, complete)
    // first what was committed: it was under the leaders of before where these still lead afterwards
    const committed = await offsets.committed(group, name, partitions)
    const ends = await offsets.ends(name, partitions)
    const changed = [...ends].filter(([partition, { epoch }]) => (complete.get(partition)?.epoch ?? epoch) !== epoch)
    if (changed.length === 0) {
      this.#complete.set(
        topic.name,
        new Map(
          [...ends].map(([partition, end]) => [
            partition,
            further(complete.get(partition), committed.get(partition), end),
          ]),
        ),
      )
      return undefined
    }
    return this.#taskOf(topic, around, complete, ends)
  }

  async #taskOf(topic: Topic, around: Surroundings, complete: ReachedOffsets, ends: ReachedOffsets): Promise<Task> {
    const from = new Map<number, Reached>()
    const wanted = new Map<number, number>()
    for (const [partition, end] of ends) {
      const until = complete.get(partition) ?? end
      const offset = until.epoch === end.epoch ? end.offset : await this.#divergence(topic.name, partition, until)
      from.set(partition, { offset, epoch: -1 })
      const last = await this.#lastRecord(topic.name, partition, offset, end.offset)
      if (last !== undefined) wanted.set(partition, last + 1)
    }
    return { topic, around, from, wanted, ends }
  }

  /** From where on the log may have other records than ClickHouse has. */
  async #divergence(topic: string, partition: number, { offset, epoch }: Reached): Promise<number> {
    const end = await this.#options.reader.endOfEpoch(topic, partition, epoch)
    return Math.min(offset, end ?? 0) // 0: another log, read from its start
  }

  async #lastRecord(topic: string, partition: number, from: number, end: number): Promise<number | undefined> {
    let last: number | undefined
    if (from >= end) return undefined
    for await (const records of this.#options.reader.toEnd(topic, partition, from)) {
      last = records.findLast(({ offset, value }) => offset < end && value !== null)?.offset ?? last
    }
    return last
  }

  async #reread(task: Task): Promise<void> {
    const { topic, around, ends, wanted, from } = task
    const number = [...ends.values()].reduce((sum, { epoch }) => sum + epoch, 0)
    const rereading = rereadingOf(topic.name, around, number)
    if (wanted.size > 0) {
      const count = [...wanted].reduce(
        (sum, [partition, next]) => sum + next - (from.get(partition)?.offset ?? next),
        0,
      )
      this.#options.report.info({ topic: topic.name, offsets: count }, 'a leader changed: ClickHouse reads again')
    }
    if (!(await this.#isRead(rereading, task))) return
    for (const statement of rereading.drop) await this.#clickhouse.run(statement)
    this.#complete.set(topic.name, ends)
    await this.#options.offsets.commit(keptBy(readingOf(topic.name, around).group), around.namespace + topic.name, ends)
  }

  /** Nothing where it is under way. */
  async #begin(rereading: Reading, { topic, around, from }: Task): Promise<void> {
    const [found] = await this.#clickhouse.rows<{ comment: string }>(
      'SELECT comment FROM system.tables WHERE database = currentDatabase() AND name = {pump:String}',
      { pump: rereading.pump },
    )
    if (found?.comment === rereading.comment) return
    for (const statement of rereading.drop) await this.#clickhouse.run(statement)
    const name = around.namespace + topic.name
    const begun = await this.#options.offsets.committed(rereading.group, name, [...from.keys()])
    const fresh = new Map([...from].filter(([partition]) => !begun.has(partition)))
    if (fresh.size > 0) await this.#options.offsets.commit(rereading.group, name, fresh)
    for (const statement of rereading.create) await this.#clickhouse.run(statement)
  }

  /**
   * Waits until all that is wanted is there. False: it was stopped, or not in time, or leaders have changed once more, so that the same may
   * have happened to this reading: the next look begins anew, where it was under the leaders of before.
   */
  async #isRead(rereading: Reading, task: Task): Promise<boolean> {
    const { offsets } = this.#options
    const { ends, wanted } = task
    const name = task.around.namespace + task.topic.name
    let known = task.from
    for (const deadline = Date.now() + DONE_MS; Date.now() < deadline && !this.#stopped.signal.aborted;) {
      const there = await offsets.committed(rereading.group, name, [...wanted.keys()])
      const now = await offsets.ends(name, [...ends.keys()])
      const changed = [...now].filter(([partition, { epoch }]) => epoch !== ends.get(partition)?.epoch)
      if (changed.length > 0) {
        this.#advance(
          task,
          changed.map(([partition]) => partition),
          known,
        )
        return false
      }
      if ([...wanted].every(([partition, next]) => (there.get(partition)?.offset ?? 0) >= next)) return true
      known = there
      await this.#begin(rereading, task) // or again, where another process was done with less
      await this.#pause(DONE_LOOK_MS)
    }
    return false
  }

  /** What was read of these partitions under the leaders of `ends` is complete under them. */
  #advance({ topic, from, ends, wanted }: Task, partitions: readonly number[], read: ReachedOffsets): void {
    const complete = new Map(this.#complete.get(topic.name))
    for (const partition of partitions) {
      const end = ends.get(partition)
      const offset = wanted.has(partition) ? (read.get(partition) ?? from.get(partition)) : end
      if (end !== undefined && offset !== undefined)
        complete.set(partition, { offset: offset.offset, epoch: end.epoch })
    }
    this.#complete.set(topic.name, complete)
  }

  /** For the next process. */
  async #keep(topic: Topic, around: Surroundings): Promise<void> {
    const offsets = this.#complete.get(topic.name)
    if (offsets === undefined) return
    const { group } = readingOf(topic.name, around)
    await this.#options.offsets.commit(keptBy(group), around.namespace + topic.name, offsets)
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stopped.signal }).catch(() => undefined) // stopped
  }
}
/** How far there is all by what the group has committed: of that which it read under an earlier leader nobody knows. */
function further(complete: Reached | undefined, committed: Reached | undefined, end: Reached): Reached {
  if (complete === undefined) return { offset: committed?.offset ?? 0, epoch: end.epoch }
  if (committed === undefined || committed.epoch !== end.epoch) return complete
  return committed
}
