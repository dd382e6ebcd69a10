import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Session } from 'chdb'
import { diskError } from './segment-file.ts'
import { TapeError } from './tape.ts'

/** Column name and ClickHouse type, in the file's order. */
export type ColumnTypes = readonly (readonly [name: string, type: string])[]

/** Of one file, written or read. */
const QUERY_MS = 600_000
/** Whole numbers stay below 2^53, so they are numbers; a column that is not there is an error, not a default. */
const SETTINGS =
  'SETTINGS output_format_json_quote_64bit_integers = 0, output_format_json_quote_denormals = 1, ' +
  'input_format_parquet_allow_missing_columns = 0, engine_file_truncate_on_insert = 1, ' +
  "output_format_parquet_compression_method = 'zstd', input_format_json_read_numbers_as_strings = 0"

/**
 * Reads and writes Parquet by the ClickHouse engine in this process, which opens files of any path. One at a time in a
 * process: the engine has one data folder, which is a temporary one here.
 */
export class ParquetEngine {
  readonly #folder: string
  readonly #session: Session

  static open(): Promise<ParquetEngine> {
    return Promise.resolve(new ParquetEngine(mkdtempSync(path.join(tmpdir(), 'parquet-'))))
  }

  private constructor(folder: string) {
    this.#folder = folder
    this.#session = new Session(path.join(folder, 'engine'))
  }

  /** Writes rows as one file, whole or not at all. */
  async write(file: string, types: ColumnTypes, rows: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
    const lines = path.join(this.#folder, 'rows.jsonl')
    const part = `${file}.part`
    try {
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(lines, rows.map((row) => `${JSON.stringify(row, exact)}\n`).join(''))
      rmSync(part, { force: true })
      const source = `file(${quote(lines)}, JSONEachRow, ${quote(structureOf(types))})`
      await this.#run(`SELECT * FROM ${source} INTO OUTFILE ${quote(part)} FORMAT Parquet ${SETTINGS}`, 'Null')
      renameSync(part, file)
    } catch (error) {
      throw diskError(file, error)
    } finally {
      rmSync(lines, { force: true })
    }
  }

  /** The rows of a file, in its order. */
  async read(file: string, types: ColumnTypes): Promise<Readonly<Record<string, unknown>>[]> {
    const source = `file(${quote(file)}, Parquet, ${quote(structureOf(types))})`
    let text: string
    try {
      text = await this.#run(`SELECT * FROM ${source} ${SETTINGS}`, 'JSONEachRow')
    } catch (error) {
      throw new TapeError('corrupt', `${file} cannot be read: ${messageOf(error)}`, { cause: error })
    }
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  }

  close(): void {
    this.#session.cleanup()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #run(sql: string, format: string): Promise<string> {
    const result = await this.#session.queryAsync(sql, { format, timeout: QUERY_MS })
    return result.text()
  }
}

/** JSON has no sign for zero; the engine takes a number as a text as well. */
function exact(_: string, value: unknown): unknown {
  return Object.is(value, -0) ? '-0' : value
}

function structureOf(types: ColumnTypes): string {
  return types.map(([name, type]) => `\`${name}\` ${type}`).join(', ')
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
