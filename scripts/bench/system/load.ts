import { readFileSync } from 'node:fs'
import type { RunFile } from '../../../infra/local/run-file.ts'

/** Ticks of /proc/<pid>/stat in a second; fixed at 100 on every Linux of today. */
const TICKS_PER_SECOND = 100

/** What a part of a running system took of the machine. */
export interface Load {
  readonly part: string
  /** Processor time over time: 0.5 is half a core. */
  readonly cores: number
  /** Memory at the end of the measurement, bytes; of pages that several processes share (programs, libraries) each its share. */
  readonly residentBytes: number
}

/** Measures from the call of this to that of what it gives, each part with all of its threads. */
export function measureLoad(run: RunFile): () => readonly Load[] {
  const before = cpuOf(run)
  const began = performance.now()
  return () => {
    const seconds = (performance.now() - began) / 1000
    const after = cpuOf(run)
    return run.parts.flatMap(({ name, pid }) => {
      if (pid === undefined) return []
      const cores = ((after.get(name) ?? 0) - (before.get(name) ?? 0)) / seconds
      const residentBytes =
        1024 * Number(/^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1])
      return [{ part: name, cores, residentBytes }]
    })
  }
}

/** Seconds of processor time that each part has used so far, its threads included. */
export function cpuOf(run: RunFile): Map<string, number> {
  return new Map(
    run.parts.flatMap(({ name, pid }) => {
      if (pid === undefined) return []
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return [[name, (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND] as const]
    }),
  )
}
