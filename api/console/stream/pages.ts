import type { Position } from '../../../infra/kafka/seam.ts'
import type { Gap, Micros } from '../../../schemas/records.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import type { Present } from '../../present/present.ts'
import type { RecordListener } from '../../present/present-table.ts'
import type { Board, Update } from '../../stream/board.ts'
import { HeardBoard } from '../../stream/heard.ts'
import { Hub, type Tell } from '../../stream/hub.ts'
import type { Services } from '../../services.ts'
import { cvdTold } from '../views/cvd.ts'
import { cvdUpdate, Digest, keysMax, updateOf } from './digest.ts'
import type { Latencies } from './latencies.ts'

/** Pages that may listen at once; more are refused. */
export const CLIENTS_MAX = 50

const HOUR_MS = 3_600_000
const DAY: Micros = 24 * HOUR_MS * 1_000

/** What pages show beside what the present is made of, from how long ago (milliseconds; `start`: all there is). */
const further = [
  { topic: 'alerts.state', sinceMs: 'start' },
  { topic: 'alerts.triggers', sinceMs: HOUR_MS },
  { topic: 'webhooks.attempts', sinceMs: HOUR_MS },
] as const satisfies RecordListener['further']

const topics: readonly TopicName[] = [
  'market.trades',
  'market.liquidations',
  'derived.flow',
  'derived.funding',
  'alerts.inputs',
  ...further.map(({ topic }) => topic),
]

export interface PagesOptions {
  readonly partitions: number
  /** Host's clock, milliseconds. */
  readonly now: () => number
  readonly latencies: Latencies
}

/** What pages are told: it hears what the present is folded from, and what becomes of alerts. */
export class PageBoard extends HeardBoard implements RecordListener {
  readonly further = further
  readonly #digest: Digest
  readonly #latencies: Latencies
  readonly #now: () => number

  constructor({ partitions, now, latencies }: PagesOptions) {
    const digest = new Digest()
    const says = digest.of.bind(digest)
    super({ topics, partitions, keysMax, says: (message, { topic, partition }) => says(message, topic, partition) })
    this.#digest = digest
    this.#latencies = latencies
    this.#now = now
  }

  /** What is told of other topics is forgotten by itself; an alert is there until it is deleted. */
  override begin(positions: readonly Position[]): void {
    if (positions.some(({ topic }) => topic === 'alerts.state')) {
      this.board.forget('alert')
      this.#digest.forgetAlerts()
    }
    super.begin(positions)
  }

  seen(topic: TopicName, time: number): void {
    const now = this.#now()
    if (topics.includes(topic)) this.#latencies.seen(topic, now - time, now)
  }

  gone(at: Position, key: string): void {
    const position = this.positionOf(at)
    if (position === undefined || at.topic !== 'alerts.state') return
    this.board.take(position, [this.#digest.gone(key)])
  }
}

/** The hub of the pages: they all are one caller's. */
export function pageHub(board: Board, now: () => number, onListening: () => void): Hub<null> {
  return new Hub({ board, now, onListening, context: () => null, clientsMax: CLIENTS_MAX, callerMax: CLIENTS_MAX })
}

/** The data of an event to a page: key and value. */
export function pageWords(services: Services): Tell<null> {
  return (_, { kind, key, value }) =>
    JSON.stringify([key, kind === 'cvd' && value !== null ? cvdTold(services, Number(key)) : value])
}

/** What a page begins with of the present, whether it has changed of late or not; `now`: host's clock, milliseconds. */
export function begun(present: Present, now: number): Update[] {
  const values = present.states.flatMap(({ price, funding, risk }) => [
    ...[...price.values()].flatMap((value) => updateOf({ type: 'composite_price', value })),
    ...[...funding.values()].flatMap((value) => updateOf({ type: 'funding', value })),
    ...[...risk.values()].flatMap((value) => updateOf({ type: 'liquidation_risk', value })),
  ])
  const gaps = gapsSince(present, now * 1_000 - DAY).flatMap((value) => updateOf({ type: 'gap', value }))
  return [...values, ...gaps, ...present.states.map((_, partition) => cvdUpdate(partition))]
}

/** Open ones first, then those that ended since, newest first; as many as the board holds. */
function gapsSince(present: Present, since: Micros): Gap[] {
  const isOpen = ({ state }: Gap): boolean => state === 'opened'
  return present.states
    .flatMap(({ gap }) => [...gap.values()].filter((one) => isOpen(one) || one.to_time >= since))
    .toSorted((a, b) => Number(isOpen(b)) - Number(isOpen(a)) || b.from_time - a.from_time)
    .slice(0, keysMax.gap)
}
