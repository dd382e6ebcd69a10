import { CVD } from '../../../processors/cvd/cvd.ts'
import { LATENESS } from '../../../processors/cvd/state.ts'
import type { Mark, Message, Micros } from '../../../schemas/records.ts'
import type { TopicName } from '../../../schemas/topics.ts'
import { versionOf } from '../../../processors/kernel/version.ts'

/** One derived record, wherever it was written. */
export interface Derived {
  readonly topic: TopicName
  readonly message: Message
  /** Avro body. */
  readonly body: Buffer
}

/** What one processor folded of one partition: inputs from `from` to `to`, marks after `fromTime` up to `toTime`. */
export interface Window {
  readonly generation: number
  readonly from: number
  /** One past the last mark that raised partition time. */
  readonly to: number
  readonly fromTime: Micros
  readonly toTime: Micros
}

/** One difference between a replay and what the live system wrote. */
export interface Difference {
  readonly topic: TopicName
  readonly record: string
  readonly identity: string
  readonly kind: 'missing-live' | 'only-live' | 'different'
  readonly replay: Message | null
  readonly live: Message | null
}

/** How many records of a topic were compared, and why others were not. */
export interface Tally {
  compared: number
  /** Live records that stand twice with the same content: written again after a crash. */
  repeated: number
  /** An upsert that a later one has replaced since; its topic keeps the last. */
  overtaken: number
  /** Rests on a log older than the replay's begin. */
  older: number
  different: number
}

/** The processor that wrote a derived record; undefined where none of those that are replayed did. */
export function writerOf({ topic, message }: Pick<Derived, 'topic' | 'message'>): string | undefined {
  if (message.type === 'mark') return message.value.writer
  if (message.type === 'signal') return signalWriters[message.value.kind]
  if (topic === 'derived.flow') return 'cvd'
  if (topic === 'derived.funding') return 'funding'
  if (message.type === 'composite_price') return 'prices'
  if (message.type === 'liquidation_risk') return 'liquidations'
  if (message.type === 'metric') return message.value.core
  return topic === 'alerts.events' || topic === 'alerts.triggers' ? 'alerts' : undefined
}

const signalWriters: Readonly<Record<string, string>> = {
  cvd: 'cvd',
  funding: 'funding',
  sentiment: 'funding',
  cascade_risk: 'liquidations',
}

/** What names a record of its type; two with one identity must say the same. */
export function identityOf({ type, value }: Message): string {
  switch (type) {
    case 'mark':
      return `${value.writer}|${value.time}`
    case 'flow':
      return `${value.asset}|${value.instrument}|${value.bucket}|${value.part}`
    case 'flow_hour':
      return `${value.asset}|${value.instrument}|${value.hour}|${value.part}`
    case 'flow_five':
      return `${value.asset}|${value.instrument}|${value.start}|${value.part}`
    case 'cvd':
      return value.asset
    case 'signal':
      return `${value.asset}|${value.kind}|${value.period}|${value.exchange ?? ''}|${value.time}`
    case 'composite_price':
      return `${value.asset}|${value.v}|${value.late ? value.bounds_from : ''}`
    case 'metric':
      return `${value.asset}|${value.core}|${value.v}`
    case 'funding':
    case 'liquidation_risk':
      return `${value.asset}|${value.v}`
    case 'alert_event':
      return `${value.alert_id}|${value.v}|${value.event}|${value.request_id ?? ''}|${value.trigger_id ?? ''}`
    case 'trigger':
      return value.trigger_id
    case 'delivery_order':
      return `${value.alert_id}|${value.v}|${value.order}`
    default:
      return `${type}|?`
  }
}

/** What a later record of an upsert topic replaces: its Kafka key says the same, where there is one. */
export function upsertKeyOf(message: Message): string {
  if (message.type === 'mark') return message.value.writer
  return message.type === 'funding' ? message.value.asset : identityOf(message)
}

/** Whether a record follows from an entry of the window. */
export function isWithin({ topic, message }: Pick<Derived, 'topic' | 'message'>, window: Window): boolean {
  const { type, value } = message
  const { generation, from, to, fromTime, toTime } = window
  if (type === 'mark') {
    const at = writtenAt(topic, value)
    return at > fromTime && at <= toTime
  }
  const v = 'v' in value ? value.v : -1
  return v >= versionOf(generation, from) && v < versionOf(generation, to)
}

/** The partition time at which a mark is written: its own, but for that of closed buckets, whose last trades are waited for. */
function writtenAt(topic: TopicName, { writer, time }: Mark): Micros {
  return topic === 'alerts.inputs' && writer === CVD ? time + LATENESS : time
}
