import { knownAsset, partitionOf, symbolOf } from '../../schemas/catalogue.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { TapeError, type Tape } from '../../infra/tapes/tape.ts'
import { readRules } from '../../processors/backtest/rules.ts'
import { Study } from '../../processors/backtest/study.ts'
import { processorsNamed } from '../../processors/topology.ts'
import { Check, type CheckReport } from './check.ts'
import { Collect } from './collect.ts'
import { readAlerts, readJson } from './given-alerts.ts'
import { manifestOf, type Manifest } from './manifest.ts'
import { arrange } from './modes.ts'
import type { BacktestOptions } from './options.ts'
import { inputsOf, run, type Plan, type Progress, type Reading } from './run.ts'

/** What a backtest found. */
export interface Outcome {
  readonly manifest: Manifest
  readonly study: Study
  readonly collect: Collect
  readonly check: CheckReport | undefined
}

export interface Surroundings {
  readonly onProgress: (progress: Progress) => Promise<void> | undefined
  readonly warn: (line: string) => void
  readonly stop: AbortSignal
}

/** The processors whose outputs a backtest is about. */
const replayed = ['cvd', 'prices', 'funding', 'liquidations', 'alerts'] as const

/** Replays the tape as `options` say. Throws `TapeError` where there is nothing to replay. */
export async function backtest(tape: Tape, options: BacktestOptions, around: Surroundings): Promise<Outcome> {
  const arranged = arrange(tape, options.mode)
  const plan = planOf(arranged, options)
  const rules = options.rules === undefined ? [] : readRules(readJson(options.rules))
  const { latencyMs, horizonsMs } = options
  const study = new Study({ latencyMs, horizonsMs, rules })
  const prices = options.mode === 'archive' ? 'trades' : 'composite'
  const collect = new Collect({ study, prices, placeOf: (place) => arranged.placeOf?.(place) ?? place })
  const { rows, range, leadInMs, assets } = plan
  const compared = { tape, rows: processorsNamed(replayed), range, leadInMs, assets }
  const check = options.checkLive ? new Check(compared) : undefined
  let undecodable = 0
  const readings = await run({
    plan,
    observers: check === undefined ? [collect] : [collect, check],
    onProgress: around.onProgress,
    onUndecodable: (topic, partition, offset) => {
      undecodable += 1
      if (undecodable === 1) around.warn(`skipped ${topic}/${partition}@${offset}, which cannot be decoded`)
    },
    stop: around.stop,
  })
  const silent = (options.symbols ?? []).filter((symbol) => !collect.assets.has(assetOf(symbol)))
  const isNothing = collect.events === 0 || (silent.length > 0 && silent.length === options.symbols?.length)
  if (isNothing) throw await nothingThere(tape, plan, readings)
  // A symbol of which nothing was read may be a slip of the pen.
  if (silent.length > 0) around.warn(`nothing was read of ${silent.join(', ')}`)
  const manifest = manifestOf({ options, rows, collect, source: tape.name, study, undecodable })
  return { manifest, study, collect, check: check?.report() }
}

function planOf(tape: Tape, options: BacktestOptions): Plan {
  const { from, to, leadInMs, symbols } = options
  const assets = symbols === undefined ? undefined : new Set(symbols.map(assetOf))
  const every = Array.from({ length: tape.partitions }, (_, partition) => partition)
  const own = assets === undefined ? every : every.filter((partition) => hasAny(assets, partition, tape.partitions))
  const given =
    options.alerts === undefined ? undefined : readAlerts(options.alerts, { from, to, partitions: tape.partitions })
  // An archive tells of no alerts, and ClickHouse has none of their secrets: nothing there rings but what is given.
  const commands = given ?? (tape.topics.has('alerts.inputs') ? undefined : [])
  const names = commands?.length === 0 ? replayed.filter((name) => name !== 'alerts') : replayed
  return {
    tape,
    rows: processorsNamed(names),
    partitions: own,
    range: { from, to },
    leadInMs,
    assets,
    commands,
  }
}

export function assetOf(symbol: string): string {
  return knownAsset(symbol)?.id ?? symbol.toLowerCase()
}

function hasAny(assets: ReadonlySet<string>, partition: number, partitions: number): boolean {
  return [...assets].some((asset) => partitionOf(asset, partitions) === partition)
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
