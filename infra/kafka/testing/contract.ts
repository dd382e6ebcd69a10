import { afterEach, describe } from 'vitest'
import { claimContract } from './contract/claim.ts'
import { IN, OUT, STATE, type OpenLog } from './contract/parts.ts'
import { readerContract } from './contract/reader.ts'
import { writerContract } from './contract/writer.ts'

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
