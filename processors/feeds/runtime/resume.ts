import { setTimeout as delay } from 'node:timers/promises'
import type { LogReader, Position } from '../../../infra/kafka/seam.ts'
import { LogCoverage } from '../trades/coverage.ts'
import type { TradeRepair } from '../trades/trade-repair.ts'
import { Readback, type ReadbackPorts } from './readback.ts'

const topic = 'market.trades'
/** Small slices, since live trades are read between them. */
const fetchOptions = { maxWaitMs: 100, maxBytesPerPartition: 128 * 1024 }

/** Read first: enough for the venues whose REST reaches back seconds only. */
const shortWindowMs = 120_000
/** As far back as gaps are repaired. */
const fullWindowMs = 3_600_000
/**
 * Where the last hour has no process that had read the log back, more is read, each time twice as much. Beyond this it is
 * not looked for: what the log says of before is then not known.
 */
const windowMsMax = 8 * fullWindowMs
const retryMs = 1_000

/** Tells the repairs that begin what the log has. */
export class Resume {
  readonly #reader: LogReader
  readonly #ports: ReadbackPorts
  readonly #partitions: number
  readonly #onError: (error: unknown) => void
  readonly #stop = new AbortController()
  /** The log's end before this process wrote anything; used for the venues that it owns from the start. */
  #before: LogEnd | undefined
  #starts: ReadonlyMap<number, number> = new Map()
  #looking = false

  constructor(reader: LogReader, ports: ReadbackPorts, partitions: number, onError: (error: unknown) => void) {
    this.#reader = reader
    this.#ports = ports
    this.#partitions = partitions
    this.#onError = onError
  }

  /** To be called before anything is written. */
  async lookBack(): Promise<void> {
    this.#before = await logEnd(this.#reader, this.#partitions)
  }

  /** Reads what the log has and hands it to the repairs; until then the streams go on without repair. */
  async tell(repairs: readonly TradeRepair[]): Promise<void> {
    const before = this.#before
    this.#before = undefined
    if (repairs.length === 0) return
    while (!this.#stop.signal.aborted) {
      try {
        const end = before ?? (await logEnd(this.#reader, this.#partitions))
        const recent = await readCoverage(this.#reader, this.#ports, end, shortWindowMs)
        for (const repair of repairs) repair.adoptTimes(recent)
        const hour = await readFull(this.#reader, this.#ports, end)
        for (const repair of repairs) repair.adoptAll(hour)
        return
      } catch (error) {
        if (this.#stop.signal.aborted) return
        this.#onError(error)
        await delay(retryMs, undefined, { signal: this.#stop.signal }).catch(() => undefined) // aborted: asked above
      }
    }
  }

  /** Where a partition of the log began at the last look. */
  startOf(partition: number): number | undefined {
    return this.#starts.get(partition)
  }

  /** Looks where the log begins, which retention moves; a look while another is under way is none. */
  async lookAtStart(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      this.#starts = await this.#reader.offsets(topic, numbersBelow(this.#partitions), 'start')
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#onError(error)
    }
    this.#looking = false
  }

  stop(): void {
    this.#stop.abort()
  }
}

/** How far the log goes at a moment. */
interface LogEnd {
  /** Offset after the last record, by partition. */
  readonly ends: ReadonlyMap<number, number>
  /** Kafka time of the newest record, milliseconds; undefined where the log is empty. */
  readonly newest: number | undefined
}

/** The log's end as of now. A process asks before it writes anything, so that it finds what was there without it. */
export async function logEnd(reader: LogReader, partitions: number): Promise<LogEnd> {
  const ends = await reader.offsets(topic, numbersBelow(partitions), 'end')
  return { ends, newest: await newestTime(reader, ends) }
}

/**
 * What the last `windowMs` of the log before its newest record have. Relative to the log's own end and not to the
 * clock: after a long stop the tails are still found.
 */
export async function readCoverage(
  reader: LogReader,
  ports: ReadbackPorts,
  end: LogEnd,
  windowMs: number,
): Promise<LogCoverage> {
  return end.newest === undefined ? new LogCoverage() : readFrom(reader, ports, end.ends, end.newest - windowMs)
}

/**
 * What the log has of the hour before the last record of a process that had read it back, and of all that came after it:
 * starts that ended sooner have looked for nothing, and may have left more behind than an hour holds.
 */
async function readFull(reader: LogReader, ports: ReadbackPorts, { ends, newest }: LogEnd): Promise<LogCoverage> {
  if (newest === undefined) return new LogCoverage()
  let from = newest - fullWindowMs
  for (let windowMs = fullWindowMs; ; windowMs *= 2) {
    const coverage = await readFrom(reader, ports, ends, from)
    const until = coverage.repairedUntil
    // A little less than an hour will do: positions are stated every 20 minutes.
    if (until !== undefined && until - fullWindowMs >= from - shortWindowMs) return coverage
    if (until !== undefined) return readFrom(reader, ports, ends, until - fullWindowMs)
    const before = windowMs > windowMsMax ? undefined : await newestBefore(reader, ends, from)
    if (before === undefined) return coverage
    from = before - windowMs
  }
}

/** Kafka time of the newest record before a time, milliseconds; undefined where there is none. */
async function newestBefore(
  reader: LogReader,
  ends: ReadonlyMap<number, number>,
  time: number,
): Promise<number | undefined> {
  const partitions = [...ends.keys()]
  const [from, starts] = await Promise.all([
    reader.offsets(topic, partitions, { time }),
    reader.offsets(topic, partitions, 'start'),
  ])
  const own = [...from].filter(([partition, offset]) => offset > (starts.get(partition) ?? 0))
  return newestTime(reader, new Map(own))
}

/** What the log has from a time on. */
async function readFrom(
  reader: LogReader,
  ports: ReadbackPorts,
  ends: ReadonlyMap<number, number>,
  time: number,
): Promise<LogCoverage> {
  const coverage = new LogCoverage()
  const readback = new Readback(topic, ports)
  const starts = await reader.offsets(topic, [...ends.keys()], { time })
  let open = [...ends.keys()].map((partition): Position => ({ topic, partition, offset: starts.get(partition) ?? 0 }))
  for (;;) {
    open = open.filter(({ partition, offset }) => offset < (ends.get(partition) ?? 0))
    if (open.length === 0) return coverage
    open = await readOnce(reader, readback, open, ends, coverage)
  }
}

function numbersBelow(count: number): number[] {
  return Array.from({ length: count }, (_, number) => number)
}

async function readOnce(
  reader: LogReader,
  readback: Readback,
  open: readonly Position[],
  ends: ReadonlyMap<number, number>,
  coverage: LogCoverage,
): Promise<Position[]> {
  const slices = await reader.fetch(open, fetchOptions)
  const next = new Map(open.map((position) => [position.partition, position.offset]))
  for (const slice of slices) {
    const end = ends.get(slice.partition) ?? 0
    const records = slice.records.filter(({ offset }) => offset < end)
    for (const { record, message } of await readback.read(records)) {
      if (message !== null) coverage.apply(message, record.time)
    }
    next.set(slice.partition, slice.error === 'out-of-range' ? slice.start : slice.next)
  }
  return [...next].map(([partition, offset]) => ({ topic, partition, offset }))
}

/** Kafka time of the newest record before `ends`, milliseconds; undefined where there is none. */
async function newestTime(reader: LogReader, ends: ReadonlyMap<number, number>): Promise<number | undefined> {
  const last = [...ends].filter(([, end]) => end > 0).map(([partition, end]) => ({ topic, partition, offset: end - 1 }))
  if (last.length === 0) return undefined
  const slices = await reader.fetch(last, { ...fetchOptions, maxBytesPerPartition: 16 * 1024 })
  const times = slices.flatMap(({ partition, records }) =>
    records.filter(({ offset }) => offset < (ends.get(partition) ?? 0)).map(({ time }) => time),
  )
  return times.length === 0 ? undefined : Math.max(...times)
}
