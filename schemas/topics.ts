import type { RecordType } from './records.ts'

/**
 * What a topic is kept for.
 * - `facts`: what happened outside, cut by size only.
 * - `journal`: evidence, read as a sequence; never compacted, never cut.
 * - `upsert`: absolute values by key; compacted, readers keep the highest `v`.
 * - `cache`: compacted without a limit, never evidence; entries end by tombstone.
 */
export type Kind = 'facts' | 'journal' | 'upsert' | 'cache'

export interface Topic {
  readonly name: string
  /**
   * `asset`: by the asset's partition, the same number in every topic; `receiver`: as many, by a webhook's receiver;
   * `one`: a single partition.
   */
  readonly partitions: 'asset' | 'receiver' | 'one'
  readonly kind: Kind
  /** Facts that are cut by that processor, never beyond what it has applied, and not by the broker. */
  readonly cutBy?: 'alerts'
  readonly records: readonly RecordType[]
  readonly description: string
}

/** Every topic of the system. Creation, registration, consumer lag and ClickHouse's tables follow from this table. */
export const topics = [
  {
    name: 'market.trades',
    partitions: 'asset',
    kind: 'facts',
    records: ['trade', 'gap', 'mark'],
    description: 'Trades of all venues, with the feeds’ marks and gaps between the trades that they concern.',
  },
  {
    name: 'market.tickers',
    partitions: 'asset',
    kind: 'facts',
    records: ['spot_ticker', 'price_range', 'mark'],
    description:
      'Spot prices of the chain venues, one a second per market by each feed process; candles’ bounds of a time without them.',
  },
  {
    name: 'market.funding',
    partitions: 'asset',
    kind: 'facts',
    records: ['derivative_ticker', 'settlement', 'long_short_ratio', 'contract_terms', 'mark'],
    description:
      'Perpetuals: funding, mark, index, premium, open interest, settled rates, top traders’ positions, terms.',
  },
  {
    name: 'market.liquidations',
    partitions: 'asset',
    kind: 'facts',
    records: ['liquidation', 'mark'],
    description: 'Positions that venues closed by force, each with how complete its source is.',
  },
  {
    name: 'market.candles',
    partitions: 'asset',
    kind: 'facts',
    records: ['candle', 'mark'],
    description: 'The venues’ own closed one-minute candles, to audit ours against.',
  },
  {
    name: 'market.history',
    partitions: 'asset',
    kind: 'facts',
    records: ['venue_candle', 'settlement', 'derivative_ticker', 'long_short_ratio'],
    description:
      'The venues’ past, read back: candles, settled rates, open interest, mark prices, ratios. In front of trades in CVD over periods; no processor derives from it.',
  },
  {
    name: 'market.tokens',
    partitions: 'one',
    kind: 'cache',
    records: ['token'],
    description: 'What the token registry says of each token.',
  },
  {
    name: 'market.instruments',
    partitions: 'one',
    kind: 'journal',
    records: ['instrument'],
    description: 'What each venue lists: contract sizes, multipliers, renames; written when it changes.',
  },
  {
    name: 'control.subscriptions',
    partitions: 'one',
    kind: 'cache',
    records: ['subscription'],
    description: 'Which assets are wanted, by whom and until when.',
  },
  {
    name: 'control.backfill',
    partitions: 'one',
    kind: 'cache',
    records: ['backfill', 'backfill_order'],
    description:
      'Which past was ordered, and how far each instrument’s is in market.history, so that it is not asked for again.',
  },
  {
    name: 'control.layout',
    partitions: 'one',
    kind: 'cache',
    records: ['layout'],
    description: 'The log’s id, partition count and asset map: a start on another layout is refused.',
  },
  {
    name: 'control.dead_letters',
    partitions: 'asset',
    kind: 'journal',
    records: ['dead_letter'],
    description: 'Records that a reader has set aside, each with its place and why; in the partition of the reader.',
  },
  {
    name: 'control.gaps',
    partitions: 'asset',
    kind: 'journal',
    records: ['log_gap'],
    description: 'What a reader of the log could not read, or found to be lost of what it wrote.',
  },
  {
    name: 'control.answers',
    partitions: 'one',
    kind: 'facts',
    records: ['answer_count'],
    description:
      'What API instances answered, failed and were late with, every ten seconds: what promises are held against.',
  },
  {
    name: 'derived.flow',
    partitions: 'asset',
    kind: 'upsert',
    records: ['flow', 'mark', 'flow_hour', 'flow_five', 'cvd'],
    description:
      'Taker volume per instrument and 10 s bucket, the stream and each backfill apart; per five minutes and hour; and of an asset as it is now.',
  },
  {
    name: 'derived.signals',
    partitions: 'asset',
    kind: 'journal',
    records: ['signal', 'mark'],
    description: 'Changes of a signal’s class.',
  },
  {
    name: 'derived.funding',
    partitions: 'asset',
    kind: 'upsert',
    records: ['funding', 'mark'],
    description: 'Funding of an asset over its venues, with the premium’s average and the predicted rate.',
  },
  {
    name: 'derived.audit',
    partitions: 'asset',
    kind: 'journal',
    records: ['audit', 'mark'],
    description: 'Our figures of one instrument and minute beside the venue’s own candle.',
  },
  {
    name: 'alerts.inputs',
    partitions: 'asset',
    kind: 'facts',
    cutBy: 'alerts',
    records: ['command', 'composite_price', 'liquidation_risk', 'metric', 'mark'],
    description:
      'All that decides about alerts, in one order: commands, composite prices, liquidation risk and derived figures.',
  },
  {
    name: 'alerts.events',
    partitions: 'asset',
    kind: 'journal',
    records: ['alert_event', 'mark'],
    description: 'What happened to each alert, with its whole state after it.',
  },
  {
    name: 'alerts.state',
    partitions: 'asset',
    kind: 'cache',
    records: ['alert'],
    description: 'Each alert as it is now: what API instances hold; gone 7 days after its end.',
  },
  {
    name: 'alerts.triggers',
    partitions: 'receiver',
    kind: 'journal',
    records: ['trigger', 'delivery_order'],
    description: 'Deliveries to be made, complete enough to send, and the owner’s word on them; by receiver.',
  },
  {
    name: 'webhooks.attempts',
    partitions: 'receiver',
    kind: 'journal',
    records: ['attempt'],
    description: 'Each attempt to deliver a trigger, and what became of it.',
  },
  {
    name: 'webhooks.pending',
    partitions: 'receiver',
    kind: 'cache',
    records: ['pending'],
    description: 'Deliveries that are not finished, and when their next attempt is due.',
  },
  {
    name: 'payments.intents',
    partitions: 'one',
    kind: 'journal',
    records: ['payment_intent'],
    description: 'Checked payments with the requests that they are for, to be settled.',
  },
  {
    name: 'payments.events',
    partitions: 'one',
    kind: 'journal',
    records: ['payment_event'],
    description: 'What became of each payment: broadcast, pending, settled, failed, or used for another request.',
  },
  {
    name: 'payments.answers',
    partitions: 'one',
    kind: 'cache',
    records: ['payment_answer'],
    description: 'The answers that settled payments bought, without secrets, for 24 hours.',
  },
  {
    name: 'payments.credit',
    partitions: 'one',
    kind: 'journal',
    records: ['credit_command'],
    description: 'All that decides about API keys and their credit, in one order: purchases, leases, charges, terms.',
  },
  {
    name: 'payments.entries',
    partitions: 'one',
    kind: 'journal',
    records: ['credit_entry'],
    description: 'Movements of credit: what was bought, and what was charged by route.',
  },
  {
    name: 'payments.keys',
    partitions: 'one',
    kind: 'cache',
    records: ['api_key'],
    description: 'Each API key as it is now, with its balance and what is set aside of it; no secret.',
  },
  stateOf('cvd'),
  stateOf('prices'),
  stateOf('funding'),
  stateOf('liquidations'),
  stateOf('liquidated'),
  stateOf('audit'),
  stateOf('alerts'),
  { ...stateOf('credit'), partitions: 'one' },
  {
    ...stateOf('present'),
    description:
      'The newest values that present answers are made of, from which whoever answers begins, with their offsets.',
  },
] as const satisfies readonly Topic[]

/** Where a processor keeps its state. */
function stateOf<Processor extends string>(processor: Processor) {
  return {
    name: `state.${processor}`,
    partitions: 'asset',
    kind: 'cache',
    records: ['snapshot'],
    description: `Snapshots of the ${processor} processor with the offsets that they have applied.`,
  } as const satisfies Topic
}

/** The Kafka key of each record type: its fields with a `|` between them; what is in quotes stands so, other words tell it. */
export const keys: Readonly<Record<RecordType, string>> = {
  trade: 'asset',
  gap: 'asset',
  mark: 'writer',
  spot_ticker: 'asset',
  price_range: 'asset',
  derivative_ticker: 'asset',
  settlement: 'asset',
  long_short_ratio: 'asset',
  contract_terms: 'asset',
  liquidation: 'asset',
  candle: 'asset',
  venue_candle: 'asset',
  token: 'id',
  instrument: 'instrument',
  subscription: 'asset|wanter',
  backfill: 'instrument|series',
  backfill_order: '"order"|asset|from|to',
  layout: '"layout"',
  dead_letter: 'processor|topic|partition|offset',
  log_gap: 'reader',
  answer_count: 'instance',
  flow: 'asset|instrument|bucket|part',
  flow_hour: 'asset|instrument|hour|part|"hour"',
  flow_five: 'asset|instrument|start|part|"five"',
  cvd: 'asset|"cvd"',
  signal: 'asset',
  funding: 'asset',
  audit: 'asset',
  command: 'asset',
  composite_price: 'asset',
  liquidation_risk: 'asset',
  metric: 'asset',
  alert_event: 'alert_id',
  alert: 'alert_id',
  trigger: 'trigger_id',
  delivery_order: 'alert_id',
  attempt: 'trigger_id',
  pending: 'trigger_id',
  payment_intent: 'payment_id',
  payment_event: 'payment_id',
  payment_answer: 'payment_id',
  credit_command: 'key_id',
  credit_entry: 'key_id',
  api_key: 'key_id',
  snapshot: 'part of the state',
}

export type TopicName = (typeof topics)[number]['name']

/** The record types that a topic may hold. */
export type RecordsOf<Name extends TopicName> = Extract<(typeof topics)[number], { name: Name }>['records'][number]

export type KindOf<Name extends TopicName> = Extract<(typeof topics)[number], { name: Name }>['kind']

/** The topic of that name; every name of the type is in the table. */
export function topicOf(name: TopicName): Topic {
  const topic = topics.find((candidate) => candidate.name === name)
  if (topic === undefined) throw new Error(`no topic ${name} in schemas/topics.ts`)
  return topic
}

/** The keys of a topic's records in words; marks have their writer's name in every topic. */
export function keysOf({ records }: Topic): string {
  const own = records.filter((record) => record !== 'mark')
  const words = own.map((record) => keys[record])
  return new Set(words).size === 1
    ? words.slice(0, 1).join('')
    : own.map((record) => `${record}: ${keys[record]}`).join('; ')
}

/** Whether a later value of a key may have replaced one that was read for, so that a range lacks it. */
export function isCompacted(name: TopicName): boolean {
  const { kind } = topicOf(name)
  return kind === 'upsert' || kind === 'cache'
}

/** Subject under which a topic's record type is registered: `<topic>-<record>`. */
export function subjectOf(topic: TopicName, record: RecordType): string {
  return `${topic}-${record}`
}
