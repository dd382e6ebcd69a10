import type { Claim, LogRecord, OutRecord, Position, Slice, TopicPartition } from '../../infra/kafka/seam.ts'
import type { LogGap, Message, Stood } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { DEAD_LETTERS, DeadLetters } from './dead-letters.ts'
import type { Decoder } from './decoder.ts'
import { FatalError } from './errors.ts'
import { GAPS, InputGaps, readGaps, type JournaledGap } from './log-gaps.ts'
import type { LostLogPolicy, Ports } from './ports.ts'
import { checkPosition, fetchAt, isNowhere, printOf, recordBefore, stoodNowhere, stoodOn } from './position-check.ts'
import type { Finding } from './position-check.ts'

/** What retention takes unread can be of trades so much older than the records before: a feed was away, and repaired them. */
const REPAIRED_MS = 60_000
/** Enough for most batches; what does not come with the others is asked for by itself. */
const ONE_EACH = { maxWaitMs: 0, maxBytesPerPartition: 64 * 1024 }

export interface OwnedOptions {
  /** Of the processor or service: whose claim it is, and who reads, in letters and gaps. */
  readonly name: string
  readonly partition: number
  readonly inputs: readonly TopicName[]
  /** What it writes, beside its letters and gaps. */
  readonly outputs: readonly TopicPartition[]
  readonly ports: Ports
  readonly decoder: Decoder
  readonly onLostLog: LostLogPolicy
}

/** What an owner does where the log has lost something. */
export interface LossHandlers {
  /** A gap of an input was recorded; called before the position moves behind it. */
  readonly onGap?: (told: JournaledGap) => void
  /** An input goes on elsewhere now. */
  readonly onMoved?: () => void | Promise<void>
  /** Outputs have lost their tails: `tell` records each. Throws where all has to be read anew. */
  readonly onLostOutputs: (lost: readonly LostOutput[]) => Promise<void>
}

/** An output whose log has lost what we wrote last: `offset` is where it was to go on, `next` where it did. */
export interface LostOutput extends Position {
  readonly next: number
  /** How it was found: by a look, or by a write that took the lost ones' place. */
  readonly by: 'check' | 'write'
}

type Lost = Exclude<Finding, { is: 'there' }>

type Times = Pick<LogGap, 'from_time' | 'to_time'>

interface Input {
  readonly topic: TopicName
  readonly gaps: InputGaps
  /** Offset to read next. */
  next: number
  /** Up to where it was read by whichever owner: what lies before may be read once more. */
  reached: number
}

/**
 * Claims what an owner writes, and lets it restore and begin. The claim comes first: only then is the end of a topic the
 * last word of every older owner. Where beginning fails the claim is let go of, since it would be renewed for ever.
 */
export async function openOwned<Work>(
  options: OwnedOptions,
  begin: (owned: OwnedPartition) => Promise<Work>,
): Promise<Work> {
  const { name, partition, outputs, ports } = options
  const startedAt = ports.clock.steady()
  const own = [DEAD_LETTERS, GAPS].map((topic) => ({ topic, partition }))
  const owned = new OwnedPartition(options, await ports.log.claim(`${name}-${partition}`, [...outputs, ...own]))
  try {
    const work = await begin(owned)
    ports.meter.restored(name, ports.clock.steady() - startedAt)
    return work
  } catch (error) {
    await owned.close()
    throw error
  }
}

/**
 * A partition of one reader while it is claimed: where its inputs are, which records they and its outputs were left at, and
 * what the log has lost of them, which is recorded in the journal of gaps. Its owner folds the records and writes what
 * follows. After an error it is of no use any more: another is opened.
 */
export class OwnedPartition {
  readonly partition: number
  /** For what needs no check: letters, tombstones. */
  readonly claim: Claim
  readonly letters: DeadLetters
  readonly #options: OwnedOptions
  readonly #inputs: ReadonlyMap<string, Input>
  /** The last record read of each input and written to each output, by `topic/partition`. */
  #stood = new Map<string, Stood>()
  #handlers: LossHandlers = { onLostOutputs: () => Promise.resolve() }
  #overwritten: LostOutput[] = []
  #isInterrupted = false
  readonly #closing = new AbortController()
  readonly #failure = Promise.withResolvers<unknown>()

  constructor(options: OwnedOptions, claim: Claim) {
    const { name, partition, inputs, ports } = options
    this.partition = partition
    this.claim = claim
    this.letters = new DeadLetters(name, partition, ports)
    this.#options = options
    this.#inputs = new Map(inputs.map((topic) => [topic, { topic, gaps: new InputGaps(), next: 0, reached: 0 }]))
    void claim.lost.then((error) => this.fail(error))
  }

  /** Given when it was closed: what is under way is nobody's any more. */
  get signal(): AbortSignal {
    return this.#closing.signal
  }

  /** Resolves with the reason when it is of no use any more although no work was being done; never after it was closed. */
  get failed(): Promise<unknown> {
    return this.#failure.promise
  }

  fail(error: unknown): void {
    if (!this.signal.aborted) this.#failure.resolve(error)
  }

  /** Lets go of the claim's resources; another owner may have it already. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.claim.close()
  }

  /** The gaps that the journal tells of this reader; what cannot be read of it is set aside. */
  async readGaps(): Promise<readonly JournaledGap[]> {
    const { ports, decoder, name } = this.#options
    const gaps = await readGaps(ports.reader, decoder, name, this.partition, this.letters)
    await this.letters.write(this.claim)
    for (const told of gaps) this.#inputs.get(told.gap.topic)?.gaps.add(told)
    return gaps
  }

  /**
   * Where its inputs go on, from the log's start where `next` says nothing, and what they and the outputs were left at;
   * `later`: gaps of theirs that were told since. Then checks them.
   */
  async begin(
    next: ReadonlyMap<string, number>,
    stood: Readonly<Record<string, Stood>>,
    handlers: LossHandlers,
    later: readonly JournaledGap[] = [],
  ): Promise<void> {
    const { reader, clock } = this.#options.ports
    this.#stood = new Map(Object.entries(stood))
    this.#handlers = handlers
    for (const input of this.#inputs.values()) {
      const known = next.get(input.topic)
      const name = nameOf(input.topic, this.partition)
      if (known === undefined) this.#stood.set(name, stoodNowhere(clock.now()))
      input.next = known ?? (await reader.offsets(input.topic, [this.partition], 'start')).get(this.partition) ?? 0
      input.reached = Math.max(input.next, (this.#stood.get(name)?.offset ?? -1) + 1)
      const { replacedUpTo } = input.gaps
      if (known === undefined || known >= replacedUpTo) continue
      input.next = replacedUpTo // told by an owner that ended before it said where it went on
      await this.#goOn(input, replacedUpTo)
    }
    for (const { gap } of later) await this.#goOn(this.#input(gap.topic), gap.next)
    await this.check()
  }

  /** Where to read on. */
  positions(): Position[] {
    return [...this.#inputs.values()].map(({ topic, next }) => ({ topic, partition: this.partition, offset: next }))
  }

  position(topic: TopicName): number {
    return this.#input(topic).next
  }

  gapsOf(topic: TopicName): InputGaps {
    return this.#input(topic).gaps
  }

  /** What inputs and outputs were left at, as a position record keeps it; of these topics' own partitions, or all. */
  stood(...topics: readonly TopicName[]): Record<string, Stood> {
    if (topics.length === 0) return Object.fromEntries(this.#stood)
    const names = new Set(topics.map((topic) => nameOf(topic, this.partition)))
    return Object.fromEntries([...this.#stood].filter(([name]) => names.has(name)))
  }

  /** A broker was away: it may have come back with another log. */
  interrupted(): void {
    this.#isInterrupted = true
  }

  /** The records of a slice that were not read; undefined where it holds none of what comes next. */
  async accept(slice: Slice): Promise<readonly LogRecord[] | undefined> {
    const input = this.#input(slice.topic)
    if (slice.error === 'moved' || slice.from > input.next) return undefined
    const begin = slice.records.find(({ offset }) => offset >= input.reached)
    const isNew = begin !== undefined && this.#isNewEpoch(input, begin)
    const mayDiffer = this.#isInterrupted || isNew || slice.error === 'out-of-range'
    if (mayDiffer && (await this.check())) return undefined
    if (slice.error === undefined) return from(slice.records, input.next)
    input.next = Math.max(input.next, slice.start) // what is read once more is not there any more
    return undefined
  }

  /** An input was read up to `next`; `last`: the record before it, if there was one. */
  moveTo(topic: TopicName, next: number, last?: LogRecord): void {
    const input = this.#input(topic)
    if (last !== undefined && last.offset >= input.reached)
      this.#stood.set(nameOf(topic, this.partition), stoodOn(last))
    input.next = Math.max(input.next, next)
    input.reached = Math.max(input.reached, input.next)
  }

  /** What a record says; undefined for a tombstone, and for one that cannot be read, which is set aside at once. */
  async read(topic: TopicName, record: LogRecord): Promise<Message | undefined> {
    const message = await this.letters.read(this.#options.decoder, topic, record)
    await this.letters.write(this.claim)
    return message
  }

  /** Writes records as one batch; `recover` follows. Gives the offset of the first. */
  async send(topic: TopicName, partition: number, records: readonly OutRecord[]): Promise<number | undefined> {
    const first = await this.claim.send(topic, partition, records)
    const last = records.at(-1)
    if (first === undefined || last === undefined) return first
    const name = nameOf(topic, partition)
    const before = this.#stood.get(name)?.offset ?? -1
    if (first <= before) this.#overwritten.push({ topic, partition, offset: before + 1, next: first, by: 'write' })
    this.#stood.set(name, stoodOn({ ...keyed(last), offset: first + records.length - 1 }))
    return first
  }

  /** Has the owner make good for what the writes since the last call took the place of. */
  async recover(): Promise<void> {
    const lost = this.#overwritten
    if (lost.length === 0) return
    this.#overwritten = []
    this.interrupted() // what was read may be gone as well
    await this.#handlers.onLostOutputs(lost)
  }

  /**
   * Checks whether the log is the one that was read and written so far. Where an input is not, the gap is recorded and
   * reading goes on behind it; where an output is not, its owner makes good for it. True: an input goes on elsewhere.
   */
  async check(): Promise<boolean> {
    this.#isInterrupted = false
    let isMoved = false
    for (const input of this.#inputs.values()) isMoved = (await this.#checkInput(input)) || isMoved
    const lost = await this.#lostOutputs()
    if (lost.length > 0) await this.#handlers.onLostOutputs(lost)
    return isMoved
  }

  /** Records that an output has lost its tail. */
  async tell({ topic, partition, offset, next }: LostOutput): Promise<void> {
    const missing = Math.max(0, offset - next)
    await this.#write({ topic, partition, reason: 'output_cut', position: offset, next, shift: 0, missing })
  }

  /** Records, before an input is read on at `offset`, that what is read there of a time is in no row of it. */
  async tellLeftOut(topic: TopicName, offset: number, times: Times): Promise<void> {
    const { gaps } = this.#input(topic)
    if (gaps.knows(offset, offset)) return
    const place = { topic, partition: this.partition, position: offset, next: offset, shift: gaps.shiftAt(offset) }
    const told = await this.#write({ ...place, reason: 'retention', missing: null }, times)
    this.#handlers.onGap?.(told)
    gaps.add(told)
  }

  async #checkInput(input: Input): Promise<boolean> {
    const { topic, gaps } = input
    const position = { topic, partition: this.partition, offset: input.reached }
    const lost = await this.#lost(position)
    if (lost === undefined) return false
    if (!gaps.knows(position.offset, lost.next)) {
      const told = await this.#tellInput(position, lost, gaps.shiftBehind(position.offset, lost.next))
      this.#handlers.onGap?.(told)
      gaps.add(told)
    }
    // what was to be read once more lies before a cut, and is nowhere else
    input.next = lost.is === 'cut' ? Math.min(input.next, lost.next) : lost.next
    await this.#goOn(input, lost.next)
    await this.#handlers.onMoved?.()
    return true
  }

  /** An input goes on elsewhere: it was left at what lies before that place now. */
  async #goOn(input: Input, next: number): Promise<void> {
    const { topic } = input
    const name = nameOf(topic, this.partition)
    input.reached = next
    if (isNowhere(this.#stood.get(name))) return
    const before = await this.#recordBefore({ topic, partition: this.partition, offset: next })
    if (before === undefined) this.#stood.delete(name)
    else this.#stood.set(name, stoodOn(before))
  }

  /**
   * Whether the leader came back between the last record that was read and `record`: then the log may have lost something.
   * Before the first record nobody knows.
   */
  #isNewEpoch({ topic }: Input, { epoch }: LogRecord): boolean {
    const stood = this.#stood.get(nameOf(topic, this.partition))
    if (isNowhere(stood)) return true
    return epoch !== undefined && epoch !== stood?.epoch
  }

  async #lost(position: Position): Promise<Lost | undefined> {
    const { reader, clock } = this.#options.ports
    const stood = this.#stood.get(nameOf(position.topic, position.partition))
    const finding = await checkPosition(reader, position, stood, (ms) => clock.delay(ms))
    return finding.is === 'there' ? undefined : finding
  }

  /** The outputs whose log has lost what we wrote last. One fetch where nothing is amiss. */
  async #lostOutputs(): Promise<readonly LostOutput[]> {
    const outputs = [...this.#stood].map(([name, stood]) => ({ ...positionOf(name), ...stood }))
    const written = outputs.filter(({ topic }) => !this.#inputs.has(topic))
    const slices = written.length === 0 ? [] : await this.#options.ports.reader.fetch(written, ONE_EACH)
    const lost: LostOutput[] = []
    for (const { topic, partition, offset, print } of written) {
      const slice = slices.find((each) => each.topic === topic && each.partition === partition)
      const [record] = slice?.records ?? []
      if (record?.offset === offset && printOf(record) === print) continue
      const found = await this.#lost({ topic, partition, offset: offset + 1 })
      if (found === undefined || found.is === 'retention') continue
      lost.push({ topic, partition, offset: offset + 1, next: found.next, by: 'check' })
      this.#stood.delete(nameOf(topic, partition))
    }
    return lost
  }

  /** Writes a gap of an input to the journal; from then on it goes on at `lost.next`. Throws where the process is to stop. */
  async #tellInput(position: Position, lost: Lost, shift: number): Promise<JournaledGap> {
    const { name, onLostLog, ports } = this.#options
    const { topic, partition, offset } = position
    const { is: reason, next } = lost
    if (reason !== 'retention' && onLostLog === 'stop') throw stopped(name, position, lost)
    const missing = reason === 'retention' ? next - offset : reason === 'cut' ? 0 : null
    const told = await this.#write({ topic, partition, reason, position: offset, next, shift, missing })
    ports.meter.skipped(name, topic, Math.max(0, missing ?? next - offset))
    return told
  }

  async #write(
    about: Pick<LogGap, 'topic' | 'partition' | 'reason' | 'position' | 'next' | 'shift' | 'missing'>,
    leftOut?: Times,
  ): Promise<JournaledGap> {
    const { name: reader, ports } = this.#options
    const { clock, codec, meter, report } = ports
    const now = clock.now()
    const gap: LogGap = { reader, ...about, ...(leftOut ?? (await this.#timesOf(about, now))), time: now * 1_000 }
    const value = codec.encode(GAPS, 'log_gap', gap)
    const offset = await this.claim.send(GAPS, this.partition, [{ key: reader, value, time: now }])
    if (offset === undefined) throw new Error('the log took a gap in and did not say where: it is read again')
    meter.gap(reader, about.topic, about.reason)
    report.error({ ...about }, leftOut === undefined ? texts[about.reason] : LEFT_OUT)
    return { offset, gap }
  }

  /** From when to when records are missing, as far as anybody knows. */
  async #timesOf(
    { topic, partition, reason, next }: Pick<LogGap, 'topic' | 'partition' | 'reason' | 'next'>,
    now: number,
  ): Promise<Times> {
    const { reader, clock } = this.#options.ports
    const position = { topic, partition, offset: next }
    const isTail = reason === 'cut' || reason === 'output_cut'
    const before = isTail ? (await this.#recordBefore(position))?.time : undefined
    const last = this.#stood.get(nameOf(topic, partition))?.time
    const [first] = (await fetchAt(reader, position, (ms) => clock.delay(ms))).records
    const after = first?.time ?? now
    // What was held back while the log was away can be older than what the log has lost.
    const to = Math.max(after, last ?? after)
    const from = before ?? last ?? now
    const known = reason === 'retention' ? from - REPAIRED_MS : from
    return { from_time: known * 1_000, to_time: to * 1_000 }
  }

  #recordBefore(position: Position): Promise<LogRecord | undefined> {
    const { reader, clock } = this.#options.ports
    return recordBefore(reader, position, (ms) => clock.delay(ms))
  }

  #input(topic: string): Input {
    const input = this.#inputs.get(topic)
    if (input === undefined) throw new Error(`${topic} is no input of ${this.#options.name}`)
    return input
  }
}

function from(records: readonly LogRecord[], next: number): readonly LogRecord[] {
  const [first] = records
  return first === undefined || first.offset >= next ? records : records.filter(({ offset }) => offset >= next)
}

function keyed({ time, key, value }: OutRecord): Pick<LogRecord, 'time' | 'key' | 'value'> {
  return { time, value, key: typeof key === 'string' ? Buffer.from(key) : key }
}

function nameOf(topic: string, partition: number): string {
  return `${topic}/${partition}`
}

function positionOf(name: string): { readonly topic: TopicName; readonly partition: number } {
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

const LEFT_OUT = 'a gap is filled of a time of which the log was cut; what fills it is in no row'

function stopped(reader: string, { topic, partition, offset }: Position, { is, next }: Lost): FatalError {
  const what = is === 'cut' ? `lost its tail from ${next} on` : `is another one; it ends at ${next}`
  return new FatalError(
    'lost-log',
    `${reader} has read partition ${partition} of ${topic} up to ${offset}, and that log ${what}. Two ways out: bring the ` +
      `log back and start again; or start with ON_LOST_LOG=go-on, then it goes on at ${next} and what lies between is a recorded gap`,
  )
}
