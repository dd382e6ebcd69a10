import { existsSync, writeFileSync } from 'node:fs'

/** Niceness of a lowered share: a third of the weight that the others have. */
const NICENESS = 5

/**
 * Lets a part of the local system have less of the cores than the others wherever there are too few for all: what it
 * does in bursts then delays nobody who has a trade in hand. A child is a session, and the kernel shares by sessions
 * before it looks at the niceness of processes; where it does not, or lets nobody write that, nothing changes.
 */
export function lowerCpuShare(pid: number, warn: (line: string) => void): void {
  const file = `/proc/${pid}/autogroup`
  if (!existsSync(file)) return
  try {
    writeFileSync(file, String(NICENESS))
  } catch (error) {
    warn(`keeps its full share of the cores: ${String(error)}`)
  }
}
