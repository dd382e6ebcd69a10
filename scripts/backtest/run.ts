import type { Tape, TimeRange, Span } from '../../infra/tapes/tape.ts'
import { PartitionReplay, type ReplayOutput, type ReadonlyAside } from './core/replay.ts'
import { RecordFailure } from '../../processors/kernel/errors.ts'
import { Decoder } from '../../processors/kernel/decoder.ts'
import { GAPS, type JournaledGap } from '../../processors/kernel/log-gaps.ts'
import type { ProcessorRow } from '../../processors/kernel/processor.ts'
import { UndecodableError } from '../../schemas/codec.ts'
import type { Message } from '../../schemas/records.ts'
import { topicOf, type TopicName } from '../../schemas/topics.ts'
import { GivenAlerts, type GivenCommand } from './given.ts'
import { merge, type TapeEntry } from './merge.ts'

export interface Plan {
  readonly tape: Tape
  readonly rows: readonly ProcessorRow[]
  readonly partitions: readonly number[]
  /** Record times of what is reported, milliseconds. */
  readonly range: TimeRange
  /** Read before it, so that windows and totals are full when it begins. */
  readonly leadInMs: number
  /** undefined: every asset. */
  readonly assets: ReadonlySet<string> | undefined
  /** Commands of the backtest's own; undefined: those on the tape. */
  readonly commands: readonly GivenCommand[] | undefined
}

/** One topic of one partition: what is read, and from which offset on is reported. */
export interface Reading {
  readonly span: Span
  readonly reportFrom: number
}

/** A run that was asked to end before it was done. */
export class StoppedError extends Error {
  readonly code = 'stopped'
}

/** Who watches a run. All is told in an order that follows from the records alone. */
export interface Observer {
  /** It wants all outputs: else what is not final may be told once, at the end. */
  readonly wantsEach?: boolean
  partition?(partition: number, readings: readonly Reading[], gaps: readonly JournaledGap[]): void
  entry?(entry: TapeEntry, isReported: boolean): void
  /** `isReported`: it follows from a record of the range, not of the lead-in. */
  happening?(happening: ReplayOutput, isReported: boolean): void
  ended?(partition: number): Promise<void> | void
}

/** How far a run is. */
export interface Progress {
  readonly records: number
  readonly total: number
  /** Record time reached in the partition that is read, milliseconds. */
  readonly time: number
}

export interface RunOptions {
  readonly plan: Plan
  readonly observers: readonly Observer[]
  readonly onUndecodable: (topic: TopicName, partition: number, offset: number) => void
  /** What the processors set aside; `search`: find it, with no observers. Default: nothing. */
  readonly aside?: ReadonlyAside | 'search'
  /** Aborted: the run ends with a `StoppedError` at the next report. */
  readonly stop: AbortSignal
}

const RECORDS_PER_REPORT = 5_000

/** What is to be read of each partition. */
export async function readAhead(plan: Plan): Promise<Map<number, Reading[]>> {
  const read = new Map<number, Reading[]>()
  for (const partition of plan.partitions) read.set(partition, await readingsOf(plan, partition))
  return read
}

/** Offsets, of which some may hold no record. */
export function lengthOf(readings: readonly Reading[]): number {
  return readings.reduce((sum, { span }) => sum + span.to - span.from, 0)
}

/** Topics that the rows read off this tape: those that it has. */
export function inputsOf({ rows, commands, tape }: Plan): TopicName[] {
  const inputs = [...new Set(rows.flatMap((row) => row.inputs))]
  return inputs.filter((topic) => tape.topics.has(topic) && !(commands !== undefined && topic === 'alerts.inputs'))
}

async function readingsOf(plan: Plan, partition: number): Promise<Reading[]> {
  const { tape, leadInMs } = plan
  const range = { from: plan.range.from, to: Math.min(plan.range.to, plan.tape.until ?? Infinity) }
  const readings: Reading[] = []
  for (const topic of inputsOf(plan)) {
    if (topicOf(topic).partitions === 'one') throw new Error(`${topic} is not partitioned by asset`)
    const span = await tape.span(topic, partition, { from: range.from - leadInMs, to: range.to })
    const reportFrom = range.from <= 0 ? span.from : (await tape.span(topic, partition, range)).from
    readings.push({ span, reportFrom })
  }
  return readings
}

/**
 * A replay in which a core throws begins anew, when what it throws at was found by the live host's own rules: then those
 * records are set aside in it as they are there.
 */
export async function settingAside<Result>(
  replay: (aside: ReadonlyAside) => Promise<Result>,
  search: () => Promise<ReadonlyAside>,
): Promise<Result> {
  try {
    return await replay(new Map())
  } catch (error) {
    if (!(error instanceof RecordFailure)) throw error
    const aside = await search()
    if (aside.size === 0) throw error
    return replay(aside)
  }
}

/**
 * Replays one partition; gives what was set aside where it was to be found. `onProgress`: records read of it so far, and the record time reached; called every few thousand
 * records; may wait, which lets signals through.
 */
export async function replayPartition(
  { plan, observers, onUndecodable, stop, aside = new Map() }: RunOptions,
  partition: number,
  readings: readonly Reading[],
  onProgress: (records: number, time: number) => Promise<void> | undefined,
): Promise<ReadonlyAside> {
  const gaps = await gapsOn(plan.tape, partition, onUndecodable)
  for (const observer of observers) observer.partition?.(partition, readings, gaps)
  let isReported = false
  const replay = new PartitionReplay({
    partition,
    rows: plan.rows,
    alerts: plan.commands === undefined ? 'tape' : 'replay',
    gaps,
    aside,
    isEachWanted: aside === 'search' || observers.some(({ wantsEach }) => wantsEach === true),
    sink: (happening) => {
      for (const observer of observers) observer.happening?.(happening, isReported)
    },
  })
  const commands = (plan.commands ?? []).filter((command) => command.partition === partition)
  const given = new GivenAlerts(commands, plan.range.from)
  const tell: Parameters<GivenAlerts['before']>[1] = (command, at) => replay.command(command, at)
  let records = 0
  let told = 0
  await merge({
    tape: plan.tape,
    spans: readings.map(({ span }) => span),
    onEntry: (entry) => {
      if (!isWanted(entry.message, plan.assets)) return
      isReported = entry.time >= plan.range.from
      if (isReported) given.before(entry.time, tell)
      for (const observer of observers) observer.entry?.(entry, isReported)
      replay.apply(entry.topic, entry.record, entry.message)
    },
    onUndecodable: (topic, offset) => onUndecodable(topic, partition, offset),
    onProgress: (taken, time) => {
      records += taken
      if (records - told < RECORDS_PER_REPORT) return undefined
      told = records
      if (stop.aborted) throw new StoppedError('the backtest was stopped')
      return onProgress(records, time)
    },
  })
  if (aside === 'search') return replay.found
  replay.end()
  for (const observer of observers) await observer.ended?.(partition)
  return aside
}

/** All gaps of the log that its readers told of in a partition; none where the tape has no journal of them. */
async function gapsOn(
  tape: Tape,
  partition: number,
  onUndecodable: RunOptions['onUndecodable'],
): Promise<JournaledGap[]> {
  if (!tape.topics.has(GAPS)) return []
  const decoder = new Decoder(tape.codec, (id) => tape.lookUp(id))
  const told: JournaledGap[] = []
  for await (const records of tape.read(await tape.span(GAPS, partition, { from: 0, to: Infinity }))) {
    for (const { offset, value } of records) {
      try {
        const message = value === null ? undefined : await decoder.decodeOrAsk(value)
        if (message?.type === 'log_gap') told.push({ offset, gap: message.value })
      } catch (error) {
        if (!(error instanceof UndecodableError)) throw error
        onUndecodable(GAPS, partition, offset)
      }
    }
  }
  return told
}

/** Marks and whatever concerns no asset are everyone's. */
function isWanted({ value }: Message, assets: ReadonlySet<string> | undefined): boolean {
  if (assets === undefined || !('asset' in value) || value.asset === null) return true
  return assets.has(value.asset)
}
