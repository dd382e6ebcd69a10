import type { ServerResponse } from 'node:http'
import type { Board, Entry } from './board.ts'
import { eventText, isWished, wishText, type Wish } from './line.ts'
import { vectorOf, vectorText } from './vector.ts'

/** Pages that may listen at once; more are refused. */
export const CLIENTS_MAX = 50
/** Changes are gathered this long: at most five updates a second of any one thing, milliseconds. */
const FLUSH_MS = 200
const HEARTBEAT_MS = 15_000
/** A page that does not take what was sent it for this long is dropped; it comes back and says what it has, milliseconds. */
const BLOCKED_MAX_MS = 20_000
/** When a page whose stream broke should come back, milliseconds. */
const RETRY_MS = 1_000

interface Client {
  readonly response: ServerResponse
  readonly wish: Wish
  /** Since when it does not take more, milliseconds; undefined: it does. */
  blocked: number | undefined
  /** What it missed while it was blocked; never more than the board holds. */
  readonly missed: Map<string, Entry>
}

/**
 * Sends the board's changes to every page. A page that is slow gets the newest word per key when it takes more, so what
 * waits for it is bounded by the board; one that takes nothing for long is dropped.
 */
export class Hub {
  readonly #board: Board
  readonly #now: () => number
  readonly #clients = new Set<Client>()
  readonly #timers: NodeJS.Timeout[]

  constructor(board: Board, now: () => number) {
    this.#board = board
    this.#now = now
    this.#timers = [
      setInterval(() => this.flush(), FLUSH_MS).unref(),
      setInterval(() => this.#beat(), HEARTBEAT_MS).unref(),
    ]
  }

  get clients(): number {
    return this.#clients.size
  }

  /** Whether one more page may listen. */
  get hasRoom(): boolean {
    return this.#clients.size < CLIENTS_MAX
  }

  /** Sends what the page lacks and then every change. `seen`: the id of the last event that it got, empty: none. */
  add(response: ServerResponse, wish: Wish, seen: string): void {
    this.flush() // so that what is sent now and what follows do not overlap
    const client: Client = { response, wish, blocked: undefined, missed: new Map() }
    this.#clients.add(client)
    response.once('close', () => this.#clients.delete(client))
    response.write(`retry: ${RETRY_MS}\n\n`)
    this.#write(client, this.#first(wish, seen))
  }

  #first(wish: Wish, seen: string): string {
    const wished = (entries: readonly Entry[]): Entry[] => entries.filter((entry) => isWished(wish, entry))
    const id = vectorText(this.#board.position)
    if (seen === '') return eventText('state', id, wished(this.#board.all()))
    const vector = vectorOf(seen)
    const after = vector === undefined ? undefined : this.#board.after(vector)
    return after === undefined
      ? eventText('reset', id, wished(this.#board.all()))
      : eventText('update', id, wished(after))
  }

  /** Sends what changed since the last time. */
  flush(): void {
    const changes = this.#board.changes()
    if (changes.length === 0) return
    const id = vectorText(this.#board.position)
    const texts = new Map<string, string>()
    for (const client of this.#clients) {
      if (client.blocked !== undefined) {
        this.#keep(client, changes)
        continue
      }
      const wish = wishText(client.wish)
      const text = texts.get(wish) ?? textFor(client.wish, id, changes)
      texts.set(wish, text)
      if (text !== '') this.#write(client, text)
    }
  }

  #keep({ wish, missed }: Client, changes: readonly Entry[]): void {
    for (const entry of changes) if (isWished(wish, entry)) missed.set(`${entry.kind}:${entry.key}`, entry)
  }

  #write(client: Client, text: string): void {
    const { response } = client
    if (response.write(text)) return
    client.blocked = this.#now()
    response.once('drain', () => this.#resume(client))
  }

  /** What it missed goes first, with what has changed by now: the newest word per key, and nothing behind its position. */
  #resume(client: Client): void {
    this.flush()
    client.blocked = undefined
    const missed = [...client.missed.values()]
    client.missed.clear()
    if (missed.length > 0) this.#write(client, eventText('update', vectorText(this.#board.position), missed))
  }

  #beat(): void {
    const now = this.#now()
    for (const { response, blocked } of this.#clients) {
      if (blocked !== undefined && now - blocked > BLOCKED_MAX_MS) response.destroy()
      else if (blocked === undefined) response.write(': still here\n\n')
    }
  }

  /** Lets go of every page; each comes back and is told what it lacks. */
  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
    for (const { response } of this.#clients) response.end()
    this.#clients.clear()
  }
}

function textFor(wish: Wish, id: string, changes: readonly Entry[]): string {
  const wished = changes.filter((entry) => isWished(wish, entry))
  return wished.length === 0 ? '' : eventText('update', id, wished)
}
