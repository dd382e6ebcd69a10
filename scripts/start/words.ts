import { setTimeout as delay } from 'node:timers/promises'
import { roleOf, type RunningPart } from '../../infra/local/run-file.ts'
import type { Payments, StartOptions } from './options.ts'

/** By it what goes on is told while the system runs, milliseconds. */
export interface TerminalClock {
  readonly now: () => number
  readonly wait: (ms: number) => Promise<unknown>
}

/** A wait does not keep the process from its end. */
export const terminalClock: TerminalClock = {
  now: () => performance.now(),
  wait: (ms) => delay(ms, undefined, { ref: false }),
}

/** What each part is, for the table at the end of a start. */
const says: Readonly<Record<string, string>> = {
  broker: 'Apache Kafka',
  registry: 'schema registry',
  clickhouse: 'ClickHouse over HTTP',
  simulator: 'the simulated venues',
  processors: 'flow, prices, funding, risk, alerts',
  webhooks: 'sends what alerts trigger',
  payments: 'settles payments',
  chain: 'EVM chain of play money',
  feeds: 'venue connections',
  api: 'the HTTP API',
  console: 'to look at: the market, alerts',
  link: 'the network before a broker',
  supervisor: 'keeps the others running',
}

/** One line per part, what to try, and whether the numbers are real. */
type Started = StartOptions & { readonly payments: Payments }

export function greeting(options: Started, parts: readonly RunningPart[], seconds: string): string {
  const rows = parts.map(({ name, pid, url }) =>
    `  ${name.padEnd(13)}${saysOf(name).padEnd(36)}${String(pid ?? '').padEnd(8)}${url}`.trimEnd(),
  )
  const url = (name: string): string => parts.find((part) => part.name === name)?.url ?? ''
  return [
    '',
    `Ready after ${seconds} s. Data: ${options.data}`,
    '',
    ...rows,
    '',
    `Look at it:     ${url('console')}`,
    `Documentation:  ${url('api')}/docs`,
    '',
    'Try:',
    ...examples.map((path) => `  ${call(options, url('api'), path)}`),
    `  curl -s '${url('clickhouse')}/?database=market' --data-binary 'SELECT venue, count() AS trades, sum(quote) AS usd FROM trades GROUP BY venue FORMAT PrettyCompact'`,
    ...alertWords(options, url('api')),
    ...(options.payments === 'local'
      ? [`  curl -si '${url('api')}/price/BTC'      # the offer that a payer answers`]
      : []),
    '  npm run verify',
    '  npm start -- --help',
    '',
    ...(options.rehearse ? ['REHEARSAL: nobody is called or charged. Afterwards throw its data folder away.'] : []),
    ...notice(options),
    ...paymentWords(options),
    '',
    'Ctrl-C stops all parts; the next start continues from their data.',
  ].join('\n')
}

function saysOf(name: string): string {
  return says[name] ?? says[roleOf(name)] ?? ''
}

const examples = ['/cvd/BTC?period=1h', '/price/BTC', '/futures/predicted-funding/BTC', '/liquidation/heatmap/BTC']

/** How to ask for `path` so that an answer comes back. */
function call({ payments }: Started, api: string, path: string): string {
  return payments === 'local' ? `npm run pay -- GET '${path}'` : `curl -s '${api}${path}'`
}

function paymentWords({ payments }: Started): string[] {
  if (payments === 'x402') return ['Payments: USDC; every priced route answers 402 until it is paid for.']
  if (payments === 'local')
    return [
      'Payments: PLAY MONEY on the local chain; every priced route answers 402 until it is paid for (npm run pay).',
    ]
  return [
    '*** PAYMENTS ARE OFF: every route is free for everyone who can reach it.                ***',
    '*** To try them with play money: npm start -- --payments local                         ***',
  ]
}

/** An alert that rings at the next price, and who hears it. */
function alertWords({ mode, payments, rehearse }: Started, api: string): string[] {
  if (mode === 'live' || rehearse) return []
  const body = `{"symbol":"BTC","condition":"above","target_price":1,"webhook_url":"https://localhost:4443/"}`
  return [
    `  npm run receiver          # in another terminal; then an alert that rings at the next price:`,
    payments === 'local'
      ? `  npm run pay -- POST /price-alert '${body}'`
      : `  curl -s '${api}/price-alert' -H 'content-type: application/json' -d '${body}'`,
  ]
}

function notice({ mode, tape }: StartOptions): string[] {
  if (mode === 'live') return ['Live: connected to the real venues.']
  if (mode === 'tape') return [`TAPE: these are recorded numbers from ${tape ?? ''}, not the market of now.`]
  return [
    '*** DEMO: every price, trade and volume here is SYNTHETIC, made by the venue simulator. ***',
    '*** For the real venues: npm run live                                                  ***',
  ]
}

export function farewell(data: string): string {
  return `Stopped. The data stay in ${data}; npm start continues from them, npm start -- --fresh empties them.`
}
