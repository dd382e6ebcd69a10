import type { Log, LogReader, LogRecord, OutRecord, Writer } from '../../infra/kafka/seam.ts'
import { messageIn, type Place } from '../../infra/tapes/message.ts'
import { TapeError, type Tape } from '../../infra/tapes/tape.ts'
import type { Codec } from '../../schemas/codec.ts'
import { topicOf, type TopicName } from '../../schemas/topics.ts'

const RECORDS_PER_SEND = 2_000
const WIRE_HEADER_BYTES = 5

export interface BrokerOptions {
  readonly tape: Tape
  readonly log: Log
  /** With the ids of the broker's registry. */
  readonly codec: Codec
  readonly topics: readonly TopicName[]
  readonly onProgress: (records: number, time: number) => void
  readonly stop: AbortSignal
}

/**
 * Writes a tape into the topics of a broker. They must be empty, or hold the beginning of the very same tape: then it goes
 * on behind it. So what is there is never mixed, and a stop costs nothing. Gives whether all is there.
 */
export async function writeToBroker(options: BrokerOptions): Promise<Written> {
  const { tape, log, topics } = options
  const reader = log.reader()
  const writer = log.writer()
  let records = 0
  const unreadable: Place[] = []
  try {
    for (const topic of topics) {
      const count = topicOf(topic).partitions === 'one' ? 1 : tape.partitions
      for (let partition = 0; partition < count; partition++) {
        const there = await readThere(reader, topic, partition)
        const written = await writePartition(options, writer, { topic, partition, there })
        records += written.records
        for (const place of written.unreadable) unreadable.push(place)
        if (!written.isDone) return { records, unreadable, isDone: false }
      }
    }
    return { records, unreadable, isDone: true }
  } finally {
    await reader.close()
    await writer.close()
  }
}

/** Topics of a tape that mean the same in another log. A broker counts offsets anew, and the journal of gaps tells of them. */
export function movableTopics(there: ReadonlySet<TopicName>): TopicName[] {
  return [...there].filter((name) => name !== 'control.gaps')
}

export interface Written {
  readonly records: number
  /** Records of the tape that could not be read and were left out. */
  readonly unreadable: readonly Place[]
  readonly isDone: boolean
}

/** What a partition of the broker holds: how many records, and the last of them. */
interface There {
  readonly count: number
  readonly last: LogRecord | undefined
}

async function readThere(reader: LogReader, topic: TopicName, partition: number): Promise<There> {
  const start = (await reader.offsets(topic, [partition], 'start')).get(partition) ?? 0
  const end = (await reader.offsets(topic, [partition], 'end')).get(partition) ?? 0
  let last: LogRecord | undefined
  if (end > start) for await (const batch of reader.toEnd(topic, partition, end - 1)) last = batch.at(-1) ?? last
  if (start > 0 || (end > 0 && last === undefined)) throw refused(topic, partition)
  return { count: end, last }
}

async function writePartition(
  { tape, codec, onProgress, stop }: BrokerOptions,
  writer: Writer,
  { topic, partition, there }: { topic: TopicName; partition: number; there: There },
): Promise<Written> {
  const span = await tape.span(topic, partition, { from: 0, to: Infinity })
  let at = 0
  let records = 0
  const unreadable: Place[] = []
  for await (const batch of tape.read(span)) {
    const out: OutRecord[] = []
    for (const { key, value, time, offset } of batch) {
      const rewritten = value === null ? null : rewrite(tape, codec, topic, value)
      if (rewritten === undefined) unreadable.push({ topic, partition, offset })
      else out.push({ key, value: rewritten, time })
    }
    if (at < there.count && there.count <= at + out.length && !isSame(there.last, out[there.count - at - 1]))
      throw refused(topic, partition)
    const rest = out.slice(Math.max(0, there.count - at))
    for (let from = 0; from < rest.length; from += RECORDS_PER_SEND) {
      await writer.send(topic, partition, rest.slice(from, from + RECORDS_PER_SEND))
      if (stop.aborted) return { records, unreadable, isDone: false }
    }
    at += out.length
    records += rest.length
    onProgress(rest.length, batch.at(-1)?.time ?? 0)
  }
  if (there.count > at) throw refused(topic, partition)
  return { records, unreadable, isDone: true }
}

function refused(topic: TopicName, partition: number): TapeError {
  const message = `${topic}/${partition} of the broker holds other records; import into an empty log`
  return new TapeError('refused', message)
}

/** The same body under the id of the broker's own registry; undefined: it cannot be read. */
function rewrite(tape: Tape, codec: Codec, topic: TopicName, value: Buffer): Buffer | undefined {
  const message = messageIn(tape.codec, topic, value)
  return message === undefined ? undefined : codec.encode(topic, message.type, message.value)
}

function isSame(record: OutRecord | undefined, other: OutRecord | undefined): boolean {
  if (record === undefined || other === undefined || record.time !== other.time) return false
  if (record.value === null || other.value === null) return record.value === other.value
  return Buffer.from(record.value).subarray(WIRE_HEADER_BYTES).equals(other.value.subarray(WIRE_HEADER_BYTES))
}
