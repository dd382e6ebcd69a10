import { askPeer } from '../../peers.ts'
import { promisesOf } from '../../routes/health.ts'
import type { Peer, Services } from '../../services.ts'
import { readLetters } from '../../views/health.ts'
import { readCustomers } from '../../views/credit.ts'
import { Row } from '../../views/database.ts'
import { iso } from '../../views/time.ts'
import type { Latencies, Percentiles } from '../stream/latencies.ts'

/** What the system page shows beside the API's own `/healthz`. */
export interface SystemParts {
  readonly services: Services
  readonly peers: readonly Peer[]
  readonly latencies: Latencies
  /** As configured for the API that sells: off, local or x402. */
  readonly payments: string
}

/** How long sums over all payments ever are kept, milliseconds. */
const SUMS_TTL_MS = 60_000

const paymentsSql = `SELECT toString(state) AS state, count() AS payments, sum(amount_usd) AS usd FROM payments
  WHERE state != 'reserved' GROUP BY state ORDER BY state`
const revenueSql = `SELECT toString(day) AS day, method, route, payments, usd FROM revenue
  ORDER BY day DESC, usd DESC LIMIT 20`

/** Each part by itself: what cannot be read just now is null, and the others are shown. */
export async function systemView(parts: SystemParts): Promise<object> {
  const { services, latencies, payments } = parts
  const month = iso(services.now() * 1_000).slice(0, 7)
  const summed = (as: string, sql: string, of: (raw: unknown) => object): Promise<object[] | null> =>
    orNull(services, as, async () => {
      const read = async (): Promise<object[]> => (await services.database.query(sql, {})).map(of)
      return (await services.cache.get(`console ${as}`, SUMS_TTL_MS, read)).value
    })
  const [promises, letters, states, revenue, keys, metrics, own] = await Promise.all([
    promisesOf(services),
    orNull(services, 'dead letters', () => readLetters(services.database)),
    summed('payments', paymentsSql, stateOf),
    summed('revenue', revenueSql, revenueOf),
    orNull(services, 'customers', () => readCustomers(services.database, month)),
    Promise.all(parts.peers.map((peer) => metricsOf(services, peer))),
    services.metrics.registry.metrics(),
  ])
  const samples = [...metrics.flat(), ...samplesOf(own, 'mda_api_query_')]
  return {
    promises: promises ?? null,
    letters: letters && { ...letters, newest: letters.newest.map((row) => ({ ...row, time: row.time / 1000 })) },
    lag: lagOf(samples),
    hops: hopsOf(samples, latencies.percentiles(services.now())),
    payments: { mode: payments, states, revenue },
    customers: { month, keys },
  }
}

async function orNull<Value>(services: Services, what: string, read: () => Promise<Value>): Promise<Value | null> {
  try {
    return await read()
  } catch (error) {
    services.log.warn({ err: error, what }, 'a part of the system cannot be shown just now')
    return null
  }
}

async function metricsOf(services: Services, peer: Peer): Promise<Sample[]> {
  const answer = await orNull(services, `metrics of ${peer.name}`, () => askPeer(peer, '/metrics'))
  return answer?.status === 200 ? samplesOf(answer.text, 'mda_') : []
}

function stateOf(raw: unknown): object {
  const row = new Row(raw)
  return { state: row.text('state'), payments: row.number('payments'), usd: row.number('usd') }
}

function revenueOf(raw: unknown): object {
  const row = new Row(raw)
  const [day, method, route] = [row.text('day'), row.text('method'), row.text('route')]
  return { day, method, route, payments: row.number('payments'), usd: row.number('usd') }
}

/** Records that each processor has not applied yet, over its partitions. */
function lagOf(samples: readonly Sample[]): object[] {
  const lags = samples.filter(({ name }) => name === 'mda_processor_lag_records' || name === 'mda_webhook_lag_records')
  const groups = Map.groupBy(lags, ({ name, labels }) =>
    name === 'mda_webhook_lag_records'
      ? 'webhooks|alerts.triggers'
      : `${labels['processor'] ?? ''}|${labels['topic'] ?? ''}`,
  )
  return [...groups].map(([group, rows]) => {
    const [consumer = '', topic = ''] = group.split('|')
    return { consumer, topic, records: rows.reduce((sum, { value }) => sum + value, 0), partitions: rows.length }
  })
}

interface Hop extends Percentiles {
  readonly hop: string
  readonly what: string
  /** From when on is counted. */
  readonly over: string
}

/** Every hop that a number makes, in its order; of each all that was seen, the slow ones and the failed ones too. */
function hopsOf(samples: readonly Sample[], tails: Readonly<Record<string, Percentiles>>): Hop[] {
  const started = 'since the process began, upper bounds'
  const histogram = (name: string, by: string, hop: string): Hop[] =>
    [...histogramPercentiles(samples, name, by)]
      .filter(([, { count }]) => count > 0)
      .map(([what, percentiles]) => ({ hop, what, over: started, ...percentiles }))
  const tail = Object.entries(tails)
    .filter(([, { count }]) => count > 0)
    .map(([what, percentiles]) => ({
      hop: 'receipt to read off the log',
      what,
      over: 'last 5 to 10 min, looks 0.1 s apart',
      ...percentiles,
    }))
  return [
    ...histogram('mda_feed_event_lag_seconds', 'venue', 'venue to feed'),
    ...tail,
    ...histogram('mda_processor_batch_seconds', 'processor', 'batch applied and written'),
    ...histogram('mda_webhook_first_byte_seconds', '', 'condition met to webhook sent').map((hop) => ({
      ...hop,
      what: 'all receivers',
    })),
    ...histogram('mda_api_alert_command_seconds', 'action', 'alert command to its event'),
    ...histogram('mda_api_query_seconds', '', 'query of a view').map((hop) => ({ ...hop, what: 'ClickHouse' })),
  ]
}

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (NaN|[+-]Inf|[\d.eE+-]+)(?: |$)/
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** The samples of a Prometheus text whose name begins with `prefix`; lines that are none are left out. */
export function samplesOf(text: string, prefix: string): Sample[] {
  return text.split('\n').flatMap((row) => {
    const [, name = '', labels = '', value = ''] = row.startsWith(prefix) ? (line.exec(row) ?? []) : []
    if (name === '') return []
    const pairs = [...labels.matchAll(label)].map(([, key = '', value = '']) => [key, value] as const)
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
  })
}

/**
 * Percentiles of a histogram, milliseconds, since its process began: of every observation, each as the upper bound of its
 * bucket; null where it lies beyond the last bound. `by`: the label that tells hops apart.
 */
export function histogramPercentiles(samples: readonly Sample[], name: string, by: string): Map<string, Percentiles> {
  const buckets = samples.filter((sample) => sample.name === `${name}_bucket`)
  const groups = Map.groupBy(buckets, ({ labels }) => labels[by] ?? '')
  return new Map([...groups].map(([group, rows]) => [group, percentilesOf(rows)]))
}

function percentilesOf(rows: readonly Sample[]): Percentiles {
  const counts = new Map<number, number>()
  for (const { labels, value } of rows) {
    const bound = labels['le'] === '+Inf' ? Infinity : Number(labels['le'])
    counts.set(bound, (counts.get(bound) ?? 0) + value)
  }
  const sorted = [...counts].toSorted(([a], [b]) => a - b)
  const count = sorted.at(-1)?.[1] ?? 0
  const at = (share: number): number | null => {
    const bound = count === 0 ? undefined : sorted.find(([, below]) => below >= count * share)?.[0]
    return bound === undefined || bound === Infinity ? null : bound * 1000
  }
  return { count, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) }
}
