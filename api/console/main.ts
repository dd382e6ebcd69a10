import type { Server } from 'node:http'
import { hostClock } from '../../infra/clock.ts'
import { readConfig, type Config } from '../../infra/config/config.ts'
import { consoleToken, consoleTokenSettings } from '../../infra/config/secrets.ts'
import type { SettingName } from '../../infra/config/settings.ts'
import { listen } from '../../infra/http/ops.ts'
import { clientServer } from '../../infra/http/server.ts'
import { runService, sayReady } from '../../infra/lifecycle.ts'
import type { Logger } from '../../infra/log.ts'
import { createApp } from '../request/pipeline.ts'
import { drain, instanceSettings, openLog, openServices, type Closing } from '../instance.ts'
import { RateLimiter } from '../request/limits.ts'
import { routes } from '../routes.ts'
import { TtlCache } from '../request/cache.ts'
import { ApiError } from '../request/errors.ts'
import type { Services } from '../services.ts'
import { readInvoice } from '../views/credit.ts'
import type { Update } from '../stream/board.ts'
import { sharedAccess } from '../present/wants.ts'
import { backfillRoute } from './backfill.ts'
import { createConsole, type ConsoleOptions } from './server.ts'
import { Unread } from '../log/unread.ts'
import { Latencies } from './stream/latencies.ts'
import { begun, PageBoard, pageHub, pageWords } from './stream/pages.ts'
import { rulesView, catalogueView, streamsView, symbolsView } from './views/tables.ts'
import { systemView } from './views/system.ts'

const settings = [
  ...instanceSettings,
  'PAYMENTS',
  ...consoleTokenSettings,
  'CONSOLE_PORT',
  'TRUST_PROXY',
] as const satisfies readonly SettingName[]

type ConsoleConfig = Config<(typeof settings)[number]>

/** Answers that the pages may wait for at once. */
const IN_FLIGHT_MAX = 100
const CONNECTIONS_MAX = 500
/** Five tries at once, then one in ten seconds, by address. */
const loginLimit = { perSecond: 0.1, burst: 5, callersMax: 10_000 } as const
/** Half of the time between two events of a page: latencies include it, milliseconds. */
const EVERY_MS = 100
/** However many look at the system page, milliseconds. */
const SYSTEM_TTL_MS = 5_000

await runService({
  name: 'console',
  description: 'shows operators the market, alerts and the system, free of charge: on loopback, or behind a token',
  settings,
  async start(log) {
    const config = readConfig(process.env, settings)
    const token = consoleToken(config)
    const toClose: Closing[] = []
    const latencies = new Latencies()
    const unread = new Unread()
    // Who may see the console may do what owners may: no owner's token is asked for.
    const opened = { ...config, ALERT_CONTROL: 'open', API_SERVICES: others(config) }
    const pages = new PageBoard({ partitions: config.PARTITIONS, now: Date.now, latencies })
    const hearing = { listeners: [pages], everyMs: EVERY_MS }
    const free = { payments: null, tries: unlimited() }
    const instance = { clientId: 'console', toClose, unread, ...free, ...hearing }
    const services = await openServices(opened, log, instance)
    const hub = pageHub(pages.board, Date.now, () => void services.asked())
    const texts = new TtlCache({ keysMax: 1, clock: () => performance.now() })
    const peers = config.API_SERVICES.map((item) => ({ name: nameOf(item), url: item.slice(nameOf(item).length + 1) }))
    const system = { services, peers, latencies, payments: config.PAYMENTS }
    const written = sharedAccess(() => openLog(opened, log, instance))
    const api = createApp([...routes, backfillRoute(written)], {
      services,
      limiter: unlimited(),
      inFlightMax: IN_FLIGHT_MAX,
      trustProxy: false,
      allowedHosts: 'any',
    })
    const server = await serve(config, log, {
      mode: services.mode,
      token,
      trustProxy: config.TRUST_PROXY,
      logins: new RateLimiter(loginLimit),
      log,
      now: Date.now,
      steady: hostClock.steady,
      hub,
      words: pageWords(services),
      begun: () => begunOf(services),
      views: {
        symbols: () => symbolsView(services),
        streams: () => streamsView(services),
        catalogue: () => catalogueView(services),
        rules: async () => rulesView(),
        system: async () => (await texts.get('system', SYSTEM_TTL_MS, () => systemView(system))).value,
      },
      invoice: (key, month) => readInvoice(services.database, key, month),
      api: api.callback(),
    })
    return async () => {
      hub.close()
      services.streams.close()
      await drain(server)
      await Promise.all(toClose.map((part) => part.close()))
    }
  },
})

/** Undefined while the log is being read. */
function begunOf(services: Services): readonly Update[] | undefined {
  try {
    return begun(services.present(), services.now())
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

function nameOf(item: string): string {
  return item.slice(0, item.indexOf('='))
}

/** The API that sells gives everybody's metrics; asked twice, each would be counted twice. */
function others({ API_SERVICES: items }: ConsoleConfig): readonly string[] {
  return items.filter((item) => nameOf(item) !== 'api')
}

/** Who is let in may ask as often as the pages do; how much is under way at once is bounded. */
function unlimited(): RateLimiter {
  return new RateLimiter({ perSecond: 0, burst: 1, callersMax: 1 })
}

async function serve(config: ConsoleConfig, log: Logger, options: ConsoleOptions): Promise<Server> {
  const handle = createConsole(options).callback()
  const server = clientServer((request, response) => void handle(request, response))
  server.maxConnections = CONNECTIONS_MAX
  const port = await listen(server, config.CONSOLE_HOST, config.CONSOLE_PORT)
  const url = `http://${config.CONSOLE_HOST}:${port}`
  log.info({ url, token: options.token === undefined ? 'none needed' : 'needed' }, 'listening')
  sayReady(url)
  return server
}
