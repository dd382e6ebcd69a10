import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/** A file of tables and views of one subject. */
export interface Migration {
  readonly number: number
  readonly name: string
  readonly text: string
  /** Of the text as it is in the file; a migration that was applied is never changed. */
  readonly checksum: string
}

const FOLDER = new URL('migrations/', import.meta.url)

/** All migrations, by number; each `NNN_name.sql`. */
export function loadMigrations(folder: URL = FOLDER): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const [, digits, name] = /^(\d{3})_(\w+)\.sql$/.exec(file) ?? []
      if (digits === undefined || name === undefined) throw new Error(`${file} is not named NNN_name.sql`)
      const text = readFileSync(new URL(file, folder), 'utf8')
      return { number: Number(digits), name, text, checksum: checksumOf(text) }
    })
}

export function checksumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** The statements of a text: each ends with a semicolon at a line's end. */
export function statementsOf(text: string): string[] {
  return text
    .split(/;[ \t]*$/m)
    .map((statement) => statement.replaceAll(/^--.*$/gm, '').trim())
    .filter((statement) => statement !== '')
}
