import type { Claim, LogRecord, OutRecord, Position } from '../../infra/kafka/seam.ts'
import type { LogGap, Stood } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { FatalError } from './errors.ts'
import { fetchAt, isNowhere, lookAt, printOf, recordBefore, stoodOn, type Finding } from './footing.ts'
import { GAPS, type Told } from './log-gaps.ts'
import type { LostLogPolicy, Ports } from './ports.ts'

export interface GroundsOptions {
  /** Name of the processor or service. */
  readonly reader: string
  /** Whose partition of `control.gaps` it tells in. */
  readonly partition: number
  readonly ports: Ports
  /** Holds its partition of `control.gaps` too. */
  readonly claim: Claim
  readonly policy: LostLogPolicy
}

/** Enough for most batches; what does not come with the others is asked for by itself. */
const ONE_EACH = { maxWaitMs: 0, maxBytesPerPartition: 64 * 1024 }

type Lost = Exclude<Finding, { is: 'there' }>

/** An output whose log has lost what we wrote last: `offset` is where it was to go on, `next` where it did. */
export interface LostOutput extends Position {
  readonly next: number
}

/**
 * The records that an owner of partitions stands on: the last that it read of each input, the last that it wrote to each
 * output. By them it knows the log again, and what the log has lost it tells to the journal of gaps.
 */
export class Grounds {
  readonly #options: GroundsOptions
  readonly #stood: Map<string, Stood>
  #overwritten: LostOutput[] = []

  constructor(options: GroundsOptions, stood: Readonly<Record<string, Stood>> = {}) {
    this.#options = options
    this.#stood = new Map(Object.entries(stood))
  }

  /** As a position record keeps them. */
  toSave(): Record<string, Stood> {
    return Object.fromEntries(this.#stood)
  }

  /** As a position record keeps one of them. */
  saved(topic: string, partition: number): Record<string, Stood> {
    const stood = this.of(topic, partition)
    return stood === undefined ? {} : { [nameOf(topic, partition)]: stood }
  }

  of(topic: string, partition: number): Stood | undefined {
    return this.#stood.get(nameOf(topic, partition))
  }

  /** The last record that was read of an input. */
  read(topic: string, partition: number, record: LogRecord): void {
    this.#stood.set(nameOf(topic, partition), stoodOn(record))
  }

  /** Records that an output has from its offset `first` on; where they took the place of others, those are lost. */
  wrote(topic: string, partition: number, first: number | undefined, records: readonly OutRecord[]): void {
    const last = records.at(-1)
    if (first === undefined || last === undefined) return
    const before = this.of(topic, partition)?.offset ?? -1
    if (first <= before) this.#overwritten.push({ topic, partition, offset: before + 1, next: first })
    const stood = {
      offset: first + records.length - 1,
      epoch: -1,
      print: printOf(keyed(last)),
      time: Math.trunc(last.time),
    }
    this.#stood.set(nameOf(topic, partition), stood)
  }

  /** What was found to be overwritten since the last call. */
  takeOverwritten(): readonly LostOutput[] {
    const taken = this.#overwritten
    this.#overwritten = []
    return taken
  }

  /**
   * Whether the leader came back between what an input stands on and `record`: then the log may have lost something. Before
   * the first record nobody knows.
   */
  isNewEpoch(topic: string, partition: number, { epoch }: LogRecord): boolean {
    const stood = this.of(topic, partition)
    if (isNowhere(stood)) return true
    const before = stood?.epoch ?? -1
    return epoch !== undefined && before >= 0 && epoch !== before
  }

  /** Whether the log under an input's position is the one that was read; what is not is told by `tell`. */
  async look(position: Position): Promise<Lost | undefined> {
    const { reader, clock } = this.#options.ports
    const stood = this.of(position.topic, position.partition)
    const finding = await lookAt(reader, position, stood, (ms) => clock.delay(ms))
    return finding.is === 'there' ? undefined : finding
  }

  /** The outputs whose log has lost what we wrote last. One fetch where nothing is amiss. */
  async lostOutputs(isInput: (topic: string) => boolean): Promise<readonly LostOutput[]> {
    const { reader } = this.#options.ports
    const outputs = [...this.#stood].map(([name, stood]) => ({ ...placeOf(name), ...stood }))
    const written = outputs.filter(({ topic }) => !isInput(topic))
    const slices = written.length === 0 ? [] : await reader.fetch(written, ONE_EACH)
    const lost: LostOutput[] = []
    for (const { topic, partition, offset, print } of written) {
      const slice = slices.find((each) => each.topic === topic && each.partition === partition)
      const [record] = slice?.records ?? []
      if (record?.offset === offset && printOf(record) === print) continue
      const found = await this.look({ topic, partition, offset: offset + 1 })
      if (found === undefined || found.is === 'retention') continue
      lost.push({ topic, partition, offset: offset + 1, next: found.next })
      this.#stood.delete(nameOf(topic, partition))
    }
    return lost
  }

  /** Writes a gap of an input to the journal; from then on its reader goes on at `lost.next`. Throws where it is to stop. */
  async tell(position: Position, lost: Lost, shift: number): Promise<Told> {
    const { topic, partition, offset } = position
    const { is: reason, next } = lost
    if (reason !== 'retention' && this.#options.policy === 'stop') throw stopped(this.#options.reader, position, lost)
    const missing = reason === 'retention' ? next - offset : reason === 'cut' ? 0 : null
    const told = await this.#write({ topic, partition, reason, position: offset, next, shift, missing })
    this.#options.ports.meter.skipped(this.#options.reader, topic, Math.max(0, missing ?? next - offset))
    return told
  }

  /** Writes to the journal that an output has lost its tail. */
  async tellOutput({ topic, partition, offset, next }: LostOutput): Promise<void> {
    const missing = Math.max(0, offset - next)
    await this.#write({ topic, partition, reason: 'output_cut', position: offset, next, shift: 0, missing })
  }

  /** An input goes on elsewhere: it stands on what lies before that place now. */
  async moveTo({ topic, partition, offset }: Position): Promise<void> {
    if (isNowhere(this.of(topic, partition))) return
    const before = await this.#recordBefore({ topic, partition, offset })
    if (before === undefined) this.#stood.delete(nameOf(topic, partition))
    else this.read(topic, partition, before)
  }

  async #write(
    about: Pick<LogGap, 'topic' | 'partition' | 'reason' | 'position' | 'next' | 'shift' | 'missing'>,
  ): Promise<Told> {
    const { reader, claim, ports } = this.#options
    const { clock, codec, meter, report } = ports
    const now = clock.now()
    const { topic, partition } = about
    const isTail = about.reason === 'cut' || about.reason === 'output_cut'
    const before = isTail ? await this.#timeBefore(topic, partition, about.next) : undefined
    const last = this.of(topic, partition)?.time
    const from = before ?? last ?? now
    const after = (await this.#timeAt(topic, partition, about.next)) ?? now
    // What was held back while the log was away can be older than what the log has lost.
    const to = Math.max(after, last ?? after)
    const times = { from_time: from * 1_000, to_time: to * 1_000, time: now * 1_000 }
    const gap: LogGap = { reader, ...about, ...times }
    const value = codec.encode(GAPS, 'log_gap', gap)
    const offset = await claim.send(GAPS, this.#options.partition, [{ key: reader, value, time: now }])
    if (offset === undefined) throw new Error('the log took a gap in and did not say where: it is read again')
    meter.gap(reader, topic, about.reason)
    report.error({ ...about }, texts[about.reason])
    return { offset, gap }
  }

  async #timeBefore(topic: string, partition: number, next: number): Promise<number | undefined> {
    return (await this.#recordBefore({ topic, partition, offset: next }))?.time
  }

  async #timeAt(topic: string, partition: number, offset: number): Promise<number | undefined> {
    const { reader, clock } = this.#options.ports
    const slice = await fetchAt(reader, { topic, partition, offset }, (ms) => clock.delay(ms))
    return slice.records[0]?.time
  }

  #recordBefore(position: Position): Promise<LogRecord | undefined> {
    const { reader, clock } = this.#options.ports
    return recordBefore(reader, position, (ms) => clock.delay(ms))
  }
}

function keyed({ time, key, value }: OutRecord): Pick<LogRecord, 'time' | 'key' | 'value'> {
  return { time, value, key: typeof key === 'string' ? Buffer.from(key) : key }
}

function nameOf(topic: string, partition: number): string {
  return `${topic}/${partition}`
}

function placeOf(name: string): { readonly topic: TopicName; readonly partition: number } {
  const at = name.lastIndexOf('/')
  return { topic: name.slice(0, at) as TopicName, partition: Number(name.slice(at + 1)) }
}

const texts: Readonly<Record<LogGap['reason'], string>> = {
  unknown: 'the log is not what it was',
  retention: 'position is gone; going on at the log’s start',
  cut: 'the log lost its tail, which had been read; going on where it differs',
  replaced: 'it is another log than the one that was read; going on at its end',
  output_cut: 'the log lost the tail of what was written to it; what is still known is written again',
}

function stopped(reader: string, { topic, partition, offset }: Position, { is, next }: Lost): FatalError {
  const what = is === 'cut' ? `lost its tail from ${next} on` : `is another one; it ends at ${next}`
  return new FatalError(
    'lost-log',
    `${reader} has read partition ${partition} of ${topic} up to ${offset}, and that log ${what}. Two ways out: bring the ` +
      `log back and start again; or start with ON_LOST_LOG=go-on, then it goes on at ${next} and what lies between is a recorded gap`,
  )
}
