import { symbolOf } from '../../schemas/catalogue.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { TapeError, type Tape } from '../../infra/tapes/tape.ts'
import type { Point } from './core/chart.ts'
import { Study } from './core/study.ts'
import { assetOf } from './alerts-file.ts'
import { joined, type CheckReport } from './check.ts'
import { manifestOf, type Manifest } from './manifest.ts'
import { arrange } from './modes.ts'
import type { BacktestOptions } from './options.ts'
import { replayPart, rulesOf, type Part, type PartSurroundings, planOf } from './part.ts'
import { inputsOf, lengthOf, readAhead, type Plan, type Progress, type Reading } from './run.ts'
import { replayInWorkers, type Work } from './workers.ts'

/** What a backtest found. */
export interface Outcome {
  readonly manifest: Manifest
  readonly study: Study
  /** By asset, oldest first. */
  readonly prices: ReadonlyMap<string, readonly Point[]>
  readonly check: CheckReport | undefined
}

export interface Surroundings {
  readonly onProgress: (progress: Progress) => Promise<void> | undefined
  readonly warn: (line: string) => void
  readonly stop: AbortSignal
}

/** The live system's outputs follow its inputs within this time. */
const SETTLED_MS = 15_000

/**
 * The end of the range, milliseconds. Of a running system that is asked for no end: what is settled by `now`. Throws
 * `TapeError` where ClickHouse has not all of the range yet.
 */
export function endOf(
  { source, to }: Pick<BacktestOptions, 'source' | 'to'>,
  { until = Infinity, name }: Pick<Tape, 'until' | 'name'>,
  now: number,
): number {
  if (!Number.isFinite(to))
    return source === 'kafka' || source === 'clickhouse' ? Math.min(now - SETTLED_MS, until) : to
  if (source !== 'clickhouse' || to <= until) return to
  const held = new Date(until).toISOString()
  throw new TapeError(
    'refused',
    `${name} has all records up to ${held} only: try again later, name an earlier --to, or take --source kafka`,
  )
}

/** Replays the tape as `options` say. Throws `TapeError` where there is nothing to replay. */
export async function backtest(tape: Tape, options: BacktestOptions, around: Surroundings): Promise<Outcome> {
  const arranged = arrange(tape, options.mode)
  const plan = planOf(arranged, options)
  const rules = rulesOf(options)
  const readings = await readAhead(plan)
  const workers = Math.min(options.workers ?? 1, readings.size)
  const replay: Work['replay'] = (partition, own, surroundings) =>
    replayPart({ tape, arranged, plan, options, rules }, partition, own, surroundings)
  const parts = await replayInWorkers({ options, readings, workers, replay }, surroundingsOf(readings, around))
  await complain({ tape, plan, options, readings, parts }, around)
  const { latencyMs, horizonsMs } = options
  const study = new Study({ latencyMs, horizonsMs, rules })
  for (const part of parts) study.absorb(part)
  const manifest = manifestOf({ options, rows: plan.rows, parts, source: tape.name, study })
  const prices = new Map(parts.flatMap((part) => part.prices))
  const checks = parts.map(({ check }) => check).filter((check) => check !== undefined)
  return { manifest, study, prices, check: options.checkLive ? joined(checks) : undefined }
}

/** Progress over all partitions, whichever of them tell of it. */
function surroundingsOf(
  readings: ReadonlyMap<number, readonly Reading[]>,
  { onProgress, stop }: Surroundings,
): PartSurroundings {
  const total = [...readings.values()].reduce((sum, own) => sum + lengthOf(own), 0)
  const done = new Map<number, number>()
  let records = 0
  return {
    stop,
    onProgress: (partition, own, time) => {
      records += own - (done.get(partition) ?? 0)
      done.set(partition, own)
      return onProgress({ records, total, time })
    },
  }
}

interface Replayed {
  readonly tape: Tape
  readonly plan: Plan
  readonly options: BacktestOptions
  readonly readings: ReadonlyMap<number, readonly Reading[]>
  readonly parts: readonly Part[]
}

/** Says what could not be read, and of which symbols there was nothing; throws where there was nothing at all. */
async function complain({ tape, plan, options, readings, parts }: Replayed, { warn }: Surroundings): Promise<void> {
  const unreadable = parts.find((part) => part.firstUndecodable !== undefined)?.firstUndecodable
  if (unreadable !== undefined) warn(`skipped ${unreadable}, which cannot be decoded`)
  const failed = parts.find((part) => part.firstFailed !== undefined)?.firstFailed
  if (failed !== undefined) warn(`set aside ${failed}, as the live host does`)
  const assets = new Set(parts.flatMap((part) => part.assets))
  const silent = (options.symbols ?? []).filter((symbol) => !assets.has(assetOf(symbol)))
  const isNothing =
    parts.every(({ events }) => events === 0) || (silent.length > 0 && silent.length === options.symbols?.length)
  if (isNothing) throw await nothingThere(tape, plan, [...readings.values()].flat())
  // A symbol of which nothing was read may be a slip of the pen.
  if (silent.length > 0) warn(`nothing was read of ${silent.join(', ')}`)
}

/** Why there was nothing: the range that the tape has, or a symbol that it does not know. */
async function nothingThere(tape: Tape, plan: Plan, readings: readonly Reading[]): Promise<TapeError> {
  const there = await extentOf(tape, plan)
  const symbols = plan.assets === undefined ? '' : ` of ${[...plan.assets].map(symbolOf).join(', ')}`
  const empty = readings.every(({ span }) => span.to <= span.from)
  const what = empty ? 'no records in that range' : `no records${symbols} in that range`
  return new TapeError('no-data', `${tape.name} has ${what}${there === undefined ? '' : `; it has ${there}`}`)
}

/** From when to when the tape has records, as a text; undefined where it has none. */
async function extentOf(tape: Tape, plan: Plan): Promise<string | undefined> {
  let from = Infinity
  let to = 0
  for (const topic of inputsOf(plan)) {
    const times = await timesOf(tape, topic, plan.partitions)
    from = Math.min(from, times.from)
    to = Math.max(to, times.to)
  }
  return to === 0 ? undefined : `${new Date(from).toISOString()} to ${new Date(to).toISOString()}`
}

async function timesOf(
  tape: Tape,
  topic: TopicName,
  partitions: readonly number[],
): Promise<{ from: number; to: number }> {
  let from = Infinity
  let to = 0
  for (const partition of partitions) {
    const span = await tape.span(topic, partition, { from: 0, to: Infinity })
    for (const edge of [
      { ...span, to: Math.min(span.to, span.from + 1) },
      { ...span, from: Math.max(span.from, span.to - 1) },
    ]) {
      for await (const records of tape.read(edge)) {
        for (const { time } of records) {
          from = Math.min(from, time)
          to = Math.max(to, time)
        }
      }
    }
  }
  return { from, to }
}
