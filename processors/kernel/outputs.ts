import type { OutRecord, TopicPartition } from '../../infra/kafka/seam.ts'
import type { Codec } from '../../schemas/codec.ts'
import { receiverPartition } from '../../schemas/keys.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { Output, ProcessorRow } from './processor.ts'

/** Records of one send; more are sent one batch after the other, since clients encode large batches slowly. */
const RECORDS_PER_SEND_MAX = 2_000

/** Collects what a processor emits, encoded at once, so that later changes of the state cannot reach it. */
export class Outputs {
  readonly #codec: Codec
  readonly #row: Pick<ProcessorRow, 'outputs'>
  readonly #own: number
  readonly #partitions: number
  /** By topic and partition, in the order of their first record. */
  readonly #batches = new Map<string, PartitionBatch>()
  /** Kafka timestamp of what is emitted now, milliseconds: that of the entry it follows from. */
  time = 0

  /** `own`: the partition of outputs that name no receiver; `partitions`: of every topic that is partitioned alike. */
  constructor(
    codec: Codec,
    row: Pick<ProcessorRow, 'outputs'>,
    { own, partitions }: { own: number; partitions: number },
  ) {
    this.#codec = codec
    this.#row = row
    this.#own = own
    this.#partitions = partitions
  }

  readonly emit = (output: Output): void => {
    const { topic, key, message, receiver } = output
    const partition = receiver === undefined ? this.#own : receiverPartition(receiver, this.#partitions)
    assertDeclared(this.#row, output)
    const value = message === null ? null : this.#codec.encode(topic, message.type, message.value)
    this.#batch(topic, partition).records.push({ key, value, time: this.time })
  }

  /** Notes where the outputs are; what is called takes back all that was emitted since. */
  mark(): () => void {
    const lengths = new Map([...this.#batches].map(([name, { records }]) => [name, records.length]))
    return () => {
      for (const [name, { records }] of this.#batches) {
        records.length = lengths.get(name) ?? 0
        if (records.length === 0) this.#batches.delete(name)
      }
    }
  }

  /** What was emitted since the last call, in order within each partition of a topic, cut into sends. */
  take(): (Omit<PartitionBatch, 'records'> & { readonly count: number; readonly sends: readonly OutRecord[][] })[] {
    const taken = [...this.#batches.values()].map(({ topic, partition, records }) => {
      return { topic, partition, count: records.length, sends: cut(records) }
    })
    this.#batches.clear()
    return taken
  }

  #batch(topic: TopicName, partition: number): PartitionBatch {
    const name = `${topic}-${partition}`
    const known = this.#batches.get(name)
    if (known !== undefined) return known
    const batch = { topic, partition, records: [] }
    this.#batches.set(name, batch)
    return batch
  }
}

/** Unclaimed topics are not fenced: writing there would let a frozen owner overwrite its successor. */
export function assertDeclared({ outputs }: Pick<ProcessorRow, 'outputs'>, { topic }: Output): void {
  if (!outputs.includes(topic)) throw new Error(`${topic} is not among the outputs of the processor's row`)
}

/** Records of one partition that wait to be sent. */
interface PartitionBatch {
  readonly topic: TopicName
  readonly partition: number
  readonly records: OutRecord[]
}

function cut(records: OutRecord[]): OutRecord[][] {
  if (records.length <= RECORDS_PER_SEND_MAX) return [records]
  const sends: OutRecord[][] = []
  for (let at = 0; at < records.length; at += RECORDS_PER_SEND_MAX) {
    sends.push(records.slice(at, at + RECORDS_PER_SEND_MAX))
  }
  return sends
}

/** A batch of one partition of a topic. */
interface Sent {
  readonly topic: TopicName
  readonly partition: number
  readonly first: number
  readonly records: readonly OutRecord[]
}

/** What was written since the state was: what the log loses of it is written again as it was, whatever the state knows by now. */
export class UnsavedOutputs {
  #sent: Sent[] = []
  /** One past the last record that is kept of each output, by topic and partition. */
  readonly #ends = new Map<string, number>()
  #lost: Sent[] = []
  #bytes = 0

  /** Of the values that are kept. */
  get bytes(): number {
    return this.#bytes
  }

  /** Records that an output has from its offset `first` on; what it had there before is lost. */
  wrote(topic: TopicName, partition: number, first: number | undefined, records: readonly OutRecord[]): void {
    if (first === undefined) return
    const output = `${topic}-${partition}`
    if (first < (this.#ends.get(output) ?? 0)) this.lose({ topic, partition, next: first })
    this.#ends.set(output, first + records.length)
    this.#sent.push({ topic, partition, first, records })
    for (const { value } of records) this.#bytes += value?.length ?? 0
  }

  /** The log has lost what an output had from its offset `next` on. */
  lose({ topic, partition, next }: TopicPartition & { readonly next: number }): void {
    const isLost = (sent: Sent): boolean => {
      return sent.topic === topic && sent.partition === partition && sent.first + sent.records.length > next
    }
    if (!this.#sent.some(isLost)) return
    for (const sent of this.#sent.filter(isLost))
      this.#lost.push({
        ...sent,
        first: Math.max(sent.first, next),
        records: sent.records.slice(Math.max(0, next - sent.first)),
      })
    this.#sent = this.#sent.filter((sent) => !isLost(sent) || sent.first < next)
  }

  /** What was lost since the last call, with what was written in its place, so that the last of a key stays the last. */
  takeLost(): readonly Sent[] {
    const lost = this.#lost.splice(0)
    const isBehind = (sent: Sent): boolean =>
      lost.some(({ topic, partition, first }) => {
        return sent.topic === topic && sent.partition === partition && sent.first >= first
      })
    return [...lost, ...this.#sent.filter(isBehind)]
  }

  /** The state is in the log: from here on it is folded again. */
  clear(): void {
    this.#sent = []
    this.#bytes = 0
  }
}
