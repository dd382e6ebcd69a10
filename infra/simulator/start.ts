import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { addresses } from '../../schemas/venues.ts'
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
    command: nodeProgram(fileURLToPath(new URL('main.ts', import.meta.url))),
    env: { ...env, DATA_DIR: dataDir, SIMULATOR_PORT: String(port) },
    logFile,
    ready: 'message',
    readyWithinMs: 60_000,
    stopWithinMs: 5_000,
  })
}

/** Where the feeds find the venues of the simulator at `url`: each below its own name. */
export function venueEnv(url: string): Record<string, string> {
  return Object.fromEntries(
    addresses.map(({ host, own, setting }) => {
      // Files of two markets that lie on one host are one venue's here.
      const files = addresses.find((other) => other.host === 'archive' && other.own === own)
      const name =
        host === 'archive' ? `${files?.venue}-archive` : setting.replace(/_(?:WS|REST)_URL$/, '').toLowerCase()
      const base = setting.endsWith('_WS_URL') ? url.replace(/^http/, 'ws') : url
      return [setting, `${base}/${name.replaceAll('_', '-')}`]
    }),
  )
}
