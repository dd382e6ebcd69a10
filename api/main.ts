import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { ConfigError, readConfig, type Config } from '../infra/config/config.ts'
import { serviceSecrets, serviceSecretSettings } from '../infra/config/service-secret.ts'
import type { SettingName } from '../infra/config/settings.ts'
import { listen } from '../infra/http/ops.ts'
import { loadCodec } from '../infra/kafka/codec.ts'
import { connectLog } from '../infra/kafka/kafkajs.ts'
import type { Log } from '../infra/kafka/seam.ts'
import { runService, sayReady } from '../infra/lifecycle.ts'
import type { Logger } from '../infra/log.ts'
import { knownAsset, knownAssets } from '../schemas/catalogue.ts'
import { readTerms, termsSettings } from '../processors/payments/terms.ts'
import { reachOf } from '../processors/webhooks/address.ts'
import { testLimit, type Alerts } from './alerts/alerts.ts'
import { KafkaAlerts } from './alerts/kafka-alerts.ts'
import { keepWanted } from './alerts/keep-wanted.ts'
import { createApp } from './app.ts'
import { openDatabase } from './clickhouse.ts'
import { RateLimiter } from './limits.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { openPayments } from './payments/open.ts'
import type { Payments } from './payments/payments.ts'
import { peersOf } from './peers.ts'
import { routes } from './routes.ts'
import { createServices, type Services } from './services.ts'
import { wantWriter, type LogAccess } from './want-writer.ts'
import { Wants, type WriteWant } from './wants.ts'

const settings = [
  ...termsSettings,
  'NAMESPACE',
  'PARTITIONS',
  'KAFKA_BROKERS',
  'SCHEMA_REGISTRY_URL',
  'CLICKHOUSE_URL',
  'CLICKHOUSE_USER',
  'CLICKHOUSE_PASSWORD',
  'CLICKHOUSE_DATABASE',
  'API_HOST',
  'API_PORT',
  'API_SERVICES',
  'API_IN_FLIGHT_MAX',
  'RATE_LIMIT_PER_SECOND',
  'RATE_LIMIT_BURST',
  'TRUST_PROXY',
  'SYMBOLS',
  'ALERT_CONTROL',
  'WEBHOOK_ALLOW_PRIVATE',
  ...serviceSecretSettings,
] as const satisfies readonly SettingName[]

type ApiConfig = Config<(typeof settings)[number]>

/** Callers whose rate is remembered. */
const CALLERS_MAX = 100_000
/** Open connections; more are refused by the socket. */
const CONNECTIONS_MAX = 10_000
/** A request must have come this far by then, milliseconds. */
const HEADERS_DEADLINE_MS = 5_000
const REQUEST_DEADLINE_MS = 10_000
/** The caller waits for the log; a want that comes too late is not worth the wait, milliseconds. */
const WANT_DEADLINE_MS = 3_000
/** Requests that are being answered at a stop get this long, milliseconds. */
const DRAIN_MS = 3_000

await runService({
  name: 'api',
  says: 'answers over HTTP from ClickHouse’s views and asks the feeds for symbols that nobody streams yet',
  settings,
  async start(log) {
    const config = readConfig(process.env, settings)
    const metrics = createMetrics()
    const database = openDatabase(databaseOptions(config), metrics)
    const toClose: { close(): Promise<void> }[] = [database]
    const write = counted(
      metrics,
      wantWriter(() => openLog(config, log, toClose)),
    )
    const alerts = openAlerts(config, log, toClose)
    const payments = await payable(config, log, toClose)
    const wants = new Wants(write)
    const services = createServices({ ...partsOf(config), log, metrics, database, alerts, payments, wants })
    const keeping = keepWanted(services)
    const server = await serve(config, services)
    return async () => {
      keeping.stop()
      await drain(server)
      await Promise.all(toClose.map((part) => part.close()))
    }
  },
})

function openAlerts(config: ApiConfig, log: Logger, toClose: { close(): Promise<void> }[]): Alerts {
  const secrets = serviceSecrets(config)
  const {
    KAFKA_BROKERS: brokers,
    NAMESPACE: namespace,
    SCHEMA_REGISTRY_URL: registryUrl,
    PARTITIONS: partitions,
  } = config
  const kafka = new KafkaAlerts({ brokers, namespace, registryUrl, partitions, log, now: Date.now })
  toClose.push(kafka)
  return {
    log: kafka,
    secrets,
    control: config.ALERT_CONTROL === 'open' ? 'open' : 'token',
    reach: reachOf({ mode: config.MODE, allowPrivate: config.WEBHOOK_ALLOW_PRIVATE }),
    tests: new RateLimiter(testLimit),
  }
}

/** The gate, where routes are paid for; refuses to start on settings that would let money go astray. */
async function payable(
  config: ApiConfig,
  log: Logger,
  toClose: { close(): Promise<void> }[],
): Promise<Payments | null> {
  const read = readTerms(config)
  if (read.is === 'wrong') throw new ConfigError(read.problems.join('\n'))
  if (read.is === 'off') {
    log.warn('PAYMENTS=off: every route is free for everyone who reaches it')
    return null
  }
  const { KAFKA_BROKERS: brokers, NAMESPACE: namespace, SCHEMA_REGISTRY_URL: registryUrl } = config
  const ownUrl = `http://${config.API_HOST}:${config.API_PORT}`
  const { terms } = read
  const payments = await openPayments({ terms, ownUrl, brokers, namespace, registryUrl, log, now: Date.now })
  toClose.push(payments)
  const { network, payTo } = terms.seller
  log.info({ network: network.caip2, payTo, mode: terms.mode }, 'routes are paid for')
  return payments
}

function counted({ wants }: Metrics, write: WriteWant): WriteWant {
  return async (asset, times) => {
    try {
      await write(asset, times)
      wants.inc({ result: 'written' })
    } catch (error) {
      wants.inc({ result: 'failed' })
      throw error
    }
  }
}

function databaseOptions(config: ApiConfig): Parameters<typeof openDatabase>[0] {
  return {
    url: config.CLICKHOUSE_URL,
    user: config.CLICKHOUSE_USER,
    password: config.CLICKHOUSE_PASSWORD,
    database: config.CLICKHOUSE_DATABASE,
  }
}

function partsOf(
  config: ApiConfig,
): Pick<Services, 'mode' | 'version' | 'partitions' | 'preSubscribed' | 'peers' | 'now'> {
  const { MODE } = config
  const streamed = knownAssets.filter((asset) => asset.streamed === true).map(({ id }) => id)
  const named = config.SYMBOLS.map((symbol) => knownAsset(symbol)?.id ?? symbol.toLowerCase())
  return {
    mode: MODE === 'live' || MODE === 'tape' ? MODE : 'demo',
    version: packageVersion(),
    partitions: config.PARTITIONS,
    preSubscribed: new Set(named.length === 0 ? streamed : named),
    peers: peersOf(config.API_SERVICES),
    now: Date.now,
  }
}

function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return version
}

async function openLog(config: ApiConfig, log: Logger, toClose: { close(): Promise<void> }[]): Promise<LogAccess> {
  const codec = await loadCodec(config.SCHEMA_REGISTRY_URL)
  const kafka: Log = await connectLog({
    brokers: config.KAFKA_BROKERS,
    namespace: config.NAMESPACE,
    clientId: 'api',
    log,
    giveUpMs: WANT_DEADLINE_MS,
  })
  toClose.push(kafka)
  return { writer: kafka.writer(), codec }
}

async function serve(config: ApiConfig, services: Services): Promise<Server> {
  const limiter = new RateLimiter({
    perSecond: config.RATE_LIMIT_PER_SECOND,
    burst: config.RATE_LIMIT_BURST,
    callersMax: CALLERS_MAX,
  })
  const options = { services, limiter, inFlightMax: config.API_IN_FLIGHT_MAX, trustProxy: config.TRUST_PROXY }
  const handle = createApp(routes, options).callback()
  const server = createServer(
    { headersTimeout: HEADERS_DEADLINE_MS, requestTimeout: REQUEST_DEADLINE_MS },
    (request, response) => void handle(request, response),
  )
  server.maxConnections = CONNECTIONS_MAX
  const port = await listen(server, config.API_HOST, config.API_PORT)
  const url = `http://${config.API_HOST}:${port}`
  services.log.info({ url, mode: services.mode }, 'listening')
  sayReady(url)
  return server
}

/** Stops listening; what is being answered gets its time. */
function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
    server.close(() => {
      clearTimeout(cut)
      resolve()
    })
    server.closeIdleConnections()
  })
}
