import type { Tape } from '../../infra/tapes/tape.ts'
import type { MetricInput } from '../../processors/alerts/metrics.ts'
import type { ProcessorRow } from '../../processors/kernel/processor.ts'
import { PRICES } from '../../processors/prices/prices.ts'
import { processorsNamed } from '../../processors/topology.ts'
import { partitionOf } from '../../schemas/catalogue.ts'
import { archivePrices } from './core/archive-prices.ts'
import type { PartitionSum } from './core/canonical.ts'
import type { Point } from './core/chart.ts'
import type { ReadonlyAside } from './core/replay.ts'
import { readRules, type Rule } from './core/rules.ts'
import { Study, type SignalResult, type TriggerResult } from './core/study.ts'
import { Check, type CheckReport } from './check.ts'
import { Collect, type InputSum } from './collect.ts'
import { assetOf, readJson, readAlerts } from './alerts-file.ts'
import type { Arranged } from './modes.ts'
import type { BacktestOptions } from './options.ts'
import { replayPartition, settingAside, type Plan, type Reading } from './run.ts'

/** What the replay of one partition found: plain data, so that it may come from another thread. */
export interface Part {
  readonly inputs: readonly (readonly [name: string, sum: InputSum])[]
  readonly sums: readonly PartitionSum[]
  readonly signals: SignalResult[]
  readonly triggers: TriggerResult[]
  readonly prices: readonly (readonly [asset: string, points: readonly Point[]])[]
  /** Of which anything was read. */
  readonly assets: readonly string[]
  readonly events: number
  readonly undecodable: number
  /** Its place. */
  readonly firstUndecodable: string | undefined
  /** Records that a processor set aside since it failed at them. */
  readonly failed: number
  /** Processor and place, and what was thrown. */
  readonly firstFailed: string | undefined
  readonly check: CheckReport | undefined
}

export interface PartPlan {
  readonly tape: Tape
  readonly arranged: Arranged
  readonly plan: Plan
  readonly options: BacktestOptions
  readonly rules: readonly Rule[]
}

export interface PartSurroundings {
  /** Records read of the partition so far, and the record time reached, milliseconds. */
  readonly onProgress: (partition: number, records: number, time: number) => Promise<void> | undefined
  readonly stop: AbortSignal
}

export function rulesOf({ rules }: BacktestOptions): readonly Rule[] {
  return rules === undefined ? [] : readRules(readJson(rules))
}

/** Replays one partition. Nothing that it finds depends on another. */
export function replayPart(
  part: PartPlan,
  partition: number,
  readings: readonly Reading[],
  surroundings: PartSurroundings,
): Promise<Part> {
  const { stop } = surroundings
  return settingAside(
    (aside) => replayWithout(aside, part, { partition, readings, surroundings }),
    () => {
      const search = { plan: part.plan, observers: [], onUndecodable: () => undefined, aside: 'search', stop } as const
      return replayPartition(search, partition, readings, () => undefined)
    },
  )
}

interface PartitionRun {
  readonly partition: number
  readonly readings: readonly Reading[]
  readonly surroundings: PartSurroundings
}

async function replayWithout(
  aside: ReadonlyAside,
  { tape, arranged, plan, options, rules }: PartPlan,
  { partition, readings, surroundings: { onProgress, stop } }: PartitionRun,
): Promise<Part> {
  const { latencyMs, horizonsMs } = options
  const study = new Study({ latencyMs, horizonsMs, rules })
  const prices = options.mode === 'archive' ? 'trades' : 'composite'
  const collect = new Collect({ study, prices, placeOf: (place) => arranged.placeOf?.(place) ?? place })
  const { range, leadInMs, assets } = plan
  const compared = { tape, rows: processorsNamed(replayed), range, leadInMs, assets }
  const check = options.checkLive ? new Check(compared) : undefined
  let undecodable = 0
  let firstUndecodable: string | undefined
  const run = {
    plan,
    observers: check === undefined ? [collect] : [collect, check],
    onUndecodable: (topic: string, _: number, offset: number) => {
      undecodable += 1
      firstUndecodable ??= `${topic}/${partition}@${offset}`
    },
    aside,
    stop,
  }
  await replayPartition(run, partition, readings, (records, time) => onProgress(partition, records, time))
  return {
    inputs: collect.inputSums(),
    sums: collect.outputs.sums(),
    signals: study.signals,
    triggers: study.triggers,
    prices: [...collect.prices].map(([asset, series]) => [asset, series.points()] as const),
    assets: [...collect.assets],
    events: collect.events,
    undecodable,
    firstUndecodable,
    failed: aside.size,
    firstFailed: firstOf(aside),
    check: check?.report(),
  }
}

function firstOf(aside: ReadonlyAside): string | undefined {
  for (const [name, { code, message, at }] of aside)
    return `${name}: ${code} ${message}${at === null ? '' : ` (${at})`}`
  return undefined
}

/** The processors whose outputs a backtest is about. */
const replayed = ['cvd', 'prices', 'funding', 'liquidations', 'alerts'] as const
/** With alerts of its own, also those that only alerts read. */
const alerted = ['cvd', 'prices', 'funding', 'liquidations', 'liquidated', 'alerts'] as const

/** What is read of a tape, and by which processors. The same options give the same plan in every thread. */
export function planOf(tape: Tape, options: BacktestOptions): Plan {
  const { from, to, leadInMs, symbols } = options
  const assets = symbols === undefined ? undefined : new Set(symbols.map(assetOf))
  const every = Array.from({ length: tape.partitions }, (_, partition) => partition)
  const own = assets === undefined ? every : every.filter((partition) => hasAny(assets, partition, tape.partitions))
  const rows = rowsOf(tape, options)
  const context = { from, to, partitions: tape.partitions, told: toldBy(rows, tape) }
  const given = options.alerts === undefined ? undefined : readAlerts(options.alerts, context)
  const commands = given ?? (tape.topics.has('alerts.inputs') ? undefined : [])
  return {
    tape,
    rows,
    partitions: own,
    range: { from, to },
    leadInMs,
    assets,
    commands,
  }
}

function rowsOf(tape: Tape, { alerts, mode }: BacktestOptions): readonly ProcessorRow[] {
  if (alerts !== undefined) {
    const rows = processorsNamed(alerted)
    return mode === 'archive' ? rows.map((row) => (row.name === PRICES ? archivePrices : row)) : rows
  }
  // An archive tells of no alerts, and ClickHouse has none of their secrets: nothing there rings but what is given.
  return processorsNamed(tape.topics.has('alerts.inputs') ? replayed : replayed.filter((name) => name !== 'alerts'))
}

/** Who tells the figures that alerts wait for. */
const tellers: Readonly<Record<MetricInput, string>> = {
  composite_price: PRICES,
  liquidation_risk: 'liquidations',
  cvd: 'cvd',
  funding: 'funding',
  liquidated: 'liquidated',
}

/** What is told here: by the processors whose inputs the tape has. */
function toldBy(rows: readonly ProcessorRow[], { topics }: Tape): ReadonlySet<MetricInput> {
  const names = new Set(rows.filter(({ inputs }) => inputs.some((topic) => topics.has(topic))).map(({ name }) => name))
  return new Set((Object.keys(tellers) as MetricInput[]).filter((input) => names.has(tellers[input])))
}

function hasAny(assets: ReadonlySet<string>, partition: number, partitions: number): boolean {
  return [...assets].some((asset) => partitionOf(asset, partitions) === partition)
}
