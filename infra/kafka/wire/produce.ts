import { apis, Encoder, type Link, readItems, readNumber, writeItems, type Decoder } from './internals.ts'
import { LogError } from '../seam.ts'

/** How long the broker may wait for its replicas, milliseconds. */
const ACKS_MS = 10_000
const ANSWER_MS = 15_000
/** The broker's own limit of a request is 100 MB. */
const REQUEST_BYTES_MAX = 16 * 1024 * 1024
const REQUEST_OVERHEAD_BYTES = 4096

/** What the broker said of a batch. */
export interface Appended {
  readonly code: number
  /** Offset of the first record; -1 where it does not say. */
  readonly base: number
}

interface Append {
  readonly topic: string
  readonly partition: number
  readonly batch: Buffer
  readonly check: (() => void) | undefined
  readonly settle: (appended: Appended) => void
  readonly fail: (error: unknown) => void
}

type ProducingLink = Pick<Link, 'leaderOf' | 'call'>

/** Code of "not leader": what an append gets whose partition has no leader at the moment. */
const NO_LEADER = 6

/**
 * Appends batches. Those that are handed over in one turn of the event loop go to each broker in one request, whatever
 * producer they belong to; a partition occurs once in a request.
 */
export class Appender {
  readonly #link: ProducingLink
  #waiting: Append[] = []
  #scheduled = false

  constructor(link: ProducingLink) {
    this.#link = link
  }

  /**
   * What the broker says of the batch; rejects when no answer came. The topic must be known to the link. `check` is asked
   * last, on an open connection and in the turn in which the bytes leave; what it throws is the answer.
   */
  append(topic: string, partition: number, batch: Buffer, check?: () => void): Promise<Appended> {
    return new Promise((settle, fail) => {
      this.#waiting.push({ topic, partition, batch, check, settle, fail })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      const waiting = this.#waiting
      this.#waiting = []
      for (const [node, appends] of this.#byLeader(waiting)) void this.#send(node, appends)
    })
  }

  #byLeader(appends: readonly Append[]): Map<number, Append[]> {
    const requests = new Map<number, Append[]>()
    const partitions = new Set<string>()
    const sizes = new Map<number, number>()
    for (const append of appends) {
      const node = this.#link.leaderOf(append.topic, append.partition)
      const id = `${append.topic}/${append.partition}`
      if (node === undefined) {
        append.settle({ code: NO_LEADER, base: -1 })
        continue
      }
      const size = (sizes.get(node) ?? 0) + append.batch.length
      if (partitions.has(id) || (requests.has(node) && size > REQUEST_BYTES_MAX)) {
        this.#waiting.push(append)
        this.#schedule()
        continue
      }
      partitions.add(id)
      sizes.set(node, size)
      const request = requests.get(node)
      if (request === undefined) requests.set(node, [append])
      else request.push(append)
    }
    return requests
  }

  async #send(node: number, appends: readonly Append[]): Promise<void> {
    try {
      const body = (): Encoder => produceRequest(allowed(appends))
      const answer = await this.#link.call(node, {
        key: apis.produce,
        version: 7,
        name: 'Produce',
        body,
        withinMs: ANSWER_MS,
      })
      const answers = readAppended(answer)
      for (const { topic, partition, settle, fail } of appends) {
        const appended = answers.get(`${topic}/${partition}`)
        if (appended === undefined) fail(new Error(`the broker did not answer for ${topic}/${partition}`))
        else settle(appended)
      }
    } catch (error) {
      for (const { fail } of appends) fail(error)
    }
  }
}

/** Those that may be written now; the others fail. Throws where none is left. */
function allowed(appends: readonly Append[]): readonly Append[] {
  const left = appends.filter(({ check, fail }) => {
    try {
      check?.()
      return true
    } catch (error) {
      fail(error)
      return false
    }
  })
  if (left.length === 0) throw new LogError('unavailable', 'nothing of the request may be written')
  return left
}

function produceRequest(appends: readonly Append[]): Encoder {
  const topics = Map.groupBy(appends, (append) => append.topic)
  const size = appends.reduce((sum, { batch }) => sum + batch.length + 64, REQUEST_OVERHEAD_BYTES)
  const body = new Encoder(size).writeString(null).writeInt16(-1).writeInt32(ACKS_MS)
  writeItems(body, [...topics], ([topic, partitions]) => {
    body.writeString(topic)
    writeItems(body, partitions, ({ partition, batch }) => body.writeInt32(partition).writeBytes(batch))
  })
  return body
}

/** By `topic/partition`. */
function readAppended(answer: Decoder): Map<string, Appended> {
  const appended = new Map<string, Appended>()
  readItems(answer, () => {
    const topic = answer.readString()
    readItems(answer, () => {
      const partition = answer.readInt32()
      const code = answer.readInt16()
      appended.set(`${topic}/${partition}`, { code, base: readNumber(answer) })
      answer.forward(16) // append time, log start
    })
  })
  return appended
}
