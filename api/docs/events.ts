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
  return `### ${record}\n\n${schema.doc ?? ''}\n\nKey: \`${keys[record]}\`.\n\n${table(['field', 'type', 'meaning'], rows)}`
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
