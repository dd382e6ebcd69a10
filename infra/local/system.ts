import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { replicationOf, startBroker, type BrokerNode, type BrokerOptions } from './broker.ts'
import { localPayments, localWallet } from './chain/settings.ts'
import { compilePrograms, nodeProgram, startChild, type Child, type ChildSpec } from './child.ts'
import { startClickhouse } from './clickhouse/start.ts'
import type { DataFolder, Mode } from './data-folder.ts'
import { lowerCpuShare } from './process-id.ts'
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
  /** One for each host. */
  readonly feeds: readonly number[]
  readonly processors: readonly number[]
  readonly webhooks: readonly number[]
  /** APIs behind a balancer at `api`; empty: one alone is there. */
  readonly apis: readonly number[]
  /** A cluster's, each behind a forward; empty: one alone is at `kafka`. */
  readonly brokers: readonly BrokerNode[]
  readonly payments: number
  readonly chain: number
}

export interface SystemOptions {
  readonly mode: Mode
  /** Nobody is called: without webhooks, and without a simulated market, which would go on with what a live one left. */
  readonly rehearse: boolean
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
  /** One wave after the other, the parts of a wave side by side. */
  readonly stores: readonly (readonly Part[])[]
  readonly services: readonly Part[]
  /** What the environment names in place of a local part; of a cluster's brokers the addresses of all. */
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
    KAFKA_BROKERS: external.brokers ?? brokersOf(ports),
    ...(external.brokers === undefined && { REPLICATION_FACTOR: String(replicationOf(ports.brokers.length || 1)) }),
    ...(isCluster(ports) && { MEMBERSHIP: 'group' }),
    SCHEMA_REGISTRY_URL: external.registryUrl ?? `http://${HOST}:${ports.registry}/apis/ccompat/v7`,
    CLICKHOUSE_URL: external.clickhouseUrl ?? urlAt(ports.clickhouse),
    ...(external.clickhouseUrl === undefined && options.password),
    PAYMENTS: options.payments,
    ...(options.payments === 'local' &&
      localPayments({ chain: urlAt(ports.chain), api: urlAt(ports.api), facilitator: options.facilitator })),
  }
  const brokers = ports.brokers.length > 0 ? brokersOf(ports) : undefined
  const named = {
    broker: external.brokers ?? brokers,
    registry: external.registryUrl,
    clickhouse: external.clickhouseUrl,
  }
  const others = Object.entries(named).flatMap(([name, url]) => (url === undefined ? [] : [{ name, url }]))
  return { stores: storesOf(options), services: servicesOf(options, env), external: others, env }
}

/** Whether there are several hosts of each service: then a consumer group deals the work out. */
function isCluster({ apis }: Ports): boolean {
  return apis.length > 0
}

function brokersOf({ brokers, kafka }: Ports): string {
  return (brokers.length > 0 ? brokers.map(({ advertised }) => advertised) : [kafka])
    .map((port) => `${HOST}:${port}`)
    .join(',')
}

/** `feeds` of one host, `feeds-1` and on of several. */
function namesOf(role: string, hosts: readonly number[]): string[] {
  return hosts.length === 1 ? [role] : hosts.map((_, index) => `${role}-${index + 1}`)
}

function storesOf({ folder, ports, external, simulator, mode, onProgress, ...options }: SystemOptions): Part[][] {
  const filesOf = (name: string): { dataDir: string; logFile: string; onProgress: (line: string) => void } => ({
    dataDir: path.join(folder.mode, name),
    logFile: path.join(folder.logs, `${name}.log`),
    onProgress: (line) => onProgress(`${name}: ${line}`),
  })
  const memory = memoryOf(options.forgetsAfterMs)
  const nodes = external.brokers === undefined ? ports.brokers : []
  const idFile = path.join(folder.mode, 'cluster-id')
  const links = nodes.map(({ advertised, port }, index): Part => {
    const name = `link-${index + 1}`
    return { name, start: () => startForward(name, filesOf(name).logFile, advertised, [port]) }
  })
  const brokers = nodes.map(({ port }, index): Part => {
    const name = `broker-${index + 1}`
    const cluster = { nodes, node: index + 1, idFile }
    return { name, start: () => startBroker({ ...filesOf(name), port, cluster, ...memory }) }
  })
  const registry: Part = {
    name: 'registry',
    start: () =>
      startRegistry({
        ...filesOf('registry'),
        port: ports.registry,
        ...(nodes.length > 0 && { brokers: brokersOf(ports) }),
      }),
  }
  const ownRegistry = external.registryUrl === undefined ? [registry] : []
  const parts: (Part | false)[] = [
    external.brokers === undefined &&
      nodes.length === 0 && {
        name: 'broker',
        start: () => startBroker({ ...filesOf('broker'), port: ports.kafka, ...memory }),
      },
    external.clickhouseUrl === undefined && {
      name: 'clickhouse',
      start: async () => {
        const around = filesOf('clickhouse')
        const clickhouse = await startClickhouse({ ...around, port: ports.clickhouse, env: options.password })
        lowerCpuShare(clickhouse.pid, around.onProgress)
        return clickhouse
      },
    },
    mode !== 'live' &&
      !options.rehearse && {
        name: 'simulator',
        start: () => startSimulator({ ...filesOf('simulator'), port: ports.simulator, env: simulator }),
      },
    options.payments === 'local' && {
      name: 'chain',
      start: async () => {
        const { startChain } = await import('./chain/start.ts') // what it needs takes a second to load
        return startChain({ ...filesOf('chain'), port: ports.chain, blockSeconds: options.blockSeconds })
      },
    },
  ]
  const others = parts.filter((part) => part !== false)
  return nodes.length === 0 ? [[...ownRegistry, ...others]] : [links, [...brokers, ...others], ownRegistry]
}

/** A forward as a part: its `url` is where it listens. */
function startForward(name: string, logFile: string, port: number, targets: readonly number[]): Promise<Child> {
  const [node, ...program] = nodeProgram(programFile('infra/local/forward-main.ts'))
  return startChild({
    name,
    command: [node, ...program, String(port), ...targets.map(String)],
    logFile,
    ready: 'message',
    readyWithinMs: READY_MS,
    stopWithinMs: STOP_MS,
  })
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
  const feeds = (name: string): Record<string, string> => ({
    ...simulated,
    ...lyingClock(mode),
    FEED_NAME: name,
    FEED_CLOCK: feedClock,
    FRAMES_DIR: path.join(folder.mode, name === 'feeds' ? 'frames' : `frames-${name}`),
    ARCHIVE_DIR: path.join(folder.mode, name === 'feeds' ? 'archives' : `archives-${name}`),
  })
  const paid = payments !== 'off'
  const wallet = payments === 'local' ? localWallet : {}
  // Live webhooks go to public receivers, vouched for by public authorities.
  const receiver = mode === 'live' ? {} : { WEBHOOK_CA_FILE: receiverCaFile(folder.mode) }
  const roles = rolesOf(options)
  const peers = peersOf(ports, roles, paid)
  const hosts = (role: Role, main: string, more: (name: string) => Record<string, string>): Part[] =>
    (roles.includes(role) ? namesOf(role, ports[role]) : []).map((name, index) =>
      service(name, main, { OPS_PORT: String(ports[role][index]), ...more(name) }),
    )
  const api = (name: string, port: number): Part =>
    service(name, 'api/main.ts', { API_PORT: String(port), API_SERVICES: peers, ...secret })
  const apis = namesOf('api', ports.apis).map((name, index) => api(name, ports.apis[index] ?? 0))
  const balancer: Part = {
    name: 'api',
    start: () => startForward('api', path.join(folder.logs, 'api.log'), ports.api, ports.apis),
  }
  return [
    ...hosts('processors', 'processors/main.ts', () => ({})),
    ...hosts('webhooks', 'processors/webhooks/main.ts', () => ({ ...secret, ...receiver })),
    ...(paid
      ? [service('payments', 'processors/payments/main.ts', { OPS_PORT: String(ports.payments), ...wallet })]
      : []),
    ...hosts('feeds', 'processors/feeds/main.ts', feeds),
    ...(isCluster(ports) ? [...apis, balancer] : [api('api', ports.api)]),
    service('console', 'api/console/main.ts', {
      CONSOLE_PORT: String(ports.console),
      API_SERVICES: `${peers},api=${urlAt(ports.api)}`,
      ...secret,
    }),
  ]
}

type Role = 'feeds' | 'processors' | 'webhooks'

function rolesOf({ rehearse, mode }: SystemOptions): Role[] {
  if (!rehearse) return ['feeds', 'processors', 'webhooks']
  return mode === 'live' ? ['feeds', 'processors'] : ['processors']
}

/** Whose metrics the API tells beside its own. */
function peersOf(ports: Ports, roles: readonly Role[], paid: boolean): string {
  const hosts = roles.flatMap((role) =>
    namesOf(role, ports[role]).map((name, index) => `${name}=${urlAt(ports[role][index] ?? 0)}`),
  )
  return [...hosts, ...(paid ? [`payments=${urlAt(ports.payments)}`] : [])].join(',')
}

const LYING_CLOCK = new URL('lying-clock.ts', import.meta.url).href

/** What lets chaos put the clock of a demo's feeds wrong. */
function lyingClock(mode: Mode): Record<string, string> {
  if (mode === 'live') return {}
  const given = process.env['NODE_OPTIONS'] ?? ''
  return { NODE_OPTIONS: `${given} --import=${LYING_CLOCK}`.trim() }
}

/** Has what every system runs compiled, before any of it starts. */
export function compileServices(): Promise<void> {
  const services = ['processors', 'processors/webhooks', 'processors/feeds', 'api', 'api/console', 'infra/simulator']
  const mains = [...services, 'infra/local/clickhouse'].map((folder) => programFile(`${folder}/main.ts`))
  return compilePrograms(mains, LYING_CLOCK)
}

/** Starts one of our own programs and waits until it says that it is ready. */
function startService(folder: DataFolder, name: string, main: string, env: Record<string, string>): Promise<Child> {
  const spec: ChildSpec = {
    name,
    command: nodeProgram(programFile(main)),
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
