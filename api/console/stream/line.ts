import type { Entry, Kind } from './board.ts'

/** What a page listens to. */
export interface Wish {
  readonly kinds: ReadonlySet<Kind>
  /** undefined: all assets. */
  readonly asset: string | undefined
}

/** Whether a page that wishes for `wish` is told of `entry`. */
export function isWished({ kinds, asset }: Wish, entry: Pick<Entry, 'kind' | 'asset'>): boolean {
  return kinds.has(entry.kind) && (asset === undefined || entry.asset === null || entry.asset === asset)
}

/** What two pages share is written once. */
export function wishText({ kinds, asset }: Wish): string {
  return `${[...kinds].toSorted().join(',')}|${asset ?? ''}`
}

/**
 * One server-sent event. `update`: what changed; `state`: all that is known, which replaces what the page has; `reset`:
 * the same, because it could not be told what changed since the page was last heard of.
 */
export function eventText(event: 'update' | 'state' | 'reset', id: string, entries: readonly Entry[]): string {
  const data = JSON.stringify(entries.map(({ kind, key, value }) => [kind, key, value]))
  return `event: ${event}\nid: ${id}\ndata: ${data}\n\n`
}
