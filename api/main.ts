import type { Server } from 'node:http'
import { hostname } from 'node:os'
import { ConfigError, readConfig, type Config } from '../infra/config/config.ts'
import type { SettingName } from '../infra/config/settings.ts'
import { listen } from '../infra/http/ops.ts'
import { clientServer } from '../infra/http/server.ts'
import { runService, sayReady } from '../infra/lifecycle.ts'
import type { Logger } from '../infra/log.ts'
import { readTerms, termsSettings } from '../processors/payments/terms.ts'
import { keepWanted } from './alerts/keep-wanted.ts'
import { tellAnswers } from './request/answer-counts.ts'
import { createApp } from './request/pipeline.ts'
import { allowedHostsOf } from './request/admission.ts'
import { drain, instanceSettings, openLog, openServices, type Closing } from './instance.ts'
import { RateLimiter } from './request/limits.ts'
import { openPayments } from './payments/open.ts'
import type { Payments } from './payments/payments.ts'
import { routes } from './routes.ts'
import type { Services } from './services.ts'
import { Unread } from './log/unread.ts'
import { sharedAccess } from './present/wants.ts'

const settings = [
  ...termsSettings,
  ...instanceSettings,
  'API_HOST',
  'API_PORT',
  'API_IN_FLIGHT_MAX',
  'RATE_LIMIT_PER_SECOND',
  'RATE_LIMIT_BURST',
  'TRUST_PROXY',
  'API_NAMES',
  'KEY_RATE_PER_SECOND',
  'KEY_RATE_BURST',
  'FREE_REQUESTS_PER_DAY',
] as const satisfies readonly SettingName[]

type ApiConfig = Config<(typeof settings)[number]>

/** Callers whose rate is remembered. */
const CALLERS_MAX = 100_000
/** Open connections; more are refused by the socket. */
const CONNECTIONS_MAX = 10_000

await runService({
  name: 'api',
  description: 'answers over HTTP from ClickHouse’s views and asks the feeds for symbols that nobody streams yet',
  settings,
  async start(log) {
    const config = readConfig(process.env, settings)
    const toClose: Closing[] = []
    const unread = new Unread()
    const payments = await payable(config, log, unread)
    const options = { clientId: 'api', payments, toClose, unread }
    const connected = sharedAccess(() => openLog(config, log, options))
    const services = await openServices(config, log, { ...options, connected })
    const keeping = keepWanted(services)
    const server = await serve(config, services)
    const instance = `${hostname()}:${config.API_PORT}`
    const telling = tellAnswers({ instance, counts: services.metrics.answers, connected, log, now: Date.now })
    return async () => {
      keeping.stop()
      services.streams.close()
      await drain(server)
      // What was charged is told side by side with the rest: where the log is away, that waits until the stop is cut.
      const rest = telling.stop().then(() => Promise.all(toClose.map((part) => part.close())))
      await Promise.all([payments?.close(), rest])
    }
  },
})

/** What paid routes work with, where they are paid for; refuses to start on settings that would let money go astray. */
async function payable(config: ApiConfig, log: Logger, unread: Unread): Promise<(Payments & Closing) | null> {
  const read = await readTerms(config)
  if (read.is === 'wrong') throw new ConfigError(read.problems.join('\n'))
  if (read.is === 'off') {
    log.warn('PAYMENTS=off: every route is free for everyone who reaches it')
    return null
  }
  const { KAFKA_BROKERS: brokers, NAMESPACE: namespace, SCHEMA_REGISTRY_URL: registryUrl } = config
  const ownUrl = `http://${config.API_HOST}:${config.API_PORT}`
  const { terms } = read
  const { KEY_RATE_PER_SECOND: perSecond, KEY_RATE_BURST: burst, FREE_REQUESTS_PER_DAY: freePerDay } = config
  const limits = { perSecond, burst, freePerDay }
  const access = { brokers, namespace, registryUrl, log, now: Date.now, unread }
  const payments = await openPayments({ terms, ownUrl, limits, ...access })
  const { network, payTo } = terms.seller
  log.info({ network: network.caip2, payTo, mode: terms.mode }, 'routes are paid for')
  return payments
}

async function serve(config: ApiConfig, services: Services): Promise<Server> {
  const limiter = new RateLimiter({
    perSecond: config.RATE_LIMIT_PER_SECOND,
    burst: config.RATE_LIMIT_BURST,
    callersMax: CALLERS_MAX,
  })
  const { API_HOST: host, API_NAMES: names, PAYMENT_PUBLIC_URL: publicUrl, TRUST_PROXY: trustProxy } = config
  const allowedHosts = allowedHostsOf({ host, names, publicUrl, trustProxy })
  const options = { services, limiter, inFlightMax: config.API_IN_FLIGHT_MAX, trustProxy, allowedHosts }
  const handle = createApp(routes, options).callback()
  const server = clientServer((request, response) => void handle(request, response))
  server.maxConnections = CONNECTIONS_MAX
  const port = await listen(server, config.API_HOST, config.API_PORT)
  const url = `http://${config.API_HOST}:${port}`
  services.log.info({ url, mode: services.mode }, 'listening')
  sayReady(url)
  return server
}
