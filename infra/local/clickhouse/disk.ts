import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../log.ts'
import { QueryError } from './errors.ts'

/** Below `lowBytes` inserts over HTTP are refused; below `ballastBytes` the ballast is given up. */
export interface DiskLimits {
  readonly lowBytes: number
  readonly ballastBytes: number
  readonly everyMs: number
}

const NOT_ENOUGH_SPACE = 243

export interface Disk {
  readonly freeBytes: number
  /** Throws 243 while the disk is nearly full. Ingestion from Kafka waits by itself and loses nothing. */
  requireSpace(): void
  stop(): void
}

/**
 * Watches the free space of the data folder. On a disk that is quite full the engine cannot even empty a table, so a
 * ballast file is kept that is deleted when space runs out, and written again when there is plenty.
 */
export async function watchDisk(dir: string, limits: DiskLimits, log: Logger): Promise<Disk> {
  const ballast = join(dir, 'ballast')
  let free = Infinity
  let low = false
  const look = async (): Promise<void> => {
    const { bavail, bsize } = await statfs(dir)
    free = bavail * bsize
    if (free < limits.ballastBytes) rmSync(ballast, { force: true })
    else if (free > limits.lowBytes * 2 && !existsSync(ballast)) writeBallast(ballast, limits.ballastBytes)
    if (low !== free < limits.lowBytes) {
      low = !low
      log[low ? 'error' : 'info'](
        { freeBytes: free },
        low ? 'disk is nearly full, inserts are refused' : 'disk has space',
      )
    }
  }
  await look()
  const timer = setInterval(
    () => void look().catch((error: unknown) => log.warn({ err: error }, 'disk')),
    limits.everyMs,
  )
  return {
    get freeBytes() {
      return free
    },
    requireSpace() {
      if (low) throw new QueryError(NOT_ENOUGH_SPACE, `only ${free} bytes are free on the disk. (NOT_ENOUGH_SPACE)`)
    },
    stop: () => clearInterval(timer),
  }
}

function writeBallast(path: string, bytes: number): void {
  const file = openSync(path, 'w')
  const block = Buffer.alloc(1 << 20, 1)
  for (let written = 0; written < bytes; written += block.length) writeSync(file, block)
  closeSync(file)
}
