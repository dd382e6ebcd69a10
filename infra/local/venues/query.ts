import type { RestReply } from './venue-server.ts'

/** A whole number of the query: undefined where it is not given, NaN where it is not a whole number. */
export function whole(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  return /^\d+$/.test(text) ? Number(text) : Number.NaN
}

export function ok(body: unknown): RestReply {
  return { status: 200, body }
}

/** Whole seconds, at least one, as `Retry-After` counts. */
export function secondsText(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)))
}
