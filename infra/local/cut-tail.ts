import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { boundsOf } from '../kafka/record-batch.ts'

/** Offsets that a partition had and has no more: `from` up to, not with, `to`. */
export interface Lost {
  readonly from: number
  readonly to: number
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
    const batches = boundsOf(await file.readFile())
    const to = batches.at(-1)?.next
    if (to === undefined) return undefined
    const first = batches.find(({ next }) => next > to - records) ?? batches.at(-1)
    await file.truncate(first?.at ?? 0)
    await file.sync()
    return { from: first?.base ?? to, to }
  } finally {
    await file.close()
  }
}
