type QueryParams = Readonly<Record<string, string | number | readonly string[] | readonly number[]>>

/** What the API needs of ClickHouse. Values go as query parameters (`{name:Type}`), never into the text. */
export interface Database {
  /** Rows as objects by column name; rejects with `DatabaseError`. */
  query(sql: string, params: QueryParams): Promise<readonly unknown[]>
}

/**
 * Why there are no rows. `unreachable` and `late` pass by themselves; `refused` is the server's word on the query, which
 * is a programmer's error or another version's database.
 */
export class DatabaseError extends Error {
  readonly code: 'unreachable' | 'late' | 'refused'
  constructor(code: DatabaseError['code'], cause: unknown) {
    super(`ClickHouse: ${code}`, { cause })
    this.code = code
  }
}

/** A row that is not what its query says: a programmer's error or another version's database. */
class RowError extends Error {
  readonly code = 'bad-row'
}

/** Typed access to one row: everything from outside is unknown until it was looked at. */
export class Row {
  readonly #row: Readonly<Record<string, unknown>>

  constructor(row: unknown) {
    if (typeof row !== 'object' || row === null) throw new RowError('a row is not an object')
    this.#row = row as Record<string, unknown>
  }

  text(name: string): string {
    const value = this.#row[name]
    if (typeof value !== 'string') throw new RowError(`column ${name} is not a text`)
    return value
  }

  /** 64-bit integers come as text or as numbers, depending on the server's settings; both are safe below 2^53. */
  number(name: string): number {
    const value = this.#row[name]
    const number = typeof value === 'string' && value !== '' ? Number(value) : value
    if (typeof number !== 'number' || Number.isNaN(number)) throw new RowError(`column ${name} is not a number`)
    return number
  }

  nullableText(name: string): string | null {
    return this.#row[name] === null ? null : this.text(name)
  }

  texts(name: string): string[] {
    const value = this.#row[name]
    if (!Array.isArray(value) || !value.every((text) => typeof text === 'string'))
      throw new RowError(`column ${name} is not an array of texts`)
    return value
  }

  /** The numbers of an array; as they come, since there may be a hundred thousand. */
  numbers(name: string): readonly number[] {
    const value = this.#row[name]
    if (!Array.isArray(value) || value.some((number) => typeof number !== 'number'))
      throw new RowError(`column ${name} is not an array of numbers`)
    return value as readonly number[]
  }

  nullableNumber(name: string): number | null {
    return this.#row[name] === null ? null : this.number(name)
  }
}
