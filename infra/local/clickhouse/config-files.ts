import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Of our folder's own layout; a higher one was written by a newer release. */
const FORMAT = 1

const MB = 1 << 20

/** Memory of everything the engine does together. */
const SERVER_MEMORY_BYTES = 3072 * MB

/** Threads without work that are kept: by itself it keeps all that it ever had, 130 more. */
const IDLE_THREADS = 8

/** What this engine has in common with a ClickHouse server: how it merges and how it reads Kafka. */
const SHARED = new URL('../../clickhouse/server.xml', import.meta.url)

/**
 * Writes the engine's configuration into the data folder and gives its path. No logger section: it would write at level
 * trace whatever it says.
 */
export function writeConfig(dataDir: string): string {
  mkdirSync(join(dataDir, 'engine'), { recursive: true })
  const file = join(dataDir, 'config.xml')
  const users = join(dataDir, 'users.xml')
  writeFileSync(users, usersXml)
  writeFileSync(file, configXml(users))
  return file
}

const configXml = (users: string): string => `<clickhouse>
  <max_server_memory_usage>${SERVER_MEMORY_BYTES}</max_server_memory_usage>
  <mark_cache_size>${64 * MB}</mark_cache_size>
  <primary_index_cache_size>${64 * MB}</primary_index_cache_size>
  <index_mark_cache_size>${16 * MB}</index_mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <max_thread_pool_free_size>${IDLE_THREADS}</max_thread_pool_free_size>
  <background_pool_size>2</background_pool_size>
  <background_schedule_pool_size>8</background_schedule_pool_size>
  <users_config>${escapeXml(users)}</users_config>
${shared()}</clickhouse>
`

/** The settings of the shared file, without what they stand in. */
function shared(): string {
  return readFileSync(SHARED, 'utf8').replace(/^[^]*?<clickhouse>\n|<\/clickhouse>\n$/g, '')
}

const tableEngines =
  'MergeTree ReplacingMergeTree AggregatingMergeTree SummingMergeTree CollapsingMergeTree VersionedCollapsingMergeTree ' +
  'Memory Null Set Join Log TinyLog StripeLog Buffer Merge Kafka View MaterializedView Dictionary GenerateRandom'

const grants = [
  'SHOW, SELECT, INSERT, ALTER, CREATE, DROP, TRUNCATE, OPTIMIZE, KILL QUERY, SYSTEM, dictGet, INTROSPECTION ON *.*',
  'KAFKA ON *.*',
  ...tableEngines.split(' ').map((engine) => `TABLE ENGINE ON ${engine}`),
]

/**
 * The engine knows one user. Its grants leave out everything that reads files or other systems (Kafka excepted), for
 * writers as well; passwords and the reader are checked by the HTTP server.
 */
const usersXml = `<clickhouse>
  <profiles>
    <default>
      <max_memory_usage>${1536 * MB}</max_memory_usage>
      <max_bytes_before_external_group_by>${512 * MB}</max_bytes_before_external_group_by>
      <max_bytes_before_external_sort>${512 * MB}</max_bytes_before_external_sort>
    </default>
  </profiles>
  <users>
    <default>
      <password></password>
      <networks><ip>::/0</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <grants>
${grants.map((grant) => `        <query>GRANT ${grant}</query>`).join('\n')}
      </grants>
    </default>
  </users>
  <quotas><default></default></quotas>
</clickhouse>
`

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** A folder that an older engine or an older release must not touch. */
class NewerDataError extends Error {
  readonly code = 'newer-data'
}

/** Refuses a data folder that was last written by a newer engine or release; throws `NewerDataError`. */
export function checkVersion(dataDir: string, engine: string): void {
  const found = readVersion(dataDir)
  if (found === undefined) return
  if (found.format > FORMAT || compare(found.engine, engine) > 0)
    throw new NewerDataError(
      `the ClickHouse data folder ${dataDir} was written by a newer version (engine ${found.engine}, format ` +
        `${found.format}) than this one (engine ${engine}, format ${FORMAT}); start that version, or use another folder`,
    )
}

/** Notes who writes to the folder now. */
export function writeVersion(dataDir: string, engine: string): void {
  writeFileSync(join(dataDir, 'version.json'), `${JSON.stringify({ format: FORMAT, engine })}\n`)
}

function readVersion(dataDir: string): { format: number; engine: string } | undefined {
  let text: string
  try {
    text = readFileSync(join(dataDir, 'version.json'), 'utf8')
  } catch {
    return undefined // a new folder
  }
  const value: unknown = JSON.parse(text)
  if (typeof value === 'object' && value !== null && 'format' in value && 'engine' in value)
    return { format: Number(value.format), engine: String(value.engine) }
  throw new Error(`${join(dataDir, 'version.json')} is not readable`)
}

/** By year and month of the release; a patch of the same month can be undone. */
function compare(left: string, right: string): number {
  const number = (version: string): number => {
    const [year = 0, month = 0] = version.split('.').map(Number)
    return year * 100 + month
  }
  return number(left) - number(right)
}
