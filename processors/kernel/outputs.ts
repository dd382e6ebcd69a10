import type { OutRecord } from '../../infra/kafka/seam.ts'
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
  readonly #lanes = new Map<string, Lane>()
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
    this.#lane(topic, partition).records.push({ key, value, time: this.time })
  }

  /** Notes where the outputs are; what is called takes back all that was emitted since. */
  mark(): () => void {
    const lengths = new Map([...this.#lanes].map(([name, { records }]) => [name, records.length]))
    return () => {
      for (const [name, { records }] of this.#lanes) {
        records.length = lengths.get(name) ?? 0
        if (records.length === 0) this.#lanes.delete(name)
      }
    }
  }

  /** What was emitted since the last call, in order within each partition of a topic, cut into sends. */
  take(): (Omit<Lane, 'records'> & { readonly count: number; readonly sends: readonly OutRecord[][] })[] {
    const taken = [...this.#lanes.values()].map(({ topic, partition, records }) => {
      return { topic, partition, count: records.length, sends: cut(records) }
    })
    this.#lanes.clear()
    return taken
  }

  #lane(topic: TopicName, partition: number): Lane {
    const name = `${topic}-${partition}`
    const known = this.#lanes.get(name)
    if (known !== undefined) return known
    const lane = { topic, partition, records: [] }
    this.#lanes.set(name, lane)
    return lane
  }
}

/** Unclaimed topics are not fenced: writing there would let a frozen owner overwrite its successor. */
export function assertDeclared({ outputs }: Pick<ProcessorRow, 'outputs'>, { topic }: Output): void {
  if (!outputs.includes(topic)) throw new Error(`${topic} is not among the outputs of the processor's row`)
}

/** Records of one partition that wait to be sent. */
interface Lane {
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
