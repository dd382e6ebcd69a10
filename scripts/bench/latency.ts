import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { urlOf, type RunFile } from '../../infra/local/run-file.ts'
import { openBooks } from '../accounts/books.ts'
import { Ledger } from '../accounts/source-ledger.ts'
import { sum } from '../accounts/compare.ts'
import type { Bench, Figure } from '../figure.ts'
import { startOwnSystem } from '../own-system.ts'
import { bucketDelays, clickhouseDelays, quantile } from './latency/delays.ts'

const RATE = 2_000
const WARM_UP_MS = 15_000
const MEASURE_MS = 30_000
/** Ticks of /proc/<pid>/stat in a second; fixed at 100 on every Linux of today. */
const TICKS_PER_SECOND = 100
const PAGE_BYTES = 4096

/**
 * End to end on a demo of its own at 2,000 trades a second: from the venue's frame to the derived bucket in Kafka and to
 * the trade being queryable in ClickHouse; cores and memory of each part.
 */
const bench: Bench = async () => {
  const system = await startOwnSystem(['--rate', String(RATE)])
  try {
    await delay(WARM_UP_MS)
    return await measure(system.run())
  } finally {
    await system.dispose()
  }
}

export default bench

async function measure(run: RunFile): Promise<readonly Figure[]> {
  const ledger = new Ledger(urlOf(run, 'simulator'))
  const books = await openBooks(run, ledger)
  try {
    const before = { trades: sum((await ledger.totals()).values()).count, cpu: cpuOf(run), at: performance.now() }
    const [inKafka, inClickhouse] = await Promise.all([
      bucketDelays(books, MEASURE_MS),
      clickhouseDelays(books.clickhouse, MEASURE_MS),
    ])
    const seconds = (performance.now() - before.at) / 1000
    const trades = sum((await ledger.totals()).values()).count - before.trades
    return [
      figure('frames end to end', trades / seconds, 'frames/s', trades),
      ...latencies('frame to bucket in Kafka', inKafka),
      ...latencies('frame to row in ClickHouse', inClickhouse),
      ...loads(run, before.cpu, seconds),
    ]
  } finally {
    await books.close()
  }
}

function latencies(what: string, delays: readonly number[]): Figure[] {
  return [0.5, 0.99].map((q) => figure(`${what}, p${q * 100}`, quantile(delays, q), 'ms', delays.length))
}

/** Cores used over the measurement, and resident memory at its end. */
function loads(run: RunFile, before: ReadonlyMap<string, number>, seconds: number): Figure[] {
  const after = cpuOf(run)
  return run.parts.flatMap(({ name, pid }) => {
    if (pid === undefined) return []
    const cores = ((after.get(name) ?? 0) - (before.get(name) ?? 0)) / seconds
    const resident = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES
    return [figure(`cores, ${name}`, cores, 'cores', 1), figure(`resident, ${name}`, resident / 1e6, 'MB', 1)]
  })
}

/** Seconds of processor time that each part has used so far, its threads included. */
function cpuOf(run: RunFile): Map<string, number> {
  return new Map(
    run.parts.flatMap(({ name, pid }) => {
      if (pid === undefined) return []
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return [[name, (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND] as const]
    }),
  )
}

function figure(metric: string, value: number, unit: string, n: number): Figure {
  return { bench: 'latency', metric, value, unit, n }
}
