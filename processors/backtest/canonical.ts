import { createHash, type Hash } from 'node:crypto'
import { topicOf, type TopicName } from '../../schemas/topics.ts'

/** A hash is fed in pieces of this size: one call per record would cost as much as the record's own work. */
const CHUNK_BYTES = 64 * 1024

/** A SHA-256 over many short texts and bytes, each with its length before it, so that no two lists look alike. */
export class RunningHash {
  readonly #hash: Hash = createHash('sha256')
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  #at = 0

  /** The bytes from `start` on. */
  bytes(value: Buffer, start = 0): this {
    const length = value.length - start
    this.number(length)
    if (length > CHUNK_BYTES) {
      this.#drain()
      this.#hash.update(value.subarray(start))
      return this
    }
    if (this.#at + length > CHUNK_BYTES) this.#drain()
    value.copy(this.#chunk, this.#at, start)
    this.#at += length
    return this
  }

  text(value: string): this {
    return this.bytes(Buffer.from(value))
  }

  number(value: number): this {
    if (this.#at + 8 > CHUNK_BYTES) this.#drain()
    this.#chunk.writeDoubleLE(value, this.#at)
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

interface Lane {
  readonly hash: RunningHash
  readonly isUpsert: boolean
  /** Of an upsert topic: the last value of each key since the last mark. */
  readonly held: Map<string, Buffer>
  records: number
}

/**
 * The outputs of a replay as one text that does not depend on how its input was cut into batches: upserts count by the
 * last value of each key between two marks, which is what the topic table promises of them; caches not at all.
 */
export class Canonical {
  readonly #lanes = new Map<string, Lane>()

  /** An output's body without its schema id; `isMark`: the record is a forwarded mark. */
  add(row: string, topic: TopicName, partition: number, key: string, body: Buffer, isMark: boolean): void {
    if (topicOf(topic).kind === 'cache') return
    const name = `${topic} ${row} ${partition}`
    const lane = this.#lanes.get(name) ?? this.#open(name, topic)
    if (lane.isUpsert && !isMark) {
      lane.held.set(key, body)
      return
    }
    settle(lane)
    write(lane, key, body)
  }

  /** Each topic's records and hash, and the hash over all of them. */
  close(): { readonly topics: Readonly<Record<string, { records: number; hash: string }>>; readonly hash: string } {
    const byTopic = new Map<string, { records: number; hash: RunningHash }>()
    for (const [name, lane] of [...this.#lanes].sort(([a], [b]) => (a < b ? -1 : 1))) {
      settle(lane)
      const [topic = ''] = name.split(' ')
      const sum = byTopic.get(topic) ?? { records: 0, hash: new RunningHash() }
      byTopic.set(topic, sum)
      sum.records += lane.records
      sum.hash.text(name).text(lane.hash.digest())
    }
    const topics = Object.fromEntries(
      [...byTopic].map(([topic, { records, hash }]) => [topic, { records, hash: hash.digest() }]),
    )
    const all = new RunningHash()
    for (const [topic, { hash }] of Object.entries(topics)) all.text(topic).text(hash)
    return { topics, hash: all.digest() }
  }

  #open(name: string, topic: TopicName): Lane {
    const lane = { hash: new RunningHash(), isUpsert: topicOf(topic).kind === 'upsert', held: new Map(), records: 0 }
    this.#lanes.set(name, lane)
    return lane
  }
}

function settle(lane: Lane): void {
  if (lane.held.size === 0) return
  for (const key of [...lane.held.keys()].sort()) write(lane, key, lane.held.get(key) ?? Buffer.alloc(0))
  lane.held.clear()
}

function write(lane: Lane, key: string, body: Buffer): void {
  lane.records += 1
  lane.hash.text(key).bytes(body)
}
