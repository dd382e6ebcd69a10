import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync, readFileSync, statfsSync } from 'node:fs'
import path from 'node:path'
import { checkSettings, ConfigError, readConfig, settingsHelp } from '../infra/config/config.ts'
import { consoleToken, consoleTokenSettings, serviceSecrets, serviceSecretSettings } from '../infra/config/secrets.ts'
import { settings, type SettingName } from '../infra/config/settings.ts'
import { sayReady } from '../infra/lifecycle.ts'
import type { BrokerNode } from '../infra/local/broker.ts'
import { startControl, Supervisor, type Part } from '../infra/local/supervisor.ts'
import { DataFolderError, openDataFolder, type DataFolder } from '../infra/local/data-folder.ts'
import { ensureTools } from '../infra/local/java.ts'
import { cacheFolder, fetchKafka, fetchRegistry } from '../infra/local/maven.ts'
import { freePorts, reservePort } from '../infra/local/ports.ts'
import { NoOpensslError, receiverCertificate } from '../infra/local/receiver/certificate.ts'
import { removeRunFile, roleOf, writeRunFile, type RunningPart } from '../infra/local/run-file.ts'
import { ensureSecret } from '../infra/local/secrets.ts'
import { readTerms, termsSettings } from '../processors/payments/terms.ts'
import {
  compileServices,
  describeSystem,
  programFile,
  type Ports,
  type System,
  type SystemOptions,
} from '../infra/local/system.ts'
import { UsageError } from './command/command.ts'
import { readOptions, usage, type Payments, type PortName, type StartOptions } from './start/options.ts'
import { pastOf, tellPast } from './start/past.ts'
import { openTables, tellTables } from './start/tables.ts'
import { farewell, greeting } from './start/words.ts'

const PREPARE_MS = 240_000
const FREE_BYTES_WARN = 1024 * 1024 * 1024

/** npm passes on the SIGINT of a Ctrl-C that the terminal has sent to us as well: that is one wish, not two. */
const ECHO_MS = 1_000

const began = performance.now()

/** `npm start`: the whole system on this machine, until it is told to stop. */
async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2))
  if (options === undefined) {
    console.log(`${usage}\n\nEnvironment:\n${settingsHelp(Object.keys(settings) as SettingName[])}`)
    return
  }
  checkGiven(options, process.env)
  const payments = await choosePayments(options)
  const folder = await openDataFolder(options.data, options.mode, options.fresh, {
    partitions: partitionsAsked(),
    brokers: options.brokers,
    rehearse: options.rehearse,
  })
  process.once('exit', () => folder.release())
  for (const name of folder.ended) say(`${name}: ended, an earlier start had left it running`)
  removeRunFile(folder.root)
  await run({ ...options, payments }, folder)
}

/** What a part would refuse only once the stores are up. MODE is said by our flags. */
function checkGiven({ tape, rehearse }: StartOptions, env: NodeJS.ProcessEnv): void {
  checkSettings(env, ['MODE'])
  consoleToken(readConfig(env, consoleTokenSettings))
  if (env['SERVICE_SECRET'] || env['SERVICE_SECRET_FILE']) serviceSecrets(readConfig(env, serviceSecretSettings))
  if (rehearse && Object.keys(externalParts()).length > 0)
    throw new UsageError(
      'a rehearsal has parts of its own: unset KAFKA_BROKERS, SCHEMA_REGISTRY_URL and CLICKHOUSE_URL',
    )
  if (tape !== undefined && !existsSync(tape)) throw new UsageError(`--tape ${tape}: there is no such file or folder`)
}

/** Undefined: as the data folder has, or as suits this machine. */
function partitionsAsked(): number | undefined {
  return process.env['PARTITIONS'] === undefined ? undefined : readConfig(process.env, ['PARTITIONS']).PARTITIONS
}

type Chosen = StartOptions & { readonly payments: Payments }

/** Each part is cut at our exit by a listener of its own. */
const LISTENERS_MAX = 64

async function run(options: Chosen, folder: DataFolder): Promise<void> {
  process.setMaxListeners(LISTENERS_MAX)
  const external = externalParts()
  const ports = await choosePorts(options, external)
  const system = describeSystem({ ...systemOptions(options, folder, ports), external })
  const keeper = keep(options, folder, system.external)
  const { supervisor } = keeper
  stopOnSignal(supervisor, folder)
  const control = await startControl(supervisor)
  await Promise.all([fetchParts(system), compileServices().catch(sayUncompiled)])
  for (const wave of system.stores) await Promise.all(wave.map((part) => begin(supervisor, part)))
  const read = performance.now()
  await prepare(system, folder)
  if (options.mode !== 'live') await makeReceiverCertificate(folder)
  await Promise.all(system.services.map((part) => begin(supervisor, part)))
  keeper.ready({ name: 'supervisor', pid: process.pid, url: control.url })
  console.log(greeting(options, keeper.running(), seconds()))
  sayReady(`http://127.0.0.1:${ports.api}`)
  if (system.services.some(({ name }) => roleOf(name) === 'feeds'))
    void tellPast(pastOf(`http://127.0.0.1:${ports.api}`), say)
  void tellTables(() => openTables({ ...process.env, ...system.env }, folder.partitions), say, read)
}

/** Where the cache cannot be written, say: each program then compiles itself, which takes time and memory. */
function sayUncompiled(error: unknown): void {
  say(`programs are not compiled ahead: ${error instanceof Error ? error.message : String(error)}`)
}

function systemOptions(options: Chosen, folder: DataFolder, ports: Ports): Omit<SystemOptions, 'external'> {
  const { seed, rate, tape, speed, retime, faults } = options
  const given = { SIMULATOR_SEED: seed, SIMULATOR_RATE: rate, SIMULATOR_TAPE: tape, SIMULATOR_SPEED: speed }
  const simulator = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const switches = { ...(retime && { SIMULATOR_RETIME: '1' }), ...(faults && { SIMULATOR_FAULTS: '1' }) }
  const local = readConfig(process.env, ['CHAIN_BLOCK_SECONDS', 'BROKER_FORGETS_SECONDS'])
  return {
    mode: options.mode,
    rehearse: options.rehearse,
    folder,
    ports,
    simulator: { ...Object.fromEntries(simulator), ...switches },
    secret: ensureSecret(folder, 'SERVICE_SECRET', process.env),
    password: ensureSecret(folder, 'CLICKHOUSE_PASSWORD', process.env),
    feedClock: options.mode === 'tape' && !retime ? 'tape' : 'host',
    payments: options.payments,
    facilitator: readConfig(process.env, ['PAYMENT_FACILITATOR_URL']).PAYMENT_FACILITATOR_URL,
    blockSeconds: local.CHAIN_BLOCK_SECONDS,
    forgetsAfterMs: local.BROKER_FORGETS_SECONDS * 1_000,
    onProgress: say,
  }
}

/** As the flag says, else the environment; a real network whose settings cannot be right is refused before anything starts. */
async function choosePayments({ payments, mode }: StartOptions): Promise<Payments> {
  const env = { ...process.env, MODE: mode, ...(payments && { PAYMENTS: payments }) }
  const { PAYMENTS: chosen } = readConfig(env, ['PAYMENTS'])
  if (chosen !== 'x402') return chosen === 'local' ? 'local' : 'off'
  const terms = await readTerms(readConfig(env, termsSettings))
  if (terms.is === 'wrong') throw new ConfigError(terms.problems.join('\n'))
  return chosen
}

/** Addresses that the environment names replace the local parts. */
function externalParts(): SystemOptions['external'] {
  const env = process.env
  const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL, CLICKHOUSE_URL } = readConfig(env, [
    'KAFKA_BROKERS',
    'SCHEMA_REGISTRY_URL',
    'CLICKHOUSE_URL',
  ])
  return {
    ...(env['KAFKA_BROKERS'] !== undefined && { brokers: KAFKA_BROKERS.join(',') }),
    ...(env['SCHEMA_REGISTRY_URL'] !== undefined && { registryUrl: SCHEMA_REGISTRY_URL }),
    ...(env['CLICKHOUSE_URL'] !== undefined && { clickhouseUrl: CLICKHOUSE_URL }),
  }
}

/** Names of the ports as people know the parts behind them. */
const wantedBy: Readonly<Record<PortName, string>> = {
  api: 'the API',
  console: 'the console',
  clickhouse: 'ClickHouse',
  kafka: 'Kafka',
  registry: 'the schema registry',
}

/** Of the parts that have one each; a broker of a cluster has three of its own. */
const PORTS_OF_ONE = 8

async function choosePorts(
  { ports, brokers, hosts, processorHosts }: StartOptions,
  external: SystemOptions['external'],
): Promise<Ports> {
  const isCluster = brokers > 1
  const free = await freePorts(PORTS_OF_ONE + 3 * hosts + processorHosts + (isCluster ? 4 * brokers : 0))
  const next = (): number => free.pop() ?? 0
  const several = (count: number): number[] => Array.from({ length: count }, next)
  const elsewhere: Readonly<Partial<Record<PortName, string | undefined>>> = {
    kafka: external.brokers,
    registry: external.registryUrl,
    clickhouse: external.clickhouseUrl,
  }
  const take = async (name: keyof Ports & PortName): Promise<number> => {
    const port = ports[name] ?? next()
    if (elsewhere[name] !== undefined) return port
    await reservePort(port, wantedBy[name]).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error)
      throw new UsageError(`${message}; free it, or choose another with --${name}-port N (or --ports auto)`)
    })
    return port
  }
  const kafka = await take('kafka')
  const node = (_: unknown, index: number): BrokerNode => {
    return { advertised: index === 0 ? kafka : next(), port: next(), internal: next(), controller: next() }
  }
  return {
    api: await take('api'),
    console: await take('console'),
    clickhouse: await take('clickhouse'),
    kafka,
    registry: await take('registry'),
    simulator: next(),
    feeds: several(hosts),
    processors: several(processorHosts),
    webhooks: several(hosts),
    apis: isCluster ? several(hosts) : [],
    brokers: isCluster && external.brokers === undefined ? Array.from({ length: brokers }, node) : [],
    payments: next(),
    chain: next(),
  }
}

/** What keeps the parts running, and writes run.json from the moment that all are ready. */
interface Keeper {
  readonly supervisor: Supervisor
  ready(self: RunningPart): void
  running(): RunningPart[]
}

function keep(options: StartOptions, folder: DataFolder, external: readonly RunningPart[]): Keeper {
  let self: RunningPart | undefined
  const running = (): RunningPart[] => [
    ...external,
    ...supervisor
      .parts()
      .flatMap(({ name, pid, url }) => (pid === undefined || url === undefined ? [] : [{ name, pid, url }])),
    ...(self === undefined ? [] : [self]),
  ]
  const changed = (): void => {
    const { root, mode: data, partitions } = folder
    if (self !== undefined) writeRunFile(root, { mode: options.mode, data, partitions, parts: running() })
  }
  const freeBytes = (): number => freeBytesOf(folder.mode)
  const supervisor = new Supervisor({ log: say, changed, freeBytes })
  const ready = (part: RunningPart): void => {
    self = part
    changed()
  }
  if (freeBytes() < FREE_BYTES_WARN) say(`only ${Math.round(freeBytes() / 1e6)} MB are free in ${folder.mode}`)
  return { supervisor, ready, running }
}

function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** Checks Java and Maven and fetches the jars, one after the other, before parts that need them start side by side. */
async function fetchParts(system: System): Promise<void> {
  const names = new Set(system.stores.flat().map((part) => roleOf(part.name)))
  if (!names.has('broker') && !names.has('registry')) return
  const { maven } = await ensureTools({ onProgress: say })
  const fetching = { maven, cache: cacheFolder(), onProgress: say }
  if (names.has('broker')) await fetchKafka(fetching)
  if (names.has('registry')) await fetchRegistry(fetching)
}

/** What the local receiver shows; made before the dispatcher reads whom to trust. */
async function makeReceiverCertificate(folder: DataFolder): Promise<void> {
  try {
    await receiverCertificate(folder.mode, new Date())
  } catch (error) {
    if (!(error instanceof NoOpensslError)) throw error
    say(`npm run receiver will not work: ${error.message}`)
  }
}

async function begin(supervisor: Supervisor, part: Part): Promise<void> {
  say(`${part.name}: starting`)
  const child = await supervisor.start(part)
  say(`${part.name}: ready at ${child.url}`)
}

/** Topics, schemas, layout and migrations, in a process of its own as on a server. */
async function prepare(system: System, folder: DataFolder): Promise<void> {
  say('prepare: topics, schemas and tables')
  const logFile = path.join(folder.logs, 'prepare.log')
  const log = openSync(logFile, 'w')
  const child = spawn(process.execPath, [programFile('infra/prepare.ts')], {
    env: { ...process.env, ...system.env },
    stdio: ['ignore', log, log],
    timeout: PREPARE_MS,
  })
  const end = (): void => void child.kill('SIGKILL')
  process.once('exit', end)
  const [code] = (await once(child, 'exit')) as [number | null]
  process.off('exit', end)
  if (code === 0) return
  const last = readFileSync(logFile, 'utf8').trim().split('\n').slice(-5).join('\n')
  throw new Error(`the log or the tables could not be prepared:\n${last}\nall of it: ${logFile}`)
}

/** The first signal stops everything in order, a second one at once. */
function stopOnSignal(supervisor: Supervisor, folder: DataFolder): void {
  let since: number | undefined
  const onSignal = (signal: NodeJS.Signals | 'disconnect'): void => {
    if (since !== undefined && performance.now() - since < ECHO_MS) return
    if (since !== undefined) process.exit(130)
    since = performance.now()
    if (signal === 'SIGINT') process.stdout.write('\n')
    say('stopping; once more cuts it short')
    void supervisor.stop().then(() => {
      removeRunFile(folder.root)
      console.log(farewell(folder.root))
      process.exit(0)
    })
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  process.on('SIGHUP', onSignal)
  process.on('disconnect', () => onSignal('disconnect'))
  stopAll = () => supervisor.stop()
}

/** Stops what a failed start had already started. */
let stopAll = (): Promise<void> => Promise.resolve()

function say(line: string): void {
  console.log(`[${seconds().padStart(5)} s] ${line}`)
}

function seconds(): string {
  return ((performance.now() - began) / 1000).toFixed(1)
}

try {
  await main()
} catch (error) {
  await stopAll()
  const expected = error instanceof UsageError || error instanceof DataFolderError || error instanceof ConfigError
  console.error(expected ? error.message : error instanceof Error ? `npm start failed: ${error.message}` : error)
  process.exit(expected ? 2 : 1)
}
