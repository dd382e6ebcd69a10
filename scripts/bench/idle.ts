import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { urlOf, type RunFile } from '../../infra/local/run-file.ts'
import type { Bench, Figure } from '../figure.ts'
import { startOwnSystem } from '../own-system.ts'
import { measureLoad, type Load } from './system/load.ts'

/** Until caches are warm and merges and compaction go on as they will. */
const WARM_UP_MS = 600_000
const MEASURE_MS = 180_000
const SETTLE_MS = 15_000
const PAUSED_MS = 60_000
/** All processes together, with the demo's market going on and nobody asking. */
const GOALS = { megabytes: 1_000, megabytesAMinute: 1 } as const
/** By trades a second. */
const CORES: Readonly<Record<string, number>> = { "the demo's": 0.35, 2_000: 0.9 }
const BLOCK_BYTES = 512
/** Folders that are no part of what the product writes: evidence of frames, and the market's own books. */
const FRAMES = 'frames'
const SIMULATOR = 'simulator'

/**
 * What a demo takes of the machine while nobody asks it anything: cores and memory of each part, and what its folder grows
 * by, the recorded frames and the simulator's own files apart; then the same while nothing trades. BENCH_WARM_SECONDS
 * shortens the ten minutes before, BENCH_RATE gives another number of trades a second.
 */
const bench: Bench = async () => {
  const rate = process.env['BENCH_RATE']
  const cores = CORES[rate ?? "the demo's"]
  const system = await startOwnSystem(rate === undefined ? [] : ['--rate', rate])
  try {
    const warm = process.env['BENCH_WARM_SECONDS']
    await delay(warm === undefined ? WARM_UP_MS : Number(warm) * 1000)
    const figures = await measure(system.run(), { forMs: MEASURE_MS, when: '', cores })
    const paused = await fetch(`${urlOf(system.run(), 'simulator')}/pause`, { method: 'POST' })
    if (!paused.ok) throw new Error(`the simulator does not pause: ${paused.status}`)
    await delay(SETTLE_MS)
    return [...figures, ...(await measure(system.run(), { forMs: PAUSED_MS, when: ' while nothing trades', cores }))]
  } finally {
    await system.dispose()
  }
}

interface Phase {
  readonly forMs: number
  readonly when: string
  /** What is asked of all parts together, where anything is. */
  readonly cores: number | undefined
}

async function measure(run: RunFile, { forMs, when, cores: goal }: Phase): Promise<Figure[]> {
  const before = sizesIn(run.data)
  const ended = measureLoad(run)
  await delay(forMs)
  const loads = ended()
  const growth = [...sizesIn(run.data)].map(([part, bytes]) => {
    return { part, megabytesAMinute: (bytes - (before.get(part) ?? 0)) / 1e6 / (forMs / 60_000) }
  })
  const product = growth.filter(({ part }) => part !== FRAMES && part !== SIMULATOR)
  const sum = (of: (load: Load) => number): number => loads.reduce((all, one) => all + of(one), 0)
  const [cores, resident] = [sum((load) => load.cores), sum(({ residentBytes }) => residentBytes) / 1e6]
  const grown = product.reduce((all, { megabytesAMinute }) => all + megabytesAMinute, 0)
  return [
    ...loads.flatMap((load) => [
      figure(`cores, ${load.part}${when}`, load.cores, 'cores'),
      figure(`resident, ${load.part}${when}`, load.residentBytes / 1e6, 'MB'),
    ]),
    ...growth.map(({ part, megabytesAMinute }) => figure(`growth, ${part}${when}`, megabytesAMinute, 'MB/min')),
    figure(`cores, all${when}`, cores, 'cores', goal),
    figure(`resident, all${when}`, resident, 'MB', GOALS.megabytes),
    figure(`growth beside frames and simulator${when}`, grown, 'MB/min', GOALS.megabytesAMinute),
  ]
}

export default bench

function figure(metric: string, value: number, unit: string, goal?: number): Figure {
  return { metric, value, unit, ...(goal !== undefined && { baseline: goal }), n: 1 }
}

/** What each part of a folder takes of the disk, bytes; what goes away meanwhile counts as nothing. */
function sizesIn(folder: string): Map<string, number> {
  const sizes = new Map<string, number>()
  for (const entry of entriesOf(folder)) {
    const part = entry.name.startsWith(FRAMES) ? FRAMES : entry.name
    sizes.set(part, (sizes.get(part) ?? 0) + sizeOf(entry))
  }
  return sizes
}

function sizeOf(entry: Dirent): number {
  const file = path.join(entry.parentPath, entry.name)
  if (entry.isDirectory()) return entriesOf(file).reduce((sum, one) => sum + sizeOf(one), 0)
  return entry.isFile() ? blocksOf(file) * BLOCK_BYTES : 0
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function blocksOf(file: string): number {
  return lstatSync(file, { throwIfNoEntry: false })?.blocks ?? 0
}
