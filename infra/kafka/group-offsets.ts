import { codeText, verdictOf } from './wire/codes.ts'
import {
  findCoordinator,
  apis,
  Encoder,
  Link,
  readItems,
  readNumber,
  writeItems,
  type Call,
  type Decoder,
  type LinkOptions,
} from './wire/internals.ts'
import { askOffsets, LATEST, type Reached } from './wire/fetch-wire.ts'
import { again, retrying } from './wire/retry.ts'
import { LogError } from './seam.ts'

export type { Reached }

/** The places of one topic's partitions. */
export type ReachedOffsets = ReadonlyMap<number, Reached>

const ANSWER_MS = 15_000

/**
 * Offsets of consumer groups that others run, and the ends of what they read. Groups and topics by their full names.
 * Errors are `LogError`: `unavailable` where no broker answers in 15 s, `refused` as for offsets of a group with members.
 */
export class GroupOffsets {
  readonly #link: Link
  /** Node ids by group. */
  readonly #coordinators = new Map<string, number>()

  constructor(options: LinkOptions) {
    this.#link = new Link(options)
  }

  /** The end of each partition, and the epoch of its leader. */
  ends(topic: string, partitions: readonly number[]): Promise<ReachedOffsets> {
    let isStale = false
    return retrying(`ends of ${topic}`, ANSWER_MS, async () => {
      if (isStale && this.#link.knows(topic)) await this.#link.refresh()
      isStale = true
      await this.#link.know([topic])
      return (await askOffsets(this.#link, topic, partitions, LATEST)) ?? again
    })
  }

  /** What the group has committed; a partition of which it has committed nothing is left out. */
  async committed(group: string, topic: string, partitions: readonly number[]): Promise<ReachedOffsets> {
    const body = (): Encoder => {
      const encoder = new Encoder().writeString(group).writeInt32(1).writeString(topic)
      writeItems(encoder, partitions, (partition) => encoder.writeInt32(partition))
      return encoder
    }
    const found = new Map<number, Reached>()
    await this.#ask(group, { key: apis.offsetFetch, version: 5, name: 'OffsetFetch' }, body, (answer) => {
      const codes: number[] = []
      readParts(answer, (partition) => {
        const offset = readNumber(answer)
        const epoch = answer.readInt32()
        answer.readString() // metadata
        codes.push(answer.readInt16())
        if (offset >= 0) found.set(partition, { offset, epoch })
      })
      return [...codes, answer.readInt16()]
    })
    return found
  }

  /** Commits for a group that has no member now. */
  async commit(group: string, topic: string, offsets: ReachedOffsets): Promise<void> {
    const body = (): Encoder => {
      const encoder = new Encoder().writeString(group).writeInt32(-1).writeString('') // no generation, no member
      encoder.writeInt32(1).writeString(topic)
      writeItems(encoder, [...offsets], ([partition, { offset, epoch }]) =>
        encoder.writeInt32(partition).writeInt64(offset).writeInt32(epoch).writeString(''),
      )
      return encoder
    }
    await this.#ask(group, { key: apis.offsetCommit, version: 6, name: 'OffsetCommit' }, body, (answer) => {
      const codes: number[] = []
      readParts(answer, () => codes.push(answer.readInt16()))
      return codes
    })
  }

  close(): Promise<void> {
    return this.#link.close()
  }

  /** Asks the group's coordinator until all parts of an answer are good; `read` gives their codes. */
  #ask(
    group: string,
    call: Omit<Call, 'body'>,
    body: () => Encoder,
    read: (answer: Decoder) => readonly number[],
  ): Promise<void> {
    const what = `${call.name} of group ${group}`
    return retrying(what, ANSWER_MS, async () => {
      const node = this.#coordinators.get(group) ?? (await findCoordinator(this.#link, 'group', group))
      this.#coordinators.delete(group) // asked for anew where this fails
      if (node === undefined) return again
      const answer = await this.#link.call(node, { ...call, body: body() })
      answer.forward(4) // throttle time
      const bad = read(answer).find((code) => verdictOf(code) !== 'ok')
      if (bad === undefined) {
        this.#coordinators.set(group, node)
        return undefined
      }
      if (verdictOf(bad) === 'refused') throw new LogError('refused', `${what}: ${codeText(bad)}`)
      return again
    })
  }
}

/** Calls `read` behind the number of each partition of an answer. */
function readParts(answer: Decoder, read: (partition: number) => void): void {
  readItems(answer, () => {
    answer.readString()
    readItems(answer, () => read(answer.readInt32()))
  })
}
