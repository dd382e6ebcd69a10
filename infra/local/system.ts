import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { startBroker, type BrokerOptions } from './broker.ts'
import { localPayments, localWallet } from './chain/env.ts'
import { nodeProgram, startChild, type Child, type ChildSpec } from './child.ts'
import { startClickhouse } from './clickhouse/start.ts'
import type { DataFolder, Mode } from './data-folder.ts'
import { lowerCpuShare } from './cpu-share.ts'
import { receiverCaFile } from './receiver/certificate.ts'
import { startRegistry } from './registry.ts'
import type { RunningPart } from './run-file.ts'
import type { Part } from './supervisor.ts'
import { startSimulator, venueEnv } from '../simulator/start.ts'

const HOST = '127.0.0.1'
const READY_MS = 60_000
const STOP_MS = 12_000

/** Ports of one system; all known before the first part starts, so that a part that comes back is where it was. */
export interface Ports {
  readonly api: number
  readonly console: number
  readonly clickhouse: number
  readonly kafka: number
  readonly registry: number
  readonly simulator: number
  readonly feeds: number
  readonly processors: number
  readonly webhooks: number
  readonly payments: number
  readonly chain: number
}

export interface SystemOptions {
  readonly mode: Mode
  readonly folder: DataFolder
  readonly ports: Ports
  /** Settings of the simulator by name (`SIMULATOR_SEED` and so on). */
  readonly simulator: Readonly<Record<string, string>>
  /** A tape that keeps its own times gives the feeds their clock. */
  readonly feedClock: 'host' | 'tape'
  /** `local`: on a chain of this machine; `x402`: the environment says on which network and with which wallet. */
  readonly payments: 'off' | 'local' | 'x402'
  /** Settles in place of the local hot wallet, where it is one of this machine; empty: none. */
  readonly facilitator: string
  /** Time between two blocks of the local chain, seconds; 0: at once. */
  readonly blockSeconds: number
  /** How long the local broker remembers an owner that gives no sign, milliseconds; 0: for as long as it can. */
  readonly forgetsAfterMs: number
  /** Where SERVICE_SECRET is, for the services that derive from it; empty: the environment says it. */
  readonly secret: Readonly<Record<string, string>>
  /** Where the password of the local ClickHouse is; empty: the environment says it. */
  readonly password: Readonly<Record<string, string>>
  /** Addresses that replace a local part: that part is then not started. */
  readonly external: { readonly brokers?: string; readonly registryUrl?: string; readonly clickhouseUrl?: string }
  readonly onProgress: (line: string) => void
}

/** The parts of one system in the order of their start: what a wave needs is up when the wave before it is. */
export interface System {
  readonly stores: readonly Part[]
  readonly services: readonly Part[]
  /** What the environment names in place of a local part. */
  readonly external: readonly RunningPart[]
  /** What the services and one-shot programs have in common. */
  readonly env: Readonly<Record<string, string>>
}

/** Describes the local system; starts nothing. */
export function describeSystem(options: SystemOptions): System {
  const { ports, external, mode } = options
  const env = {
    MODE: mode,
    PARTITIONS: String(options.folder.partitions),
    DATA_DIR: options.folder.mode,
    KAFKA_BROKERS: external.brokers ?? `${HOST}:${ports.kafka}`,
    SCHEMA_REGISTRY_URL: external.registryUrl ?? `http://${HOST}:${ports.registry}/apis/ccompat/v7`,
    CLICKHOUSE_URL: external.clickhouseUrl ?? urlAt(ports.clickhouse),
    ...(external.clickhouseUrl === undefined && options.password),
    PAYMENTS: options.payments,
    ...(options.payments === 'local' &&
      localPayments({ chain: urlAt(ports.chain), api: urlAt(ports.api), facilitator: options.facilitator })),
  }
  const named = { broker: external.brokers, registry: external.registryUrl, clickhouse: external.clickhouseUrl }
  const others = Object.entries(named).flatMap(([name, url]) => (url === undefined ? [] : [{ name, url }]))
  return { stores: storesOf(options), services: servicesOf(options, env), external: others, env }
}

function storesOf({ folder, ports, external, simulator, mode, onProgress, ...options }: SystemOptions): Part[] {
  const place = (name: string): { dataDir: string; logFile: string; onProgress: (line: string) => void } => ({
    dataDir: path.join(folder.mode, name),
    logFile: path.join(folder.logs, `${name}.log`),
    onProgress: (line) => onProgress(`${name}: ${line}`),
  })
  const parts: (Part | false)[] = [
    external.brokers === undefined && {
      name: 'broker',
      start: () => startBroker({ ...place('broker'), port: ports.kafka, ...memoryOf(options.forgetsAfterMs) }),
    },
    external.registryUrl === undefined && {
      name: 'registry',
      start: () => startRegistry({ ...place('registry'), port: ports.registry }),
    },
    external.clickhouseUrl === undefined && {
      name: 'clickhouse',
      start: async () => {
        const around = place('clickhouse')
        const clickhouse = await startClickhouse({ ...around, port: ports.clickhouse, env: options.password })
        lowerCpuShare(clickhouse.pid, around.onProgress)
        return clickhouse
      },
    },
    mode !== 'live' && {
      name: 'simulator',
      start: () => startSimulator({ ...place('simulator'), port: ports.simulator, env: simulator }),
    },
    options.payments === 'local' && {
      name: 'chain',
      start: async () => {
        const { startChain } = await import('./chain/start.ts') // what it needs takes a second to load
        return startChain({ ...place('chain'), port: ports.chain, blockSeconds: options.blockSeconds })
      },
    },
  ]
  return parts.filter((part) => part !== false)
}

/** Connections that are silent end before their owners are forgotten, as they do by the broker's own settings. */
function memoryOf(forgetsAfterMs: number): Pick<BrokerOptions, 'forgetsAfterMs' | 'idleMs'> {
  return forgetsAfterMs === 0 ? {} : { forgetsAfterMs, idleMs: forgetsAfterMs / 2 }
}

function servicesOf(options: SystemOptions, env: Record<string, string>): Part[] {
  const { mode, folder, ports, feedClock, secret, payments } = options
  const service = (name: string, main: string, more: Record<string, string>): Part => ({
    name,
    start: () => startService(folder, name, main, { ...env, ...more }),
  })
  const simulated = mode === 'live' ? {} : venueEnv(urlAt(ports.simulator))
  const feeds = {
    ...simulated,
    ...lyingClock(mode),
    FEED_CLOCK: feedClock,
    FRAMES_DIR: path.join(folder.mode, 'frames'),
    ARCHIVE_DIR: path.join(folder.mode, 'archives'),
  }
  const paid = payments !== 'off'
  const names = ['feeds', 'processors', 'webhooks', ...(paid ? (['payments'] as const) : [])] as const
  const others = names.map((name) => `${name}=${urlAt(ports[name])}`).join(',')
  const wallet = payments === 'local' ? localWallet : {}
  // Live webhooks go to public receivers, vouched for by public authorities.
  const receiver = mode === 'live' ? {} : { WEBHOOK_CA_FILE: receiverCaFile(folder.mode) }
  return [
    service('processors', 'processors/main.ts', { OPS_PORT: String(ports.processors) }),
    service('webhooks', 'processors/webhooks/main.ts', { OPS_PORT: String(ports.webhooks), ...secret, ...receiver }),
    ...(paid
      ? [service('payments', 'processors/payments/main.ts', { OPS_PORT: String(ports.payments), ...wallet })]
      : []),
    service('feeds', 'processors/feeds/main.ts', { OPS_PORT: String(ports.feeds), ...feeds }),
    service('api', 'api/main.ts', { API_PORT: String(ports.api), API_SERVICES: others, ...secret }),
    service('console', 'api/console/main.ts', {
      CONSOLE_PORT: String(ports.console),
      API_SERVICES: `${others},api=${urlAt(ports.api)}`,
      ...secret,
    }),
  ]
}

/** What lets chaos put the clock of a demo's feeds wrong. */
function lyingClock(mode: Mode): Record<string, string> {
  if (mode === 'live') return {}
  const given = process.env['NODE_OPTIONS'] ?? ''
  return { NODE_OPTIONS: `${given} --import=${new URL('lying-clock.ts', import.meta.url).href}`.trim() }
}

/** Of those through whose hands every trade goes; the others make little. */
const youngMb: Readonly<Record<string, 4 | 8>> = { processors: 8, feeds: 4 }

/** Starts one of our own programs and waits until it says that it is ready. */
function startService(folder: DataFolder, name: string, main: string, env: Record<string, string>): Promise<Child> {
  const spec: ChildSpec = {
    name,
    command: nodeProgram(programFile(main), youngMb[name] ?? 2),
    env,
    logFile: path.join(folder.logs, `${name}.log`),
    ready: 'message',
    readyWithinMs: READY_MS,
    stopWithinMs: STOP_MS,
  }
  return startChild(spec)
}

function urlAt(port: number): string {
  return `http://${HOST}:${port}`
}

/** Absolute path of a program of the checkout, wherever we are started from. */
export function programFile(main: string): string {
  return fileURLToPath(new URL(`../../${main}`, import.meta.url))
}
