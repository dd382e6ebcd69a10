import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { code, QueryError } from './errors.ts'

export interface User {
  readonly name: 'default' | 'analyst'
  /** Empty: none is asked for, and any is taken, as a server does with a user without one. */
  readonly password: string
}

/** Whether the user may read and nothing else: `analyst`, as on a server. */
export function isReader({ name }: User): boolean {
  return name !== 'default'
}

/** What one query of a reader may use. Numbers are upper limits, texts are fixed. */
export const readerLimits: Readonly<Record<string, number | string>> = {
  max_execution_time: 30,
  max_memory_usage: 1_000_000_000,
  max_threads: 2,
  max_result_rows: 10_000_000,
  result_overflow_mode: 'throw',
  timeout_overflow_mode: 'throw',
}

/**
 * Settings that a reader may send. A list of what is allowed, since several settings name files that the engine would
 * read or write (format_schema, format_template_row, output_format_schema).
 */
const readerMaySet =
  /^(output_format_(?!schema)(?!.*template)\w+|date_time_(in|out)put_format|session_timezone|join_use_nulls|extremes|limit|offset|final|max_block_size|enable_http_compression|http_zlib_compression_level|send_progress_in_http_headers|http_headers_progress_interval_ms|cancel_http_readonly_queries_on_client_close|cast_string_to_dynamic_use_inference|use_query_cache|do_not_merge_across_partitions_select_final)$/

/**
 * Functions that reach out of the database and that `readonly=1` lets through: `file` reads any file of the machine,
 * `eval` runs a text as a query, the ai functions call the network. And the tables that show what others ask.
 */
const forbiddenWords =
  /(?<![\w$])(file|eval|catboostEvaluate|ai(Generate|Classify|Extract|Translate|Embed)|(user_)?processes|processlist|query_cache|asynchronous_inserts)(?![\w$])/i

/** Table functions that a reader may call: they make their rows of the query's own words. */
const ownRows = new Set(
  'values SQLStandardValues numbers numbers_mt zeros zeros_mt primes generateSeries generate_series generateRandom null format view'.split(
    ' ',
  ),
)

/**
 * Calls of every other table function that the engine has, those of later engines included: they read other systems,
 * files, or tables by a pattern. `readonly=1` refuses most of them too. A comment may stand before the bracket.
 */
export function reachingCalls(tableFunctions: readonly string[]): RegExp {
  const names = tableFunctions.filter((name) => /^\w+$/.test(name) && !ownRows.has(name))
  return new RegExp(`(?<![\\w$])(${names.join('|')})[\`"”]?\\s*(\\(|/\\*|--|#)`, 'i')
}

/**
 * Refuses what a reader may not say, on the bare text, strings and comments included: nothing then depends on our lexer
 * agreeing with the engine's. Names that hide a word behind escapes are refused as well.
 */
export function checkReaderText(sql: string, reaching: RegExp): void {
  const found = forbiddenWords.exec(sql)?.[0] ?? reaching.exec(sql)?.[0]
  if (found !== undefined)
    refuse(`the word ${JSON.stringify(found)} is not allowed for a read-only user, not even in a text`)
  if (sql.includes('\\') && /[`"“”]/.test(sql))
    refuse('a backslash and a quoted name in one query are not allowed for a read-only user')
}

/** The settings of a reader's query: what the client sent, within the limits. Throws on one that it may not send. */
export function readerSettings(sent: ReadonlyMap<string, string>): Map<string, string> {
  const settings = new Map<string, string>()
  for (const [name, value] of sent) {
    if (name in readerLimits || name === 'readonly') continue
    if (!name.startsWith('param_') && !readerMaySet.test(name)) refuse(`a read-only user may not set ${name}`)
    settings.set(name, value)
  }
  for (const [name, limit] of Object.entries(readerLimits)) {
    const asked = Number(sent.get(name) ?? NaN)
    const fits = typeof limit === 'number' && asked > 0 && asked <= limit
    settings.set(name, String(fits ? asked : limit))
  }
  return settings
}

function refuse(why: string): never {
  throw new QueryError(code.readonly, `${why}. (READONLY)`)
}

/** Who asks: headers, Basic, or the URL, as the server takes them. Throws 516. */
export function authenticate(users: readonly User[], headers: IncomingHttpHeaders, url: URLSearchParams): User {
  const basic = /^Basic (.+)$/.exec(headers.authorization ?? '')?.[1]
  const [, basicName, basicPassword] = /^([^:]*):(.*)$/s.exec(Buffer.from(basic ?? '', 'base64').toString()) ?? []
  const name = basicName ?? one(headers['x-clickhouse-user']) ?? url.get('user') ?? 'default'
  const password = basicPassword ?? one(headers['x-clickhouse-key']) ?? url.get('password') ?? ''
  const user = users.find((candidate) => candidate.name === name)
  if (user !== undefined && (user.password === '' || same(user.password, password))) return user
  throw new QueryError(
    code.authenticationFailed,
    `${name}: Authentication failed: password is incorrect, or there is no user with such name. Read as user=analyst; ` +
      'the password of default is the CLICKHOUSE_PASSWORD of its start, made in <data>/secrets. (AUTHENTICATION_FAILED)',
  )
}

/** The first value of a header that may be repeated. */
function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

function same(left: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(left), digest(right))
}
