import { codeText, verdictOf } from './wire/codes.ts'
import { Reader } from './wire/fetch.ts'
import { fetchRequest, readAnswer, type Part } from './wire/fetch-wire.ts'
import { apis, Link, type LinkOptions } from './wire/internals.ts'
import { boundsOf, isSound } from './wire/record-batch.ts'
import { again, retrying } from './wire/retry.ts'
import { LogError, type Position } from './seam.ts'

const FETCH_MS = 60_000
const WAIT = { maxWaitMs: 500, maxBytesPerPartition: 8 * 1024 * 1024 }

/** Batches of one partition, byte by byte as the broker keeps them. */
export interface RawBatches {
  readonly bytes: Buffer
  readonly from: number
  /** One past the last offset. */
  readonly to: number
  /** Every offset of `from` to `to` is there: compaction took nothing. */
  readonly isWhole: boolean
  readonly records: number
}

/** Reads partitions as they lie in the log, control batches too. */
export class RawReader {
  readonly #link: Link
  readonly #namespace: string
  /** Offsets and epochs, over the same connections. */
  readonly reader: Reader

  constructor(options: LinkOptions & { readonly namespace: string }) {
    this.#link = new Link(options)
    this.#namespace = options.namespace
    this.reader = new Reader(this.#link, options.namespace)
  }

  close(): Promise<void> {
    return this.reader.close()
  }

  /**
   * All batches of a partition from an offset that begins one up to `to`. Retention may have cut what was asked for: the
   * next `from` is then beyond the last `to`. Throws where a batch is not as it was written.
   */
  async *batches(topic: string, partition: number, from: number, to: number): AsyncIterable<RawBatches> {
    for (let offset = from; offset < to;) {
      const part = await this.#fetch({ topic, partition, offset })
      const found = batchesOf(part.bytes, offset, to)
      if (found === undefined) {
        offset = await this.#beyond({ topic, partition, offset }, part, to)
        continue
      }
      const partitionName = `${topic}/${partition}`
      for (const { at, end, base } of boundsOf(found.bytes))
        if (!isSound(found.bytes.subarray(at, end)))
          throw new LogError(
            'refused',
            `${partitionName}: the batch at ${base} is damaged on the broker; replace its disk's copy`,
          )
      yield found
      offset = found.to
    }
  }

  /** Nothing lies at an offset: retention cut it, or compaction everything up to the end. */
  async #beyond({ topic, partition, offset }: Position, { code, end }: Part, to: number): Promise<number> {
    const starts = await this.reader.offsets(topic, [partition], 'start')
    const start = starts.get(partition) ?? 0
    if (start > offset) return start
    if (verdictOf(code) === 'ok' && end >= to) return to
    throw new LogError('unavailable', `${topic}/${partition}: nothing can be read at ${offset} of ${to}`)
  }

  #fetch(position: Position): Promise<Part> {
    const name = this.#namespace + position.topic
    return retrying(`fetch of ${name}/${position.partition}`, FETCH_MS, async () => {
      await this.#link.know([name])
      const node = this.#link.leaderOf(name, position.partition)
      const body = fetchRequest([position], WAIT, this.#namespace)
      const answer =
        node === undefined
          ? undefined
          : await this.#link.call(node, { key: apis.fetch, version: 11, name: 'Fetch', body, withinMs: FETCH_MS })
      const [part] = answer === undefined ? [] : readAnswer(answer)
      const verdict = part === undefined ? 'stale' : verdictOf(part.code)
      if (part !== undefined && (verdict === 'ok' || verdict === 'out-of-range')) return part
      if (verdict !== 'stale' && verdict !== 'retry')
        throw new LogError('refused', `fetch of ${name}/${position.partition}: ${codeText(part?.code ?? -1)}`)
      await this.#link.refresh()
      return again
    })
  }
}

/** The whole batches between two offsets; undefined: there is none. */
function batchesOf(bytes: Buffer, from: number, to: number): RawBatches | undefined {
  const batches = boundsOf(bytes).filter(({ next }) => next > from && next <= to)
  const [first, last] = [batches[0], batches.at(-1)]
  if (first === undefined || last === undefined) return undefined
  let expected = from
  let isWhole = true
  let records = 0
  for (const batch of batches) {
    isWhole &&= batch.isWhole && batch.base <= expected
    expected = batch.next
    records += batch.records
  }
  return { bytes: bytes.subarray(first.at, last.end), from: first.base, to: last.next, isWhole, records }
}
