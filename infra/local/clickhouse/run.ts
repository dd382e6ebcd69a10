import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Admission } from './admission.ts'
import { bodyOf, preamble, readAsk, readStatement, type Ask, type Statement } from './request.ts'
import type { Disk } from './disk.ts'
import type { Classified, Connection, Done, Engine } from './engine.ts'
import { code, QueryError } from './errors.ts'
import { insert } from './input.ts'
import { contentTypes, sendRows, summary } from './output.ts'
import type { Pipes } from './pipes.ts'
import type { Lent, Sessions } from './sessions.ts'
import { isSelect, splitFormat, usesServerFiles } from './statement.ts'
import { checkReaderText, isReader, type User } from './users.ts'

/** What a request is served with. */
export interface Parts {
  readonly engine: Engine
  readonly users: readonly User[]
  /** Calls that a reader may not make. */
  readonly reaching: RegExp
  readonly admission: Admission
  readonly sessions: Sessions
  readonly pipes: Pipes
  readonly disk: Disk
}

/** Told again every so often, since a statement that has not begun yet cannot be told to end. */
const KILL_EVERY_MS = 500
const KILLS_MAX = 20

/** Runs the one statement of a request and answers it. Throws `QueryError` where nothing was sent yet. */
export async function runRequest(request: IncomingMessage, response: ServerResponse, parts: Parts): Promise<void> {
  const ask = readAsk(request, parts.users)
  response.setHeader('X-ClickHouse-Query-Id', ask.queryId)
  const leave = await parts.admission.enter()
  try {
    if (response.destroyed) return
    const statement = await readStatement(ask.urlQuery, bodyOf(request))
    const lent = lend(ask, parts)
    try {
      await killWhenGone(ask, response, parts, () => answer({ ask, statement, response, parts, lent }))
    } finally {
      lent.end()
    }
  } finally {
    leave()
  }
}

/** A connection of its own, or the session's; a reader's would stay read-only, so its sessions keep nothing. */
function lend(ask: Ask, { engine, sessions }: Parts): Lent {
  const keeps = ask.session !== undefined && !isReader(ask.user) && !ask.settings.has('readonly')
  if (keeps && ask.session !== undefined)
    return sessions.lend(`${ask.user.name}/${ask.session.id}`, ask.session.timeoutSeconds)
  const connection = engine.connect()
  return { connection, end: () => connection.close() }
}

/** Tells the statement to end when the client goes away, until it has ended. */
async function killWhenGone<Result>(
  ask: Ask,
  response: ServerResponse,
  { engine }: Parts,
  work: () => Promise<Result>,
): Promise<Result> {
  const over = new AbortController()
  const onGone = async (): Promise<void> => {
    for (let told = 0; told < KILLS_MAX && !over.signal.aborted; told += 1) {
      await engine.kill(ask.tag)
      await delay(KILL_EVERY_MS, undefined, { signal: over.signal }).catch(() => undefined)
    }
  }
  const listen = (): void => void onGone()
  response.once('close', listen)
  try {
    return await work()
  } finally {
    response.off('close', listen)
    over.abort()
  }
}

interface Job {
  readonly ask: Ask
  readonly statement: Statement
  readonly response: ServerResponse
  readonly parts: Parts
  readonly lent: Lent
}

async function answer(job: Job): Promise<void> {
  const { ask, statement, response, parts } = job
  const { connection } = job.lent
  const { sql, source, data } = statement
  const kind = await check(job, connection)
  const setup = preamble(ask)
  if (source !== undefined && source.from !== 'select') {
    parts.disk.requireSpace()
    const kill = (): Promise<void> => parts.engine.kill(ask.tag)
    const job = { connection, preamble: setup, sql, source, format: ask.format, data, kill }
    finish(response, await insert(job, parts.pipes))
  } else if (kind.queryClass === 0 && isSelect(sql)) {
    const split = splitFormat(sql)
    const tag = randomBytes(8).toString('hex')
    const { version } = parts.engine
    const { encoding, waitForEnd } = ask
    const query = { connection, preamble: setup, split, encoding, waitForEnd, tag, version }
    await sendRows({ ...query, format: split.format ?? ask.format }, response, parts.pipes)
  } else {
    const split = splitFormat(sql)
    const format = split.format ?? ask.format
    const done = await connection.run(`${setup}${split.body}${split.tail}`, format)
    response.setHeader('X-ClickHouse-Format', format)
    response.setHeader('Content-Type', contentTypes[format] ?? 'text/plain; charset=UTF-8')
    finish(response, done)
  }
}

function finish(response: ServerResponse, done: Done): void {
  response.setHeader('X-ClickHouse-Summary', summary(done))
  response.end(done.bytes)
}

/** One statement only, and for a reader one that only reads. */
async function check({ ask, statement, parts }: Job, connection: Connection): Promise<Classified> {
  const { sql, source } = statement
  if (usesServerFiles(source?.from === 'data' ? sql.slice(0, source.headEnd) : sql))
    throw new QueryError(code.notImplemented, 'INTO OUTFILE and FROM INFILE are not served here. (NOT_IMPLEMENTED)')
  const text = source?.from === 'data' ? `${sql.slice(0, source.headEnd)} FORMAT Null` : sql
  const kind =
    source?.from === 'nothing-said'
      ? { statementCount: 1, queryClass: 1 }
      : await connection.classify(text, ask.database ?? 'default')
  // 0: it does not parse; the engine itself says where.
  if (kind.statementCount > 1)
    throw new QueryError(code.syntaxError, 'Syntax error: Multi-statements are not allowed. (SYNTAX_ERROR)')
  if (!isReader(ask.user)) return kind
  checkReaderText(sql, parts.reaching)
  if (kind.statementCount !== 1 || kind.queryClass !== 0)
    throw new QueryError(code.readonly, `${ask.user.name}: Cannot execute query in readonly mode. (READONLY)`)
  return kind
}
