import type { Topic, TopicName } from '../../schemas/topics.ts'
import { columnsOf } from './incoming.ts'
import { bytesUnkept, literal, nameOf } from './readings.ts'

/** A view that takes records of a topic into a table. */
interface View {
  readonly name: string
  readonly into: string
  readonly select: string
}

/** A table whose columns repeat fields of a topic's records. */
interface Copy {
  readonly topic: TopicName
  readonly into: string
  /** It comes by the topic's `_others_in` table. */
  readonly seldom?: true
  /** What columns hold that no field of their name gives, in SQL. */
  readonly as?: Readonly<Record<string, string>>
  /** Which records, in SQL, of those that have all that the table demands. */
  readonly where?: string
}

const live = { source: "'live'" }
const past = { source: "'venue_history'" }
const timeOf = (field: string) => ({ time: timeFrom(`ifNull(record.${field}, record.received)`) })
const markAt = { ...timeOf('mark_time'), index_price: 'record.index' }

/** What computes more than a field or two is a view of a migration. */
const copies: readonly Copy[] = [
  {
    topic: 'market.trades',
    into: 'gaps_log',
    seldom: true,
    as: { gap_id: 'toUInt64(assumeNotNull(record.gap_id))' },
  },
  { topic: 'market.instruments', into: 'instruments_log' },
  { topic: 'market.tokens', into: 'tokens_log' },
  { topic: 'market.tickers', into: 'tickers_log' },
  {
    topic: 'market.tickers',
    into: 'price_ranges_log',
    as: { candles: `arrayMap(x -> (${timeFrom('x.minute')}, x.low, x.high), record.candles)` },
  },
  { topic: 'market.funding', into: 'funding_rates_log', as: timeOf('rate_time') },
  {
    topic: 'market.funding',
    into: 'mark_prices_log',
    as: { ...markAt, ...live },
    where: '(record.mark IS NOT NULL OR record.index IS NOT NULL)',
  },
  { topic: 'market.funding', into: 'premiums_log', as: timeOf('premium_time'), where: 'record.channel IS NOT NULL' },
  { topic: 'market.funding', into: 'open_interest_log', as: { ...timeOf('open_interest_time'), ...live } },
  { topic: 'market.funding', into: 'funding_settlements_log', as: live, seldom: true },
  { topic: 'market.funding', into: 'long_short_ratios_log', as: live, seldom: true },
  { topic: 'market.funding', into: 'contract_terms_log', seldom: true },
  { topic: 'market.history', into: 'venue_candles_log' },
  { topic: 'market.history', into: 'mark_prices_log', as: { ...markAt, ...past }, where: 'record.mark IS NOT NULL' },
  { topic: 'market.history', into: 'open_interest_log', as: { ...timeOf('open_interest_time'), ...past } },
  { topic: 'market.history', into: 'funding_settlements_log', as: past },
  { topic: 'market.history', into: 'long_short_ratios_log', as: past },
  { topic: 'market.liquidations', into: 'liquidations_log' },
  { topic: 'market.candles', into: 'candles_log' },
  { topic: 'derived.flow', into: 'flow_log' },
  { topic: 'derived.flow', into: 'flow_hours_log', seldom: true },
  { topic: 'derived.flow', into: 'flow_fives_log', seldom: true },
  { topic: 'derived.signals', into: 'signal_changes_log', as: { exchange: "ifNull(record.exchange, '')" } },
  { topic: 'derived.audit', into: 'audits_log' },
  { topic: 'alerts.inputs', into: 'metrics_log' },
  { topic: 'alerts.inputs', into: 'alert_commands_log' },
  { topic: 'alerts.triggers', into: 'delivery_orders_log' },
  { topic: 'webhooks.attempts', into: 'webhook_attempts_log' },
  { topic: 'control.gaps', into: 'log_gaps_log', as: { told_partition: 'log_partition', told_offset: 'log_offset' } },
  { topic: 'control.answers', into: 'answer_counts_log' },
]

/** What seldom comes of these goes by a table of its own: a flush costs each view that finds nothing in it. */
const sorted: ReadonlySet<string> = new Set<TopicName>(['market.trades', 'market.funding', 'derived.flow'])

/** Views that are made without a migration. `tables`: each with those of its columns that it is filled by, and their types. */
export function ingestViewsOf(topic: Topic, tables: ReadonlyMap<string, ReadonlyMap<string, string>>): View[] {
  const own = copies.filter((copy) => copy.topic === topic.name)
  const fields = columnsOf(topic)
  return [...commonViewsOf(topic), ...own.map((copy) => viewOf(copy, fields, tables.get(copy.into) ?? new Map()))]
}

/**
 * Each column takes the field of its name, `partition` and `offset` those of the log where no field is named so. A record that
 * lacks what a column demands is of another type.
 */
function viewOf(
  { topic, into, seldom, as = {}, where }: Copy,
  fields: ReadonlyMap<string, string>,
  columns: ReadonlyMap<string, string>,
): View {
  const demanded = [...columns].flatMap(([column, type]) =>
    !(column in as) && mayBeNull(fields.get(column)) && !mayBeNull(type) ? [column] : [],
  )
  const taken = [...columns].map(([column, type]) => {
    const field = fields.has(column) ? `record.${column}` : `log_${column}`
    const value = demanded.includes(column) ? `assumeNotNull(${field})` : field
    return `${as[column] ?? (type.includes('DateTime64') ? timeFrom(value) : value)} AS \`${column}\``
  })
  const conditions = ["log_error = ''", ...demanded.map((column) => `record.${column} IS NOT NULL`), where ?? []].flat()
  return {
    name: `ingest_${nameOf(topic)}_${into.replace(/_log$/, '')}`,
    into,
    select: `SELECT
    ${taken.join(',\n    ')}
FROM ${nameOf(topic)}${seldom === true ? '_others' : ''}_in AS record
WHERE ${conditions.join(' AND ')}`,
  }
}

function mayBeNull(type = ''): boolean {
  return /^(?:LowCardinality\()?Nullable\(/.test(type)
}

function timeFrom(micros: string): string {
  return `fromUnixTimestamp64Micro(${micros}, 'UTC')`
}

/**
 * What all topics have: records that could not be read, and marks. A mark of a feed that runs ahead of the venues' time counts
 * for none; a processor has judged those that it forwards.
 */
function commonViewsOf({ name: topic, records }: Topic): View[] {
  const name = nameOf(topic)
  const errors = `SELECT
    ${literal(topic)} AS topic,
    log_partition AS partition,
    log_offset AS offset,
    log_time AS time,
    log_error AS error,
    ${bytesUnkept.has(topic) ? "''" : 'log_raw'} AS raw
FROM ${name}${sorted.has(topic) ? '_others' : ''}_in
WHERE log_error != ''`
  const marks = `SELECT
    ${literal(topic)} AS topic,
    log_partition AS partition,
    assumeNotNull(record.writer) AS writer,
    fromUnixTimestamp64Micro(record.run, 'UTC') AS run,
    fromUnixTimestamp64Micro(record.time, 'UTC') AS time,
    arrayMap(x -> (x.venue, x.state, toUInt32(x.sockets), fromUnixTimestamp64Micro(x.since, 'UTC')), record.venues) AS venues
FROM ${name}_in AS record
WHERE log_error = '' AND record.writer IS NOT NULL${
    topic.startsWith('market.')
      ? '\n    AND (record.venue_time IS NULL OR record.time <= record.venue_time + 5000000)'
      : ''
  }`
  return [
    { name: `ingest_${name}_error`, into: 'ingest_errors_log', select: errors },
    ...(records.includes('mark') ? [{ name: `ingest_${name}_marks`, into: 'marks', select: marks }] : []),
  ]
}
