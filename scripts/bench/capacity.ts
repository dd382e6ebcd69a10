import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import path from 'node:path'
import { connectClickhouse } from '../../infra/clickhouse/client.ts'
import type { RunFile } from '../../infra/local/run-file.ts'
import { clickhouseOf } from '../../infra/local/secrets.ts'
import type { Bench, Figure } from '../figure.ts'
import { startOwnSystem } from '../own-system.ts'
import type { MeasuredPoint } from '../plan/plan.ts'
import { measureLoad } from './system/load.ts'

/** Trades a second that the simulated market is asked for. */
const RATES = [100, 1_000, 2_500]
const WARM_MS = 25_000
const MEASURE_MS = 30_000
const SETTLE_MS = 10_000
/** The market’s calm minutes have less than is asked for; far less says that the machine was busy with others. */
const REACHED = 0.5
/** The past is read once, behind all else: its cost is no line over trades. */
const NO_PAST = { BACKFILL_DAYS: '0', BACKFILL_MINUTE_DAYS: '0' }

/**
 * What each process of a whole system takes of a core at several rates of trades, and what the log and the tables grow by:
 * the points that `npm run plan` fits its lines to, written beside it. By CPU time, so that who else runs here counts little.
 */
const bench: Bench = async () => {
  const points: MeasuredPoint[] = []
  for (const rate of RATES) points.push(await pointAt(rate))
  const file = fileURLToPath(new URL('../plan/points.json', import.meta.url))
  writeFileSync(file, `${JSON.stringify(points, null, 2)}\n`)
  return points.flatMap(({ tradesPerSecond, cores }) =>
    Object.entries(cores).map(([part, value]): Figure => {
      const metric = `${part} at ${Math.round(tradesPerSecond)} trades/s`
      return { bench: 'capacity', metric, value, unit: 'cores', n: 1 }
    }),
  )
}

export default bench

async function pointAt(rate: number): Promise<MeasuredPoint> {
  const system = await startOwnSystem(['--seed', '7', '--rate', String(rate)], NO_PAST)
  const run = system.run()
  const clickhouse = connectClickhouse({ ...clickhouseOf(run, process.env), database: 'market' })
  try {
    await delay(WARM_MS)
    const before = { log: bytesOf(run, 'broker'), at: Date.now() }
    const ended = measureLoad(run)
    await delay(MEASURE_MS)
    const loads = ended()
    const end = Date.now()
    const logBytesPerSecond = (bytesOf(run, 'broker') - before.log) / ((end - before.at) / 1000)
    await delay(SETTLE_MS) // ClickHouse has what was traded until then
    const [row] = await clickhouse.rows<{ trades: number }>(
      'SELECT count() AS trades FROM trades WHERE time >= fromUnixTimestamp64Milli({from:Int64}) AND time < fromUnixTimestamp64Milli({to:Int64})',
      { from: before.at, to: end },
    )
    const tradesPerSecond = (row?.trades ?? 0) / ((end - before.at) / 1000)
    if (tradesPerSecond < rate * REACHED)
      throw new Error(
        `${Math.round(tradesPerSecond)} of ${rate} trades/s came: measure again on a machine that is idle`,
      )
    return {
      tradesPerSecond,
      cores: Object.fromEntries(loads.map(({ part, cores }) => [part, Number(cores.toFixed(4))])),
      residentBytes: Object.fromEntries(loads.map(({ part, residentBytes }) => [part, residentBytes])),
      logBytesPerSecond,
    }
  } finally {
    await clickhouse.close()
    await system.dispose()
  }
}

function bytesOf({ data }: RunFile, folder: string): number {
  return readdirSync(path.join(data, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + sizeOf(path.join(entry.parentPath, entry.name)), 0)
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
