import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

/** The API's own figures. */
export interface Metrics {
  readonly registry: Registry
  readonly requests: Counter<'route' | 'status'>
  readonly seconds: Histogram<'route'>
  readonly inFlight: Gauge
  readonly cacheHits: Counter<'route' | 'cached'>
  readonly querySeconds: Histogram
  readonly wants: Counter<'result'>
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  return {
    registry,
    requests: new Counter({
      name: 'mda_api_requests_total',
      help: 'Answers by route and HTTP status',
      labelNames: ['route', 'status'],
      registers,
    }),
    seconds: new Histogram({
      name: 'mda_api_request_seconds',
      help: 'Time from a request to its answer',
      labelNames: ['route'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    inFlight: new Gauge({ name: 'mda_api_in_flight_requests', help: 'Requests being answered', registers }),
    cacheHits: new Counter({
      name: 'mda_api_data_answers_total',
      help: 'Data answers, by whether they came from the cache',
      labelNames: ['route', 'cached'],
      registers,
    }),
    querySeconds: new Histogram({
      name: 'mda_api_query_seconds',
      help: 'Time of a ClickHouse query',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    wants: new Counter({
      name: 'mda_api_wants_total',
      help: 'Wants written to control.subscriptions',
      labelNames: ['result'],
      registers,
    }),
  }
}
