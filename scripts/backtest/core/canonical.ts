import { createHash, type Hash } from 'node:crypto'
import { avroType } from '../../../schemas/codec.ts'
import type { Message } from '../../../schemas/records.ts'
import { topicOf, type TopicName } from '../../../schemas/topics.ts'

/** A hash is fed in pieces of this size: one call per record would cost as much as the record's own work. */
const CHUNK_BYTES = 64 * 1024
/** Characters of a text that are copied one by one; beyond it a call of the runtime is cheaper. */
const SHORT_TEXT = 128
/** First size of the buffer of values that are held. */
const HELD_BYTES = 4 * 1024

/** A SHA-256 over many short texts and bytes, each with its length before it, so that no two lists look alike. */
export class RunningHash {
  readonly #hash: Hash = createHash('sha256')
  readonly #chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  /** Numbers are written through it: the engine makes one instruction of that. */
  readonly #view = new DataView(this.#chunk.buffer)
  #at = 0

  /** The bytes from `start` up to `end`. */
  bytes(value: Buffer, start = 0, end = value.length): this {
    const length = end - start
    if (8 + length > CHUNK_BYTES) {
      this.number(length).#drain()
      this.#hash.update(value.subarray(start, end))
      return this
    }
    if (this.#at + 8 + length > CHUNK_BYTES) this.#drain()
    // A few bytes before the start are copied too and the length written over them: that needs no view of a part.
    if (start <= 8 && end === value.length) this.#chunk.set(value, this.#at + 8 - start)
    else this.#chunk.set(value.subarray(start, end), this.#at + 8)
    this.number(length)
    this.#at += length
    return this
  }

  text(value: string): this {
    if (value.length > SHORT_TEXT || this.#at + 8 + value.length > CHUNK_BYTES) return this.bytes(Buffer.from(value))
    const at = this.#at + 8
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index)
      if (code > 127) return this.bytes(Buffer.from(value))
      this.#chunk[at + index] = code
    }
    this.number(value.length)
    this.#at += value.length
    return this
  }

  number(value: number): this {
    if (this.#at + 8 > CHUNK_BYTES) this.#drain()
    this.#view.setFloat64(this.#at, value, true)
    this.#at += 8
    return this
  }

  /** The digest as hex; nothing may follow. */
  digest(): string {
    this.#drain()
    return this.#hash.digest('hex')
  }

  #drain(): void {
    this.#hash.update(this.#chunk.subarray(0, this.#at))
    this.#at = 0
  }
}

/** The outputs of one topic, row and partition. */
export interface PartitionSum {
  readonly name: string
  readonly records: number
  readonly hash: string
}

export interface OutputSum {
  readonly topics: Readonly<Record<string, { records: number; hash: string }>>
  readonly hash: string
}

interface PartitionOutput {
  readonly hash: RunningHash
  readonly isUpsert: boolean
  /** Of an upsert topic: the last value of each key since the last mark. */
  readonly held: Held
  /** Of an upsert topic: the last value of each key that said it was not final. */
  readonly provisional: Map<string, Message>
  records: number
}

/** Values by key, their bytes one after the other in one buffer. */
class Held {
  readonly #places = new Map<string, ByteRange>()
  #bytes = Buffer.alloc(0)
  #used = 0

  get size(): number {
    return this.#places.size
  }

  set(key: string, body: Buffer): void {
    const known = this.#places.get(key)
    if (known !== undefined && known.to - known.from === body.length) {
      body.copy(this.#bytes, known.from)
      return
    }
    const from = this.#used
    this.#room(from + body.length)
    body.copy(this.#bytes, from)
    this.#used += body.length
    this.#places.set(key, { from, to: this.#used })
  }

  /** Hands the values on by key, ascending, and holds nothing then. */
  drain(write: (key: string, bytes: Buffer, from: number, to: number) => void): void {
    const keys = [...this.#places.keys()].sort()
    for (const key of keys) {
      const place = this.#places.get(key)
      if (place !== undefined) write(key, this.#bytes, place.from, place.to)
    }
    this.#places.clear()
    this.#used = 0
  }

  #room(bytes: number): void {
    if (bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(bytes, this.#bytes.length * 2, HELD_BYTES))
    this.#bytes.copy(larger, 0, 0, this.#used)
    this.#bytes = larger
  }
}

interface ByteRange {
  readonly from: number
  readonly to: number
}

/** One output: `body` is its Avro body without the schema id. */
export interface Summed {
  readonly topic: TopicName
  readonly key: string
  readonly message: Message
  readonly body: () => Buffer
}

/**
 * The outputs of a replay as one text that does not depend on how its input was cut into batches. Upserts count by the
 * last value of each key between two marks, which is what the topic table promises of them; what says that it is not
 * final counts only where nothing came after it; caches not at all.
 */
export class Canonical {
  readonly #outputs = new Map<string, PartitionOutput>()
  /** By partition, row and topic: names are made once. */
  readonly #places: Map<string, Map<TopicName, PartitionOutput | undefined>>[] = []

  /** Adds what `row` said of `partition`. Nothing of it may change before `sums`. */
  add(row: string, partition: number, { topic, key, message, body }: Summed): void {
    const output = this.#output(row, topic, partition)
    if (output === undefined) return
    if (output.isUpsert && isProvisional(message)) output.provisional.set(key, message)
    else this.#count(output, key, message, body())
  }

  #count(output: PartitionOutput, key: string, message: Message, body: Buffer): void {
    if (output.isUpsert && message.type !== 'mark') {
      output.provisional.delete(key)
      output.held.set(key, body)
      return
    }
    settle(output)
    write(output, key, body)
  }

  /** What each topic, row and partition came to; nothing may follow. */
  sums(): PartitionSum[] {
    return [...this.#outputs].map(([name, output]) => {
      for (const [key, { type, value }] of output.provisional) output.held.set(key, avroType(type).toBuffer(value))
      settle(output)
      return { name, records: output.records, hash: output.hash.digest() }
    })
  }

  /** Each topic's records and hash, and the hash over all of them; nothing may follow. */
  close(): OutputSum {
    return sumOf(this.sums())
  }

  /** Undefined for a cache, which is no output. */
  #output(row: string, topic: TopicName, partition: number): PartitionOutput | undefined {
    const rows = (this.#places[partition] ??= new Map<string, Map<TopicName, PartitionOutput | undefined>>())
    const topics = rows.get(row) ?? new Map<TopicName, PartitionOutput | undefined>()
    if (topics.size === 0) rows.set(row, topics)
    if (!topics.has(topic)) topics.set(topic, this.#open(row, topic, partition))
    return topics.get(topic)
  }

  #open(row: string, topic: TopicName, partition: number): PartitionOutput | undefined {
    const { kind } = topicOf(topic)
    if (kind === 'cache') return undefined
    const output = {
      hash: new RunningHash(),
      isUpsert: kind === 'upsert',
      held: new Held(),
      provisional: new Map<string, Message>(),
      records: 0,
    }
    this.#outputs.set(`${topic} ${row} ${partition}`, output)
    return output
  }
}

/** Each topic's records and hash, and the hash over all of them, whatever their order. */
export function sumOf(sums: readonly PartitionSum[]): OutputSum {
  const byTopic = new Map<string, { records: number; hash: RunningHash }>()
  for (const { name, records, hash } of sums.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const [topic = ''] = name.split(' ')
    const sum = byTopic.get(topic) ?? { records: 0, hash: new RunningHash() }
    byTopic.set(topic, sum)
    sum.records += records
    sum.hash.text(name).text(hash)
  }
  const topics = Object.fromEntries(
    [...byTopic].map(([topic, { records, hash }]) => [topic, { records, hash: hash.digest() }]),
  )
  const all = new RunningHash()
  for (const [topic, { hash }] of Object.entries(topics)) all.text(topic).text(hash)
  return { topics, hash: all.digest() }
}

/** Whether its writer will say it again: a bucket or an hour that has not closed. */
function isProvisional({ type, value }: Message): boolean {
  return (type === 'flow' || type === 'flow_hour') && !value.final
}

function settle(output: PartitionOutput): void {
  if (output.held.size > 0) output.held.drain((key, bytes, from, to) => write(output, key, bytes, from, to))
}

function write(output: PartitionOutput, key: string, bytes: Buffer, from = 0, to = bytes.length): void {
  output.records += 1
  output.hash.text(key).bytes(bytes, from, to)
}
