import { setTimeout as delay } from 'node:timers/promises'
import { urlOf, type RunFile } from '../../infra/local/run-file.ts'
import { openBooks } from '../accounts/books.ts'
import { Ledger } from '../accounts/source-ledger.ts'
import { sum } from '../accounts/compare.ts'
import type { Bench, Figure } from '../figure.ts'
import { startOwnSystem, withoutPast } from '../own-system.ts'
import { bucketDelays, clickhouseDelays, type Delays } from './latency/delays.ts'
import { percentiles } from './system/cost.ts'
import { measureLoad, type Load } from './system/load.ts'

/** Trades a second: what eight symbols on four venues do on an ordinary day, and what the acceptance run asks for. */
const RATES = [300, 2_000]
const WARM_UP_MS = 15_000
const MEASURE_MS = 30_000

/**
 * End to end on demos of its own: from the venue's frame (our feed has it) and from the venue's time of a trade to the
 * derived bucket in Kafka and to the trade being queryable in ClickHouse; cores and memory of each part. None reads its
 * past meanwhile. The simulator
 * draws trades in steps and sends them after, as a venue does: the delay from trade to frame is its own. One after the
 * other: looking at ClickHouse takes cores from what is looked at.
 */
const bench: Bench = async () => {
  const figures: Figure[] = []
  for (const rate of RATES) {
    const system = await startOwnSystem(['--rate', String(rate)], withoutPast)
    try {
      await delay(WARM_UP_MS)
      const found = await measure(system.run())
      figures.push(...found.map((one) => ({ ...one, metric: `at ${rate}/s: ${one.metric}` })))
    } finally {
      await system.dispose()
    }
  }
  return figures
}

export default bench

async function measure(run: RunFile): Promise<readonly Figure[]> {
  const ledger = new Ledger(urlOf(run, 'simulator'))
  const books = await openBooks(run, ledger)
  try {
    const before = { trades: sum((await ledger.totals()).values()).count, at: performance.now() }
    const ended = measureLoad(run)
    const { frames, buckets } = await bucketDelays(books, MEASURE_MS)
    const seconds = (performance.now() - before.at) / 1000
    const trades = sum((await ledger.totals()).values()).count - before.trades
    const loads = ended()
    const rows = await clickhouseDelays(books.clickhouse, MEASURE_MS)
    return [
      { metric: 'frames end to end', value: trades / seconds, unit: 'frames/s', n: trades },
      ...latencies('trade to frame received', frames),
      ...fromBoth('bucket in Kafka', buckets, [10, 40]),
      ...fromBoth('row in ClickHouse', rows, [1_000, 2_000]),
      ...loadFigures(loads),
    ]
  } finally {
    await books.close()
  }
}

/** The first beside what is asked of it at p50 and p99, milliseconds. */
function fromBoth(what: string, { fromTrade, fromFrame }: Delays, goals: readonly number[]): Figure[] {
  const asked = latencies(`frame to ${what}`, fromFrame).map((one, at) => ({ ...one, baseline: goals[at] ?? NaN }))
  return [...asked, ...latencies(`trade to ${what}`, fromTrade)]
}

function latencies(what: string, delays: readonly number[]): Figure[] {
  if (delays.length === 0) throw new Error(`nothing was seen: ${what}`)
  return percentiles(what, delays)
}

/** Cores used over the measurement, and resident memory at its end. */
function loadFigures(loads: readonly Load[]): Figure[] {
  return loads.flatMap(({ part, cores, residentBytes }) => [
    { metric: `cores, ${part}`, value: cores, unit: 'cores', n: 1 },
    { metric: `resident, ${part}`, value: residentBytes / 1e6, unit: 'MB', n: 1 },
  ])
}
