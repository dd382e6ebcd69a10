import type { Records } from './generated.ts'

/**
 * The TypeScript side of `records/*.avsc`: one interface per record type, each field with its meaning and unit. Times are
 * microseconds since the Unix epoch, volumes base units.
 */
export type * from './generated.ts'

export type RecordType = keyof Records

/** One value with the name of its record type: what a topic of several record types holds. */
export type Message<Type extends RecordType = RecordType> = Type extends RecordType
  ? { readonly type: Type; readonly value: Records[Type] }
  : never
