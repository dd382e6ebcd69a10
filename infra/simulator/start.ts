import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { nodeProgram, startChild, type Child } from '../local/child.ts'

interface SimulatorStart {
  /** Ids, history and ledger live below it and go on after a restart. */
  readonly dataDir: string
  /** 0: any free one. */
  readonly port: number
  readonly logFile: string
  /** `SIMULATOR_*` settings. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts the simulator as a process of its own; `url` of the child is its base address. */
export function startSimulator({ dataDir, port, logFile, env }: SimulatorStart): Promise<Child> {
  mkdirSync(dataDir, { recursive: true })
  return startChild({
    name: 'simulator',
    command: nodeProgram(fileURLToPath(new URL('main.ts', import.meta.url)), 4),
    env: { ...env, DATA_DIR: dataDir, SIMULATOR_PORT: String(port) },
    logFile,
    ready: 'message',
    readyWithinMs: 60_000,
    stopWithinMs: 5_000,
  })
}

/** Where the feeds find the venues of the simulator at `url`. */
export function venueEnv(url: string): Record<string, string> {
  const socketUrl = url.replace(/^http/, 'ws')
  const sockets = ['binance', 'binance-spot', 'bybit', 'okx', 'coinbase', 'kraken', 'gate', 'bitget', 'hyperliquid']
  const calls = [...sockets, 'coingecko']
  const archives = { BINANCE: 'binance', BINANCE_SPOT: 'binance', BYBIT: 'bybit', OKX: 'okx' }
  const setting = (prefix: string): string => prefix.toUpperCase().replace('-', '_')
  return Object.fromEntries([
    ...sockets.map((prefix) => [`${setting(prefix)}_WS_URL`, `${socketUrl}/${prefix}`] as const),
    ...calls.map((prefix) => [`${setting(prefix)}_REST_URL`, `${url}/${prefix}`] as const),
    ...Object.entries(archives).map(([name, venue]) => [`${name}_ARCHIVE_URL`, `${url}/${venue}-archive`] as const),
  ])
}
