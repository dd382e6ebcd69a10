import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { localCodec } from '../../schemas/codec.ts'
import type { Alert, AlertEvent, DeliveryOrder, Message, Trigger } from '../../schemas/records.ts'
import { Driver } from '../kernel/testing/driver.ts'
import { noFaults, PARTITIONS, plans, type Input, type Plan } from '../kernel/testing/fault-plans.ts'
import { processorsNamed } from '../topology.ts'
import { everywhereOf } from './parts.ts'
import { logs } from './testing/any-log.ts'
import { AlertsTestDriver } from './testing/records.ts'
import { Model } from './testing/model.ts'
import { bounded, LAW_MS } from '../kernel/testing/law.ts'

const codec = localCodec()
const [row] = processorsNamed(['alerts'])

interface Outcome {
  /** In the order of the log; the same event written twice is one. */
  readonly events: readonly (readonly AlertEvent[])[]
  readonly triggers: ReadonlyMap<string, Trigger>
  readonly orders: ReadonlyMap<string, DeliveryOrder>
  /** The cache as compaction leaves it. */
  readonly alerts: ReadonlyMap<string, Alert>
  readonly counts: readonly unknown[]
}

async function outcomeOf(log: readonly Input[], { steps: plan, instances, ...snapshots }: Plan): Promise<Outcome> {
  if (row === undefined) throw new Error('alerts is in the topology')
  const driver = new Driver({ row, codec, partitions: PARTITIONS, instances, ...snapshots })
  log.forEach(({ partition, message }, index) => driver.feed('alerts.inputs', partition, 'key', message, index))
  for (const step of plan) await driver.step(step)
  await driver.drain()
  const all = [...Array(PARTITIONS).keys()]
  const tasks = await Promise.all(all.map((partition) => driver.task(partition)))
  return {
    events: all.map((partition) => eventsOf(driver, partition)),
    ...triggersOf(driver),
    alerts: new Map(all.flatMap((partition) => [...cacheOf(driver, partition)])),
    counts: tasks.map((task) => task.counts()),
  }
}

/** A record that is written again says the same. */
function once<Value>(known: Map<string, Value>, key: string, value: Value): void {
  const before = known.get(key)
  if (before === undefined) known.set(key, value)
  else expect(value).toEqual(before)
}

function eventsOf(driver: Driver, partition: number): AlertEvent[] {
  const events = new Map<string, AlertEvent>()
  for (const record of driver.outputs('alerts.events')) {
    if (record.partition !== partition || record.message.type !== 'alert_event') continue
    const { value } = record.message
    once(events, `${value.v} ${value.alert_id} ${value.event}`, value)
  }
  return [...events.values()].sort((a, b) => a.v - b.v)
}

function triggersOf(driver: Driver): { triggers: Map<string, Trigger>; orders: Map<string, DeliveryOrder> } {
  const triggers = new Map<string, Trigger>()
  const orders = new Map<string, DeliveryOrder>()
  for (const { message } of driver.outputs('alerts.triggers')) {
    if (message.type === 'trigger') {
      const { trigger_id: id, test, v } = message.value
      once(triggers, test ? `${id} ${v}` : id, message.value) // the same test may be asked for again after an hour
    }
    if (message.type === 'delivery_order') once(orders, `${message.value.alert_id} ${message.value.v}`, message.value)
  }
  return { triggers: sorted(triggers), orders: sorted(orders) }
}

function sorted<Value>(map: ReadonlyMap<string, Value>): Map<string, Value> {
  return new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function cacheOf(driver: Driver, partition: number): Map<string, Alert> {
  const alerts = new Map<string, Alert>()
  for (const { key, value } of driver.broker.records('alerts.state', partition)) {
    const message = value === null ? undefined : codec.decode(value)
    if (message?.type === 'alert') alerts.set(String(key), message.value)
    else alerts.delete(String(key))
  }
  return sorted(alerts)
}

/** What was said of each record of a partition, as the model says it. */
function toldOf(events: readonly AlertEvent[], records: number): string[][] {
  const told = Array.from({ length: records }, (): string[] => [])
  for (const { event, alert, error, trigger_id: trigger, v } of events) {
    const { alert_id: id, status, trigger_count: count, expires_at: expires } = alert ?? {}
    const more = event === 'triggered' ? trigger : error
    told[v % 2 ** 44]?.push([event, id, status, count, expires, more].join(' '))
  }
  return told.map((said) => said.sort())
}

/** The ids of logs end with their partition; behind it stands of which symbol of all a part is. */
function isOf(id: string, partition: number): boolean {
  return id.replace(/\.\w+$/, (part) => (part.startsWith('.a') ? part : '')).endsWith(String(partition))
}

/** What rang in a partition, and by which records. */
function rangIn(triggers: ReadonlyMap<string, Trigger>, partition: number): string[] {
  const own = [...triggers.values()].filter(({ alert_id: id, test }) => !test && isOf(id, partition))
  return own.map(({ trigger_id: id, record }) => `${id} by ${record}`).sort()
}

const of = (log: readonly Input[], partition: number): Message[] =>
  log.flatMap((input) => (input.partition === partition ? [input.message] : []))

describe('the alerts processor', () => {
  it(
    'says of any log what the plain model says, however it is batched, redelivered, crashed, frozen and owned',
    async () => {
      await fc.assert(
        fc.asyncProperty(logs, plans, async (log, plan) => {
          const { events, triggers, alerts } = await outcomeOf(log, plan)
          for (let partition = 0; partition < PARTITIONS; partition++) {
            const messages = of(log, partition)
            const model = new Model(partition)
            const steps = messages.map((message, offset) => model.apply(message, offset))
            expect(toldOf(events[partition] ?? [], messages.length)).toEqual(steps.map((step) => step.events))
            const demanded = steps.flatMap((step) => step.triggers)
            expect(rangIn(triggers, partition)).toEqual(
              demanded.map(({ triggerId, record }) => `${triggerId} by ${record}`).sort(),
            )
            // A symbol's part is there from when it rang, at the latest.
            const isTold = (id: string, count: number): boolean => count > 0 || !/\.(?:btc|eth)$/.test(id)
            const held = [...alerts.values()].filter(
              (alert) => isOf(alert.alert_id, partition) && isTold(alert.alert_id, alert.trigger_count),
            )
            const said = held.map(({ alert_id, status, ended_at }) => [alert_id, status, ended_at].join(' '))
            expect(said.sort()).toEqual(
              model.items
                .filter(({ id, count }) => isTold(id, count))
                .map(({ id, status, ended }) => [id, status, ended].join(' '))
                .sort(),
            )
          }
        }),
        { ...bounded, numRuns: 250 },
      )
    },
    LAW_MS,
  )

  it(
    'writes the same in the end, to the last field, whatever befalls it',
    async () => {
      await fc.assert(
        fc.asyncProperty(logs, plans, async (log, plan) => {
          expect(await outcomeOf(log, plan)).toEqual(await outcomeOf(log, noFaults))
        }),
        { ...bounded, numRuns: 150 },
      )
    },
    LAW_MS,
  )

  it(
    'never rings twice within a minute, nor after its end, and a crossing once',
    async () => {
      await fc.assert(
        fc.asyncProperty(logs, plans, async (log, plan) => {
          const { events, triggers } = await outcomeOf(log, plan)
          const [made, rang] = [new Map<string, number>(), new Map<string, number>()]
          for (const { event, alert, trigger_id: id, time: told } of events.flat()) {
            if (event === 'created' && alert !== null) made.set(`${alert.alert_id} ${alert.created_at}`, told)
            if (alert === null || event !== 'triggered') continue
            const { alert_id, created_at: created, expires_at: expires, condition, last_triggered: now } = alert
            const before = rang.get(`${alert_id} ${created}`)
            // What a rule for all symbols becomes for one of them was created with it.
            const madeAt = made.get(`${everywhereOf(alert_id) ?? alert_id} ${created}`) ?? created
            const first = before === undefined ? madeAt : before + 60_000_000
            const last = condition.startsWith('crosses') && before !== undefined ? -Infinity : expires
            const time = triggers.get(id ?? '')?.time ?? NaN
            expect([time >= first, time < last, now >= time]).toEqual([true, true, true])
            rang.set(`${alert_id} ${created}`, now)
          }
        }),
        { ...bounded, numRuns: 100 },
      )
    },
    LAW_MS,
  )

  it(
    'has the same state after a restart as before it, and goes on alike',
    () => {
      fc.assert(
        fc.property(logs, fc.array(fc.nat(120), { maxLength: 8 }), (log, restarts) => {
          const [steady, restarted] = [new AlertsTestDriver(), new AlertsTestDriver()]
          of(log, 0).forEach((message, at) => {
            steady.batch(message)
            restarted.batch(message)
            if (!restarts.includes(at)) return
            restarted.restart()
            expect(dump(restarted)).toEqual(dump(steady))
          })
          expect(restarted.emitted).toEqual(steady.emitted)
        }),
        { ...bounded, numRuns: 300 },
      )
    },
    LAW_MS,
  )
})

/** The state without what only makes it fast. */
function dump({ state, core }: AlertsTestDriver): unknown {
  const { time, alerts, prices: seen, requests, payments, creations } = state
  return [
    time,
    // At which part a rule stands depends on when that was looked at; that it stands at one does not.
    [...sorted(alerts).values()].map((alert) => ({ ...alert, stands: alert.stands.length > 0 })),
    sorted(seen),
    sorted(requests),
    sorted(payments),
    sorted(creations),
    core.counts?.(state),
  ]
}
