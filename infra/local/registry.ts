import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ask } from '../http/ask.ts'
import type { Child } from './child.ts'
import { ensureTools, QUICK_COMPILER, startJava, type Tools } from './java.ts'
import { cacheFolder, fetchRegistry } from './maven.ts'
import { startOnPorts } from './ports.ts'

const HOST = '127.0.0.1'
const PROBE_MS = 2_000
const SUBJECTS_BYTES_MAX = 4_000_000
const READY_MS = 90_000
/** A clean stop takes about 1 s; the first one also writes the class archive. */
const STOP_MS = 15_000
/** What its start drops is collected by this much; left to itself it takes more, and keeps it while nothing asks. */
const YOUNG_HEAP = '-Xmn8m'

export interface RegistryOptions {
  readonly dataDir: string
  /** 0: any free one. */
  readonly port: number
  readonly logFile: string
  readonly onProgress: (line: string) => void
  /** Keeps its data in topics of these brokers, which are there already; left out: in a file. */
  readonly brokers?: string
}

/**
 * Starts Apicurio Registry on loopback with its data in an H2 file, or in Kafka; resolves when it answers. `url` is the base of its
 * Confluent-compatible API.
 */
export async function startRegistry(options: RegistryOptions): Promise<Child> {
  const { onProgress, logFile } = options
  const dataDir = resolve(options.dataDir)
  const tools = await ensureTools({ onProgress })
  const cache = cacheFolder()
  const jar = await fetchRegistry({ maven: tools.maven, cache, onProgress })
  await mkdir(dataDir, { recursive: true })
  const launched = { tools, cache, dataDir, logFile, brokers: options.brokers }
  return startOnPorts({ 'Schema registry': options.port }, (port) => launch(port, jar, launched))
}

interface Launched {
  readonly tools: Tools
  readonly cache: string
  readonly dataDir: string
  readonly logFile: string
  readonly brokers: string | undefined
}

function launch(port: number, jar: string, { brokers, ...launched }: Launched): Promise<Child> {
  const url = `http://${HOST}:${port}/apis/ccompat/v7`
  const settings = {
    'quarkus.http.host': HOST,
    'quarkus.http.port': port,
    'quarkus.log.level': 'WARN',
    'quarkus.http.access-log.enabled': false,
    'quarkus.banner.enabled': false,
    ...(brokers === undefined ? fileStorage(launched.dataDir) : kafkaStorage(brokers)),
  }
  return startJava({
    ...launched,
    name: 'registry',
    args: [
      QUICK_COMPILER,
      YOUNG_HEAP,
      ...Object.entries(settings).map(([name, value]) => `-D${name}=${value}`),
      '-jar',
      jar,
    ],
    ready: async () => ((await answers(url)) ? url : undefined),
    readyWithinMs: READY_MS,
    stopWithinMs: STOP_MS,
  })
}

type Settings = Readonly<Record<string, string | number | boolean>>

function fileStorage(dataDir: string): Settings {
  return {
    // WRITE_DELAY: an id that was given must outlive a kill, since records carry it; by default half a second may be lost
    'apicurio.datasource.url': `jdbc:h2:file:${join(dataDir, 'registry')};WRITE_DELAY=0`,
    'apicurio.datasource.jdbc.initial-size': 1,
    'apicurio.datasource.jdbc.min-size': 1,
    'apicurio.datasource.jdbc.max-size': 10,
  }
}

/** The topics are as many times there as the brokers keep a topic that does not say. */
function kafkaStorage(brokers: string): Settings {
  return { 'apicurio.storage.kind': 'kafkasql', 'apicurio.kafkasql.bootstrap.servers': brokers }
}

async function answers(url: string): Promise<boolean> {
  return ask(`${url}/subjects`, { withinMs: PROBE_MS, bytesMax: SUBJECTS_BYTES_MAX }).then(
    ({ status }) => status === 200,
    () => false,
  )
}
