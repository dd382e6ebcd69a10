import type { LogReader, Position } from '../../infra/kafka/seam.ts'
import type { Codec } from '../../schemas/codec.ts'
import { LogCoverage } from './coverage.ts'

const topic = 'market.trades'
/** Small slices, since live trades are read between them. */
const fetchOptions = { maxWaitMs: 100, maxBytesPerPartition: 128 * 1024 }

/** How far the log goes at a moment. */
export interface LogEnd {
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
  codec: Codec,
  { ends, newest }: LogEnd,
  windowMs: number,
): Promise<LogCoverage> {
  const coverage = new LogCoverage()
  if (newest === undefined) return coverage
  const starts = await reader.offsets(topic, [...ends.keys()], { time: newest - windowMs })
  let open = [...ends.keys()].map((partition): Position => ({ topic, partition, offset: starts.get(partition) ?? 0 }))
  for (;;) {
    open = open.filter(({ partition, offset }) => offset < (ends.get(partition) ?? 0))
    if (open.length === 0) return coverage
    open = await readOnce(reader, codec, open, ends, coverage)
  }
}

function numbersBelow(count: number): number[] {
  return Array.from({ length: count }, (_, number) => number)
}

async function readOnce(
  reader: LogReader,
  codec: Codec,
  open: readonly Position[],
  ends: ReadonlyMap<number, number>,
  coverage: LogCoverage,
): Promise<Position[]> {
  const slices = await reader.fetch(open, fetchOptions)
  const next = new Map(open.map((position) => [position.partition, position.offset]))
  for (const slice of slices) {
    const end = ends.get(slice.partition) ?? 0
    for (const { value, time, offset } of slice.records) {
      if (value !== null && offset < end) coverage.apply(codec.decode(value), time)
    }
    next.set(slice.partition, slice.error === 'out-of-range' ? slice.start : slice.next)
  }
  return [...next].map(([partition, offset]) => ({ topic, partition, offset }))
}

/** Kafka time of the newest record, milliseconds; undefined where the log is empty. */
async function newestTime(reader: LogReader, ends: ReadonlyMap<number, number>): Promise<number | undefined> {
  const last = [...ends].filter(([, end]) => end > 0).map(([partition, end]) => ({ topic, partition, offset: end - 1 }))
  if (last.length === 0) return undefined
  const slices = await reader.fetch(last, { ...fetchOptions, maxBytesPerPartition: 16 * 1024 })
  const times = slices.flatMap(({ records }) => records.map(({ time }) => time))
  return times.length === 0 ? undefined : Math.max(...times)
}
