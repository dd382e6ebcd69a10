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
  /** What the Kafka key is, as a person would say it. */
  readonly key: string
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
    key: 'asset',
    partitions: 'asset',
    kind: 'facts',
    records: ['trade', 'gap', 'mark'],
    description: 'Trades of all venues, with the feeds’ marks and gaps between the trades that they concern.',
  },
  {
    name: 'market.tickers',
    key: 'asset',
    partitions: 'asset',
    kind: 'facts',
    records: ['spot_ticker', 'price_range', 'mark'],
    description: 'Spot prices of the chain venues, one a second per market; candles’ bounds of a time without them.',
  },
  {
    name: 'market.funding',
    key: 'asset',
    partitions: 'asset',
    kind: 'facts',
    records: ['derivative_ticker', 'settlement', 'long_short_ratio', 'contract_terms', 'mark'],
    description:
      'Perpetuals: funding, mark, index, premium, open interest, settled rates, top traders’ positions, terms.',
  },
  {
    name: 'market.liquidations',
    key: 'asset',
    partitions: 'asset',
    kind: 'facts',
    records: ['liquidation', 'mark'],
    description: 'Positions that venues closed by force, each with how complete its source is.',
  },
  {
    name: 'market.candles',
    key: 'asset',
    partitions: 'asset',
    kind: 'facts',
    records: ['candle', 'mark'],
    description: 'The venues’ own closed one-minute candles, to audit ours against.',
  },
  {
    name: 'market.history',
    key: 'asset',
    partitions: 'asset',
    kind: 'facts',
    records: ['venue_candle', 'settlement', 'derivative_ticker', 'long_short_ratio'],
    description:
      'The venues’ past, read back: candles, settled rates, open interest, mark prices, ratios. In front of trades in CVD over periods; no processor derives from it.',
  },
  {
    name: 'market.tokens',
    key: 'token id',
    partitions: 'one',
    kind: 'cache',
    records: ['token'],
    description: 'What the token registry says of each token.',
  },
  {
    name: 'market.instruments',
    key: 'instrument',
    partitions: 'one',
    kind: 'journal',
    records: ['instrument'],
    description: 'What each venue lists: contract sizes, multipliers, renames; written when it changes.',
  },
  {
    name: 'control.subscriptions',
    key: 'asset|wanter',
    partitions: 'one',
    kind: 'cache',
    records: ['subscription'],
    description: 'Which assets are wanted, by whom and until when.',
  },
  {
    name: 'control.backfill',
    key: 'instrument|series, or order|asset|from|to',
    partitions: 'one',
    kind: 'cache',
    records: ['backfill', 'backfill_order'],
    description:
      'Which past was ordered, and how far each instrument’s is in market.history, so that it is not asked for again.',
  },
  {
    name: 'control.layout',
    key: 'layout',
    partitions: 'one',
    kind: 'cache',
    records: ['layout'],
    description: 'The log’s id, partition count and asset map: a start on another layout is refused.',
  },
  {
    name: 'control.dead_letters',
    key: 'processor|topic|partition|offset',
    partitions: 'asset',
    kind: 'journal',
    records: ['dead_letter'],
    description: 'Records that a reader has set aside, each with its place and why; in the partition of the reader.',
  },
  {
    name: 'control.gaps',
    key: 'reader',
    partitions: 'asset',
    kind: 'journal',
    records: ['log_gap'],
    description: 'What a reader of the log could not read, or found to be lost of what it wrote.',
  },
  {
    name: 'control.answers',
    key: 'API instance',
    partitions: 'one',
    kind: 'facts',
    records: ['answer_count'],
    description:
      'What API instances answered, failed and were late with, every ten seconds: what promises are held against.',
  },
  {
    name: 'derived.flow',
    key: 'asset|instrument|bucket|part',
    partitions: 'asset',
    kind: 'upsert',
    records: ['flow', 'mark', 'flow_hour', 'flow_five', 'cvd'],
    description:
      'Taker volume per instrument and 10 s bucket, the stream and each backfill apart; per five minutes and hour; and of an asset as it is now.',
  },
  {
    name: 'derived.signals',
    key: 'asset',
    partitions: 'asset',
    kind: 'journal',
    records: ['signal', 'mark'],
    description: 'Changes of a signal’s class.',
  },
  {
    name: 'derived.funding',
    key: 'asset',
    partitions: 'asset',
    kind: 'upsert',
    records: ['funding', 'mark'],
    description: 'Funding of an asset over its venues, with the premium’s average and the predicted rate.',
  },
  {
    name: 'derived.audit',
    key: 'asset',
    partitions: 'asset',
    kind: 'journal',
    records: ['audit', 'mark'],
    description: 'Our figures of one instrument and minute beside the venue’s own candle.',
  },
  {
    name: 'alerts.inputs',
    key: 'asset',
    partitions: 'asset',
    kind: 'facts',
    cutBy: 'alerts',
    records: ['command', 'composite_price', 'liquidation_risk', 'metric', 'mark'],
    description:
      'All that decides about alerts, in one order: commands, composite prices, liquidation risk and derived figures.',
  },
  {
    name: 'alerts.events',
    key: 'alert id',
    partitions: 'asset',
    kind: 'journal',
    records: ['alert_event', 'mark'],
    description: 'What happened to each alert, with its whole state after it.',
  },
  {
    name: 'alerts.state',
    key: 'alert id',
    partitions: 'asset',
    kind: 'cache',
    records: ['alert'],
    description: 'Each alert as it is now: what API instances hold; gone 7 days after its end.',
  },
  {
    name: 'alerts.triggers',
    key: 'trigger id',
    partitions: 'receiver',
    kind: 'journal',
    records: ['trigger', 'delivery_order'],
    description: 'Deliveries to be made, complete enough to send, and the owner’s word on them; by receiver.',
  },
  {
    name: 'webhooks.attempts',
    key: 'trigger id',
    partitions: 'receiver',
    kind: 'journal',
    records: ['attempt'],
    description: 'Each attempt to deliver a trigger, and what became of it.',
  },
  {
    name: 'webhooks.pending',
    key: 'trigger id',
    partitions: 'receiver',
    kind: 'cache',
    records: ['pending'],
    description: 'Deliveries that are not finished, and when their next attempt is due.',
  },
  {
    name: 'payments.intents',
    key: 'payment id',
    partitions: 'one',
    kind: 'journal',
    records: ['payment_intent'],
    description: 'Checked payments with the requests that they are for, to be settled.',
  },
  {
    name: 'payments.events',
    key: 'payment id',
    partitions: 'one',
    kind: 'journal',
    records: ['payment_event'],
    description: 'What became of each payment: broadcast, pending, settled, failed, or used for another request.',
  },
  {
    name: 'payments.answers',
    key: 'payment id',
    partitions: 'one',
    kind: 'cache',
    records: ['payment_answer'],
    description: 'The answers that settled payments bought, without secrets, for 24 hours.',
  },
  {
    name: 'payments.credit',
    key: 'key id',
    partitions: 'one',
    kind: 'journal',
    records: ['credit_command'],
    description: 'All that decides about API keys and their credit, in one order: purchases, leases, charges, terms.',
  },
  {
    name: 'payments.entries',
    key: 'key id',
    partitions: 'one',
    kind: 'journal',
    records: ['credit_entry'],
    description: 'Movements of credit: what was bought, and what was charged by route.',
  },
  {
    name: 'payments.keys',
    key: 'key id',
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
    key: 'state part',
    partitions: 'asset',
    kind: 'cache',
    records: ['snapshot'],
    description: `Snapshots of the ${processor} processor with the offsets that they have applied.`,
  } as const satisfies Topic
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

/** Whether a later value of a key may have replaced one that was read for, so that a range lacks it. */
export function isCompacted(name: TopicName): boolean {
  const { kind } = topicOf(name)
  return kind === 'upsert' || kind === 'cache'
}

/** Subject under which a topic's record type is registered: `<topic>-<record>`. */
export function subjectOf(topic: TopicName, record: RecordType): string {
  return `${topic}-${record}`
}
