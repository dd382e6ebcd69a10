import type { LogReader, Position } from '../../infra/kafka/seam.ts'
import type { Codec } from '../../schemas/codec.ts'
import { LogCoverage } from './coverage.ts'

const topic = 'market.trades'
/** Small slices, since live trades are read between them. */
const fetchOptions = { maxWaitMs: 100, maxBytesPerPartition: 128 * 1024 }

/**
 * What the log's last `windowMs` before its newest record have, as of now. Relative to the log's own end and not to the
 * clock: after a long stop the tails are still found.
 */
export async function readCoverage(
  reader: LogReader,
  codec: Codec,
  partitions: number,
  windowMs: number,
): Promise<LogCoverage> {
  const coverage = new LogCoverage()
  const numbers = Array.from({ length: partitions }, (_, partition) => partition)
  const ends = await reader.offsets(topic, numbers, 'end')
  const newest = await newestTime(reader, ends)
  if (newest === undefined) return coverage
  const starts = await reader.offsets(topic, numbers, { time: newest - windowMs })
  let open = numbers.map((partition): Position => ({ topic, partition, offset: starts.get(partition) ?? 0 }))
  for (;;) {
    open = open.filter(({ partition, offset }) => offset < (ends.get(partition) ?? 0))
    if (open.length === 0) return coverage
    open = await readOnce(reader, codec, open, coverage)
  }
}

async function readOnce(
  reader: LogReader,
  codec: Codec,
  open: readonly Position[],
  coverage: LogCoverage,
): Promise<Position[]> {
  const slices = await reader.fetch(open, fetchOptions)
  const next = new Map(open.map((position) => [position.partition, position.offset]))
  for (const slice of slices) {
    for (const { value, time } of slice.records) if (value !== null) coverage.apply(codec.decode(value), time)
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
