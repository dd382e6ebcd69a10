import { readdirSync, readFileSync } from 'node:fs'

/** A worked query, read off its file: `NN_name.sql`. */
export interface WorkedQuery {
  readonly name: string
  readonly sql: string
  /** What its comment says: the question, what one row is, units, and the parameters that it takes. */
  readonly header: Readonly<Record<'Question' | 'A row' | 'Units' | 'Parameters', string>>
}

const FOLDER = new URL('.', import.meta.url)

/** All worked queries, by number. */
export function workedQueries(): WorkedQuery[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.sql'))
  return files.toSorted().map((file) => {
    const sql = readFileSync(new URL(file, FOLDER), 'utf8').trim()
    const comment = sql.slice(0, sql.search(/^[^-]/m)).replaceAll(/^-- ?/gm, '')
    const section = (name: string): string =>
      new RegExp(`^${name}: ([^]*?)(?=^(?:Question|A row|Units|Parameters): |$(?![^]))`, 'm')
        .exec(comment)?.[1]
        ?.trim() ?? ''
    const header = {
      Question: section('Question'),
      'A row': section('A row'),
      Units: section('Units'),
      Parameters: section('Parameters'),
    }
    return { name: file.replace(/\.sql$/, ''), sql, header }
  })
}
