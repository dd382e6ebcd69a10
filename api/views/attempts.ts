import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql } from './time.ts'

/** One attempt to deliver a trigger, with its place in the order of attempts. */
export interface AttemptRow {
  readonly trigger_id: string
  /** 0: the delivery ended without an attempt. */
  readonly number: number
  readonly outcome: string
  readonly status: number | null
  readonly error: string | null
  /** The digest that it is, or is to be, told in. */
  readonly digest: string | null
  readonly test: boolean
  readonly started: Micros
  readonly finished: Micros
  readonly due: Micros | null
  readonly triggered: Micros
  readonly position: AttemptPosition
}

export interface AttemptPosition {
  readonly started: Micros
  readonly partition: number
  readonly offset: number
}

const countSql = `SELECT alert_id, countIf(number > 0) AS attempts FROM webhook_attempts
  WHERE alert_id IN (SELECT arrayJoin(splitByChar(',', {ids:String}))) GROUP BY alert_id`

/** A query's parameters travel in its address, which is bounded. */
const IDS_MAX = 100

/** Attempts of each alert so far; those without any are not in it. */
export async function countAttempts(database: Database, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const chunks = Array.from({ length: Math.ceil(ids.length / IDS_MAX) }, (_, at) =>
    ids.slice(at * IDS_MAX, (at + 1) * IDS_MAX),
  )
  const answers = await Promise.all(chunks.map((chunk) => database.query(countSql, { ids: chunk.join(',') })))
  const rows = answers.flat().map((raw) => new Row(raw))
  return new Map(rows.map((row) => [row.text('alert_id'), row.number('attempts')]))
}

const attemptsSql = `SELECT trigger_id, number, outcome, status, error, digest, toUInt8(test) AS is_test,
  ${microsSql('started')} AS started_us, ${microsSql('finished')} AS finished_us, ${microsSql('due')} AS due_us,
  ${microsSql('triggered')} AS triggered_us, partition, offset
  FROM webhook_attempts WHERE alert_id >= {id:String} AND alert_id < concat({id:String}, '/')
    AND (started_us, partition, offset) < ({started:Int64}, {partition:UInt32}, {offset:UInt64})
  ORDER BY started_us DESC, partition DESC, offset DESC LIMIT {limit:UInt32}`

/** Before every attempt there is: where the first page begins. */
const NEWEST: AttemptPosition = { started: Number.MAX_SAFE_INTEGER, partition: 0, offset: 0 }

/** Attempts of an alert and of its parts, whose ids go on behind a dot, newest first, those before `before` only. */
export async function readAttempts(
  database: Database,
  id: string,
  { before = NEWEST, limit }: { before?: AttemptPosition | undefined; limit: number },
): Promise<AttemptRow[]> {
  const rows = await database.query(attemptsSql, { id, limit, ...before })
  return rows.map((raw) => attemptOf(new Row(raw)))
}

function attemptOf(row: Row): AttemptRow {
  const started = row.number('started_us')
  return {
    trigger_id: row.text('trigger_id'),
    number: row.number('number'),
    outcome: row.text('outcome'),
    status: row.nullableNumber('status'),
    error: row.nullableText('error'),
    digest: row.nullableText('digest'),
    test: row.number('is_test') === 1,
    started,
    finished: row.number('finished_us'),
    due: row.nullableNumber('due_us'),
    triggered: row.number('triggered_us'),
    position: { started, partition: row.number('partition'), offset: row.number('offset') },
  }
}

const triggerSql = `SELECT partition, offset FROM triggers
  WHERE alert_id = {id:String} AND trigger_id = {trigger:String} LIMIT 1`

/** Where `alerts.triggers` has a trigger; undefined: the alert has none of that id. */
export async function findTrigger(
  database: Database,
  id: string,
  trigger: string,
): Promise<{ readonly partition: number; readonly offset: number } | undefined> {
  const [raw] = await database.query(triggerSql, { id, trigger })
  if (raw === undefined) return undefined
  const row = new Row(raw)
  return { partition: row.number('partition'), offset: row.number('offset') }
}

/** An attempt's place as the text that callers hand back. */
export function attemptCursor({ started, partition, offset }: AttemptPosition): string {
  return Buffer.from(`${started}|${partition}|${offset}`).toString('base64url')
}

/** The place of such a text; undefined where it is none. */
export function attemptPosition(cursor: string): AttemptPosition | undefined {
  const parts = /^(\d{1,16})\|(\d{1,5})\|(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString())
  if (parts === null) return undefined
  const [, started, partition, offset] = parts.map(Number)
  if (started === undefined || partition === undefined || offset === undefined) return undefined
  return { started, partition, offset }
}
