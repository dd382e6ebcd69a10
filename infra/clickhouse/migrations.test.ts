import { readFileSync } from 'node:fs'
import { expect, describe, it } from 'vitest'
import { alertKinds } from '../../processors/alerts/kinds/kinds.ts'
import { avroType, schemaOf } from '../../schemas/codec.ts'
import type { RecordType } from '../../schemas/records.ts'
import { topicOf, topics, type TopicName } from '../../schemas/topics.ts'
import type { Field, Schema } from '../../schemas/writer.ts'
import { columnsOf, incomingOf, skippedFields } from './incoming.ts'
import { ingestViewsOf } from './ingest-views.ts'
import { checksumOf, loadMigrations, statementsOf } from './migrations.ts'
import { ingestedTopics as ingested, readingOf } from './readings.ts'

const around = {
  database: 'market',
  databaseId: 'abcd',
  namespace: 'n.',
  brokers: ['a:1', 'b:2'],
  registryUrl: 'http://r/v7',
  flushMs: 1000,
}
const migrated = loadMigrations()
  .map((migration) => migration.text)
  .join('\n')
/** By table, its columns and their types, but those that have a value of their own. */
const tables = new Map(
  [...migrated.matchAll(/^CREATE TABLE IF NOT EXISTS (\w+)\n\(\n([^]*?)\n\)/gm)].map(([, table = '', columns = '']) => [
    table,
    new Map(
      [...columns.matchAll(/^ {4}`?(\w+)`? (.+?)(?: COMMENT .*| CODEC.*|,)?$/gm)]
        .map(([, column = '', type = '']) => [column, type] as const)
        .filter(([, type]) => !type.includes(' MATERIALIZED ')),
    ),
  ]),
)
const text = [
  ...ingested.flatMap((topic) => incomingOf(topic, new Map())).map((table) => `${table};\n`),
  migrated,
  ...ingested
    .flatMap((topic) => ingestViewsOf(topic, tables))
    .map((view) => `CREATE MATERIALIZED VIEW ${view.name} TO ${view.into} AS\n${view.select};\n`),
].join('\n')
/** All but what follows from other rows of its topic: no table holds it. */
const taken = ingested
  .flatMap((topic) => topic.records.map((record) => [topic.name, record, topic] as const))
  .filter(([, record]) => record !== 'cvd')
/** Marks come to them every ten seconds only. */
const rarelyMarked = new Set(['derived.signals', 'derived.audit', 'alerts.events'])
/** What no table may hold, of whichever topic, and of these topics; said here once more, apart from what the code skips. */
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
  'nonce',
  'purchase',
  'stood',
]
const secretOf: Partial<Record<TopicName, readonly string[]>> = {
  'alerts.inputs': ['alert', 'past'],
  'alerts.events': ['message'],
  'payments.events': ['raw'],
  'control.dead_letters': ['key', 'value'],
}
/** Fields that views take of other topics alone. */
const takenElsewhere = new Set([
  'mark changes',
  'mark venue_time',
  'market.history rate',
  'market.history next_settlement',
  'market.history rate_time',
  'market.history premium',
  'market.history premium_time',
])
const name = (topic: string): string => topic.replace('.', '_')

it('the readers of topics without a mark each second wait for a record', () => {
  const server = readFileSync(new URL('server.xml', import.meta.url), 'utf8')
  const named = [...server.matchAll(/<kafka_topic><name>(.+?)</g)].map(([, topic]) => topic)
  const quiet = ingested.filter(({ name: topic, records }) => rarelyMarked.has(topic) || !records.includes('mark'))
  expect(new Set(named)).toEqual(new Set(quiet.map(({ name: topic }) => topic)))
  expect(server).toContain(`<!-- ${ingested.length} tables read -->`)
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

  it.each(taken)('take every field of %s %s that is not skipped into a view', (topic, record) => {
    const views = [...text.matchAll(/CREATE MATERIALIZED VIEW[^;]*/g)]
      .map(([view]) => view)
      .filter((view) => new RegExp(`FROM ${name(topic)}(?:_others)?_in\\b`).test(view))
    const fields = [...columnsOf({ records: [record] }).keys()].filter((field) => !field.startsWith('log_'))
    const elsewhere = (field: string): boolean =>
      takenElsewhere.has(`${record} ${field}`) || takenElsewhere.has(`${topic} ${field}`)
    for (const field of fields.filter((field) => !elsewhere(field)))
      expect(views.join('\n')).toMatch(new RegExp(`\\b${field.split('.').at(-1)}\\b`))
  })

  it.each(Object.entries(skippedFields))('skip fields that %s has', (record, fields) => {
    const inside = (type: Schema): Field[] =>
      typeof type !== 'object' ? [] : 'length' in type ? inside(type[1]) : 'fields' in type ? [...type.fields] : []
    const there = schemaOf(record as RecordType).fields.flatMap((field) => [field, ...inside(field.type)])
    expect(there.map((field) => field.name)).toEqual(expect.arrayContaining([...fields]))
  })

  it.each(secret)('read %s of an alert or a payment into no column', (field) => {
    expect(text).not.toMatch(new RegExp(`(^ {4}\`?([\\w.]+\\.)?|[(,] ?)${field}\`? [A-Z]`, 'm'))
  })

  it.each(Object.entries(secretOf))('read of %s into no column %j', (topic, fields) => {
    const columns = [...columnsOf(topicOf(topic as TopicName)).keys()]
    for (const field of fields) expect(columns.filter((column) => `${column}.`.startsWith(`${field}.`))).toEqual([])
  })

  it('name each column that they take of an alert or a payment', () => {
    expect(text).toMatch(/SELECT \*\nFROM market_funding_in\b/)
    expect(text).not.toMatch(/\*[^;(]*?FROM (?:alerts|webhooks|payments|control)_\w+_in\b/)
  })

  it('name each column of an alert, a payment or credit that a view shows: none becomes public by itself', () => {
    expect(text).toMatch(/^(?:SELECT| {3}) \*[^;]*?FROM tickers_log\b/m)
    expect(text).not.toMatch(
      /^(?:SELECT| {3}) \*[^;]*?FROM (?:alert_\w+|triggers|delivery_orders|webhook_attempts|payment_\w+|credit_entries|dead_letters)_log\b/m,
    )
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

  it.each(taken.filter(([, , { records }]) => records.length > 1))(
    'tell the record types of %s apart by a required field: %s',
    (topic, record, { records }) => {
      const columns = columnsOf({ records })
      const others = new Set(
        records
          .filter((other) => other !== record)
          .flatMap((other) => schemaOf(other).fields.map((field) => field.name)),
      )
      const marks = schemaOf(record).fields.filter(
        (field) =>
          columns.get(field.name)?.startsWith('Nullable') === true && !('default' in field) && !others.has(field.name),
      )
      expect(marks).toHaveLength(1)
      expect(text).toMatch(
        new RegExp(`FROM ${name(topic)}(?:_others)?_in AS record[^;]*record\\.${marks[0]?.name} IS NOT NULL`),
      )
    },
  )

  it('say what every table, view and stored column is, with its unit', () => {
    const statements = loadMigrations()
      .flatMap((migration) => statementsOf(migration.text))
      .filter((statement) => /^CREATE (OR REPLACE VIEW|TABLE)/.test(statement))
    for (const statement of statements) expect(statement).toMatch(/\n?COMMENT '[^']{10,}/)
    const lines = text.split('\n').filter((line) => /^ {4}\w+ .*(CODEC|COMMENT)/.test(line))
    for (const line of lines.filter((line) => !/Array\(Tuple/.test(line))) expect(line).toContain('COMMENT')
  })
})

describe('what a topic passes through', () => {
  it('has the columns of its schemas, null where a type lacks them or may, and those of a record’s place', () => {
    const [table] = incomingOf(topicOf('alerts.triggers'), new Map())
    expect(table).toContain('`condition_met` Nullable(String),')
    expect(table).toContain('`order` Nullable(String),')
    expect(table).toContain('`trigger_id` Nullable(String),') // a trigger has one, an order may
    expect(table).toContain('`late` Bool,\n    `trigger_count` Int32,')
    expect(table).toContain(
      '    `sources` Array(Tuple(exchange String, price Nullable(Float64), open_interest_usd Nullable(Float64), time Int64)),',
    )
    expect(table).toContain(
      "`log_time` DateTime64(3, 'UTC'),\n    `log_error` String,\n    `log_raw` String\n)\nENGINE = Null",
    )
    expect(columnsOf(topicOf('derived.signals')).get('evidence')).toBe('Map(String, Float64)')
    expect(columnsOf(topicOf('alerts.events')).get('alert.AlertState.target_price')).toBe('Nullable(Float64)')
  })

  it.each(ingested.map((topic) => [topic.name, topic] as const))('has one type for a name in %s', (_name, topic) => {
    const columns = columnsOf(topic)
    for (const record of topic.records)
      for (const [column, type] of columnsOf({ records: [record] }))
        expect([type, `Nullable(${type})`]).toContain(columns.get(column))
  })

  it('gets the columns that its schemas have more, and so do the tables made like it', () => {
    const topic = topicOf('market.funding')
    const all = [...columnsOf(topic).keys()]
    const less = all.filter((column) => column !== 'index' && column !== 'margin_tiers')
    const there = { market_funding_in: less, market_funding_others_in: all, funding_replay: less.concat('index') }
    const tiers =
      'ADD COLUMN IF NOT EXISTS `margin_tiers` Array(Tuple(up_to Nullable(Float64), rate Float64, deduction Float64))'
    expect(incomingOf(topic, new Map(Object.entries(there)))).toEqual([
      `ALTER TABLE market_funding_in ADD COLUMN IF NOT EXISTS \`index\` Nullable(Float64), ${tiers}`,
      `ALTER TABLE funding_replay ${tiers}`,
    ])
    expect(incomingOf(topic, new Map([['market_funding_in', all]]))).toEqual([])
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

it.each([...alertKinds].map(({ kind }) => kind))('says to analysts that alerts are of the kind %s', (kind) => {
  const comments = [
    ...text.matchAll(/^ {4}kind LowCardinality\(String\) COMMENT '(What the alert|Which payload)([^']*)'/gm),
  ]
  expect(comments.map(([comment]) => comment.includes(kind))).toEqual([true, true])
})
