import { whole } from '../query.ts'
import type { RestReply } from '../venue-server.ts'

export function bad(code: number, msg: string): RestReply {
  return { status: 400, body: { code, msg } }
}

export const unknownSymbol = bad(-1121, 'Invalid symbol.')
export const noSymbol = bad(-1102, "Mandatory parameter 'symbol' was not sent, was empty/null, or malformed.")
export const notFound: RestReply = { status: 404, body: '<html><body><h2>404 Not found</h2></body></html>' }

export interface Span {
  readonly start: number | undefined
  readonly end: number | undefined
  readonly limit: number
}

/** `startTime`, `endTime` (milliseconds) and `limit` of a query, or the refusal of what they say. */
export function spanOf(query: URLSearchParams, { usual, most }: { usual: number; most: number }): Span | RestReply {
  const [start, end, limit] = [whole(query, 'startTime'), whole(query, 'endTime'), whole(query, 'limit') ?? usual]
  if ([start, end].some(Number.isNaN)) return bad(-1100, 'Illegal characters found in a parameter.')
  if (!(limit >= 1 && limit <= most)) return bad(-1130, "Data sent for parameter 'limit' is not valid.")
  if (start !== undefined && end !== undefined && start > end) return bad(-1023, 'Start time is greater than end time.')
  return { start, end, limit }
}

/** Rows of an ascending page: from the start on where one is given, else the newest. */
export function pageOf<Row>(rows: readonly Row[], { start, limit }: Span): readonly Row[] {
  return start === undefined ? rows.slice(-limit) : rows.slice(0, limit)
}
