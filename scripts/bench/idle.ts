import { lstatSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bench, Figure } from '../figure.ts'
import { startOwnSystem } from '../own-system.ts'
import { measureLoad } from './system/load.ts'

/** Until caches are warm and merges and compaction go on as they will. */
const WARM_UP_MS = 600_000
const MEASURE_MS = 180_000
/** All processes together, with the demo's market going on and nobody asking. */
const GOALS = { cores: 0.35, megabytes: 1_000, megabytesAMinute: 1 } as const
const BLOCK_BYTES = 512

/**
 * What a demo takes of the machine while nobody asks it anything: cores and memory of each part, and what its folder grows
 * by beside the recorded frames. BENCH_WARM_SECONDS shortens the ten minutes before the measurement.
 */
const bench: Bench = async () => {
  const system = await startOwnSystem([])
  try {
    const warm = process.env['BENCH_WARM_SECONDS']
    await delay(warm === undefined ? WARM_UP_MS : Number(warm) * 1000)
    const run = system.run()
    const bytes = bytesOf(run.data)
    const ended = measureLoad(run)
    await delay(MEASURE_MS)
    const loads = ended()
    const megabytesAMinute = (bytesOf(run.data) - bytes) / 1e6 / (MEASURE_MS / 60_000)
    const sum = (of: (load: (typeof loads)[number]) => number): number => loads.reduce((all, one) => all + of(one), 0)
    return [
      ...loads.flatMap(({ part, cores, residentBytes }) => [
        figure(`cores, ${part}`, cores, 'cores'),
        figure(`resident, ${part}`, residentBytes / 1e6, 'MB'),
      ]),
      figure(
        'cores, all',
        sum(({ cores }) => cores),
        'cores',
        GOALS.cores,
      ),
      figure('resident, all', sum(({ residentBytes }) => residentBytes) / 1e6, 'MB', GOALS.megabytes),
      figure('growth beside frames', megabytesAMinute, 'MB/min', GOALS.megabytesAMinute),
    ]
  } finally {
    await system.dispose()
  }
}

export default bench

function figure(metric: string, value: number, unit: string, goal?: number): Figure {
  const against = goal === undefined ? {} : { baseline: goal, ratio: value / goal }
  return { bench: 'idle', metric, value, unit, n: 1, ...against }
}

/** What a folder takes of the disk, but for recorded frames; what goes away meanwhile counts as nothing. */
function bytesOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !path.relative(folder, entry.parentPath).startsWith('frames'))
    .reduce((sum, entry) => sum + blocksOf(path.join(entry.parentPath, entry.name)) * BLOCK_BYTES, 0)
}

function blocksOf(file: string): number {
  return lstatSync(file, { throwIfNoEntry: false })?.blocks ?? 0
}
