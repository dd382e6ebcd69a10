import { afterEach, describe } from 'vitest'
import { claimContract } from './contract/claim.ts'
import { IN, OUT, STATE } from './contract/parts.ts'
import { readerContract } from './contract/reader.ts'
import { writerContract } from './contract/writer.ts'
import type { Log } from './seam.ts'

/** A log of its own for one test. */
export interface OpenLog {
  readonly log: Log
  /** A second client of the same log, as another process would have it. */
  readonly another: () => Promise<Log>
  /** Resolves when owners that gave no sign since the call are forgotten; left out where none ever is. */
  readonly forgotten?: () => Promise<void>
  readonly dispose: () => Promise<void>
}

/** Opens an empty log with these topics, each of three partitions. */
export type OpenContractLog = (topics: readonly string[]) => Promise<OpenLog>

/** What every implementation of the seam must do, whatever client is below it. */
export function logContract(name: string, open: OpenContractLog): void {
  describe(`${name} as a log`, () => {
    const opened: OpenLog[] = []
    const start = async (): Promise<OpenLog> => {
      const log = await open([IN, OUT, STATE])
      opened.push(log)
      return log
    }
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((each) => each.dispose()))
    })
    readerContract(start)
    writerContract(start)
    claimContract(start)
  })
}
