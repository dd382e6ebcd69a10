import { schemaOf } from '../../schemas/codec.ts'
import type { RecordType } from '../../schemas/records.ts'
import { keys, keysOf, topics, type Kind, type Topic } from '../../schemas/topics.ts'
import { eventSchemas } from '../routes/stream.ts'
import type { Schema } from '../request/schema.ts'
import { webhookHeaders, webhooks } from './webhook-schema.ts'

const AVRO = 'application/vnd.apache.avro+json;version=1.9.0'

const cleanup: Readonly<Record<Kind, readonly string[]>> = {
  facts: ['delete'],
  journal: ['delete'],
  upsert: ['compact'],
  cache: ['compact'],
}

/** The AsyncAPI 3.0 document: every topic with its records, the webhooks, and the stream of the API. */
export function asyncapi(version: string): Schema {
  const records = [...new Set(topics.flatMap((topic): readonly RecordType[] => topic.records))]
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Market data and alerts: events',
      version,
      description:
        'The topics of the log, the webhooks that leave it, and the stream. In words: /docs/events, /docs/stream.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/octet-stream',
    servers: {
      log: { host: '127.0.0.1:9092', protocol: 'kafka', description: 'KAFKA_BROKERS', bindings: registry() },
      api: { host: '127.0.0.1:3000', protocol: 'http', description: 'The API' },
      receiver: {
        host: '{receiver}',
        protocol: 'https',
        description: 'Whatever webhook_url names',
        variables: { receiver: { default: 'hooks.example.com', description: 'Host and port of the webhook_url' } },
      },
    },
    channels: {
      ...Object.fromEntries(topics.map((topic) => [channelName(topic.name), channelOf(topic)])),
      webhook,
      stream,
    },
    operations: {
      ...Object.fromEntries(topics.map((topic) => [`read_${channelName(topic.name)}`, reading(topic)])),
      deliver: {
        action: 'send',
        channel: { $ref: '#/channels/webhook' },
        summary: 'A trigger is delivered, at least once, until the receiver answers 2xx',
        bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
      },
      listen: {
        action: 'send',
        channel: { $ref: '#/channels/stream' },
        summary: 'What changes is told to who asks, as server-sent events; parameters and payment: /openapi.json',
        bindings: { http: { method: 'GET', bindingVersion: '0.3.0' } },
      },
    },
    components: {
      messages: {
        ...Object.fromEntries(records.map((record) => [record, recordMessage(record)])),
        ...Object.fromEntries(
          Object.entries(webhooks).map(([event, { summary, schema }]) => [event, webhookMessage(summary, schema)]),
        ),
        ...Object.fromEntries(
          Object.entries(eventSchemas).map(([name, data]) => [eventName(name), eventOf(name, data)]),
        ),
      },
    },
  }
}

function registry(): Schema {
  const bindings = { schemaRegistryUrl: 'http://127.0.0.1:8081/apis/ccompat/v7', schemaRegistryVendor: 'apicurio' }
  return { kafka: { ...bindings, bindingVersion: '0.5.0' } }
}

/** `market.trades` as a name that may stand in a reference. */
function channelName(topic: string): string {
  return topic.replaceAll('.', '_')
}

function channelOf(topic: Topic): Schema {
  const { name, kind, description, partitions, records } = topic
  const topicConfiguration = { 'cleanup.policy': cleanup[kind] }
  return {
    address: name,
    description: `${description} Key: ${keysOf(topic)}. Kind: ${kind}. Partitions: ${partitions}.`,
    servers: [{ $ref: '#/servers/log' }],
    messages: Object.fromEntries(records.map((record) => [record, { $ref: `#/components/messages/${record}` }])),
    bindings: { kafka: { topic: name, topicConfiguration, bindingVersion: '0.5.0' } },
  }
}

function reading({ name }: Topic): Schema {
  return { action: 'receive', channel: { $ref: `#/channels/${channelName(name)}` }, summary: `Read ${name}` }
}

function recordMessage(record: RecordType): Schema {
  const schema = schemaOf(record)
  const key = { type: 'string', description: keys[record] }
  const encoded = { schemaIdLocation: 'payload', schemaIdPayloadEncoding: 'confluent', bindingVersion: '0.5.0' }
  return {
    name: record,
    title: schema.name,
    summary: schema.doc ?? '',
    contentType: 'application/octet-stream',
    payload: { schemaFormat: AVRO, schema },
    bindings: { kafka: { key, ...encoded } },
  }
}

function webhookMessage(summary: string, payload: Schema): Schema {
  return { summary, contentType: 'application/json', headers: webhookHeaders, payload }
}

const webhook: Schema = {
  address: '/{path}',
  description: 'Path of the webhook_url. Signed twice: /docs/webhooks.',
  servers: [{ $ref: '#/servers/receiver' }],
  parameters: { path: { description: 'Path and query of the webhook_url' } },
  messages: Object.fromEntries(
    Object.keys(webhooks).map((event) => [event, { $ref: `#/components/messages/${event}` }]),
  ),
}

const stream: Schema = {
  address: '/stream',
  description: 'Server-sent events of the API, resumed by Last-Event-ID: /docs/stream.',
  servers: [{ $ref: '#/servers/api' }],
  messages: Object.fromEntries(
    Object.keys(eventSchemas).map((name) => [name, { $ref: `#/components/messages/${eventName(name)}` }]),
  ),
}

function eventName(name: string): string {
  return `stream_${name}`
}

function eventOf(name: string, payload: Schema): Schema {
  return { name, summary: String(payload['description']), contentType: 'application/json', payload }
}
