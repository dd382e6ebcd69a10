import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { gaugesOf } from '../../infra/http/ops.ts'
import type { PaymentMeter } from './settlement.ts'
import type { Service } from './service.ts'

/** From a chain that mines at once to one that has to be waited for, seconds. */
const SETTLE_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 60, 300]

/** The settlings' figures as Prometheus metrics. */
export function createPaymentMeter(registry: Registry): PaymentMeter {
  const registers = [registry]
  const settled = new Counter({
    name: 'mda_payments_settled_total',
    help: 'Payments settled, by who submitted the authorization',
    labelNames: ['by'],
    registers,
  })
  const failed = new Counter({
    name: 'mda_payments_failed_total',
    help: 'Payments that failed, by reason code',
    labelNames: ['reason'],
    registers,
  })
  const pending = new Counter({
    name: 'mda_payments_pending_total',
    help: 'Payments without an outcome within the deadline',
    registers,
  })
  const took = new Histogram({
    name: 'mda_payment_settle_seconds',
    help: 'From the intent being read to the settlement being known',
    buckets: SETTLE_SECONDS,
    registers,
  })
  return {
    settled(by, ms) {
      settled.inc({ by })
      took.observe(ms / 1_000)
    },
    failed: (reason) => failed.inc({ reason }),
    pending: () => pending.inc(),
  }
}

/** Ether of the hot wallet: nothing settles without. `balance` in wei; rejects where the node does not answer. */
export function exposeWallet(registry: Registry, balance: () => Promise<bigint>): Gauge {
  return new Gauge({
    name: 'mda_payment_wallet_ether',
    help: 'Balance that settlements take their gas from; NaN: the node does not answer',
    registers: [registry],
    async collect() {
      this.set(
        await balance().then(
          (wei) => Number(wei) / 1e18,
          () => Number.NaN,
        ),
      )
    },
  })
}

/** What the service says when it is asked. */
export function exposePayments(registry: Registry, service: Service): void {
  const gauge = gaugesOf(registry)
  gauge('mda_payments_open', 'Payments under way', [], (set) => set.set(service.health().open))
  gauge('mda_payments_known', 'Payments of the last day that are kept in memory', [], (set) =>
    set.set(service.health().known),
  )
  gauge('mda_payments_owner', '1: this instance is the one that settles', [], (set) =>
    set.set(Number(service.health().owner)),
  )
  gauge('mda_payments_cooling', 'Kinds of payers that nothing is sent for', [], (set) =>
    set.set(service.health().cooling),
  )
  const lost = 'Gas of transactions that were undone within the last hour'
  gauge('mda_payment_gas_lost_ether', lost, [], (set) => set.set(Number(service.health().gas_lost_wei) / 1e18))
  gauge('mda_payments_lag_records', 'Intents not yet taken in', [], (set) => set.set(service.lag))
}
