import type { Message, Micros } from '../../../schemas/records.ts'
import { topicOf, type TopicName } from '../../../schemas/topics.ts'
import {
  identityOf,
  isWithin,
  upsertKeyOf,
  writerOf,
  type Derived,
  type Difference,
  type Tally,
  type Window,
} from './live-check.ts'

interface Known {
  readonly message: Message
  readonly bodies: Buffer[]
  readonly rank: number
}

/** Records of one topic by identity: of an upsert the highest version, else every content that was seen. */
class RecordsById {
  readonly known = new Map<string, Known>()
  readonly #keepsHighest: (message: Message) => boolean
  repeated = 0

  constructor(keepsHighest: (message: Message) => boolean) {
    this.#keepsHighest = keepsHighest
  }

  add({ message, body }: Derived): void {
    const id = `${message.type} ${identityOf(message)}`
    const rank = rankOf(message)
    const known = this.known.get(id)
    if (known === undefined || (this.#keepsHighest(message) && rank > known.rank)) {
      this.known.set(id, { message, bodies: [body], rank })
    } else if (this.#keepsHighest(message) && rank < known.rank) return
    else if (known.bodies.some((other) => other.equals(body))) this.repeated += 1
    else known.bodies.push(body)
  }
}

/** A version, or of a mark its time. */
function rankOf({ type, value }: Message): number {
  return type === 'mark' ? value.time : 'v' in value ? value.v : 0
}

export interface CheckOptions {
  /** Whether a record of the window follows from what lies before the replayed tape. */
  readonly restsOnOlder: (message: Message) => boolean
}

/** Holds a partition's replay beside what the live system wrote from the same records. */
export class LiveCheck {
  readonly #options: CheckOptions
  readonly #replayed = new Map<TopicName, RecordsById>()
  readonly #live = new Map<TopicName, RecordsById>()
  /** Since the last mark of each processor and topic: the live host may not have written it as one yet. */
  readonly #open = new Map<string, Derived[]>()
  /** Highest rank of each key of upsert topics, the window left aside: what it is overtaken by. */
  readonly #highest = new Map<string, number>()
  #windows: ReadonlyMap<string, Window> = new Map()

  constructor(options: CheckOptions) {
    this.#options = options
  }

  /** An output of the replay. It counts once a mark of its processor stands behind it. */
  replayed(row: string, derived: Derived): void {
    const name = `${row} ${derived.topic}`
    const open = this.#open.get(name) ?? []
    this.#open.set(name, open)
    open.push(derived)
  }

  /** The processor has told a mark: all that it said before stands. */
  settle(row: string): void {
    for (const [name, open] of this.#open) {
      if (!name.startsWith(`${row} `)) continue
      for (const derived of open.splice(0)) shelfOf(this.#replayed, derived.topic).add(derived)
    }
  }

  /** From here on live records come; `windows` by processor. */
  begin(windows: ReadonlyMap<string, Window>): void {
    this.#windows = windows
  }

  /** A record of the live system's topic. */
  live(derived: Derived): void {
    const { topic, message } = derived
    const window = this.#windows.get(writerOf(derived) ?? '')
    if (window === undefined) return
    if (topicOf(topic).kind === 'upsert') {
      const name = `${topic} ${message.type} ${upsertKeyOf(message)}`
      this.#highest.set(name, Math.max(this.#highest.get(name) ?? 0, rankOf(message)))
    }
    if (isWithin(derived, window)) shelfOf(this.#live, topic).add(derived)
  }

  /** What differs, and how much was compared. */
  close(): {
    differences: Difference[]
    tallies: Map<TopicName, Tally>
  } {
    const differences: Difference[] = []
    const tallies = new Map<TopicName, Tally>()
    for (const topic of new Set([...this.#replayed.keys(), ...this.#live.keys()])) {
      const tally: Tally = { compared: 0, repeated: 0, overtaken: 0, older: 0, different: 0 }
      tallies.set(topic, tally)
      const ours = this.#within(topic)
      const theirs = shelfOf(this.#live, topic)
      tally.repeated = theirs.repeated
      for (const id of new Set([...ours.keys(), ...theirs.known.keys()])) {
        const difference = this.#compare(topic, ours.get(id), theirs.known.get(id), tally)
        if (difference !== undefined) differences.push(difference)
      }
      tally.different = differences.filter((difference) => difference.topic === topic).length
    }
    return { differences, tallies }
  }

  #within(topic: TopicName): Map<string, Known> {
    const shelf = shelfOf(this.#replayed, topic)
    return new Map(
      [...shelf.known].filter(([, { message }]) => {
        const window = this.#windows.get(writerOf({ topic, message }) ?? '')
        return window !== undefined && isWithin({ topic, message }, window)
      }),
    )
  }

  #compare(topic: TopicName, ours: Known | undefined, theirs: Known | undefined, tally: Tally): Difference | undefined {
    const message = ours?.message ?? theirs?.message
    if (message === undefined) return undefined
    if (this.#options.restsOnOlder(message)) {
      tally.older += 1
      return undefined
    }
    const about = { topic, record: message.type, identity: identityOf(message) }
    if (theirs === undefined || ours === undefined) {
      if (ours !== undefined && this.#isOvertaken(topic, ours)) {
        tally.overtaken += 1
        return undefined
      }
      const kind = theirs === undefined ? 'missing-live' : 'only-live'
      return { ...about, kind, replay: ours?.message ?? null, live: theirs?.message ?? null }
    }
    tally.compared += 1
    if (areEqual(ours.bodies, theirs.bodies)) return undefined
    return { ...about, kind: 'different', replay: ours.message, live: theirs.message }
  }

  #isOvertaken(topic: TopicName, { message, rank }: Known): boolean {
    const highest = this.#highest.get(`${topic} ${message.type} ${upsertKeyOf(message)}`)
    return highest !== undefined && highest > rank
  }
}

const isUpsert: ReadonlySet<string> = new Set(['flow', 'flow_hour', 'flow_five', 'cvd'])

function shelfOf(shelves: Map<TopicName, RecordsById>, topic: TopicName): RecordsById {
  const known = shelves.get(topic)
  if (known !== undefined) return known
  const made = new RecordsById(({ type }) => isUpsert.has(type))
  shelves.set(topic, made)
  return made
}

function areEqual(ours: readonly Buffer[], theirs: readonly Buffer[]): boolean {
  return ours.length === theirs.length && ours.every((body) => theirs.some((other) => other.equals(body)))
}

/** What the comparison must know of the tape where it does not begin at the log's own start. */
export interface LeadIn {
  /** Record time at which the replay began. */
  readonly begin: Micros
  /** Record time from which on is compared. */
  readonly from: Micros
  /** Instruments whose terms were on the tape. */
  readonly terms: ReadonlySet<string>
  /** Alerts that were created on the tape. */
  readonly alerts: ReadonlySet<string>
}

const HOUR: Micros = 3_600_000_000
const periods: Readonly<Record<string, Micros>> = { '1h': HOUR, '4h': 4 * HOUR, '24h': 24 * HOUR, '7d': 168 * HOUR }

/**
 * Whether a record follows from more than the lead-in: sums of longer periods, trades from before it, alerts and terms
 * that were told of earlier, running totals, and liquidation levels, which remember every change of open interest.
 */
export function restsOnOlder({ type, value }: Message, { begin, from, terms, alerts }: LeadIn): boolean {
  const lead = from - begin
  switch (type) {
    case 'flow':
      return value.part < 0 || value.bucket < begin
    case 'flow_hour':
      return value.part < 0 || value.hour < begin
    case 'flow_five':
      return value.part < 0 || value.start < begin
    case 'signal':
      if (value.kind === 'cvd') return value.time - (periods[value.period] ?? Infinity) < begin
      return value.kind === 'cascade_risk' || lead < HOUR
    case 'composite_price':
      return lead < HOUR || (value.late && lead < 24 * HOUR)
    case 'funding':
      return lead < 24 * HOUR || value.exchanges.some(({ instrument }) => !terms.has(instrument))
    case 'liquidation_risk':
    case 'metric':
    case 'cvd':
      return true
    case 'alert_event':
    case 'trigger':
    case 'delivery_order':
      return !alerts.has(value.alert_id)
    default:
      return false
  }
}
