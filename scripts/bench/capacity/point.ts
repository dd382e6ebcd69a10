import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Clickhouse } from '../../../infra/clickhouse/client.ts'
import { type RunFile, urlOf } from '../../../infra/local/run-file.ts'
import type { MeasuredPoint } from '../../plan/plan.ts'
import { measureLoad } from '../system/load.ts'

/** What is behind by more at the end of a measurement than at its beginning is not kept up with, seconds. */
const GROWS_BY_MAX = 1
const BEHIND_MAX = 5

/** The system does not keep up: what it took then says nothing of a system that does. */
export class BehindError extends Error {}

/** What a point is measured on. */
export interface Measuring {
  readonly run: RunFile
  readonly clickhouse: Clickhouse
  readonly seconds: number
}

/** What each part takes, and the log and the tables grow by, while `during` works. Throws `BehindError`. */
export async function measurePoint(
  { run, clickhouse, seconds }: Measuring,
  { alerts, requests }: { readonly alerts: number; readonly requests: number },
  during: () => Promise<void>,
): Promise<MeasuredPoint> {
  const tables = { bytes: await packedBytes(clickhouse), at: performance.now() }
  const behind = await backlog(run, clickhouse)
  const [before, log, began] = [await tradesIn(clickhouse), logBytes(run), performance.now()]
  const ended = measureLoad(run)
  await Promise.all([delay(seconds * 1000), during()])
  const loads = ended()
  const took = (performance.now() - began) / 1000
  const tradesPerSecond = ((await tradesIn(clickhouse)) - before) / took
  const logBytesPerSecond = (logBytes(run) - log) / took
  refuseBehind(behind, await backlog(run, clickhouse), tradesPerSecond)
  const grown = (await packedBytes(clickhouse)) - tables.bytes
  return {
    load: { trades: Math.round(tradesPerSecond), markets: await marketsIn(clickhouse), alerts, requests },
    cores: Object.fromEntries(loads.map(({ part, cores }) => [part, Number(cores.toFixed(4))])),
    residentBytes: Object.fromEntries(loads.map(({ part, residentBytes }) => [part, residentBytes])),
    logBytesPerSecond: Math.round(logBytesPerSecond),
    tableBytesPerSecond: Math.round(grown / ((performance.now() - tables.at) / 1000)),
  }
}

/** What has been sent and is not where it belongs. */
interface Backlog {
  /** Sent by the venues, and not in ClickHouse. */
  readonly trades: number
  /** How old the newest marks of what is derived are. */
  readonly seconds: number
}

async function backlog(run: RunFile, clickhouse: Clickhouse): Promise<Backlog> {
  const [sent, stored] = await Promise.all([tradesSent(run), tradesIn(clickhouse)])
  const { log } = (await (await fetch(`${urlOf(run, 'api')}/healthz`)).json()) as {
    readonly log: { readonly age_ms: number | null; readonly lag_ms: number | null }
  }
  return { trades: sent - stored, seconds: ((log.age_ms ?? Infinity) + (log.lag_ms ?? Infinity)) / 1000 }
}

function refuseBehind(before: Backlog, after: Backlog, perSecond: number): void {
  const [first, last] = [before, after].map(({ trades, seconds }) => Math.max(trades / perSecond, seconds))
  if (first === undefined || last === undefined || (last <= BEHIND_MAX && last - first <= GROWS_BY_MAX)) return
  const seconds = `${first.toFixed(1)} s behind, then ${last.toFixed(1)} s`
  throw new BehindError(`${Math.round(perSecond)} trades/s came, which are not kept up with: ${seconds}`)
}

async function tradesSent(run: RunFile): Promise<number> {
  const lines = (await (await fetch(`${urlOf(run, 'simulator')}/ledger`)).json()) as readonly { trades: number }[]
  return lines.reduce((sum, { trades }) => sum + trades, 0)
}

async function tradesIn(clickhouse: Clickhouse): Promise<number> {
  return countOf(clickhouse, 'SELECT count() AS count FROM trades_log')
}

async function marketsIn(clickhouse: Clickhouse): Promise<number> {
  return countOf(clickhouse, 'SELECT uniq(instrument) AS count FROM instruments')
}

async function countOf(clickhouse: Clickhouse, query: string): Promise<number> {
  const [row] = await clickhouse.rows<{ count: number }>(query)
  return row?.count ?? 0
}

/** On the disk once all parts of each table are merged: what stays of them. */
async function packedBytes(clickhouse: Clickhouse): Promise<number> {
  const tables = await clickhouse.rows<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND total_rows > 0",
  )
  for (const { name } of tables) await clickhouse.run(`OPTIMIZE TABLE \`${name}\` FINAL`)
  return countOf(
    clickhouse,
    'SELECT sum(bytes_on_disk) AS count FROM system.parts WHERE active AND database = currentDatabase()',
  )
}

/** Segments alone: indexes are made large at once. */
function logBytes({ data }: RunFile): number {
  return readdirSync(path.join(data, 'broker'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.log'))
    .reduce(
      (sum, entry) => sum + (statSync(path.join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    )
}
