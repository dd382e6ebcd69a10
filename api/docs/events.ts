import type { RecordType } from '../../schemas/records.ts'
import { topics, type Kind, type Topic } from '../../schemas/topics.ts'
import { schemaText } from '../../schemas/codec.ts'
import { table } from './markdown.ts'
import { fieldTable } from './reference.ts'
import { liquidationAlertSchema, priceAlertSchema, ruleAlertSchema, webhookHeaders } from './webhook-schema.ts'
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

/** The event catalogue in Markdown: every topic and record of the log, and the webhooks. */
export function eventCatalogue(): string {
  const records = [...new Set(topics.flatMap((topic): readonly RecordType[] => topic.records))]
  const parts = [
    '# Events',
    'Facts go into Kafka, every derived number is a fold over them, and webhooks leave it. This page follows from `schemas/topics.ts` and `schemas/records/*.avsc`; as a document for programs: [`/asyncapi.json`](/asyncapi.json) (AsyncAPI 3.0).',
    'Values are Avro in the Confluent wire format (a zero byte, the schema id as four bytes, the body); subjects are `<topic>-<record>`. Times are microseconds since the Unix epoch, volumes base units. `NAMESPACE` stands before every topic where it is set.',
    `## Kinds\n\n${table(['kind', 'what it is kept for'], Object.entries(kinds))}`,
    `## Topics\n\n${table(['topic', 'key', 'kind', 'partitions', 'records', 'what it holds'], topics.map(topicRow))}`,
    '## Webhooks',
    'A POST to the alert’s `webhook_url`, at least once, under one `webhook-id`. [How a receiver verifies it](/docs/webhooks).',
    `### Headers of a webhook\n\n${fieldTable(webhookHeaders)}`,
    `### price_alert\n\n${fieldTable(priceAlertSchema)}`,
    `### liquidation_alert\n\n${fieldTable(liquidationAlertSchema)}`,
    `### rule_alert\n\n${fieldTable(ruleAlertSchema)}`,
    '## Records',
    ...records.map(recordText),
  ]
  return `${parts.join('\n\n')}\n`
}

function topicRow({ name, key, kind, partitions, records, description }: Topic): string[] {
  const named = records.map((record) => `[${record}](#${record.replaceAll('_', '-')})`)
  return [`\`${name}\``, key.replaceAll('|', ', '), kind, partitioning[partitions], named.join(', '), description]
}

function recordText(record: RecordType): string {
  const schema = avroSchema(record)
  const rows = avroFields(schema).map(({ path, type, description }) => [`\`${path}\``, type, description])
  return `### ${record}\n\n${schema.doc ?? ''}\n\n${table(['field', 'type', 'meaning'], rows)}`
}

interface AvroField {
  readonly name: string
  readonly type: AvroType
  readonly doc?: string
}

interface AvroNamed {
  readonly type: string
  readonly name?: string
  readonly doc?: string
  readonly symbols?: readonly string[]
  readonly items?: AvroType
  readonly values?: AvroType
  readonly fields?: readonly AvroField[]
}

type AvroType = string | readonly AvroType[] | AvroNamed

/** A record type's schema as it is registered. */
export function avroSchema(record: RecordType): AvroNamed {
  return JSON.parse(schemaText(record)) as AvroNamed
}

/** Every field of a record, depth first. */
function avroFields({ fields = [] }: AvroNamed, prefix = ''): Field[] {
  return fields.flatMap(({ name, type, doc = '' }) => [
    { path: prefix + name, type: typeWords(type), description: doc },
    ...inner(type, prefix + name),
  ])
}

function inner(type: AvroType, path: string): Field[] {
  if (typeof type === 'string') return []
  if (isUnion(type)) return type.flatMap((one) => inner(one, path))
  if (type.type === 'array' && type.items !== undefined) return inner(type.items, `${path}[]`)
  if (type.type === 'map' && type.values !== undefined) return inner(type.values, `${path}.<name>`)
  return avroFields(type, `${path}.`)
}

function typeWords(type: AvroType): string {
  if (typeof type === 'string') return type
  if (isUnion(type)) return type.map(typeWords).toReversed().join(' or ')
  if (type.type === 'enum') return `enum: ${(type.symbols ?? []).join(', ')}`
  if (type.type === 'array' && type.items !== undefined) return `array of ${typeWords(type.items)}`
  return type.type === 'map' && type.values !== undefined ? `map of ${typeWords(type.values)}` : type.type
}

function isUnion(type: AvroType): type is readonly AvroType[] {
  return Array.isArray(type)
}
