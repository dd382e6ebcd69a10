import { knownAsset, partitionOf } from '../../schemas/catalogue.ts'
import type { Tape } from '../../infra/tapes/tape.ts'
import { processorsNamed } from '../../processors/topology.ts'
import { readAlerts } from './alerts-file.ts'
import type { BacktestOptions } from './options.ts'
import type { Plan } from './run.ts'

/** The processors whose outputs a backtest is about. */
export const replayed = ['cvd', 'prices', 'funding', 'liquidations', 'alerts'] as const

/** What is read of a tape, and by which processors. The same options give the same plan in every thread. */
export function planOf(tape: Tape, options: BacktestOptions): Plan {
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
