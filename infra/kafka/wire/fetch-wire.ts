import { codeText, verdictOf } from './codes.ts'
import { apis, Encoder, readItems, readNumber, writeItems, type Decoder, type Link } from './internals.ts'
import { LogError, type FetchOptions, type Position } from '../seam.ts'

const FETCH_BYTES_MAX = 32 * 1024 * 1024
/** The time that stands for the end of a partition. */
export const LATEST = -1

/** A Fetch request over these positions, bare topic names. */
export function fetchRequest(positions: readonly Position[], options: FetchOptions, namespace: string): Encoder {
  const body = new Encoder(1024)
    .writeInt32(-1) // not a replica
    .writeInt32(options.maxWaitMs)
    .writeInt32(1) // bytes at least: any record ends the wait
    .writeInt32(FETCH_BYTES_MAX)
    .writeInt8(0) // read uncommitted: transactions are empty, see claim.ts
    .writeInt32(0) // no fetch session
    .writeInt32(-1)
  writeItems(body, [...Map.groupBy(positions, ({ topic }) => topic)], ([topic, parts]) => {
    body.writeString(namespace + topic)
    writeItems(body, parts, ({ partition, offset }) => {
      body
        .writeInt32(partition)
        .writeInt32(-1)
        .writeInt64(offset)
        .writeInt64(-1)
        .writeInt32(options.maxBytesPerPartition)
    })
  })
  return body.writeInt32(0).writeString('') // nothing forgotten, no rack
}

/** One partition's part of the answer. */
export interface Part {
  readonly topic: string
  readonly partition: number
  readonly code: number
  readonly end: number
  readonly start: number
  readonly bytes: Buffer
}

/** Throws `LogError` where the broker refuses the request as a whole. */
export function readAnswer(answer: Decoder): Part[] {
  answer.forward(4) // throttle time
  const code = answer.readInt16()
  if (verdictOf(code) !== 'ok') throw new LogError('unavailable', `fetch: ${codeText(code)}`)
  answer.forward(4) // session
  const parts: Part[] = []
  readItems(answer, () => {
    const topic = answer.readString() ?? ''
    readItems(answer, () => parts.push(readPart(topic, answer)))
  })
  return parts
}

function readPart(topic: string, answer: Decoder): Part {
  const partition = answer.readInt32()
  const code = answer.readInt16()
  const end = readNumber(answer)
  readNumber(answer) // last stable offset
  const start = readNumber(answer)
  readItems(answer, () => answer.forward(16)) // aborted transactions
  answer.forward(4) // preferred replica
  const bytes = answer.readBytes() ?? Buffer.alloc(0)
  return { topic, partition, code, end, start, bytes }
}

/** A place in a partition, and under which leader it was reached; epoch -1: not said. */
export interface Reached {
  readonly offset: number
  readonly epoch: number
}

/** Where partitions of one topic (full name) are at a time, or -1 end, -2 start; undefined: ask again. */
export async function askOffsets(
  link: Link,
  topic: string,
  partitions: readonly number[],
  time: number,
): Promise<Map<number, Reached> | undefined> {
  const found = new Map<number, Reached>()
  for (const [node, asked] of Map.groupBy(partitions, (partition) => link.leaderOf(topic, partition))) {
    if (node === undefined) return undefined
    const body = offsetsRequest(topic, asked, time)
    const answer = await link.call(node, { key: apis.listOffsets, version: 4, name: 'ListOffsets', body })
    if (!readOffsets(answer, found)) return undefined
  }
  return found
}

/** Where an epoch ends in a partition (full topic name); -1: the broker does not know it; undefined: ask again. */
export async function askEpochEnd(
  link: Link,
  topic: string,
  partition: number,
  epoch: number,
): Promise<number | undefined> {
  const node = link.leaderOf(topic, partition)
  if (node === undefined) return undefined
  const body = new Encoder().writeInt32(1).writeString(topic)
  writeItems(body, [partition], (number) => body.writeInt32(number).writeInt32(-1).writeInt32(epoch))
  const call = { key: apis.offsetForLeaderEpoch, version: 2, name: 'OffsetForLeaderEpoch', body }
  const answer = await link.call(node, call)
  let end: number | undefined
  answer.forward(4) // throttle time
  readItems(answer, () => {
    answer.readString()
    readItems(answer, () => {
      const isKnown = verdictOf(answer.readInt16()) === 'ok'
      answer.forward(8) // partition, the epoch that it found
      const found = readNumber(answer)
      if (isKnown) end = found
    })
  })
  return end
}

function offsetsRequest(topic: string, partitions: readonly number[], time: number): Encoder {
  const body = new Encoder().writeInt32(-1).writeInt8(0).writeInt32(1).writeString(topic)
  writeItems(body, partitions, (partition) => body.writeInt32(partition).writeInt32(-1).writeInt64(time))
  return body
}

/** Fills `found`; false where a partition has to be asked for again. */
function readOffsets(answer: Decoder, found: Map<number, Reached>): boolean {
  let complete = true
  answer.forward(4) // throttle time
  readItems(answer, () => {
    answer.readString()
    readItems(answer, () => {
      const partition = answer.readInt32()
      if (verdictOf(answer.readInt16()) !== 'ok') complete = false
      readNumber(answer) // time
      found.set(partition, { offset: readNumber(answer), epoch: answer.readInt32() })
    })
  })
  return complete
}
