import { randomBytes } from 'node:crypto'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { brokerAnswers } from '../kafka/probe.ts'
import type { Child } from './child.ts'
import { ensureTools, QUICK_COMPILER, smallJava, startJava } from './java.ts'
import { cacheFolder, fetchKafka } from './maven.ts'
import { startOnPorts } from './ports.ts'

const run = promisify(execFile)

const HOST = '127.0.0.1'
const FORMAT_MS = 60_000
const READY_MS = 150_000
/** A clean stop takes about 2 s; the first one also writes the class archive. */
const STOP_MS = 15_000
/** The largest number that the broker takes. */
const FOREVER_MS = 2_147_483_647

export interface BrokerOptions {
  readonly dataDir: string
  /** 0: any free one. */
  readonly port: number
  /** 0 or left out: any free one; it may change from start to start. */
  readonly controllerPort?: number
  /** How long an owner is remembered that gives no sign, milliseconds; default: 24 days. Seconds are for tests. */
  readonly forgetsAfterMs?: number | undefined
  /** When a connection without a word is closed, milliseconds; default: the broker's own 10 minutes. */
  readonly idleMs?: number | undefined
  readonly logFile: string
  readonly onProgress: (line: string) => void
}

/**
 * Starts Apache Kafka as one KRaft node on loopback; resolves when it answers. `url` is host:port.
 *
 * The first start fetches the jars and formats the folder. A start after kill -9 takes some seconds: the old
 * registration must expire and the logs are recovered.
 */
export async function startBroker(options: BrokerOptions): Promise<Child> {
  const { onProgress, logFile } = options
  const dataDir = resolve(options.dataDir)
  const tools = await ensureTools({ onProgress })
  const cache = cacheFolder()
  const jars = await fetchKafka({ maven: tools.maven, cache, onProgress })
  const files = { properties: join(dataDir, 'server.properties'), logging: join(dataDir, 'log4j2.properties') }
  await mkdir(dataDir, { recursive: true })
  await writeFile(files.logging, logging)
  const common = [`-Dlog4j2.configurationFile=${files.logging}`, '-cp', jars.join(':')]
  const start = async (port: number, controllerPort: number): Promise<Child> => {
    const properties = serverProperties(port, controllerPort, join(dataDir, 'log'))
    await writeFile(files.properties, properties + memory(options))
    const storageTool = [...smallJava(tools), QUICK_COMPILER, ...common, 'kafka.tools.StorageTool']
    await format(dataDir, storageTool, files.properties, onProgress)
    const url = `${HOST}:${port}`
    return startJava({
      name: 'broker',
      tools,
      cache,
      dataDir,
      args: ['-XX:+ExitOnOutOfMemoryError', ...common, 'kafka.Kafka', files.properties],
      logFile,
      ready: async () => ((await brokerAnswers(url)) ? url : undefined),
      readyWithinMs: READY_MS,
      stopWithinMs: STOP_MS,
    })
  }
  return startOnPorts({ Kafka: options.port, 'Kafka controller': options.controllerPort ?? 0 }, start)
}

/** Formats the storage at the first start. The cluster id is kept before, so that a cut format can be done again. */
async function format(
  dataDir: string,
  [java = 'java', ...args]: readonly string[],
  properties: string,
  onProgress: (line: string) => void,
): Promise<void> {
  const done = join(dataDir, 'formatted')
  if (existsSync(done)) return
  onProgress('formatting the storage of Kafka')
  const idFile = join(dataDir, 'cluster-id')
  if (!existsSync(idFile)) await writeFile(idFile, clusterId())
  const id = await readFile(idFile, 'utf8')
  await run(java, [...args, 'format', '--ignore-formatted', '-t', id, '-c', properties], { timeout: FORMAT_MS })
  await writeFile(done, '')
}

/** 16 random bytes as Kafka writes them; a leading dash would be read as an option. */
function clusterId(): string {
  const id = randomBytes(16).toString('base64url')
  return id.startsWith('-') ? clusterId() : id
}

/**
 * One node, loopback, small buffers. `log.retention.ms=-1`: records carry event time, so that any age limit would
 * delete a tape of last year at once. The short broker session is what makes a start after kill -9 quick.
 */
function serverProperties(port: number, controllerPort: number, logDir: string): string {
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@${HOST}:${controllerPort}
listeners=PLAINTEXT://${HOST}:${port},CONTROLLER://${HOST}:${controllerPort}
advertised.listeners=PLAINTEXT://${HOST}:${port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=${logDir}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
offsets.topic.segment.bytes=8388608
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
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
