import type { OutRecord } from '../../infra/kafka/seam.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { Output } from './processor.ts'

/** Records of one send; more are sent one batch after the other, since clients encode large batches slowly. */
const RECORDS_PER_SEND_MAX = 2_000

/** Collects what a processor emits, encoded at once, so that later changes of the state cannot reach it. */
export class Outputs {
  readonly #codec: Codec
  readonly #topics: ReadonlySet<TopicName>
  readonly #byTopic = new Map<TopicName, OutRecord[]>()
  /** Kafka timestamp of what is emitted now, milliseconds: that of the entry it follows from. */
  time = 0

  constructor(codec: Codec, topics: readonly TopicName[]) {
    this.#codec = codec
    this.#topics = new Set(topics)
  }

  readonly emit = (output: Output): void => {
    const { topic, key, message } = output
    // Unclaimed topics are not fenced: writing there would let a frozen owner overwrite its successor.
    if (!this.#topics.has(topic)) throw new Error(`${topic} is not among the outputs of the processor's row`)
    const value = this.#codec.encode(topic, message.type, message.value)
    const records = this.#byTopic.get(topic)
    const record = { key, value, time: this.time }
    if (records === undefined) this.#byTopic.set(topic, [record])
    else records.push(record)
  }

  /** What was emitted since the last call, in order within each topic, cut into sends. */
  take(): { topic: TopicName; count: number; sends: OutRecord[][] }[] {
    const taken = [...this.#byTopic].map(([topic, records]) => ({ topic, count: records.length, sends: cut(records) }))
    this.#byTopic.clear()
    return taken
  }
}

function cut(records: OutRecord[]): OutRecord[][] {
  if (records.length <= RECORDS_PER_SEND_MAX) return [records]
  const sends: OutRecord[][] = []
  for (let at = 0; at < records.length; at += RECORDS_PER_SEND_MAX) {
    sends.push(records.slice(at, at + RECORDS_PER_SEND_MAX))
  }
  return sends
}
