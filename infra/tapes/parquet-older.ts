import type { RecordType } from '../../schemas/records.ts'
import type { Cells } from './parquet-file.ts'
import { optional, type ColumnTypes } from './parquet-types.ts'

/** Version 2 of Parquet files: whole numbers for times, milliseconds in `_time`, and some columns null. */

type Implied = Readonly<Record<string, (of: (column: string) => number) => number>>

/** The columns that were null where the other columns of the row said their value to the bit, with that value. */
const implied: Readonly<Partial<Record<RecordType, Implied>>> = {
  trade: {
    last_id: (of) => of('first_id'),
    quote: (of) => of('price') * of('size'),
    _time: (of) => Math.floor(of('received') / 1000),
  },
}

/** The columns of a file of version 2, of which `columns` is today's. */
export function olderColumns(record: RecordType, columns: ColumnTypes): ColumnTypes {
  const absent = implied[record] ?? {}
  return columns.map(([name, type]) => [name, name in absent ? optional(type) : type] as const)
}

/** Cells of a file of version 2 as the record has them. */
export function fillIn(record: RecordType, cells: ReadonlyMap<string, Cells>): ReadonlyMap<string, Cells> {
  const whole = new Map(cells)
  for (const [column, value] of Object.entries(implied[record] ?? {})) {
    const taken = (cell: unknown, row: number): unknown => cell ?? value((name) => Number(cells.get(name)?.[row]))
    whole.set(column, (cells.get(column) ?? []).map(taken))
  }
  return whole
}
