/**
 * The TypeScript side of `records/*.avsc`: one interface per record type. Units and meaning are documented there, field
 * by field; names are the same. Times are microseconds since the Unix epoch, volumes base units.
 */
import type { Alert, AlertEvent, Attempt, Command, DeliveryOrder, Pending, Trigger } from './alerts.ts'
import type { Audit, CompositePrice, Funding, LiquidationRisk } from './derived.ts'
import type {
  Candle,
  ContractTerms,
  DerivativeTicker,
  Liquidation,
  LongShortRatio,
  PriceRange,
  Settlement,
  SpotTicker,
  Token,
} from './market.ts'
import type { Micros } from './micros.ts'
import type { PaymentAnswer, PaymentEvent, PaymentIntent } from './payments.ts'
import type { Stood } from './stood.ts'

export type * from './alerts.ts'
export type * from './derived.ts'
export type * from './market.ts'
export type { Stood } from './stood.ts'
export type { PaymentAnswer, PaymentEvent, PaymentIntent } from './payments.ts'
export type { Micros }

export interface Trade {
  readonly instrument: string
  readonly asset: string
  readonly first_id: number
  readonly last_id: number
  readonly count: number
  readonly sequence: number | null
  readonly price: number
  readonly size: number
  readonly quote: number
  readonly size_factor: number
  readonly price_factor: number
  readonly taker: 'unknown' | 'buy' | 'sell'
  readonly time: Micros
  readonly received: Micros
  readonly origin: 'unknown' | 'stream' | 'backfill' | 'import'
  readonly gap_id: number | null
}

export interface Gap {
  readonly instrument: string
  readonly asset: string
  readonly gap_id: number
  readonly state: 'unknown' | 'opened' | 'filled' | 'unfillable'
  readonly reason: string
  readonly from_id: number | null
  readonly to_id: number | null
  readonly from_time: Micros
  readonly to_time: Micros
  readonly missing: number | null
  readonly feed: string
  readonly time: Micros
}

export interface VenueState {
  readonly venue: string
  readonly state: 'unknown' | 'off' | 'connecting' | 'live' | 'down' | 'unavailable'
  readonly sockets: number
  readonly since: Micros
}

export interface SubscriptionChange {
  readonly instrument: string
  readonly asset: string
  readonly state: 'unknown' | 'acknowledged' | 'ended' | 'refused' | 'unlisted'
  readonly time: Micros
}

export interface Mark {
  readonly writer: string
  readonly run: Micros
  readonly time: Micros
  readonly venues: readonly VenueState[]
  readonly changes: readonly SubscriptionChange[]
  readonly venue_time: Micros | null
}

export interface Instrument {
  readonly instrument: string
  readonly asset: string
  readonly venue: string
  readonly market: string
  readonly symbol: string
  readonly base: string
  readonly quote: string
  readonly settle: string
  readonly size_factor: number
  readonly price_factor: number
  readonly tick: number | null
  readonly status: 'unknown' | 'live' | 'closed'
  readonly source: string
  readonly valid_from: Micros
}

export interface Subscription {
  readonly asset: string
  readonly wanter: string
  readonly asked: Micros
  readonly until: Micros
}

export interface Flow {
  readonly asset: string
  readonly instrument: string
  readonly bucket: Micros
  readonly part: number
  readonly buy: number
  readonly sell: number
  readonly buy_quote: number
  readonly sell_quote: number
  readonly buy_count: number
  readonly sell_count: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly open_time: Micros
  readonly close_time: Micros
  readonly first_id: number
  readonly last_id: number
  readonly final: boolean
  readonly v: number
}

/** Of the buckets of one hour: the fields of `Flow` under the hour's start. */
export interface FlowHour extends Omit<Flow, 'bucket'> {
  readonly hour: Micros
}

export interface Signal {
  readonly asset: string
  readonly kind: string
  readonly period: string
  readonly from: string
  readonly to: string
  readonly value: number
  readonly evidence: Readonly<Record<string, number>>
  readonly time: Micros
  readonly v: number
  readonly exchange: string | null
}

export interface Snapshot {
  readonly processor: string
  readonly generation: number
  readonly applied: Readonly<Record<string, number>>
  readonly time: Micros
  readonly state: Buffer
  readonly failures: readonly { readonly lane: string; readonly window: number; readonly count: number }[]
  /** By `topic/partition`. */
  readonly stood: Readonly<Record<string, Stood>>
  readonly told: number
  readonly clocks: Readonly<Record<string, TopicClock>>
}

export interface LogGap {
  readonly reader: string
  readonly topic: string
  readonly partition: number
  readonly reason: 'unknown' | 'retention' | 'cut' | 'replaced' | 'output_cut'
  readonly position: number
  readonly next: number
  readonly shift: number
  readonly missing: number | null
  readonly from_time: Micros
  readonly to_time: Micros
  readonly time: Micros
}

export interface TopicClock {
  readonly time: Micros
  readonly waiting: Micros
}

/** A record that a reader has set aside. */
export interface DeadLetter {
  readonly processor: string
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly time: Micros
  readonly reason: 'unknown' | 'undecodable' | 'unknown_schema' | 'failed' | 'held'
  readonly code: string
  readonly message: string
  readonly at: string | null
  readonly attempts: number
  readonly key: Buffer | null
  readonly size: number
  readonly value: Buffer
}

export interface Layout {
  readonly log: string
  readonly version: number
  readonly partitions: number
  readonly map: string
  readonly created: Micros
}

/** Record type name, as in the subject and the .avsc file's name, to its shape. */
export interface Records {
  trade: Trade
  gap: Gap
  mark: Mark
  instrument: Instrument
  subscription: Subscription
  flow: Flow
  flow_hour: FlowHour
  signal: Signal
  snapshot: Snapshot
  layout: Layout
  dead_letter: DeadLetter
  log_gap: LogGap
  spot_ticker: SpotTicker
  price_range: PriceRange
  derivative_ticker: DerivativeTicker
  settlement: Settlement
  long_short_ratio: LongShortRatio
  liquidation: Liquidation
  contract_terms: ContractTerms
  token: Token
  candle: Candle
  funding: Funding
  composite_price: CompositePrice
  liquidation_risk: LiquidationRisk
  audit: Audit
  command: Command
  alert: Alert
  alert_event: AlertEvent
  trigger: Trigger
  delivery_order: DeliveryOrder
  attempt: Attempt
  pending: Pending
  payment_intent: PaymentIntent
  payment_event: PaymentEvent
  payment_answer: PaymentAnswer
}

export type RecordType = keyof Records

/** One value with the name of its record type: what a topic of several record types holds. */
export type Message<Type extends RecordType = RecordType> = Type extends RecordType
  ? { readonly type: Type; readonly value: Records[Type] }
  : never
