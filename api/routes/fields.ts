import type { Output } from '../route.ts'
import { boolean, instant, integer, nullableInstant, object, oneOf, text, type Schema } from '../schema.ts'

export const stamped = {
  timestamp: instant('When the answer was given'),
  cached: boolean('Whether it came from the cache'),
}

/** How old an answer is; `limit`: from when on it is stale, in words. */
export function agedBy(limit: string): Readonly<Record<'as_of' | 'age_ms' | 'stale', Schema>> {
  return {
    as_of: instant('Time of the newest input'),
    age_ms: integer('How old that is, milliseconds', { minimum: 0 }),
    stale: boolean(`Whether it is older than it may be: ${limit}`),
  }
}

export const warmingUp: Output = {
  says: 'Nobody has asked for the symbol for a while: it is being subscribed. Costs nothing; ask again after `Retry-After`.',
  type: 'application/json',
  schema: object('A symbol that is being subscribed', {
    symbol: text('Base asset'),
    status: oneOf(['warming_up'], 'Always warming_up'),
    message: text('What to do'),
    ...stamped,
  }),
}

/** Where an answer about a range goes on. */
export const paged = {
  next: nullableInstant(
    'Where the next page begins: its `start` if this one was asked for with a start, else its `end`; null: that was all',
  ),
}

/** Of data that are told by symbol. */
export const dataErrors = ['symbol_not_found', 'data_unavailable'] as const

export const textOutput = (says: string): Output => ({ says, type: 'text/plain', schema: { type: 'string' } })
