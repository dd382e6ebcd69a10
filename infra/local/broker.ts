import { randomBytes } from 'node:crypto'
import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { brokerAnswers } from '../kafka/admin.ts'
import type { Child } from './child.ts'
import { ensureTools, javaEnv, QUICK_COMPILER, smallJava, startJava } from './java.ts'
import { cacheFolder, fetchKafka } from './maven.ts'
import { startOnPorts } from './ports.ts'

const run = promisify(execFile)

const HOST = '127.0.0.1'
const FORMAT_MS = 60_000
const READY_MS = 150_000
/** A clean stop takes about 2 s; the first one also writes the class archive. */
const STOP_MS = 15_000
/** What it drops is collected by this much; left to itself the share of the heap is twice as large, however little happens. */
const YOUNG_HEAP = '-Xmn16m'
/** The largest number that the broker takes. */
const FOREVER_MS = 2_147_483_647

/** Of a cluster's broker: how it is reached. All ports are fixed, since the others know them. */
export interface BrokerNode {
  /** Where it takes clients. */
  readonly port: number
  /** Where clients are sent to: its own port, or that of a forward before it. */
  readonly advertised: number
  /** Where the other brokers reach it, past any forward. */
  readonly internal: number
  readonly controller: number
}

/** The nodes of a cluster, each a broker and a controller, numbered from 1; three of them carry on without one. */
interface BrokerCluster {
  readonly nodes: readonly BrokerNode[]
  /** Which of them this is, from 1. */
  readonly node: number
  /** File with the cluster's id, the same for all: a node whose disk was emptied belongs to it again. */
  readonly idFile: string
}

export interface BrokerOptions {
  readonly dataDir: string
  /** 0: any free one; of a cluster's node its own. */
  readonly port: number
  /** Left out: one node alone. */
  readonly cluster?: BrokerCluster | undefined
  /** How long an owner is remembered that gives no sign, milliseconds; default: 24 days. Seconds are for tests. */
  readonly forgetsAfterMs?: number | undefined
  /** When a connection without a word is closed, milliseconds; default: the broker's own 10 minutes. */
  readonly idleMs?: number | undefined
  /** Most that its heap may take, MB; default: enough for the topics of one system. */
  readonly heapMb?: number | undefined
  readonly logFile: string
  readonly onProgress: (line: string) => void
}

/**
 * Starts Apache Kafka as a KRaft node on loopback, alone or one of a cluster; resolves when it answers, of a new cluster
 * when most of it does. `url` is host:port.
 *
 * The first start fetches the jars and formats the folder. A start after kill -9 takes some seconds: the old
 * registration must expire and the logs are recovered.
 */
export async function startBroker(options: BrokerOptions): Promise<Child> {
  const { onProgress, logFile, heapMb } = options
  const heap = heapMb === undefined ? [] : [`-Xmx${heapMb}m`]
  const dataDir = resolve(options.dataDir)
  const tools = await ensureTools({ onProgress })
  const cache = cacheFolder()
  const jars = await fetchKafka({ maven: tools.maven, cache, onProgress })
  const files = { properties: join(dataDir, 'server.properties'), logging: join(dataDir, 'log4j2.properties') }
  await mkdir(dataDir, { recursive: true })
  await writeFile(files.logging, logging)
  const common = [`-Dlog4j2.configurationFile=${files.logging}`, '-cp', jars.join(':')]
  const start = async (port: number, controllerPort: number): Promise<Child> => {
    const alone = { nodes: [{ port, advertised: port, internal: 0, controller: controllerPort }], node: 1 }
    const cluster = { idFile: join(dataDir, 'cluster-id'), ...(options.cluster ?? alone) }
    await writeFile(files.properties, serverProperties(cluster, join(dataDir, 'log')) + memory(options))
    const storageTool = [...smallJava(tools), QUICK_COMPILER, ...common, 'kafka.tools.StorageTool']
    await format(dataDir, cluster.idFile, storageTool, files.properties, onProgress)
    const url = `${HOST}:${port}`
    return startJava({
      name: options.cluster === undefined ? 'broker' : `broker-${options.cluster.node}`,
      archive: 'broker',
      tools,
      cache,
      dataDir,
      args: [YOUNG_HEAP, ...heap, '-XX:+ExitOnOutOfMemoryError', ...common, 'kafka.Kafka', files.properties],
      logFile,
      ready: async () => ((await brokerAnswers(url)) ? url : undefined),
      readyWithinMs: READY_MS,
      stopWithinMs: STOP_MS,
    })
  }
  const own = options.cluster?.nodes[options.cluster.node - 1]
  return startOnPorts({ Kafka: own?.port ?? options.port, 'Kafka controller': own?.controller ?? 0 }, start)
}

/** Formats the storage at the first start. The cluster id is kept before, so that a cut format can be done again. */
async function format(
  dataDir: string,
  idFile: string,
  [java = 'java', ...args]: readonly string[],
  properties: string,
  onProgress: (line: string) => void,
): Promise<void> {
  const done = join(dataDir, 'formatted')
  if (existsSync(done)) return
  onProgress('formatting the storage of Kafka')
  if (!existsSync(idFile)) writeFileSync(idFile, clusterId()) // in one turn: nodes of a cluster start side by side
  const id = await readFile(idFile, 'utf8')
  const options = { timeout: FORMAT_MS, env: { ...process.env, ...javaEnv() } }
  await run(java, [...args, 'format', '--ignore-formatted', '-t', id, '-c', properties], options)
  await writeFile(done, '')
}

/** 16 random bytes as Kafka writes them; a leading dash would be read as an option. */
function clusterId(): string {
  const id = randomBytes(16).toString('base64url')
  return id.startsWith('-') ? clusterId() : id
}

/** A change is taken when two of three replicas have it. */
const REPLICAS_MAX = 3

/** How many brokers keep each record of a cluster of so many. */
export function replicationOf(brokers: number): number {
  return Math.min(brokers, REPLICAS_MAX)
}

/**
 * Loopback, small buffers. `log.retention.ms=-1`: records carry event time, so that any age limit would
 * delete a tape of last year at once. The short broker session is what makes a start after kill -9 quick; in a cluster,
 * what makes another the leader.
 */
function serverProperties({ nodes, node }: Pick<BrokerCluster, 'nodes' | 'node'>, logDir: string): string {
  const own = nodes[node - 1]
  if (own === undefined) throw new Error(`no broker ${node} among ${nodes.length}`)
  const { port, advertised, internal, controller } = own
  const between = nodes.length > 1 ? ['INTERNAL'] : []
  const addresses = (client: number): string =>
    [`PLAINTEXT://${HOST}:${client}`, ...between.map((name) => `${name}://${HOST}:${internal}`)].join(',')
  const replicas = replicationOf(nodes.length)
  const inSync = replicas > 2 ? 2 : 1
  return `process.roles=broker,controller
node.id=${node}
controller.quorum.voters=${nodes.map((each, index) => `${index + 1}@${HOST}:${each.controller}`).join(',')}
listeners=${addresses(port)},CONTROLLER://${HOST}:${controller}
advertised.listeners=${addresses(advertised)}
controller.listener.names=CONTROLLER
inter.broker.listener.name=${between[0] ?? 'PLAINTEXT'}
listener.security.protocol.map=${['CONTROLLER', 'PLAINTEXT', ...between].map((name) => `${name}:PLAINTEXT`).join(',')}
log.dirs=${escaped(logDir)}
default.replication.factor=${replicas}
min.insync.replicas=${inSync}
offsets.topic.replication.factor=${replicas}
offsets.topic.num.partitions=4
offsets.topic.segment.bytes=8388608
transaction.state.log.replication.factor=${replicas}
transaction.state.log.min.isr=${inSync}
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=${replicas}
share.coordinator.state.topic.min.isr=${inSync}
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=500
auto.create.topics.enable=false
metadata.max.idle.interval.ms=5000
num.network.threads=2
num.io.threads=4
background.threads=4
log.retention.ms=-1
log.cleaner.dedupe.buffer.size=8388608
log.index.size.max.bytes=1048576
`
}

/** As Java reads a value of a .properties file: in ISO-8859-1. */
function escaped(value: string): string {
  return value
    .replaceAll('\\', '\\\\')
    .replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * What the broker remembers of owners and of what their claims keep out. The latter goes by the time of records, so that
 * it is never forgotten.
 */
function memory({ forgetsAfterMs = FOREVER_MS, idleMs }: BrokerOptions): string {
  return `producer.id.expiration.ms=${FOREVER_MS}
producer.id.expiration.check.interval.ms=${FOREVER_MS}
transactional.id.expiration.ms=${forgetsAfterMs}
transaction.remove.expired.transaction.cleanup.interval.ms=${Math.min(Math.ceil(forgetsAfterMs / 10), 3_600_000)}
${idleMs === undefined ? '' : `connections.max.idle.ms=${idleMs}\n`}`
}

const logging = `status=warn
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{ISO8601} %p %c{1} %m%n
rootLogger.level=warn
rootLogger.appenderRef.out.ref=out
`
