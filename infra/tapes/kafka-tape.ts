import { isCompacted, topics, type TopicName } from '../../schemas/topics.ts'
import type { RegistryCodec } from '../kafka/codec.ts'
import { LogError, type Log, type LogReader, type LogRecord, type Slice } from '../kafka/seam.ts'
import { TapeError, type Span, type Tape, type TimeRange } from './tape.ts'

const WAIT_MS = 500
const BYTES_PER_FETCH = 4 * 1024 * 1024
/** A read must come forward within this time. */
const STALL_MS = 60_000

/** The topics of a broker as they lie there now; only read. Closing it closes its readers, not the log. */
export function kafkaTape(log: Log, codec: RegistryCodec, partitions: number): Tape {
  const bounds = log.reader()
  return {
    name: 'the broker',
    partitions,
    topics: new Set(topics.map(({ name }) => name)),
    codec,
    lookUp: (id) => codec.lookUp(id),
    span: (topic, partition, range) => spanOf(log, bounds, { topic, partition }, range),
    read: (span) => readSpan(log.reader(), span),
    close: () => bounds.close(),
  }
}

async function spanOf(
  log: Log,
  bounds: LogReader,
  { topic, partition }: TapePartition,
  range: TimeRange,
): Promise<Span> {
  const at = async (where: 'start' | 'end' | { time: number }): Promise<number> =>
    (await bounds.offsets(topic, [partition], where)).get(partition) ?? 0
  const [start, end] = [await at('start'), await at('end')]
  /** A claim's control records have the broker's own time and are no records: the first real one is looked for. */
  const firstAt = async (time: number): Promise<number> => {
    const from = await at({ time })
    for await (const records of readSpan(log.reader(), { topic, partition, from, to: end, isWhole: false })) {
      const found = records.find((record) => record.time >= time)
      if (found !== undefined) return found.offset
    }
    return end
  }
  const from = range.from <= 0 ? start : await firstAt(Math.floor(range.from))
  const to = Number.isFinite(range.to) ? await firstAt(Math.ceil(range.to)) : end
  // Nothing was ever there before the first record, though a claim's control records may stand before it.
  const isWhole = start === 0 && (from === 0 || from === (await firstAt(0)))
  return { topic, partition, from, to: Math.max(from, to), isWhole }
}

interface TapePartition {
  readonly topic: TopicName
  readonly partition: number
}

/**
 * One fetch is under way while the batch before it is worked on. Throws `TapeError` where the log has deleted meanwhile what
 * comes next.
 */
async function* readSpan(reader: LogReader, { topic, partition, from, to }: Span): AsyncGenerator<LogRecord[]> {
  const fetch = async (offset: number): Promise<Slice | undefined> => {
    const options = { maxWaitMs: WAIT_MS, maxBytesPerPartition: BYTES_PER_FETCH }
    return (await reader.fetch([{ topic, partition, offset }], options))[0]
  }
  try {
    let offset = from
    let deadline = Date.now() + STALL_MS
    let ahead = offset < to ? fetch(offset) : undefined
    while (ahead !== undefined) {
      const slice = await ahead
      const isOut = slice?.error === 'out-of-range'
      if (isOut && slice.start > offset && !isCompacted(topic)) {
        const lost = `${Math.min(slice.start, to) - offset} offsets of ${topic}/${partition} were deleted from the log before they were read`
        throw new TapeError('refused', `${lost}; begin anew, from later on (--from), or raise RETENTION_BYTES`)
      }
      const next = isOut ? Math.max(slice.start, offset) : (slice?.next ?? offset)
      if (next > offset) deadline = Date.now() + STALL_MS
      if (Date.now() > deadline) throw new LogError('unavailable', `${topic}/${partition}: stuck at ${offset} of ${to}`)
      offset = next
      ahead = offset < to ? fetch(offset) : undefined
      ahead?.catch(() => undefined) // told when it is waited for
      const records = slice?.records ?? []
      const wanted = next > to ? records.filter((record) => record.offset < to) : [...records]
      if (wanted.length > 0) yield wanted
    }
  } finally {
    await reader.close()
  }
}
