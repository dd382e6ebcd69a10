import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { processMetrics } from '../infra/http/ops.ts'
import { AnswerCounts } from './request/answer-counts.ts'

/** The API's own figures. */
export interface Metrics {
  /** What is told of answers to the log. */
  readonly answers: AnswerCounts
  readonly registry: Registry
  /** Answers of a route with an HTTP status. */
  readonly counted: (route: string, status: string) => Counter.Internal
  /** Time from a request to its answer. */
  readonly timed: (route: string) => Histogram.Internal<'route'>
  readonly inFlight: Gauge
  /** Data answers of a route, by whether they came from the cache: true or false. */
  readonly hits: (route: string, cached: string) => Counter.Internal
  readonly querySeconds: Histogram
  /** What ClickHouse read for these queries. */
  readonly queryRows: Counter
  readonly queryBytes: Counter
  /** Wants written to the log: written, or failed. */
  readonly wants: Counter<'result'>
  /** Time from a command to its event, by action and outcome: the event, or the error. */
  readonly commandSeconds: Histogram<'action' | 'outcome'>
  /** Requests for routes that cost something, by what they got: asked, given, free, or an error. */
  readonly payments: (outcome: string) => Counter.Internal
  /** Time from an intent to its outcome: settled, failed, conflict, pending. */
  readonly settleSeconds: Histogram<'outcome'>
  /** What the views say at the time of a scrape. */
  readonly seen: SeenMetrics
}

/** Gauges that are filled when they are asked for. */
interface SeenMetrics {
  readonly clickhouse: Gauge
  readonly diskFree: Gauge
  readonly behind: Gauge<'topic'>
  readonly channel: Gauge<'topic' | 'venue'>
  readonly topicAge: Gauge<'topic'>
  readonly processorBehind: Gauge<'processor'>
  readonly auditMinutes: Gauge<'venue' | 'result'>
  readonly auditWorst: Gauge<'venue' | 'figure'>
  readonly held: Gauge<'kind'>
  readonly promiseBurn: Gauge<'promise' | 'window'>
  readonly promiseLeft: Gauge<'promise'>
}

export function createMetrics(): Metrics {
  const registry = processMetrics()
  const registers = [registry]
  const requests = new Counter({
    name: 'mda_api_requests_total',
    help: 'Answers by route and HTTP status',
    labelNames: ['route', 'status'],
    registers,
  })
  const seconds = new Histogram({
    name: 'mda_api_request_seconds',
    help: 'Time from a request to its answer',
    labelNames: ['route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  })
  const answers = new Counter({
    name: 'mda_api_data_answers_total',
    help: 'Data answers, by whether they came from the cache',
    labelNames: ['route', 'cached'],
    registers,
  })
  return {
    answers: new AnswerCounts(),
    registry,
    counted: memo((route, status) => requests.labels(route, status)),
    timed: memo((route) => seconds.labels(route)),
    hits: memo((route, cached) => answers.labels(route, cached)),
    inFlight: new Gauge({ name: 'mda_api_in_flight_requests', help: 'Requests being answered', registers }),
    querySeconds: new Histogram({
      name: 'mda_api_query_seconds',
      help: 'Time of a ClickHouse query',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    ...createQueryMetrics(registers),
    wants: new Counter({
      name: 'mda_api_wants_total',
      help: 'Wants written to control.subscriptions',
      labelNames: ['result'],
      registers,
    }),
    commandSeconds: new Histogram({
      name: 'mda_api_alert_command_seconds',
      help: 'Time from a command about an alert to the event that follows, by action and outcome',
      labelNames: ['action', 'outcome'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    ...createPaymentMetrics(registers),
    seen: createSeen(registers),
  }
}

function createQueryMetrics(registers: Registry[]): Pick<Metrics, 'queryRows' | 'queryBytes'> {
  return {
    queryRows: new Counter({
      name: 'mda_api_query_rows_total',
      help: 'Rows that ClickHouse read for queries',
      registers,
    }),
    queryBytes: new Counter({
      name: 'mda_api_query_bytes_total',
      help: 'Bytes that ClickHouse read for queries, uncompressed',
      registers,
    }),
  }
}

function createPaymentMetrics(registers: Registry[]): Pick<Metrics, 'payments' | 'settleSeconds'> {
  const payments = new Counter({
    name: 'mda_api_payments_total',
    help: 'Requests for routes that cost something, by what they got: asked (402), given, free, or an error',
    labelNames: ['outcome'],
    registers,
  })
  return {
    payments: memo((outcome) => payments.labels(outcome)),
    settleSeconds: new Histogram({
      name: 'mda_api_payment_settle_seconds',
      help: 'Time from a payment’s intent to its outcome',
      labelNames: ['outcome'],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30],
      registers,
    }),
  }
}

function createSeen(registers: Registry[]): SeenMetrics {
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]): Gauge<Label> =>
    new Gauge({ name, help, labelNames, registers })
  return {
    clickhouse: gauge('mda_clickhouse_up', '1: ClickHouse answers the API; 0: it does not, or not within 2.5 s'),
    diskFree: gauge('mda_clickhouse_disk_free_bytes', 'Free space of ClickHouse’s fullest disk'),
    behind: gauge(
      'mda_clickhouse_behind_seconds',
      'Time between the newest mark of the log and that of ClickHouse, of a topic’s partition that is furthest behind',
      'topic',
    ),
    channel: gauge(
      'mda_venue_channel_live',
      '1: a feed process has the venue’s channels and polls for the topic alive; 0: none has',
      'topic',
      'venue',
    ),
    topicAge: gauge(
      'mda_topic_age_seconds',
      'Age of the newest mark of a topic’s partition that is furthest behind, as it is held here',
      'topic',
    ),
    processorBehind: gauge(
      'mda_processor_behind_seconds',
      'Time between the newest mark of what a processor follows and its own, beyond what lies between two of its own, of the partition that is furthest behind',
      'processor',
    ),
    held: gauge('mda_api_present_values', 'Values of the present that are held in memory, by kind', 'kind'),
    promiseBurn: gauge(
      'mda_promise_burn',
      'How fast a promise’s allowance of 30 days is used up, by window; 1: it lasts just 30 days',
      'promise',
      'window',
    ),
    promiseLeft: gauge(
      'mda_promise_allowance_left',
      'Fraction of a promise’s allowance of 30 days that is left; below 0: it is broken',
      'promise',
    ),
    auditMinutes: gauge(
      'mda_audit_minutes',
      'Our minutes of the last 24 h beside the venue’s candles: compared, different, unexplained',
      'venue',
      'result',
    ),
    auditWorst: gauge(
      'mda_audit_worst_difference',
      'Worst unexplained difference of the last 24 h, fraction of the venue’s volume: volume, delta',
      'venue',
      'figure',
    ),
  }
}

/** A metric's children by one or two label values: finding one by its labels costs more than counting. */
function memo<Child>(find: (a: string, b: string) => Child): (a: string, b?: string) => Child {
  const known = new Map<string, Child>()
  return (a, b = '') => {
    const key = `${a}|${b}`
    const child = known.get(key) ?? find(a, b)
    known.set(key, child)
    return child
  }
}
