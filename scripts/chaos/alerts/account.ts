import { setTimeout as delay } from 'node:timers/promises'
import { Model, type Demanded } from '../../../processors/alerts/testing/model.ts'
import { TopicFollower, type LogBooks } from '../../accounts/books.ts'
import type { Receiver } from './receiver.ts'

const LOOK_EVERY_MS = 1_000
/** Times of one moment, told by two processes of a busy machine. */
const SLACK_MS = 2_000

/** What the alerts of a run came to. */
export interface AlertReport {
  /** Alerts that were created through the API. */
  readonly created: number
  /** Triggers of theirs that the plain model demands of the log. */
  readonly demanded: number
  /** Demanded and not in `alerts.triggers`. */
  readonly lost: readonly string[]
  /** In `alerts.triggers` and not demanded, or caused by another record. */
  readonly unexpected: readonly string[]
  /** Triggers that the log tells more than once, each time the same. */
  readonly repeated: number
  /** Neither taken by the receiver nor ended by their owner. */
  readonly undelivered: readonly string[]
  /** Ended without having been taken: cancelled by the owner. */
  readonly ended: number
  readonly delivered: number
  /** Taken in a digest. */
  readonly digested: number
  /** Taken more than once, under one id. */
  readonly doubled: number
  /** Of these, such as nothing excuses: the journal tells of no attempt whose outcome is not known, and no accident lies between. */
  readonly resent: readonly string[]
  /** Deliveries that no trigger asked for, of two ids for one trigger, of another body, of a wrong signature, within quiet hours. */
  readonly wrong: readonly string[]
}

export function isSoundAlerts({ lost, unexpected, undelivered, resent, wrong }: AlertReport): boolean {
  return [lost, unexpected, undelivered, resent, wrong].every((list) => list.length === 0)
}

/** What was asked for, by the id of the answer. */
export type CreatedAlerts = ReadonlyMap<string, Created>

interface Created {
  readonly symbols: number
  readonly quietUntil: number
  /** Its owner asks to cancel it. */
  readonly cancels: boolean
}

export interface AlertBooks extends LogBooks {
  /** The offset in the log of one that the reader gives, where they differ. */
  readonly realOf?: (topic: string, partition: number, offset: number) => number
}

/** From an accident to the dispatcher, or to its log, until all was well again: host's milliseconds. */
export interface Disturbance {
  readonly from: number
  readonly to: number
}

/** Reads the log until every trigger of `created` has come to an end, or `withinMs` is over, and judges it. */
export async function accountAlerts(
  books: AlertBooks,
  receiver: Receiver,
  created: CreatedAlerts,
  { withinMs, upsets }: { readonly withinMs: number; readonly upsets: readonly Disturbance[] },
): Promise<AlertReport> {
  const log = new AlertLog(books)
  await log.advance() // what rings while all of a long run is judged is seen the next time
  const deadline = performance.now() + withinMs
  for (;;) {
    await log.advance()
    const report = judge(log, receiver, created, upsets)
    // what rang while the log was read was delivered before its trigger was seen
    const isOver = [report.undelivered, report.lost, report.wrong].every((list) => list.length === 0)
    if (isOver || performance.now() > deadline) return report
    await delay(LOOK_EVERY_MS)
  }
}

interface Written {
  readonly alertId: string
  readonly count: number
  readonly record: string
  readonly v: number
  times: number
}

/** What the log says of alerts, read on from where it was left off. */
class AlertLog {
  readonly demanded = new Map<string, Demanded>()
  readonly triggers = new Map<string, Written>()
  /** Parts of an alert, one for each of its symbols, by its owner's id. */
  readonly #parts = new Map<string, Set<string>>()
  /** Triggers that ended as cancelled, whoever asked for it. */
  readonly cancelled = new Set<string>()
  /** By trigger: when attempts began that may have been taken although the dispatcher was not told so. */
  readonly doubted = new Map<string, number[]>()
  readonly contradictions: string[] = []
  readonly #models: Model[]
  readonly #books: AlertBooks
  readonly #written: TopicFollower
  readonly #attempts: TopicFollower
  readonly #inputs: TopicFollower

  constructor(books: AlertBooks) {
    this.#books = books
    this.#written = new TopicFollower(books, 'alerts.triggers')
    this.#attempts = new TopicFollower(books, 'webhooks.attempts')
    this.#inputs = new TopicFollower(books, 'alerts.inputs')
    this.#models = Array.from({ length: books.partitions }, (_, partition) => new Model(partition))
  }

  async advance(): Promise<void> {
    await this.#written.advance((message) => {
      if (message.type === 'trigger' && !message.value.test) this.#enter(message.value)
    })
    await this.#attempts.advance(({ type, value }) => {
      if (type !== 'attempt') return
      const { trigger_id: id, number, outcome, status, started } = value
      if (outcome === 'cancelled') this.cancelled.add(id)
      const isUnsent = number === 0
      if (isUnsent || status !== null || outcome === 'delivered') return
      this.doubted.set(id, [...(this.doubted.get(id) ?? []), started / 1_000])
    })
    // Last, so that what was demanded meanwhile can only be missing for a moment, never unexpected.
    await this.#inputs.advance((message, { partition, offset }) => {
      if (message.type === 'command' && message.value.action === 'create') this.#enterPart(message.value.alert_id ?? '')
      const real = this.#books.realOf?.('alerts.inputs', partition, offset) ?? offset
      for (const demanded of this.#models[partition]?.apply(message, real).triggers ?? [])
        this.demanded.set(demanded.triggerId, demanded)
    })
  }

  /** For how many symbols the log has the alert's creation. */
  known(alertId: string): number {
    const parts = [...(this.#parts.get(alertId) ?? [])]
    return parts.filter((part) => this.#models.some((model) => model.knows(part))).length
  }

  #enterPart(id: string): void {
    const parts = this.#parts.get(ownerOf(id)) ?? new Set()
    this.#parts.set(ownerOf(id), parts.add(id))
  }

  #enter(trigger: { trigger_id: string; alert_id: string; trigger_count: number; record: string; v: number }): void {
    const { trigger_id: id, alert_id: alertId, trigger_count: count, record, v } = trigger
    const known = this.triggers.get(id) ?? { alertId, count, record, v, times: 0 }
    known.times += 1
    this.triggers.set(id, known)
    if (known.record !== record || known.v !== v) this.contradictions.push(`${id}: told twice, of different records`)
  }
}

function judge(log: AlertLog, receiver: Receiver, created: CreatedAlerts, upsets: readonly Disturbance[]): AlertReport {
  const demanded = [...log.demanded.values()].filter(({ alertId }) => created.has(ownerOf(alertId)))
  const triggers = [...log.triggers].filter(([, { alertId }]) => created.has(ownerOf(alertId)))
  const taken = [...receiver.deliveries].filter(([, { taken: times }]) => times.length > 0)
  const isTaken = new Set(taken.map(([id]) => id))
  const isEnded = (id: string, alertId: string): boolean =>
    log.cancelled.has(id) && created.get(ownerOf(alertId))?.cancels === true
  const untaken = triggers.filter(([id]) => !isTaken.has(id))
  return {
    created: created.size,
    demanded: demanded.length,
    lost: demanded.filter(({ triggerId }) => !log.triggers.has(triggerId)).map(({ triggerId }) => triggerId),
    unexpected: triggers.filter(([id, { record }]) => log.demanded.get(id)?.record !== record).map(([id]) => id),
    repeated: triggers.filter(([, { times }]) => times > 1).length,
    undelivered: untaken.filter(([id, { alertId }]) => !isEnded(id, alertId)).map(([id]) => id),
    ended: untaken.filter(([id, { alertId }]) => isEnded(id, alertId)).length,
    delivered: taken.length,
    digested: taken.filter(([, { isDigested }]) => isDigested).length,
    doubled: taken.filter(([, { taken: times }]) => times.length > 1).length,
    resent: taken
      .filter(([id, { taken: times }]) => isResent(times, log.doubted.get(id) ?? [], upsets))
      .map(([id]) => id),
    wrong: [
      ...forgotten(log, created),
      ...disturbing(receiver, created),
      ...log.contradictions,
      ...receiver.wrong,
      ...strangers(log, receiver),
      ...twins(receiver),
    ],
  }
}

/**
 * Whether a delivery was taken again where nothing may have hidden an earlier time from the dispatcher: neither an accident
 * between the two nor an attempt of unknown outcome. A busy receiver may take a request long after its sender gave up.
 */
function isResent(taken: readonly number[], doubted: readonly number[], upsets: readonly Disturbance[]): boolean {
  const further = taken.slice(1).filter((again, index) => {
    const before = taken[index] ?? 0
    return !upsets.some(({ from, to }) => from <= again && to + SLACK_MS >= before)
  })
  return further.some((again, index) => doubted.filter((from) => from - SLACK_MS <= again).length <= index)
}

/** Alerts that were answered with 201 and that the log knows nothing of. */
function forgotten(log: AlertLog, created: CreatedAlerts): string[] {
  return [...created].flatMap(([id, { symbols }]) => {
    const known = log.known(id)
    return known === symbols ? [] : [`${id}: created for ${symbols} symbols, and the log knows it for ${known}`]
  })
}

/** What came within the quiet hours of its alert. */
function disturbing({ deliveries }: Receiver, created: CreatedAlerts): string[] {
  return [...deliveries].flatMap(([id, { alertId, first }]) =>
    first < (created.get(alertId)?.quietUntil ?? 0) - SLACK_MS ? [`${id}: it came within quiet hours`] : [],
  )
}

/** The id that an alert's owner knows; of one for several symbols each has a part behind a point. */
function ownerOf(id: string): string {
  return id.split('.')[0] ?? id
}

/** Deliveries whose id is no trigger's. */
function strangers(log: AlertLog, { deliveries }: Receiver): string[] {
  return [...deliveries].flatMap(([id, { test }]) =>
    test || log.triggers.has(id) ? [] : [`${id}: nothing asked for it`],
  )
}

/** One trigger of an alert that came under two ids. */
function twins({ deliveries }: Receiver): string[] {
  const ids = new Map<string, string>()
  return [...deliveries].flatMap(([id, { alertId, symbol, count, test }]) => {
    if (test) return []
    const known = ids.get(`${alertId} ${symbol} ${count}`)
    ids.set(`${alertId} ${symbol} ${count}`, id)
    return known === undefined ? [] : [`${id} and ${known}: one trigger under two ids`]
  })
}
