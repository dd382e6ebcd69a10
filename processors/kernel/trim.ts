import type { Position, Slice } from '../../infra/kafka/seam.ts'
import { topicOf } from '../../schemas/topics.ts'
import type { Ports } from './ports.ts'
import type { ProcessorRow } from './processor.ts'

/** An average over fewer records says too little. */
const RECORDS_MIN = 1_000
/** What the broker keeps of a record beside key and value, with its share of a batch. */
const RECORD_OVERHEAD_BYTES = 20
/** So much over the limit is let stand, so that a cut is seldom and takes something away. */
const SLACK = 1.1

/** Cuts those of a task's inputs that its processor has to cut. */
export class Trims {
  readonly #ports: Pick<Ports, 'log' | 'report'>
  readonly #trims: ReadonlyMap<string, Trim>
  #isBusy = false

  /** `bytesMax`: of each partition. */
  constructor(
    { name, inputs }: Pick<ProcessorRow, 'name' | 'inputs'>,
    bytesMax: number,
    ports: Pick<Ports, 'log' | 'report'>,
  ) {
    const cut = inputs.filter((topic) => topicOf(topic).cutBy === name)
    this.#ports = ports
    this.#trims = new Map(cut.map((topic) => [topic, new Trim(bytesMax)]))
  }

  saw(slice: Slice): void {
    this.#trims.get(slice.topic)?.saw(slice)
  }

  /** Cuts behind positions whose state is in the log. Not waited for, one at a time. */
  cut(applied: readonly Position[]): void {
    const before = applied.map((position) => this.#trims.get(position.topic)?.before(position)).find(Boolean)
    if (before === undefined || this.#isBusy) return
    this.#isBusy = true
    const { log, report } = this.#ports
    const trimmed = log.trim(before).catch((error: unknown) => {
      report.warn({ ...before, err: error }, 'an input could not be cut; it is tried again')
    })
    void trimmed.finally(() => {
      this.#isBusy = false
    })
  }
}

/**
 * Says how far an input may be cut that the broker must not cut, because it holds commands: to about so many bytes, and
 * never beyond what was applied. Sizes are estimated from the records that were read.
 */
export class Trim {
  readonly #bytesMax: number
  #records = 0
  #bytes = 0
  #start = 0
  #end = 0

  /** `bytesMax`: of the partition. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** What a fetch brought. */
  saw({ records, start, end }: Slice): void {
    this.#start = start
    this.#end = end
    this.#records += records.length
    for (const { key, value } of records) {
      this.#bytes += RECORD_OVERHEAD_BYTES + (key?.length ?? 0) + (value?.length ?? 0)
    }
  }

  /** Where the input is to begin; undefined: it may stay as it is. `applied`: a position whose state is in the log. */
  before(applied: Position): Position | undefined {
    if (this.#records < RECORDS_MIN) return undefined
    const each = this.#bytes / this.#records
    if ((this.#end - this.#start) * each <= this.#bytesMax * SLACK) return undefined
    const offset = Math.min(applied.offset, Math.floor(this.#end - this.#bytesMax / each))
    return offset > this.#start ? { ...applied, offset } : undefined
  }
}
