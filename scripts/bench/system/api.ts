import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { surroundings, type Surroundings } from '../../../api/testing/surroundings.ts'
import { startChild, type Child } from '../../../infra/local/child.ts'
import type { BenchParts } from '../../figure.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** The command that runs a program of this checkout. */
export const program = (file: string): [string, string] => [process.execPath, path.join(root, file)]

/** Where a bench's own API reads: topics and tables that are made and empty. */
export type BenchEnvironment = Pick<Surroundings, 'namespace' | 'database' | 'env'>

/** Makes topics and a database of their own for an API with these symbols, which limits nobody. */
export async function prepareApi(
  parts: BenchParts,
  { name, partitions, symbols }: { name: string; partitions: number; symbols: readonly string[] },
): Promise<BenchEnvironment> {
  // The limit is in the path, as in service, but out of the way.
  const settings = { SYMBOLS: symbols.join(','), RATE_LIMIT_PER_SECOND: '1000000000', RATE_LIMIT_BURST: '1000000000' }
  const { log, ...own } = await surroundings(parts, { name: `bench-${name}`, partitions, settings })
  await log.close()
  return own
}

/** Starts a server of ours; its log goes to `folder`. */
export function startServer(
  name: string,
  command: [string, ...string[]],
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<Child> {
  return startChild({
    name,
    command,
    env: { LOG_FORMAT: 'json', ...env },
    logFile: path.join(folder, `${name}.log`),
    ready: 'message',
    readyWithinMs: 15_000,
    stopWithinMs: 5_000,
  })
}
