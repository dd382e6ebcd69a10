import { localCodec } from '../../schemas/codec.ts'
import type { Message } from '../../schemas/records.ts'
import { isCompacted, type TopicName } from '../../schemas/topics.ts'
import type { LogRecord } from '../kafka/seam.ts'
import { openFiles, type OpenFiles } from './file-tape.ts'
import { readSegments, type Segment, type TapeHeader } from './folder.ts'
import { messageIn, readMessage } from './message.ts'
import { TapeError, type Tape } from './tape.ts'

/**
 * Throws `TapeError` `refused` where the log does not have what an export ends with: it lost its end or was restored, and
 * what it has written in that place would be missing.
 */
export async function checkSameLog(tape: Tape, folder: string, header: TapeHeader): Promise<void> {
  const files = openFiles(folder, header)
  for (const segments of readSegments(folder).values()) {
    const end = segments.at(-1)
    if (end === undefined || (await isSameLog(tape, files, segments, end))) continue
    const lost = `${end.topic}/${end.partition} of ${tape.name} does not have the record that ${folder} ends with`
    const hint = 'begin another folder, and keep this one for what was lost'
    throw new TapeError('refused', `${lost}: it lost its end or was restored; ${hint}`)
  }
}

async function isSameLog(tape: Tape, files: OpenFiles, segments: readonly Segment[], end: Segment): Promise<boolean> {
  const { topic, partition } = end
  const now = await tape.span(topic, partition, { from: 0, to: Infinity })
  if (now.to < end.to) return false
  const last = await lastOf(files, segments)
  // What the log has deleted cannot be compared, nor what a compacted topic has replaced.
  if (last === undefined || last.offset < now.from) return true
  const there = await recordAt(tape, end, last.offset)
  if (there === undefined) return isCompacted(topic)
  if (there.time !== last.time) return false
  if (there.value === null || last.value === null) return there.value === last.value
  const [mine, theirs] = [messageIn(files.codec, topic, last.value), await readMessage(tape, topic, there.value)]
  return mine !== undefined && theirs !== undefined && bytesOf(topic, mine).equals(bytesOf(topic, theirs))
}

async function lastOf({ read }: OpenFiles, segments: readonly Segment[]): Promise<LogRecord | undefined> {
  const segment = segments.findLast(({ records }) => records > 0)
  let last: LogRecord | undefined
  if (segment !== undefined) for await (const batch of read(segment)) last = batch.at(-1) ?? last
  return last
}

async function recordAt(tape: Tape, { topic, partition }: Segment, offset: number): Promise<LogRecord | undefined> {
  for await (const batch of tape.read({ topic, partition, from: offset, to: offset + 1, isWhole: false })) {
    const found = batch.find((record) => record.offset === offset)
    if (found !== undefined) return found
  }
  return undefined
}

const codec = localCodec()

function bytesOf(topic: TopicName, { type, value }: Message): Buffer {
  return codec.encode(topic, type, value)
}
