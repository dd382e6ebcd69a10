import type { Micros } from '../../schemas/records.ts'
import { Row, type Database } from './database.ts'
import { microsSql } from './time.ts'

/** A record that a processor, the dispatcher or the payments have set aside. */
export interface LetterRow {
  readonly processor: string
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly time: Micros
  readonly reason: string
  readonly code: string
  /** Line of code that threw; null: it is not known. */
  readonly at: string | null
}

export interface Letters {
  readonly count: number
  /** The newest by record time, newest first. */
  readonly newest: readonly LetterRow[]
}

const lettersSql = `SELECT processor, topic, partition, offset, ${microsSql('time')} AS time_us, reason, code, at,
  (SELECT count() FROM dead_letters) AS letters FROM dead_letters ORDER BY time DESC, offset DESC LIMIT 20`

export async function readLetters(database: Database): Promise<Letters> {
  const rows = (await database.query(lettersSql, {})).map((raw) => new Row(raw))
  const newest = rows.map((row) => ({
    processor: row.text('processor'),
    topic: row.text('topic'),
    partition: row.number('partition'),
    offset: row.number('offset'),
    time: row.number('time_us'),
    reason: row.text('reason'),
    code: row.text('code'),
    at: row.nullableText('at'),
  }))
  return { count: rows[0]?.number('letters') ?? 0, newest }
}
