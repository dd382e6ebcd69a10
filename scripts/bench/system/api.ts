import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
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

const ANSWER_MS = 60_000
const AGAIN_MS = 200

/** The body at an address, once there is one: ClickHouse has to have what was written, and a range something to tell. */
export async function answered(url: string, withinMs = ANSWER_MS): Promise<string> {
  const deadline = AbortSignal.timeout(withinMs)
  let last = ''
  while (!deadline.aborted) {
    const answer = await fetch(url, { signal: deadline })
    last = await answer.text()
    if (answer.status === 200) return last
    await delay(AGAIN_MS)
  }
  throw new Error(`${url} had no answer within ${withinMs} ms, at last: ${last.slice(0, 200)}`)
}

/** Every data route, those about a symbol for this one. */
export const mixOf = (symbol: string): string[] => [
  `/cvd/${symbol}`,
  `/cvd/history/${symbol}`,
  `/ohlcv/${symbol}`,
  `/funding-rate/${symbol}`,
  `/funding-rate/history/${symbol}`,
  `/futures/funding-compare/${symbol}`,
  `/futures/predicted-funding/${symbol}`,
  `/futures/basis/${symbol}`,
  `/futures/basis/history/${symbol}`,
  `/futures/open-interest/${symbol}`,
  `/futures/open-interest/history/${symbol}`,
  `/futures/long-short/${symbol}`,
  `/futures/long-short/history/${symbol}`,
  `/liquidation/heatmap/${symbol}`,
  `/liquidation/recent?symbol=${symbol}`,
  `/liquidation/heatmap/history/${symbol}`,
  `/liquidation/history/${symbol}`,
  '/screener',
  `/price/${symbol}`,
  '/funding-rate/extreme?threshold=0.02',
  '/api/v1/prices?symbols=btc',
  '/api/v1/market/bitcoin',
]
