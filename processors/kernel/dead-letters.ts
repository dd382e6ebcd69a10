import type { LogRecord, OutRecord, Writer } from '../../infra/kafka/seam.ts'
import { UndecodableError } from '../../schemas/codec.ts'
import type { DeadLetter, Message } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { Decoder } from './decoder.ts'
import type { Meter, Ports } from './ports.ts'

export const DEAD_LETTERS: TopicName = 'control.dead_letters'
/** Most records are under 300 bytes; of longer ones the rest is in their own topic. */
export const DEAD_VALUE_BYTES_MAX = 64 * 1024
const MESSAGE_CHARACTERS_MAX = 1_000
const RECORDS_PER_SEND_MAX = 1_000
const BYTES_PER_SEND_MAX = 4_000_000

/** Why a record is set aside. */
export type Cause = Pick<DeadLetter, 'reason' | 'code' | 'message' | 'at' | 'attempts'>

function causeOf({ code, message }: UndecodableError): Cause {
  const reason = code === 'unknown-schema' ? 'unknown_schema' : 'undecodable'
  return { reason, code, message, at: null, attempts: 1 }
}

/** What setting records aside needs of the world. */
export interface LetterPorts extends Pick<Ports, 'codec' | 'report'> {
  readonly meter: Pick<Meter, 'deadLetter'>
}

/**
 * Records that a reader of one partition sets aside: told, counted, and written to a topic of their own before the reader
 * says that it is behind them. Keyed by reader and place, so that writing one twice is writing it once.
 */
export class DeadLetters {
  readonly #processor: string
  readonly #partition: number
  readonly #ports: LetterPorts
  #waiting: OutRecord[] = []
  #count = 0

  /** `partition`: the reader's own, whose letters are among what it has claimed; 0 of one that has none. */
  constructor(processor: string, partition: number, ports: LetterPorts) {
    this.#processor = processor
    this.#partition = partition
    this.#ports = ports
  }

  add(topic: TopicName, record: LogRecord, cause: Cause): void {
    const { meter, codec } = this.#ports
    const letter = this.#letter(topic, record, cause)
    const key = [letter.processor, topic, letter.partition, letter.offset].join('|')
    this.#waiting.push({ key, value: codec.encode(DEAD_LETTERS, 'dead_letter', letter), time: record.time })
    meter.deadLetter(letter)
    this.#count += 1
    this.#tell(letter)
  }

  /** A record that could not be decoded; any other error is thrown again. */
  setAside(topic: TopicName, record: LogRecord, error: unknown): undefined {
    if (!(error instanceof UndecodableError)) throw error
    this.add(topic, record, causeOf(error))
    return undefined
  }

  /** What the record says; undefined for a tombstone, and for one that cannot be read: set aside. */
  async read(decoder: Decoder, topic: TopicName, record: LogRecord): Promise<Message | undefined> {
    try {
      return record.value === null ? undefined : await decoder.decodeOrAsk(record.value)
    } catch (error) {
      return this.setAside(topic, record, error)
    }
  }

  /** Writes what was added since the last call; gives how many. */
  async write(claim: Writer): Promise<number> {
    const letters = this.#waiting
    if (letters.length === 0) return 0
    this.#waiting = []
    for (const records of cut(letters)) await claim.send(DEAD_LETTERS, this.#partition, records)
    return letters.length
  }

  #letter(topic: TopicName, { offset, time, key, value }: LogRecord, cause: Cause): DeadLetter {
    const bytes = value ?? EMPTY
    return {
      ...cause,
      processor: this.#processor,
      topic,
      partition: this.#partition,
      offset,
      time: time * 1_000,
      message: cause.message.slice(0, MESSAGE_CHARACTERS_MAX),
      key,
      size: bytes.length,
      value: cause.reason === 'held' ? EMPTY : bytes.subarray(0, DEAD_VALUE_BYTES_MAX),
    }
  }

  #tell({ processor, topic, partition, offset, reason, code, message, at }: DeadLetter): void {
    if (!isPowerOfTwo(this.#count)) return // the 1st, 2nd, 4th, 8th: a flood of them must not flood the log
    const position = { processor, topic, partition, offset, reason, code, at, count: this.#count }
    this.#ports.report.error({ ...position, why: message }, 'set a record aside')
  }
}

const EMPTY = Buffer.alloc(0)

/** Batches that the broker takes. */
function cut(letters: readonly OutRecord[]): OutRecord[][] {
  const sends: OutRecord[][] = []
  let bytes = Infinity
  for (const letter of letters) {
    const own = letter.value?.length ?? 0
    const isFull = bytes + own > BYTES_PER_SEND_MAX || sends.at(-1)?.length === RECORDS_PER_SEND_MAX
    if (isFull) sends.push([])
    bytes = (isFull ? 0 : bytes) + own
    sends.at(-1)?.push(letter)
  }
  return sends
}

function isPowerOfTwo(n: number): boolean {
  return (n & (n - 1)) === 0
}
