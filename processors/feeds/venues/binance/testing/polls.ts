import type { Poll } from '../../venue.ts'
import { polls } from '../polls.ts'

/** The start of a minute, and a time half a minute after its end. */
export const minute = 1691603820000
export const now = minute + 90_000
export const refused = { refused: 'bad-field' }

export function poll(name: string): Poll {
  const found = polls.find((one) => one.name === name)
  if (found === undefined) throw new Error(name)
  return found
}

/** The rows that a poll reads of a body, or its other answer. */
export function rowsOf(name: string, body: unknown, symbol = 'BTCUSDT', at = now): unknown {
  const answer = poll(name).parse(symbol, body, at)
  return answer.kind === 'rows' ? answer.rows : answer
}
