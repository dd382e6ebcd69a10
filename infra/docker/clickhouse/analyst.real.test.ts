import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** What a server's `analyst.xml` allows, tried on the engine itself, which knows one user: it is made that one. */
const folder = mkdtempSync(path.join(tmpdir(), 'analyst-'))
const program = fileURLToPath(new URL('../testing/run-as.ts', import.meta.url))

interface ClientAnswer {
  readonly rows: string | null
  readonly error: string | null
}

function run(statements: readonly string[], config = ''): ClientAnswer[] {
  const given = [program, path.join(folder, 'engine'), config, JSON.stringify(statements)]
  return JSON.parse(execFileSync(process.execPath, given, { encoding: 'utf8', timeout: 60_000 })) as ClientAnswer[]
}

/** The file as mounted, its user under the engine's one name and without a password. */
function configFile(): string {
  const xml = readFileSync(new URL('analyst.xml', import.meta.url), 'utf8')
  const users = xml
    .replace('<password from_env="CLICKHOUSE_ANALYST_PASSWORD"/>', '<password></password>')
    .replace(/(<users>\s*)<analyst>([^]*)<\/analyst>(\s*<\/users>)/, '$1<default>$2</default>$3')
    .replace('<profiles>', '<profiles><default></default>')
  if (!/<users>\s*<default>\s*<password><\/password>/.test(users)) throw new Error('the user was not renamed')
  writeFileSync(path.join(folder, 'users.xml'), users)
  const config = path.join(folder, 'config.xml')
  writeFileSync(config, `<clickhouse><users_config>${path.join(folder, 'users.xml')}</users_config></clickhouse>`)
  return config
}

const allowed = [
  ['SELECT sum(a) FROM market.seen', '499500'],
  [
    "SELECT getSetting('readonly'), getSetting('max_execution_time'), getSetting('max_memory_usage'), getSetting('max_threads'), getSetting('max_result_rows')",
    '2\t30\t1000000000\t4\t10000000',
  ],
  ['SELECT 1 SETTINGS max_threads = 1, max_execution_time = 5', '1'],
  ["SELECT count() FROM system.columns WHERE database = 'market'", '3'],
  ["SELECT sum(rows) FROM system.parts WHERE database = 'market'", '1000'],
] as const

/** Statements with the code that refuses them: 497 no grant, 452 over a limit, 164 read-only, 241, 396, 158, 159 a limit reached, 636 no table that it may see. */
const refused = [
  ['INSERT INTO market.kept VALUES (1)', 497],
  ['CREATE TABLE market.x (a UInt8) ENGINE = Memory', 497],
  ['CREATE TEMPORARY TABLE x (a UInt8)', 497],
  ['DROP TABLE market.kept', 497],
  ['ALTER TABLE market.kept DELETE WHERE 1', 497],
  ['TRUNCATE TABLE market.kept', 497],
  ['OPTIMIZE TABLE market.kept FINAL', 497],
  ['SELECT * FROM other.kept', 497],
  ['SELECT name FROM system.users', 497],
  ["SELECT * FROM file('/etc/passwd', 'CSV', 'a String')", 497],
  ["SELECT * FROM url('http://127.0.0.1:1', 'CSV', 'a String')", 497],
  ["SELECT * FROM remote('127.0.0.1:1', 'system', 'one', 'u', 'p')", 497],
  ["SELECT * FROM remoteSecure('127.0.0.1:1', 'system', 'one', 'u', 'p')", 497],
  ["SELECT * FROM mysql('127.0.0.1:1', 'd', 't', 'u', 'p')", 497],
  ["SELECT * FROM postgresql('127.0.0.1:1', 'd', 't', 'u', 'p')", 497],
  ["SELECT * FROM mongodb('127.0.0.1:1', 'd', 't', 'u', 'p', 'a String')", 497],
  ["SELECT * FROM redis('127.0.0.1:1', 'k', 'k String')", 497],
  ["SELECT * FROM sqlite('/tmp/x.db', 't')", 497],
  ["SELECT * FROM s3('http://127.0.0.1:1/bucket/x.csv', 'CSV', 'a String')", 497],
  ["SELECT * FROM executable('x.sh', 'CSV', 'a String')", 497],
  ["SELECT * FROM odbc('DSN=x', 'd', 't')", 497],
  ["SELECT * FROM jdbc('x', 'd', 't')", 497],
  ["SELECT * FROM hdfs('hdfs://127.0.0.1:1/x', 'CSV', 'a String')", 497],
  ["SELECT * FROM filesystem('/etc')", 497],
  ["SELECT * FROM merge('other', '.*')", 636],
  ['SELECT * FROM loop(other.kept)', 497],
  ["SELECT * FROM eval('SELECT a FROM other.kept') SETTINGS allow_experimental_eval_table_function = 1", 497],
  ["INSERT INTO FUNCTION file('/tmp/analyst-out', 'CSV', 'a String') VALUES ('x')", 497],
  ['SELECT * FROM market.queue SETTINGS stream_like_engine_allow_direct_select = 1', 452],
  ['SET readonly = 0', 164],
  ['SELECT 1 SETTINGS max_memory_usage = 0', 452],
  ['SELECT 1 SETTINGS max_execution_time = 0', 452],
  ['SELECT 1 SETTINGS max_threads = 64', 452],
  ['SELECT 1 SETTINGS max_result_rows = 0', 452],
  ['SELECT count() FROM (SELECT groupArray(number) FROM numbers(1000000000))', 241],
  ['SELECT number FROM numbers(10000001) FORMAT Null', 396],
  ['SELECT sum(sleepEachRow(0.1)) FROM numbers(600) SETTINGS max_execution_time = 1, max_block_size = 1', 159],
  ['SELECT count() FROM numbers(3000000000) WHERE number % 7 = 8', 158],
] as const

describe('the user analyst of a server', () => {
  let said: Map<string, ClientAnswer>
  beforeAll(() => {
    const made = run([
      'CREATE DATABASE market ENGINE = Atomic',
      'CREATE TABLE market.kept (a UInt32) ENGINE = MergeTree ORDER BY a',
      'INSERT INTO market.kept SELECT number FROM numbers(1000)',
      'CREATE VIEW market.seen AS SELECT a FROM market.kept',
      "CREATE TABLE market.queue (a UInt32) ENGINE = Kafka SETTINGS kafka_broker_list = '127.0.0.1:1', kafka_topic_list = 't', kafka_group_name = 'g', kafka_format = 'CSV'",
      'CREATE DATABASE other ENGINE = Atomic',
      'CREATE TABLE other.kept (a UInt32) ENGINE = MergeTree ORDER BY a',
    ])
    const failed = made.find(({ error }) => error !== null)
    if (failed !== undefined) throw new Error(failed.error ?? '')
    const statements = [...allowed, ...refused].map(([statement]) => statement)
    const answers = run(statements, configFile())
    said = new Map(statements.flatMap((statement, at) => (answers[at] === undefined ? [] : [[statement, answers[at]]])))
  }, 120_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(allowed)('may say %s', (statement, rows) => {
    expect(said.get(statement)).toEqual({ rows, error: null })
  })

  it.each(refused)('may not say %s: %d', (statement, code) => {
    expect(said.get(statement)?.error).toMatch(new RegExp(`Code: ${code}\\.`))
  })

  it('left everything as it was', () => {
    expect(run(['SELECT count() FROM market.kept'])).toEqual([{ rows: '1000', error: null }])
  })
})
