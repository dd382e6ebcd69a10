import { Counter, Histogram, type Registry } from 'prom-client'
import { gaugesOf } from '../../infra/http/ops.ts'
import type { DeliveryMeter, Dispatcher } from './dispatcher.ts'

/** From a good receiver to the deadline of an attempt, seconds. */
const ATTEMPT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** From a trigger's time to its webhook on the wire, seconds; the first attempt of each. */
const FIRST_BYTE_SECONDS = [0.002, 0.005, 0.01, 0.015, 0.025, 0.06, 0.1, 0.25, 0.5, 1, 2, 5, 30, 300]

/** The deliveries' figures as Prometheus metrics. */
export function createDeliveryMeter(registry: Registry): DeliveryMeter {
  const registers = [registry]
  const attempts = new Counter({
    name: 'mda_webhook_attempts_total',
    help: 'Attempts, by what became of the trigger',
    registers,
    labelNames: ['outcome', 'error'],
  })
  const took = new Histogram({
    name: 'mda_webhook_attempt_seconds',
    help: 'How long attempts took',
    registers,
    labelNames: ['outcome'],
    buckets: ATTEMPT_SECONDS,
  })
  const sent = new Histogram({
    name: 'mda_webhook_first_byte_seconds',
    help: 'From the trigger’s time to the request being sent',
    registers,
    buckets: FIRST_BYTE_SECONDS,
  })
  return {
    attempted(outcome, error, ms) {
      attempts.inc({ outcome, error: error ?? 'none' })
      took.observe({ outcome }, ms / 1_000)
    },
    sent: (latencyMs) => sent.observe(Math.max(0, latencyMs) / 1_000),
  }
}

/** What the dispatcher says when it is asked; `now` in milliseconds. */
export function exposeDispatcher(registry: Registry, dispatcher: Dispatcher, now: () => number): void {
  const gauge = gaugesOf(registry)
  const age = 'Age of the oldest trigger that is not delivered, whatever its receiver; 0: all are'
  gauge('mda_webhook_oldest_undelivered_seconds', age, [], (set) => {
    const oldest = dispatcher.oldest()
    set.set(oldest === undefined ? 0 : Math.max(0, now() / 1_000 - oldest / 1e6))
  })
  gauge('mda_webhook_deliveries', 'Deliveries that are not finished', ['state'], (set) => {
    const { open, queued, inFlight } = dispatcher.health()
    set.set({ state: 'open' }, open)
    set.set({ state: 'queued' }, queued)
    set.set({ state: 'in_flight' }, inFlight)
  })
  gauge('mda_webhook_unwritten_records', 'What the log has not acknowledged', [], (set) => {
    set.set(dispatcher.unwritten())
  })
  gauge('mda_webhook_partitions', 'Partitions assigned to this host, by state', ['state'], (set) => {
    const { running, waiting } = dispatcher.health().partitions
    set.set({ state: 'running' }, running)
    set.set({ state: 'waiting' }, waiting)
  })
  gauge('mda_webhook_lag_records', 'Triggers not yet taken in', ['partition'], (set) => {
    for (const { partition, records } of dispatcher.lags()) set.set({ partition }, records)
  })
}
