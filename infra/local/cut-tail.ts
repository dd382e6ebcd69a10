import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { LogRecord } from '../kafka/seam.ts'
import { boundsOf, decodeBatches } from '../kafka/record-batch.ts'

/** Offsets that a partition had and has no more: `from` up to, not with, `to`. */
export interface Lost {
  readonly from: number
  readonly to: number
  /** Behind the last record that is left, as far as the segment tells: between it and `from` lies what nobody reads. */
  readonly behind: number
  /** What lay there, but for what nobody reads. */
  readonly records: readonly LogRecord[]
}

/**
 * Takes the last records of a partition (full topic name) off the data folder of a broker that does not run, as a power
 * cut does that comes before the disk has them: whole batches of its newest segment, at least `records` where it has
 * them. Undefined: there is nothing in it.
 */
export async function cutTail(
  dataDir: string,
  topic: string,
  partition: number,
  records: number,
): Promise<Lost | undefined> {
  const folder = join(dataDir, 'log', `${topic}-${partition}`)
  const segments = (await readdir(folder)).filter((name) => name.endsWith('.log')).sort()
  const newest = segments.at(-1)
  if (newest === undefined) return undefined
  const file = await open(join(folder, newest), 'r+')
  try {
    const bytes = await file.readFile()
    const batches = boundsOf(bytes)
    const to = batches.at(-1)?.next
    if (to === undefined) return undefined
    const first = batches.find(({ next }) => next > to - records) ?? batches.at(-1)
    const { at, base: from } = first ?? { at: 0, base: to }
    const [left, lost]: [LogRecord[], LogRecord[]] = [[], []]
    decodeBatches(bytes.subarray(0, at), 0, left)
    decodeBatches(bytes.subarray(at), from, lost)
    const behind = (left.at(-1)?.offset ?? (batches[0]?.base ?? from) - 1) + 1
    await file.truncate(at)
    await file.sync()
    return { from, to, behind, records: lost }
  } finally {
    await file.close()
  }
}
