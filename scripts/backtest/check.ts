import type { Span, Tape, TimeRange } from '../../infra/tapes/tape.ts'
import { LiveCheck, restsOnOlder, type LeadIn } from './core/compare.ts'
import type { Difference, Tally, Window } from './core/live-check.ts'
import type { ReplayOutput } from './core/replay.ts'
import { Decoder } from '../../processors/kernel/decoder.ts'
import { InputGaps, type JournaledGap } from '../../processors/kernel/log-gaps.ts'
import { DISORDER } from '../../processors/kernel/position-check.ts'
import type { ProcessorRow } from '../../processors/kernel/processor.ts'
import { avroType, UndecodableError } from '../../schemas/codec.ts'
import { recordPosition } from '../../schemas/record-id.ts'
import type { Message, Micros } from '../../schemas/records.ts'
import { topicOf, type TopicName } from '../../schemas/topics.ts'
import type { TapeEntry } from './merge.ts'
import type { Observer, Reading } from './run.ts'

/**
 * Tables say of when a record tells, a log when it was written: a bucket's late part is written up to two hours after its
 * bucket. What follows from before the range is left out by its version.
 */
const SUBJECT_BEFORE_MS = 3 * 3_600_000

/**
 * A key that a running system writes again between the look for the end and the reading is found in neither place: it has
 * moved behind that end. So what came since is read as well, and once more: in that short a time nothing moves again.
 */
const UPSERT_PASSES = 3

/** What a comparison with the live system has found, over all partitions. */
export interface CheckReport {
  readonly differences: readonly Difference[]
  readonly tallies: ReadonlyMap<TopicName, Tally>
  /** Topics that the tape has not, and that were therefore not compared. */
  readonly absent: readonly TopicName[]
}

export interface CheckPlan {
  /** Where the live outputs are. */
  readonly tape: Tape
  readonly rows: readonly ProcessorRow[]
  readonly range: TimeRange
  readonly leadInMs: number
  readonly assets: ReadonlySet<string> | undefined
}

/** Watches a replay and holds each partition beside what the live system wrote, as soon as the partition is done. */
export class Check implements Observer {
  readonly wantsEach = true
  readonly #plan: CheckPlan
  readonly #decoder: Decoder
  #differences: readonly Difference[] = []
  readonly #tallies = new Map<TopicName, Tally>()
  readonly #compared: ReadonlySet<TopicName>
  #at: PartitionCheck | undefined

  constructor(plan: CheckPlan) {
    this.#plan = plan
    this.#compared = plan.tape.compared ?? plan.tape.topics
    this.#decoder = new Decoder(plan.tape.codec, (id) => plan.tape.lookUp(id))
  }

  partition(_: number, readings: readonly Reading[], gaps: readonly JournaledGap[]): void {
    this.#at = new PartitionCheck(this.#plan, readings, gaps)
  }

  entry(entry: TapeEntry): void {
    this.#at?.entry(entry)
  }

  happening(happening: ReplayOutput): void {
    this.#at?.happening(happening)
  }

  async ended(partition: number): Promise<void> {
    const at = this.#at
    if (at === undefined) return
    at.begin()
    for (const topic of this.#topics()) await this.#readLive(topic, partition, at)
    const { differences, tallies } = at.check.close()
    this.#differences = [...this.#differences, ...differences]
    for (const [topic, tally] of tallies) this.#tallies.set(topic, plus(this.#tallies.get(topic), tally))
    this.#at = undefined
  }

  report(): CheckReport {
    return {
      differences: this.#differences,
      tallies: this.#tallies,
      absent: this.#outputs().filter((topic) => !this.#compared.has(topic)),
    }
  }

  /** Outputs that are evidence; a cache is none. */
  #outputs(): TopicName[] {
    const outputs = this.#plan.rows.flatMap((row) => row.outputs)
    return [...new Set(outputs)].filter((topic) => topicOf(topic).kind !== 'cache')
  }

  #topics(): TopicName[] {
    return this.#outputs().filter((topic) => this.#compared.has(topic))
  }

  /** Record times follow the inputs', so the range's part of a topic holds all that follows from the range; and more. */
  async #readLive(topic: TopicName, partition: number, at: PartitionCheck): Promise<void> {
    const { tape, range } = this.#plan
    const isByReceiver = topicOf(topic).partitions === 'receiver'
    const before = tape.compared === undefined ? 0 : SUBJECT_BEFORE_MS
    const places = isByReceiver ? Array.from({ length: tape.partitions }, (_, place) => place) : [partition]
    const passes = topicOf(topic).kind === 'upsert' ? UPSERT_PASSES : 1
    for (const place of places) {
      let from = 0
      for (let pass = 0; pass < passes; pass++) {
        const span = await tape.span(topic, place, { from: range.from - before, to: Infinity })
        await this.#readSpan({ ...span, from: Math.max(from, span.from) }, partition, at)
        from = span.to
      }
    }
  }

  async #readSpan(span: Span, partition: number, at: PartitionCheck): Promise<void> {
    const { topic } = span
    for await (const records of this.#plan.tape.read(span)) {
      for (const { value } of records) {
        const message = value === null ? undefined : await this.#decode(value)
        if (message === undefined || !this.#isWanted(message, partition)) continue
        const body = avroType(message.type).toBuffer(message.value)
        at.check.live({ topic, message, body })
      }
    }
  }

  /** A trigger lies in its receiver's partition and names the record that it follows from. */
  #isWanted(message: Message, partition: number): boolean {
    const { assets } = this.#plan
    const { type, value } = message
    if (type === 'delivery_order') return false
    if (type === 'trigger' && recordPosition(value.record)?.partition !== partition) return false
    return assets === undefined || !('asset' in value) || value.asset === null || assets.has(value.asset)
  }

  async #decode(value: Buffer) {
    try {
      return this.#decoder.decode(value) ?? (await this.#decoder.decodeOrAsk(value))
    } catch (error) {
      if (error instanceof UndecodableError) return undefined
      throw error
    }
  }
}

/** The reports of several partitions as one. */
export function joined(reports: readonly CheckReport[]): CheckReport {
  const tallies = new Map<TopicName, Tally>()
  for (const report of reports)
    for (const [topic, tally] of report.tallies) tallies.set(topic, plus(tallies.get(topic), tally))
  return {
    differences: reports.flatMap(({ differences }) => differences),
    tallies,
    absent: reports[0]?.absent ?? [],
  }
}

/** One partition of it. */
class PartitionCheck {
  readonly check: LiveCheck
  readonly #rows: readonly ProcessorRow[]
  readonly #tape: Tape
  readonly #range: TimeRange
  /** Record time of the first record that was read, by topic. */
  readonly #begins = new Map<TopicName, Micros>()
  readonly #readings: readonly Reading[]
  readonly #gaps: readonly JournaledGap[]
  readonly #terms = new Set<string>()
  readonly #alerts = new Set<string>()
  /** By processor: the offset of its last mark that raised time, that mark's time, and the last mark before the range. */
  readonly #reached = new Map<string, { offset: number; time: Micros; before: Micros }>()

  constructor(plan: CheckPlan, readings: readonly Reading[], gaps: readonly JournaledGap[]) {
    this.#gaps = gaps
    this.#rows = plan.rows
    this.#tape = plan.tape
    this.#range = plan.range
    this.#readings = readings
    const isWhole = readings.every(({ span }) => span.isWhole)
    const isOlder = (message: Message): boolean => restsOnOlder(message, this.#leadIn()) || this.#isCut(message)
    this.check = new LiveCheck({ restsOnOlder: (message) => !isWhole && isOlder(message) })
  }

  entry({ topic, message, time }: TapeEntry): void {
    if (!this.#begins.has(topic)) this.#begins.set(topic, time * 1000)
    if (message.type === 'contract_terms') this.#terms.add(message.value.instrument)
    if (message.type === 'command' && message.value.action === 'create') this.#alerts.add(message.value.alert_id)
  }

  happening({ row, output, body, cause }: ReplayOutput): void {
    const { topic, message } = output
    if (message === null || topicOf(topic).kind === 'cache' || message.type === 'delivery_order') return
    if (this.#isCompared(topic, message)) this.check.replayed(row, { topic, message, body: Buffer.from(body()) })
    if (message.type !== 'mark') return
    const { time } = message.value
    const isBefore = cause.offset < this.#reportFrom(cause.topic)
    const before = isBefore ? time : (this.#reached.get(row)?.before ?? 0)
    this.#reached.set(row, { offset: cause.offset, time, before })
    this.check.settle(row)
  }

  /** What was read before the range: less than was asked for where the log begins later. */
  #leadIn(): LeadIn {
    const begin = Math.min(...this.#begins.values())
    return { begin, from: Math.max(this.#range.from * 1000, begin), terms: this.#terms, alerts: this.#alerts }
  }

  /** Whether a row of a past time is one that a live processor leaves as it was told, since an input begins too late for it. */
  #isCut(message: Message): boolean {
    const cut = this.#readings.filter(({ span }) => !span.isWhole).map(({ span }) => span.topic)
    return this.#rows.some(({ inputs, retold }) => {
      const time = retold?.(message) ?? Infinity
      return cut.some((topic) => inputs.includes(topic) && time < (this.#begins.get(topic) ?? 0) + DISORDER)
    })
  }

  /** Tables hold no forwarded marks, and of CVD what it is made of. */
  #isCompared(topic: TopicName, { type }: Message): boolean {
    const { compared, topics } = this.#tape
    return compared === undefined ? topics.has(topic) : compared.has(topic) && type !== 'mark' && type !== 'cvd'
  }

  begin(): void {
    const windows = new Map<string, Window>()
    for (const row of this.#rows) {
      const reached = this.#reached.get(row.name)
      const [input] = row.inputs
      if (reached === undefined || input === undefined) continue
      const { offset, time, before } = reached
      const gaps = this.#gapsOf(row, input)
      const from = shifted(gaps, this.#reportFrom(input))
      const to = shifted(gaps, offset) + 1
      windows.set(row.name, { generation: row.generation, from, to, fromTime: before, toTime: time })
    }
    this.check.begin(windows)
  }

  #gapsOf({ name }: ProcessorRow, input: TopicName): InputGaps {
    const gaps = new InputGaps()
    for (const told of this.#gaps) {
      const { reader, topic, reason } = told.gap
      if (reader === name && topic === input && reason !== 'output_cut') gaps.add(told)
    }
    return gaps
  }

  #reportFrom(topic: TopicName): number {
    return this.#readings.find(({ span }) => span.topic === topic)?.reportFrom ?? 0
  }
}

/** What a version is made of: an offset, and what lost tails have taken from the offsets before it. */
function shifted(gaps: InputGaps, offset: number): number {
  return offset + gaps.shiftAt(offset)
}

function plus(sum: Tally | undefined, tally: Tally): Tally {
  if (sum === undefined) return { ...tally }
  return {
    compared: sum.compared + tally.compared,
    repeated: sum.repeated + tally.repeated,
    overtaken: sum.overtaken + tally.overtaken,
    older: sum.older + tally.older,
    different: sum.different + tally.different,
  }
}

/** Whether anything was compared, and nothing differs. */
export function isEqual({ differences, tallies }: CheckReport): boolean {
  return differences.length === 0 && comparedOf(tallies) > 0
}

/** For programs: how many records were compared, by topic too, and which topics were not. */
export function checkJson({ differences, tallies, absent }: CheckReport): object {
  return {
    compared: comparedOf(tallies),
    differences: differences.length,
    absent,
    topics: Object.fromEntries(tallies),
  }
}

function comparedOf(tallies: CheckReport['tallies']): number {
  return [...tallies.values()].reduce((sum, { compared }) => sum + compared, 0)
}

const NOTHING =
  'nothing was compared: this source has no output of the live system that follows from the range alone; take the broker (--source kafka) or a tape that was exported with its derived topics, and a range that holds more'

/** A line a topic, then every difference with both sides. */
export function checkText({ differences, tallies, absent }: CheckReport): string {
  const heads = ['topic', 'compared', 'written twice', 'overtaken', 'rests on older log', 'different'] as const
  const rows = [...tallies].map(([topic, { compared, repeated, overtaken, older, different }]) => {
    return [topic, compared, repeated, overtaken, older, different].map(String)
  })
  const table = [[...heads], ...rows]
  const widths = heads.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
  const lines = table.map((row) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
  )
  const missing = absent.length > 0 ? [`not on this tape, so not compared: ${absent.join(', ')}`] : []
  const equal = comparedOf(tallies) === 0 ? NOTHING : 'replay equals live: differences 0'
  const verdict = differences.length === 0 ? equal : `differences ${differences.length}`
  return [...lines, ...missing, ...differences.map(differenceText), verdict].join('\n')
}

function differenceText({ topic, record, identity, kind, replay, live }: Difference): string {
  const said = { 'missing-live': 'only the replay has', 'only-live': 'only the live system has', different: 'differs:' }
  const sides = [replay, live].map((message) => JSON.stringify(message?.value ?? null))
  return `${topic} ${record} ${identity}: ${said[kind]}\n  replay ${sides[0]}\n  live   ${sides[1]}`
}
