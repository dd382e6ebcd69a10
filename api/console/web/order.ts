/** In what order rows of a table stand. Pure. */

/** What a row is sorted by; undefined and null: not said, which stands last either way. */
export type Sortable = number | string | null | undefined

/** Whether `a` stands before `b` (negative) or behind. Pure. */
export function compare(a: Sortable, b: Sortable, isFalling: boolean): number {
  if (a === b) return 0
  if (a === null || a === undefined) return b === null || b === undefined ? 0 : 1
  if (b === null || b === undefined) return -1
  const rising = a < b ? -1 : 1
  return isFalling ? -rising : rising
}
