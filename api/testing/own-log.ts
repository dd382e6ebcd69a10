import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { inject } from 'vitest'
import type { RegistryCodec } from '../../infra/kafka/codec.ts'
import type { Log } from '../../infra/kafka/seam.ts'
import type { Child } from '../../infra/local/child.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { startService } from './real-calls.ts'
import { surroundings } from './surroundings.ts'

/** Topics and tables of one test file, on the parts that all of them share. */
export interface OwnLog {
  readonly folder: string
  readonly log: Log
  readonly codec: RegistryCodec
  /** Starts one of our services; its log goes to `folder`. */
  start(name: string, main: 'api' | 'processors'): Promise<Child>
  /** Stops what runs on it, and takes all of it away. */
  close(...services: readonly (Child | undefined)[]): Promise<void>
}

export const PARTITIONS = 2

const mains = { api: '../main.ts', processors: '../../processors/main.ts' }

/** Prepares them, with these processors to be started; `reads`: what ClickHouse reads. */
export async function ownLog(name: string, processors: string, reads?: readonly TopicName[]): Promise<OwnLog> {
  const settings = { MODE: 'live', PROCESSORS: processors }
  const own = await surroundings(inject('parts'), { name, partitions: PARTITIONS, settings, ...(reads && { reads }) })
  const { env, log, codec } = own
  const folder = mkdtempSync(path.join(tmpdir(), `api-${name}-`))
  return {
    folder,
    log,
    codec,
    start: (service, main) => startService({ folder, env }, service, mains[main]),
    async close(...services) {
      await Promise.all(services.map(async (child) => child?.stop()))
      await own.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
