import { readFileSync } from 'node:fs'
import { expect, describe, it } from 'vitest'
import { avroType } from '../../schemas/codec.ts'
import type { RecordType } from '../../schemas/records.ts'
import { topics } from '../../schemas/topics.ts'
import { checksumOf, loadMigrations, statementsOf } from './migrations.ts'
import { commonViewsOf, ingestedTopics as ingested, readingOf } from './readings.ts'

const around = {
  database: 'market',
  databaseId: 'abcd',
  namespace: 'n.',
  brokers: ['a:1', 'b:2'],
  registryUrl: 'http://r/v7',
  flushMs: 1000,
}
const text = [
  ...loadMigrations().map((migration) => migration.text),
  ...ingested.flatMap(commonViewsOf).map((view) => `${view};\n`),
].join('\n')
/**
 * What no table may hold: webhook URLs, sealed or not, receivers, wallets, payments, keys of idempotency, texts that may
 * quote a request. And what only the kernel, feeds and the dispatcher need.
 */
const kept: Partial<Record<RecordType, readonly string[]>> = {
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
}
/** What follows from other rows of its topic: no table holds it. */
const passedOver: ReadonlySet<RecordType> = new Set(['cvd'])
const taken = ingested.map((topic) => ({
  ...topic,
  records: topic.records.filter((record) => !passedOver.has(record)),
}))
/** Marks come to it every ten seconds only. */
const RARELY_MARKED = 'derived.signals'
const secret = [
  'receiver',
  'webhook',
  'wallets',
  'owner',
  'idempotency',
  'body_hash',
  'payment',
  'key_version',
  'signature',
  'fingerprint',
]
const name = (topic: string): string => topic.replace('.', '_')
const columnsOf = (table: string): Map<string, string> => {
  const body = new RegExp(`CREATE TABLE IF NOT EXISTS ${table}\\n\\(\\n([^]*?)\\n\\)`).exec(text)?.[1] ?? ''
  const columns = [...body.matchAll(/^ {4}`?(?:\w+\.)*(\w+)`? (\w+)/gm)]
  return new Map(columns.map(([, column = '', type = '']) => [column, type]))
}

interface AvroField {
  readonly name: string
  readonly default?: unknown
  readonly type: unknown
}
const fieldsOf = (record: RecordType): readonly AvroField[] =>
  (
    JSON.parse(readFileSync(new URL(`../../schemas/records/${record}.avsc`, import.meta.url), 'utf8')) as {
      fields: AvroField[]
    }
  ).fields

/** Its own fields where a field is a record or null, as an alert in its event; else itself. */
const insides = (field: AvroField): readonly AvroField[] => {
  const records: unknown[] = Array.isArray(field.type) ? field.type : []
  const inside = records.find((type) => typeof type === 'object' && type !== null && 'fields' in type)
  return inside === undefined ? [field] : (inside as { fields: AvroField[] }).fields
}

it('the readers of topics without a mark each second wait for a record', () => {
  const server = readFileSync(new URL('server.xml', import.meta.url), 'utf8')
  const named = [...server.matchAll(/<kafka_topic><name>(.+?)</g)].map(([, topic]) => topic)
  const quiet = ingested.filter(({ name: topic, records }) => topic === RARELY_MARKED || !records.includes('mark'))
  expect(new Set(named)).toEqual(new Set(quiet.map(({ name: topic }) => topic)))
})

describe('the migrations', () => {
  it('are numbered from 1 without a hole', () => {
    expect(loadMigrations().map(({ number }) => number)).toEqual(loadMigrations().map((_, index) => index + 1))
  })

  it('know each record type of the topic table', () => {
    for (const topic of topics) for (const record of topic.records) expect(avroType(record).name).toBeDefined()
  })

  it.each(ingested.map((topic) => topic.name))('have a Kafka table for %s', (topic) => {
    const [queue, pump] = readingOf(topic, around).create
    expect(text).toContain(`CREATE TABLE IF NOT EXISTS ${name(topic)}_in\n`)
    expect(queue).toContain(`CREATE TABLE ${name(topic)}_queue AS ${name(topic)}_in\nENGINE = Kafka`)
    expect(queue).toContain(`kafka_topic_list = 'n.${topic}'`)
    expect(pump).toContain(`CREATE MATERIALIZED VIEW ${name(topic)}_pump TO ${name(topic)}_in`)
  })

  it.each(taken.flatMap((topic) => topic.records.map((record) => [topic.name, record] as const)))(
    'take every field of %s %s into a column',
    (topic, record) => {
      const columns = columnsOf(`${name(topic)}_in`)
      const isWanted = (field: AvroField): boolean => kept[record]?.includes(field.name) !== true
      const wanted = fieldsOf(record).filter(isWanted).flatMap(insides).filter(isWanted)
      for (const field of wanted) expect([...columns.keys()]).toContain(field.name)
    },
  )

  it.each(secret)('read %s of an alert or a payment into no column', (field) => {
    expect(text).not.toMatch(new RegExp(`^ {4}\`?([\\w.]+\\.)?${field}\`? [A-Z]`, 'm'))
  })

  it('keep no bytes of an alert’s or a payment’s record that cannot be read', () => {
    const views = new Map(
      [...text.matchAll(/CREATE MATERIALIZED VIEW (?:IF NOT EXISTS )?(\w+) ([^]*?);\n/g)].map(([, view, body]) => [
        view,
        body,
      ]),
    )
    for (const topic of [
      'alerts.inputs',
      'alerts.events',
      'alerts.triggers',
      'webhooks.attempts',
      'payments.intents',
      'payments.events',
      'control.dead_letters',
    ]) {
      expect(readingOf(topic, around).create[1]).toContain("'' AS log_raw")
      expect(views.get(`ingest_${name(topic)}_error`)).toContain("'' AS raw")
    }
  })

  it.each(
    taken
      .filter((topic) => topic.records.length > 1)
      .flatMap((topic) => topic.records.map((record) => [topic, record] as const)),
  )('tell the record types of $name apart by a required field: %s', (topic, record) => {
    const columns = columnsOf(`${name(topic.name)}_in`)
    const others = new Set(
      topic.records.filter((other) => other !== record).flatMap((other) => fieldsOf(other).map((field) => field.name)),
    )
    const marks = fieldsOf(record).filter(
      (field) => columns.get(field.name) === 'Nullable' && !('default' in field) && !others.has(field.name),
    )
    expect(marks).toHaveLength(1)
    expect(text).toMatch(
      new RegExp(`FROM ${name(topic.name)}(?:_others)?_in AS record[^;]*record\\.${marks[0]?.name} IS NOT NULL`),
    )
  })

  it('say what every table, view and stored column is, with its unit', () => {
    const statements = loadMigrations()
      .flatMap((migration) => statementsOf(migration.text))
      .filter((statement) => /^CREATE (OR REPLACE VIEW|TABLE)/.test(statement))
    for (const statement of statements) expect(statement).toMatch(/\n?COMMENT '[^']{10,}/)
    const lines = text.split('\n').filter((line) => /^ {4}\w+ .*(CODEC|COMMENT)/.test(line))
    for (const line of lines.filter((line) => !/Array\(Tuple/.test(line))) expect(line).toContain('COMMENT')
  })
})

describe('a reading', () => {
  const [queue] = readingOf('market.trades', around).create
  it('says where Kafka and the registry are, and reads as its own database', () => {
    expect(queue).toContain("kafka_broker_list = 'a:1,b:2'")
    expect(queue).toContain("format_avro_schema_registry_url = 'http://r/v7'")
    expect(queue).toContain("kafka_group_name = 'n.clickhouse.market.abcd.market.trades'")
    expect(readingOf('market.trades', { ...around, brokers: ["x'y"] }).create[0]).toContain("'x\\'y'")
  })

  it('is another one where anything of it is', () => {
    const { comment } = readingOf('market.trades', around)
    expect(readingOf('market.trades', { ...around }).comment).toBe(comment)
    const changes = [{ brokers: ['a:1'] }, { registryUrl: 'http://s' }, { namespace: 'm.' }, { databaseId: 'e' }]
    for (const change of [...changes, { flushMs: 100 }])
      expect(readingOf('market.trades', { ...around, ...change }).comment).not.toBe(comment)
  })
})

it('splits a text into statements at semicolons that end a line', () => {
  expect(statementsOf("-- first\nSELECT ';' AS a;\n\nSELECT 2 -- two\n;\n")).toEqual([
    "SELECT ';' AS a",
    'SELECT 2 -- two',
  ])
})

it('notices any change of a text', () => {
  expect(checksumOf('a')).not.toBe(checksumOf('a '))
})
