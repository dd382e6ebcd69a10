import { dealt } from '../../schemas/catalogue.ts'
import type { RecordType } from '../../schemas/records.ts'
import { keys, keysOf, topics, type Kind, type Topic } from '../../schemas/topics.ts'
import { schemaOf } from '../../schemas/codec.ts'
import type { RecordSchema, Schema } from '../../schemas/writer.ts'
import { table } from './markdown.ts'
import { fieldTable } from './reference.ts'
import { webhookHeaders, webhooks } from './webhook-schema.ts'
import type { Field } from './fields.ts'

const kinds: Readonly<Record<Kind, string>> = {
  facts: 'What happened outside; cut by size only',
  journal: 'Evidence, read as a sequence; never compacted, never cut',
  upsert: 'Absolute values by key; compacted, readers keep the highest `v`',
  cache: 'Compacted, never evidence; entries end by tombstone',
}

const partitioning: Readonly<Record<Topic['partitions'], string>> = {
  asset: 'by asset, the same number in every topic',
  receiver: 'by the webhook’s receiver',
  one: 'one partition',
}

/** Fields by which two records are the same one, where that is not the key; `v` stands for the offset in it. */
const identities: Readonly<Partial<Record<RecordType, string>>> = {
  trade: 'instrument, time, first_id',
  gap: 'instrument, gap_id, time',
  mark: 'writer, run, time',
  spot_ticker: 'instrument, time, received',
  price_range: 'instrument, from, to',
  derivative_ticker: 'instrument, rate_time, mark_time, premium_time, open_interest_time',
  settlement: 'instrument, time',
  long_short_ratio: 'instrument, cohort, basis, time',
  contract_terms: 'instrument, received',
  liquidation: 'instrument, time, id',
  candle: 'instrument, minute',
  venue_candle: 'instrument, seconds, start',
  instrument: 'instrument, valid_from',
  log_gap: 'reader, topic, partition, position',
  answer_count: 'instance, from_time',
  signal: 'asset, kind, period, exchange, time',
  audit: 'instrument, minute',
  command: 'alert_id, request_id',
  composite_price: 'asset, time, v',
  liquidation_risk: 'asset, time',
  metric: 'asset, core, time',
  alert_event: 'alert_id, event, v',
  delivery_order: 'alert_id, order, v',
  attempt: 'trigger_id, number, started',
  payment_intent: 'payment_id, request_id',
  payment_event: 'payment_id, event, tx, v',
  credit_command: 'key_id, op, request_id',
  credit_entry: 'key_id, kind, route, time, v',
}

/** The contract for who reads the topics without our code. */
function readingText(): string {
  const places = dealt().map(({ id }) => id)
  const hash = 'the first four bytes of SHA-256, big-endian'
  const rules = [
    '**Records come twice**: what a processor wrote since its last state after a crash, a trade where two feeds stream its venue. What makes two the same, where it is not the key, is said at each record below. Of the same records the highest `v` stands; of those without a `v` the first, in compacted topics the last.',
    '**`v`** is the generation of the processor times 2^44, plus the offset of the entry that the record follows from; where it is a part of what makes records the same, take it modulo 2^44. A processor of a higher generation may tell the past anew, behind what the older one told of it ([Upgrade](/docs/upgrade)).',
    `**Partitions are not those of Kafka’s default partitioner**: of ${places.join(', ')} the place in this list, from 0, of any other asset ${hash}, of its id; each modulo \`PARTITIONS\`. \`alerts.inputs\`, \`alerts.events\` and \`alerts.state\` lie by the asset of the alert, a rule for all symbols in each; \`alerts.triggers\` and \`webhooks.*\` by the same hash of \`receiver\`. Records are in order within a partition only.`,
    '**A mark** says which time its partition has come to: what its writer wrote before it, it knew by then.',
    '**Kafka’s timestamp** is the time of the entry in milliseconds, not that of the writing: of a fact when the feed had it, of derived records that of what they follow from. Offsets have holes. Batches may be packed by zstd, which not every client knows of itself.',
    '**A null value** in a compacted topic ends its key. **Skip a type of record that you do not know**: a later release may bring one to any topic; a field that is new you do not see by the schema that you read with.',
  ]
  return `## Read the log yourself\n\n${rules.map((rule) => `- ${rule}`).join('\n')}`
}

/** The event catalogue in Markdown: every topic and record of the log, and the webhooks. */
export function eventCatalogue(): string {
  const records = [...new Set(topics.flatMap((topic): readonly RecordType[] => topic.records))]
  const parts = [
    '# Events',
    'Facts go into Kafka, every derived number is a fold over them, and webhooks leave it. This page follows from `schemas/topics.ts` and `schemas/records/*.avsc`; as a document for programs: [`/asyncapi.json`](/asyncapi.json) (AsyncAPI 3.0).',
    'Values are Avro in the Confluent wire format (a zero byte, the schema id as four bytes, the body); subjects are `<topic>-<record>`. Times are microseconds since the Unix epoch, volumes base units. `NAMESPACE` stands before every topic where it is set.',
    `## Kinds\n\n${table(['kind', 'what it is kept for'], Object.entries(kinds))}`,
    `## Topics\n\n${table(['topic', 'key', 'kind', 'partitions', 'records', 'what it holds'], topics.map(topicRow))}`,
    readingText(),
    '## Webhooks',
    'A POST to the alert’s `webhook_url`, at least once, under one `webhook-id`. [How a receiver verifies it](/docs/webhooks).',
    `### Headers of a webhook\n\n${fieldTable(webhookHeaders)}`,
    ...Object.entries(webhooks).map(([event, { schema }]) => `### ${event}\n\n${fieldTable(schema)}`),
    '## Records',
    ...records.map(recordText),
  ]
  return `${parts.join('\n\n')}\n`
}

function topicRow(topic: Topic): string[] {
  const { name, kind, partitions, records, description } = topic
  const named = records.map((record) => `[${record}](#${record.replaceAll('_', '-')})`)
  return [`\`${name}\``, keysOf(topic), kind, partitioning[partitions], named.join(', '), description]
}

function recordText(record: RecordType): string {
  const schema = schemaOf(record)
  const rows = avroFields(schema).map(({ path, type, description }) => [`\`${path}\``, type, description])
  return `### ${record}\n\n${schema.doc ?? ''}\n\nKey: \`${keys[record]}\`.${sameText(record)}\n\n${table(['field', 'type', 'meaning'], rows)}`
}

function sameText(record: RecordType): string {
  const fields = identities[record]
  return fields === undefined ? '' : ` The same: of equal \`${fields.replaceAll(', ', '`, `')}\`.`
}

/** Every field of a record, depth first. */
function avroFields({ fields }: RecordSchema, prefix = ''): Field[] {
  return fields.flatMap(({ name, type, doc }) => [
    { path: prefix + name, type: typeWords(type), description: doc },
    ...inner(type, prefix + name),
  ])
}

function inner(type: Schema, path: string): Field[] {
  if (typeof type === 'string') return []
  if ('length' in type) return inner(type[1], path)
  if (type.type === 'array') return inner(type.items, `${path}[]`)
  if (type.type === 'map') return inner(type.values, `${path}.<name>`)
  return type.type === 'record' ? avroFields(type, `${path}.`) : []
}

function typeWords(type: Schema): string {
  if (typeof type === 'string') return type
  if ('length' in type) return `${typeWords(type[1])} or null`
  if (type.type === 'enum') return `enum: ${type.symbols.join(', ')}`
  if (type.type === 'array') return `array of ${typeWords(type.items)}`
  return type.type === 'map' ? `map of ${typeWords(type.values)}` : type.type
}
