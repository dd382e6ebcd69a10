import { schemaOf } from '../../schemas/codec.ts'
import type { Records, RecordType } from '../../schemas/records.ts'
import type { Topic } from '../../schemas/topics.ts'
import type { Field, Schema } from '../../schemas/writer.ts'
import { literal, nameOf } from './readings.ts'

/** The field by which a record of this type is told from others of its topic: required, and of no other type there. */
export const tellingField: Partial<{ readonly [Type in RecordType]: keyof Records[Type] }> = {
  trade: 'price',
  gap: 'reason',
  spot_ticker: 'last',
  price_range: 'from',
  derivative_ticker: 'channel',
  settlement: 'settled_rate',
  long_short_ratio: 'ls_ratio',
  contract_terms: 'interval_hours',
  liquidation: 'price',
  candle: 'minute',
  venue_candle: 'seconds',
  flow: 'bucket',
  flow_hour: 'hour',
  flow_five: 'start',
  signal: 'kind',
  funding: 'asset',
  audit: 'minute',
  command: 'action',
  composite_price: 'low',
  liquidation_risk: 'open_interest_usd',
  metric: 'core',
  alert_event: 'event',
  trigger: 'condition_met',
  delivery_order: 'order',
  mark: 'writer',
}

/**
 * Fields that are skipped as they are read. What no table may hold: webhook URLs, sealed or not, receivers, wallets,
 * payments, keys of idempotency, texts that may quote a request. And what only the kernel, feeds and the dispatcher need.
 */
export const skippedFields: Partial<Record<RecordType, readonly string[]>> = {
  command: ['alert', 'payment', 'trigger_id', 'trigger_partition', 'trigger_offset', 'until', 'past'],
  alert_event: [
    'message',
    'armed',
    'expires_in_hours',
    'wallets',
    'receiver',
    'webhook',
    'key_version',
    'idempotency',
    'body_hash',
    'owner',
    'delivery',
    'paused_until',
  ],
  mark: ['positions'],
  trigger: ['receiver', 'webhook', 'key_version', 'delivery'],
  delivery_order: ['receiver', 'trigger_partition', 'trigger_offset', 'request_id'],
  attempt: ['receiver'],
  payment_intent: ['signature', 'nonce', 'fingerprint', 'purchase', 'credit'],
  payment_event: ['raw', 'fingerprint', 'purchase', 'stood'],
  dead_letter: ['key', 'value'],
  cvd: ['asset', 'closed', 'instruments', 'v'], // follows from other rows of its topic
}

/** Topics with the tables that have every record of them. */
export const replays = [
  ['market.tickers', 'tickers_replay'],
  ['market.funding', 'funding_replay'],
] as const

/**
 * What makes the table that a topic's records pass through, or adds the columns that their schemas have and it has not, nor
 * the tables that are made like it. `there`: the columns of all tables.
 */
export function incomingOf(topic: Topic, there: ReadonlyMap<string, readonly string[]>): string[] {
  const name = nameOf(topic.name)
  const columns = [...columnsOf(topic)].map(([column, type]) => [column, `\`${column}\` ${type}`] as const)
  if (!there.has(`${name}_in`))
    return [
      `CREATE TABLE IF NOT EXISTS ${name}_in
(
    ${columns.map(([, definition]) => definition).join(',\n    ')}
)
ENGINE = Null
COMMENT ${literal(`Records of ${topic.name} on their way into the base tables`)}`,
    ]
  const alike = replays.flatMap(([replayed, table]) => (replayed === topic.name ? [table] : []))
  return [`${name}_in`, `${name}_others_in`, ...alike].flatMap((table) => {
    const missing = columns.filter(([column]) => there.get(table)?.includes(column) === false)
    const add = missing.map(([, definition]) => `ADD COLUMN IF NOT EXISTS ${definition}`)
    return add.length === 0 ? [] : [`ALTER TABLE ${table} ${add.join(', ')}`]
  })
}

/** They stand behind what they are the times of, so behind all of a topic's records. */
const times = new Set(['received', 'time'])

/** Columns by their names: the fields of all record types of a topic, null where one of them may be, and a record's place. */
export function columnsOf(topic: Pick<Topic, 'records'>): ReadonlyMap<string, string> {
  const columns = new Map<string, string>()
  for (const record of topic.records)
    for (const [name, type] of schemaOf(record).fields.flatMap((field) => columnsOfField(field, record))) {
      const other = columns.get(name) ?? type
      if (times.has(name)) columns.delete(name)
      columns.set(name, type === `Nullable(${other})` ? type : other)
    }
  const place = { log_partition: 'UInt16', log_offset: 'UInt64', log_time: "DateTime64(3, 'UTC')" }
  return new Map([...columns, ...Object.entries({ ...place, log_error: 'String', log_raw: 'String' })])
}

/** A record that may be null gives a column for each of its fields, under the name that ClickHouse's reader has for it. */
function columnsOfField({ name, type }: Field, record: RecordType): [string, string][] {
  if (skippedFields[record]?.includes(name) === true) return []
  const inside = typeof type === 'object' && 'length' in type ? type[1] : type
  if (typeof inside === 'object' && 'fields' in inside)
    return inside.fields
      .flatMap((field) => columnsOfField(field, record))
      .map(([inner, of]) => [`${name}.${inside.name}.${inner}`, of])
  const own = typeOf(type)
  return [[name, tellingField[record] === name ? `Nullable(${own})` : own]]
}

const primitives: Readonly<Record<string, string>> = { long: 'Int64', int: 'Int32', double: 'Float64', boolean: 'Bool' }

function typeOf(type: Schema): string {
  if (typeof type === 'string') return primitives[type] ?? 'String'
  if ('length' in type) return `Nullable(${typeOf(type[1])})`
  if (type.type === 'array') return `Array(${typeOf(type.items)})`
  if (type.type === 'map') return `Map(String, ${typeOf(type.values)})`
  if (type.type === 'enum') return 'String'
  return `Tuple(${type.fields.map(({ name, type: inner }) => `${name} ${typeOf(inner)}`).join(', ')})`
}
