import { facilitatorBehaviours, type FacilitatorBehaviour } from '../../infra/local/chain/facilitator.ts'
import type { FaultKind } from '../../infra/simulator/faults/faults.ts'
import type { TopicName } from '../../schemas/topics.ts'
import type { Random } from '../../infra/simulator/market/random.ts'

/** One disturbance of a running system. */
export type Action =
  /** kill -9; the supervisor starts it again. */
  | { readonly kind: 'kill'; readonly part: string }
  /** SIGSTOP, and SIGCONT after `ms`: longer than its session, so that another owner may have come. */
  | { readonly kind: 'freeze'; readonly part: string; readonly ms: number }
  /** As `freeze`, for longer than a broker of ours remembers it; before it wakes another process has taken its place. */
  | { readonly kind: 'replace'; readonly part: 'processors'; readonly ms: number }
  /** kill -9, and kept down for `ms`. */
  | { readonly kind: 'hold'; readonly part: string; readonly ms: number }
  /** The stand-in facilitator does that with all it is asked to settle for `ms`, and settles it then. */
  | { readonly kind: 'facilitator'; readonly behaviour: FacilitatorBehaviour; readonly ms: number }
  /** The clock of a part is 55 minutes ahead for `ms`; those of the venues and of all other parts are right. */
  | { readonly kind: 'clock'; readonly part: string; readonly ms: number }
  /** The broker is killed, and the last records of every partition of a topic are taken off its disk before it comes back. */
  | { readonly kind: 'cut'; readonly topic: TopicName; readonly records: number; readonly ms: number }
  /** A part that reads a topic is frozen for `ms`; all that it has not read by then is deleted from the topic's start. */
  | { readonly kind: 'overtake'; readonly part: string; readonly topic: TopicName; readonly ms: number }
  /** Of a cluster: kill -9 of a broker, a processors' host and an API at once, and kept down for `ms`. */
  | { readonly kind: 'machine'; readonly host: number; readonly ms: number }
  /** Every broker is stopped cleanly and started again, one after the other. */
  | { readonly kind: 'rolling' }
  /** A broker is killed and comes back after `ms` with an empty disk. */
  | { readonly kind: 'empty'; readonly part: string; readonly ms: number }
  /** Another broker becomes the leader of each partition. */
  | { readonly kind: 'leaders' }
  /** The network between a broker and its clients is cut for `ms`. */
  | { readonly kind: 'unplug'; readonly part: string; readonly ms: number }
  /** A fault of the simulated venues, as its `POST /faults` takes it. */
  | { readonly kind: 'fault'; readonly fault: Fault }

interface Fault {
  readonly kind: FaultKind
  readonly venue?: string
  readonly duration_ms?: number
  readonly count?: number
  readonly seed: number
}

const HOLD_MS = 30_000
const FREEZE_MS = 8_000
const LIE_MS = 20_000
const BEHAVIOUR_MS = 10_000
/** How long the broker of a system of our own remembers an owner: long enough that a broker that starts again still knows it. */
export const FORGETS_SECONDS = 40
const REPLACED_MS = 46_000

/** Long enough to cut the files of all partitions on a busy machine. */
const CUT_DOWN_MS = 10_000
const CUT_RECORDS_MAX = 60

/** What a power cut is tried on: facts, what follows from them, commands, deliveries and what became of them. */
const cut: readonly TopicName[] = [
  'market.trades',
  'derived.flow',
  'alerts.inputs',
  'alerts.triggers',
  'webhooks.attempts',
]
const cutOfMoney: readonly TopicName[] = ['payments.intents', 'payments.events']
const killed = ['feeds', 'processors', 'webhooks', 'api', 'clickhouse', 'broker', 'registry']
const frozen = ['processors', 'webhooks']
/** Where the system takes payments: killed and frozen as well. The chain is not ours to kill: a network does not go back. */
const settling = 'payments'
const venues = ['binance', 'bybit', 'okx', 'coinbase']

const faults: readonly Omit<Fault, 'seed' | 'venue'>[] = [
  { kind: 'disconnect' },
  { kind: 'silence', duration_ms: 5_000 },
  { kind: 'lost', count: 20 },
  { kind: 'doubled', count: 20 },
  { kind: 'reordered', count: 20 },
  { kind: 'malformed', count: 20 },
  { kind: 'closing', duration_ms: 3_000 },
  { kind: 'rest_429', duration_ms: 5_000 },
  { kind: 'slow_rest', duration_ms: 5_000 },
]

/** What a round may try. */
export interface Tried {
  /** The system takes payments. */
  readonly paid?: boolean
  /** A stand-in of ours settles them. */
  readonly facilitator?: boolean
  /** The system is ours: its log may lose something for good. */
  readonly own?: boolean
  /** Several brokers, and hosts of each service. */
  readonly cluster?: boolean
}

/**
 * One round: each service killed, the processors and the dispatcher frozen, the processors replaced while they are, the
 * broker and ClickHouse held down, the feeds' clock put wrong, each fault once on one of the venues; in an order that the
 * seed decides. Of a system of our own the log loses its tail, topic by topic, and retention overtakes a reader. A
 * cluster has accidents of its own.
 */
export function round(random: Random, tried: Tried = {}): Action[] {
  return shuffled(tried.cluster === true ? ofCluster(random, tried) : ofOne(random, tried), random)
}

function ofOne(random: Random, { paid = false, facilitator = false, own = false }: Tried): Action[] {
  const more = paid ? [settling] : []
  const bad = facilitator ? facilitatorBehaviours.filter((behaviour) => behaviour !== 'well') : []
  return [
    ...[...killed, ...more].map((part): Action => ({ kind: 'kill', part })),
    ...[...frozen, ...more].map((part): Action => ({ kind: 'freeze', part, ms: FREEZE_MS })),
    ...bad.map((behaviour): Action => ({ kind: 'facilitator', behaviour, ms: BEHAVIOUR_MS })),
    { kind: 'replace', part: 'processors', ms: REPLACED_MS },
    { kind: 'hold', part: 'broker', ms: HOLD_MS },
    { kind: 'hold', part: 'clickhouse', ms: HOLD_MS },
    { kind: 'clock', part: 'feeds', ms: LIE_MS },
    ...(own ? losses(random, paid ? [...cut, ...cutOfMoney] : cut) : []),
    ...faultsOfVenues(random),
  ]
}

function faultsOfVenues(random: Random): Action[] {
  return faults.map((fault) => ({
    kind: 'fault',
    fault: { ...fault, venue: pick(venues, random), seed: random.bits() },
  }))
}

/** Hosts and brokers of a cluster, of which each accident picks one. */
const hostCount = 2
const brokerCount = 3
const killedOfHosts = ['feeds', 'processors', 'webhooks', 'api']
const killedOfOne = ['clickhouse', 'registry', 'api']
const UNPLUG_MS = 15_000
const EMPTY_MS = 8_000
/** Longer than the group waits for a silent member. */
const AWAY_MS = 12_000
/** Long enough that others have done its work for a while. */
const MACHINE_MS = 20_000

/**
 * Of a cluster: a host of each service, a broker and a whole machine killed, the owner of partitions and the dispatcher
 * frozen until another has their work, a broker frozen, down, unplugged, emptied; all brokers restarted in turn, the
 * leaders moved, one feed's clock wrong, and the venues' faults.
 */
function ofCluster(random: Random, { paid = false }: Tried): Action[] {
  const host = (): number => 1 + random.below(hostCount)
  const broker = (): string => `broker-${1 + random.below(brokerCount)}`
  return [
    ...killedOfHosts.map((role): Action => ({ kind: 'kill', part: `${role}-${host()}` })),
    ...[...killedOfOne, ...(paid ? [settling] : []), broker()].map((part): Action => ({ kind: 'kill', part })),
    ...frozen.map((role): Action => ({ kind: 'freeze', part: `${role}-${host()}`, ms: AWAY_MS })),
    { kind: 'machine', host: host(), ms: MACHINE_MS },
    { kind: 'rolling' },
    { kind: 'leaders' },
    { kind: 'freeze', part: broker(), ms: FREEZE_MS },
    { kind: 'hold', part: broker(), ms: HOLD_MS },
    { kind: 'empty', part: broker(), ms: EMPTY_MS },
    { kind: 'unplug', part: `link-${1 + random.below(brokerCount)}`, ms: UNPLUG_MS },
    { kind: 'clock', part: `feeds-${host()}`, ms: LIE_MS },
    ...faultsOfVenues(random),
  ]
}

function losses(random: Random, topics: readonly TopicName[]): Action[] {
  return [
    ...topics.map((topic): Action => {
      return { kind: 'cut', topic, records: 1 + random.below(CUT_RECORDS_MAX), ms: CUT_DOWN_MS }
    }),
    { kind: 'overtake', part: 'processors', topic: 'market.trades', ms: FREEZE_MS },
  ]
}

/** The next of a round; what takes something off the log only where it may, or nothing else is left. */
export function takeNext(left: Action[], mayLose: boolean): Action | undefined {
  const at = mayLose ? 0 : left.findIndex(({ kind }) => kind !== 'cut' && kind !== 'overtake')
  return left.splice(Math.max(at, 0), 1)[0]
}

function pick(names: readonly string[], random: Random): string {
  return names[random.below(names.length)] ?? ''
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const keyed = items.map((item) => ({ item, key: random.unit() }))
  return keyed.toSorted((a, b) => a.key - b.key).map(({ item }) => item)
}

export function actionText(action: Action): string {
  switch (action.kind) {
    case 'kill':
      return `kill -9 ${action.part}`
    case 'freeze':
      return `freeze ${action.part} for ${action.ms / 1000} s`
    case 'replace':
      return `freeze ${action.part} for ${action.ms / 1000} s and replace them`
    case 'hold':
      return `${action.part} down for ${action.ms / 1000} s`
    case 'facilitator':
      return `facilitator ${action.behaviour} for ${action.ms / 1000} s`
    case 'clock':
      return `clock of ${action.part} 55 minutes ahead for ${action.ms / 1000} s`
    case 'cut':
      return `cut the last ${action.records} records of ${action.topic}`
    case 'overtake':
      return `retention of ${action.topic} overtakes ${action.part}`
    case 'machine':
      return `machine ${action.host} down for ${action.ms / 1000} s`
    case 'rolling':
      return 'rolling restart of the brokers'
    case 'empty':
      return `${action.part} with an empty disk`
    case 'leaders':
      return 'leaders moved'
    case 'unplug':
      return `network cut at ${action.part} for ${action.ms / 1000} s`
    case 'fault':
      return `fault ${action.fault.kind} on ${action.fault.venue ?? 'all venues'}`
  }
}
