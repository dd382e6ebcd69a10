import { Worker } from 'node:worker_threads'
import type { BacktestOptions } from './options.ts'
import type { Part, PartSurroundings } from './part.ts'
import { lengthOf, StoppedError, type Reading } from './run.ts'

/** What a thread is told: the partition that it replays next. */
export interface WorkerTask {
  readonly partition: number
  readonly readings: readonly Reading[]
}

/** What a thread says. */
export type WorkerMessage =
  | { readonly kind: 'progress'; readonly partition: number; readonly records: number; readonly time: number }
  | { readonly kind: 'part'; readonly partition: number; readonly part: Part }
  | { readonly kind: 'failed'; readonly says: string; readonly isExpected: boolean }

/** What a person can mend, said by a thread. */
export class WorkerError extends Error {
  readonly code = 'worker'
}

export interface Work {
  readonly options: BacktestOptions
  readonly readings: ReadonlyMap<number, readonly Reading[]>
  /** Threads that replay, this one among them. */
  readonly workers: number
  /** Replays a partition in this thread. */
  readonly replay: (partition: number, readings: readonly Reading[], around: PartSurroundings) => Promise<Part>
}

/** New objects of a thread live here until they are found to be garbage: records come and go in batches of thousands. */
const YOUNG_MB = 64

/**
 * Replays partitions in this thread, which begins at once, and in others, each with its own tape; the longest first. Gives
 * the parts in the order of `readings`, as one thread would have.
 */
export async function replayInWorkers(work: Work, around: PartSurroundings): Promise<Part[]> {
  const queue = [...work.readings].map(([partition, readings]) => ({ partition, readings }))
  queue.sort((a, b) => lengthOf(a.readings) - lengthOf(b.readings))
  const parts = new Map<number, Part>()
  const threads = Array.from({ length: Math.max(0, work.workers - 1) }, () => {
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MB }
    return new Worker(new URL('worker.ts', import.meta.url), { workerData: work.options, resourceLimits })
  })
  const over = new AbortController()
  const stop = AbortSignal.any([around.stop, over.signal])
  const here = replayHere(work.replay, { queue, parts, around: { ...around, stop } })
  try {
    await Promise.all([here, ...threads.map((thread) => attend(thread, { queue, parts, around }))])
  } finally {
    over.abort()
    await Promise.allSettled([here, ...threads.map((thread) => thread.terminate())])
  }
  return [...work.readings.keys()].map((partition) => partOf(parts, partition))
}

interface Shared {
  /** The last is next. */
  readonly queue: WorkerTask[]
  readonly parts: Map<number, Part>
  readonly around: PartSurroundings
}

async function replayHere(replay: Work['replay'], { queue, parts, around }: Shared): Promise<void> {
  for (let next = queue.pop(); next !== undefined; next = queue.pop())
    parts.set(next.partition, await replay(next.partition, next.readings, around))
}

/** Gives a thread one partition after the other until none is left. */
function attend(thread: Worker, { queue, parts, around: { onProgress, stop } }: Shared): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = (): void => {
      const order = queue.pop()
      if (order === undefined) resolve()
      // oxlint-disable-next-line unicorn/require-post-message-target-origin - threads have no origin
      else thread.postMessage(order)
    }
    const hear = (word: WorkerMessage): void => {
      if (word.kind === 'progress') void onProgress(word.partition, word.records, word.time)
      else if (word.kind === 'failed') reject(word.isExpected ? new WorkerError(word.says) : new Error(word.says))
      else {
        parts.set(word.partition, word.part)
        next()
      }
    }
    if (stop.aborted) throw new StoppedError('the backtest was stopped')
    stop.addEventListener('abort', () => reject(new StoppedError('the backtest was stopped')), { once: true })
    thread.on('message', hear)
    thread.once('error', reject)
    thread.once('exit', (code) => reject(new Error(`a thread of the backtest ended by itself with code ${code}`)))
    next()
  })
}

function partOf(parts: ReadonlyMap<number, Part>, partition: number): Part {
  const part = parts.get(partition)
  if (part === undefined) throw new Error(`partition ${partition} was not replayed`)
  return part
}
