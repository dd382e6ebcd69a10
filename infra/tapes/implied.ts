import type { RecordType } from '../../schemas/records.ts'
import type { Cells } from './parquet-file.ts'

/** What a column's value is where a file has none. */
export interface Implied {
  /** From other columns of the row, none of which is implied itself. */
  readonly value: (of: (column: string) => number) => number
  /** The same in ClickHouse's SQL: what a reader is to take for the column. */
  readonly sql: string
}

/**
 * The columns that are null in a Parquet file though the record always has a value, by record type. It is left out where it
 * is the implied one to the bit; every other value is written as it is.
 */
export const implied: Readonly<Partial<Record<RecordType, Readonly<Record<string, Implied>>>>> = {
  trade: {
    last_id: { value: (of) => of('first_id'), sql: 'coalesce(last_id, first_id)' },
    quote: { value: (of) => of('price') * of('size'), sql: 'coalesce(quote, price * size)' },
    // The log has the time at which the feed received the trade, in whole milliseconds.
    _time: { value: (of) => Math.floor(of('received') / 1000), sql: 'coalesce(_time, intDiv(received, 1000))' },
  },
}

/** Columns of a record type as a file has them: null instead of what is implied. */
export function leaveOut(record: RecordType, cells: ReadonlyMap<string, Cells>): ReadonlyMap<string, Cells> {
  return replaced(record, cells, (value, other) => (Object.is(value, other()) ? null : value))
}

/** Columns of a record type as the record has them. */
export function fillIn(record: RecordType, cells: ReadonlyMap<string, Cells>): ReadonlyMap<string, Cells> {
  return replaced(record, cells, (value, other) => value ?? other())
}

function replaced(
  record: RecordType,
  cells: ReadonlyMap<string, Cells>,
  take: (value: unknown, other: () => number) => unknown,
): ReadonlyMap<string, Cells> {
  let row = 0
  const of = (column: string): number => Number(cells.get(column)?.[row])
  const changed = new Map(cells)
  for (const [column, { value }] of Object.entries(implied[record] ?? {})) {
    const other = (): number => value(of)
    const taken = (cell: unknown, at: number): unknown => {
      row = at
      return take(cell, other)
    }
    changed.set(column, (cells.get(column) ?? []).map(taken))
  }
  return changed
}
