import { ask, type Answer } from '../infra/http/ask.ts'
import type { Peer } from './services.ts'

/** A peer that does not answer must not hold up a scrape, milliseconds. */
const DEADLINE_MS = 2_000
/** Longest answer of a peer that is read, bytes. */
const BYTES_MAX = 4 * 1024 * 1024

/** Reads `name=url` items; what does not look like one is a `TypeError` that names it. */
export function peersOf(items: readonly string[]): Peer[] {
  return items.map((item) => {
    const at = item.indexOf('=')
    const name = item.slice(0, at)
    const url = item.slice(at + 1).replace(/\/+$/, '')
    if (!/^[a-z][a-z0-9_-]*$/.test(name) || !URL.canParse(url))
      throw new TypeError(`API_SERVICES must hold items like feeds=http://feeds:9100, got ${JSON.stringify(item)}`)
    return { name, url }
  })
}

/** Fetches a page of a peer within the deadline and the size limit; rejects where it cannot. */
export function askPeer(peer: Peer, path: string): Promise<Answer> {
  return ask(peer.url + path, { withinMs: DEADLINE_MS, bytesMax: BYTES_MAX })
}
