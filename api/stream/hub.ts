import type { ServerResponse } from 'node:http'
import type { Board, Entry, Update } from './board.ts'
import { type Vector, vectorOf, vectorText } from './vector.ts'

/** Changes are gathered this long: at most five updates a second of any one thing, milliseconds. */
const FLUSH_MS = 200
const HEARTBEAT_MS = 15_000
/** A reader that does not take what was sent it for this long is dropped; it comes back and says what it has, milliseconds. */
const BLOCKED_MAX_MS = 20_000
/** When a reader whose stream broke should come back, milliseconds. */
const RETRY_MS = 1_000
/** A reader that is further than this instance has read waits for so long to go on there, milliseconds. */
const AHEAD_MAX_MS = 2_000
/** Updates that wait for a slow reader, each the newest of its key; beyond, the oldest is missed. */
const WAITING_MAX = 2_000

/** What a reader listens to. */
interface Wish {
  readonly kinds: ReadonlySet<string>
  /** undefined: all assets. */
  readonly assets?: ReadonlySet<string>
  /** What is told at the beginning in any case, whether it has changed of late or not. */
  readonly first?: readonly Update[]
  /** Of what is held, so many of each kind are told at the beginning: the newest (default: all). */
  readonly heldMax?: number
}

/** The data of an update's event; undefined: there is nothing to say of it. Readers of one function share its words. */
export type Tell<Context> = (context: Context, update: Update) => string | undefined

/** Who is told. */
export interface Listener {
  readonly response: ServerResponse
  /** The id of the last event that it got, empty: none. */
  readonly seen: string
  /** Whom limits are counted for. */
  readonly caller: string
}

export interface Subscription<Context> extends Wish {
  readonly tell: Tell<Context>
  /** Until when it is told, milliseconds since the Unix epoch (default: for as long as it stays). */
  readonly until?: number
  /** One reader at a time goes by a name: the newest takes the place of the one before. */
  readonly name?: string
}

interface Client<Context> extends Subscription<Context> {
  readonly response: ServerResponse
  readonly caller: string
  /** The id that it came with, until it is told what it lacks, and nothing before that; then undefined. */
  seen: string | undefined
  /** Ends it when its time is over, and then cuts it. */
  timer: NodeJS.Timeout | undefined
  /** Since when it does not take more, and what it had then; undefined: it does. */
  blocked: Seen | undefined
  /** What it lacks since then, by key; and of each kind how many updates of it are gone. */
  readonly waiting: Map<string, Entry>
  readonly missed: Map<string, number>
}

interface Said {
  readonly value: Update['value']
  readonly data: string | undefined
}

export interface HubOptions<Context> {
  readonly board: Board
  /** What words are made with. */
  readonly context: () => Context
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /** Called at each look for changes while somebody listens. */
  readonly onListening?: () => void
  /** Readers at once, in all and of one caller. */
  readonly clientsMax: number
  readonly callerMax: number
}

/** Why a stream has ended, and how to go on. */
const ends = {
  time_over: 'The time is over: ask again, where it is paid for with a new payment, and with Last-Event-ID to go on.',
  replaced: 'Another stream for the same payment was begun, and takes the place of this one.',
  restarting: 'This instance stops: ask again with the same payment and with Last-Event-ID to go on.',
} as const

/**
 * Sends the board's changes to every reader. One that is slow gets the newest word per key when it takes more, and is told
 * how many it has missed; one that takes nothing for long is dropped. One that comes back gets what it lacks; where that
 * is not held any more it is told since when, and gets all that is known.
 */
export class Hub<Context> {
  readonly #options: HubOptions<Context>
  readonly #clients = new Set<Client<Context>>()
  /** Those that are told no more, and have not taken all that they were told. */
  readonly #ending = new Set<Client<Context>>()
  /** Callers for whom a place is kept, by the name that takes it. */
  readonly #kept = new Map<string, string>()
  readonly #timers: NodeJS.Timeout[]
  /** Where all readers that take what they are sent are. */
  #told: Seen
  /** What was said since the last flush, by kind and key: several readers may begin at the same moment. */
  #said = new Map<Tell<Context>, Map<string, Said>>()

  constructor(options: HubOptions<Context>) {
    this.#options = options
    this.#told = this.#here()
    this.#timers = [
      setInterval(() => this.flush(), FLUSH_MS).unref(),
      setInterval(() => this.#beat(), HEARTBEAT_MS).unref(),
    ]
  }

  get clients(): number {
    return this.#clients.size
  }

  /** How many one caller may have. */
  get callerMax(): number {
    return this.#options.callerMax
  }

  /** Whether one more may listen, in place of the one of its name; `caller`: it is this one’s own bound that is reached. */
  room(caller: string, name?: string): 'free' | 'full' | 'caller' {
    const { clientsMax, callerMax } = this.#options
    let [all, own] = [0, 0]
    const count = (other: string): void => {
      all += 1
      if (other === caller) own += 1
    }
    for (const client of this.#clients) if (name === undefined || client.name !== name) count(client.caller)
    for (const client of this.#ending) count(client.caller)
    for (const [other, keeper] of this.#kept) if (other !== name) count(keeper)
    if (all >= clientsMax) return 'full'
    return own < callerMax ? 'free' : 'caller'
  }

  /** Keeps a place for who is about to listen, and gives how to let go of it. */
  keep(name: string, caller: string): () => void {
    this.#kept.set(name, caller)
    return () => this.#kept.delete(name)
  }

  /** Sends what the reader lacks and then every change, as server-sent events. One that has left by now takes no place. */
  add({ response, seen, caller }: Listener, subscription: Subscription<Context>): void {
    if (response.destroyed) return // whose `close` has been emitted
    this.flush() // so that what is sent now and what follows do not overlap
    const { until, name } = subscription
    for (const other of this.#clients) if (name !== undefined && other.name === name) this.#end(other, 'replaced')
    const over = (): void => this.#end(client, 'time_over')
    const left = until === undefined ? undefined : until - this.#options.now()
    const timer = left === undefined ? undefined : setTimeout(over, Math.max(0, left)).unref()
    const options = { ...subscription, response, caller, seen, timer }
    const client: Client<Context> = { ...options, blocked: undefined, waiting: new Map(), missed: new Map() }
    this.#clients.add(client)
    response.once('close', () => this.#forget(client))
    this.#begin(client)
    if (client.seen === undefined) return
    const begin = (): void => {
      this.flush()
      this.#begin(client, true)
    }
    setTimeout(begin, AHEAD_MAX_MS).unref()
  }

  /** Tells it what it lacks, and from then on what changes; `isLate`: also where the board is behind it. */
  #begin(client: Client<Context>, isLate = false): void {
    const { seen } = client
    if (seen === undefined || !this.#clients.has(client)) return
    const vector = seenOf(seen)?.vector
    if (!isLate && vector !== undefined && this.#options.board.isBehind(vector)) return
    client.seen = undefined
    this.#write(client, `retry: ${RETRY_MS}\n\n${this.#first(client, seen)}`)
  }

  #first(client: Client<Context>, id: string): string {
    const { board } = this.#options
    const seen = id === '' ? undefined : seenOf(id)
    const after = seen === undefined ? undefined : board.after(seen.vector)
    if (seen !== undefined && after !== undefined)
      return this.#texts(client, after, seen.vector) + this.#ready({ resumed: true })
    const held = [...Map.groupBy(board.all().filter(isWished(client)), ({ kind }) => kind).values()]
    const newest = held.flatMap((entries) => entries.slice(-(client.heldMax ?? entries.length)))
    const all = new Map([...(client.first ?? []), ...newest].map((update) => [keyOf(update), update]))
    const texts = [...all.values()].map((update) => this.#text(client, update) ?? '')
    const missed = id === '' ? '' : this.#missed(seen?.time, 'not_held', new Map())
    return missed + texts.join('') + this.#ready({ resumed: false })
  }

  #ready(data: object): string {
    return eventText('ready', JSON.stringify(data), idOf(this.#told))
  }

  /** `from`: undefined where the id did not say. */
  #missed(from: number | undefined, reason: string, counts: ReadonlyMap<string, number>): string {
    const [since, to] = [from, this.#told.time].map((time) =>
      time === undefined ? null : new Date(time).toISOString(),
    )
    return eventText('missed', JSON.stringify({ reason, from: since, to, counts: Object.fromEntries(counts) }))
  }

  /** Sends what changed since the last time. */
  flush(): void {
    if (this.#clients.size > 0) this.#options.onListening?.()
    const before = this.#told
    const changes = this.#options.board.changes()
    this.#told = this.#here()
    this.#said = new Map()
    if (changes.length > 0) this.#tell(changes, before)
    for (const client of this.#clients) this.#begin(client)
  }

  #tell(changes: readonly Entry[], before: Seen): void {
    const steps = inLogOrder(changes, before.vector, this.#told.vector)
    const byAsset = Map.groupBy(steps, ({ entry }) => entry.asset)
    const words = new Map<Tell<Context>, Map<Entry, string>>()
    for (const client of this.#clients) {
      if (client.seen !== undefined) continue
      const wished = wishedOf(client, steps, byAsset)
      if (client.blocked !== undefined) {
        for (const { entry } of wished) keep(client, entry)
        continue
      }
      const known = words.get(client.tell) ?? new Map<Entry, string>()
      words.set(client.tell, known)
      const text = wished.map(({ entry, vector }) => {
        const text = known.get(entry) ?? this.#text(client, entry, vector) ?? ''
        known.set(entry, text)
        return text
      })
      if (text.length > 0) this.#write(client, text.join(''))
    }
  }

  #texts(client: Client<Context>, entries: readonly Entry[], from: Vector): string {
    const steps = inLogOrder(entries.filter(isWished(client)), from, this.#told.vector)
    return steps.map(({ entry, vector }) => this.#text(client, entry, vector) ?? '').join('')
  }

  #text({ tell }: Client<Context>, update: Update, vector?: Vector): string | undefined {
    const data = this.#data(tell, update)
    if (data === undefined) return undefined
    return eventText(update.kind, data, vector && idOf({ time: this.#told.time, vector }))
  }

  #data(tell: Tell<Context>, update: Update): string | undefined {
    const said = this.#said.get(tell) ?? new Map<string, Said>()
    this.#said.set(tell, said)
    const { value } = update
    const known = said.get(keyOf(update))
    if (known?.value === value) return known.data
    const data = tell(this.#options.context(), update)
    said.set(keyOf(update), { value, data })
    return data
  }

  #write(client: Client<Context>, text: string): void {
    if (text === '' || client.response.write(text)) return
    client.blocked = this.#told
    client.response.once('drain', () => this.#resume(client))
  }

  /** What it lacks goes first, with what has changed by now: the newest word per key, and nothing behind its position. */
  #resume(client: Client<Context>): void {
    if (!this.#clients.has(client)) return
    this.flush()
    const { blocked = this.#told, waiting, missed } = client
    client.blocked = undefined
    const lost = missed.size === 0 ? '' : this.#missed(blocked.time, 'slow', missed)
    const text = lost + this.#texts(client, [...waiting.values()], blocked.vector)
    waiting.clear()
    missed.clear()
    this.#write(client, text)
  }

  #beat(): void {
    const now = this.#options.now()
    for (const client of this.#clients) {
      const { response, blocked } = client
      if (blocked === undefined) response.write(': still here\n\n')
      else if (now - blocked.time > BLOCKED_MAX_MS) this.#cut(client)
    }
  }

  #end(client: Client<Context>, reason: keyof typeof ends): void {
    const { response, timer } = client
    clearTimeout(timer)
    this.#clients.delete(client)
    this.#ending.add(client)
    client.timer = setTimeout(() => this.#cut(client), BLOCKED_MAX_MS).unref()
    response.end(eventText('end', JSON.stringify({ reason, message: ends[reason] })))
  }

  #cut(client: Client<Context>): void {
    client.response.destroy()
    this.#forget(client)
  }

  #forget(client: Client<Context>): void {
    clearTimeout(client.timer)
    this.#clients.delete(client)
    this.#ending.delete(client)
  }

  #here(): Seen {
    const { board, now } = this.#options
    return { time: now(), vector: board.position.map((offsets) => [...offsets]) }
  }

  /** Lets go of every reader; each comes back and is told what it lacks. */
  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
    for (const client of this.#clients) this.#end(client, 'restarting')
  }
}

/** Whether a reader is told of an update. */
export function isWished({ kinds, assets }: Wish): (update: Update) => boolean {
  return ({ kind, asset }) => kinds.has(kind) && (assets === undefined || asset === null || assets.has(asset))
}

/** A change with the position behind it, and its place among those of a flush. */
interface Step {
  readonly entry: Entry
  readonly vector: Vector
  readonly place: number
}

/** What a reader is told of, in order: who listens to few assets is asked about theirs alone. */
function wishedOf(
  { kinds, assets }: Wish,
  steps: readonly Step[],
  byAsset: ReadonlyMap<string | null, readonly Step[]>,
): Step[] {
  const own =
    assets === undefined
      ? steps
      : [null, ...assets].flatMap((asset) => byAsset.get(asset) ?? []).sort((a, b) => a.place - b.place)
  return own.filter(({ entry }) => kinds.has(entry.kind))
}

function keyOf({ kind, key }: Update): string {
  return `${kind}:${key}`
}

/** Keeps what a slow reader lacks, and counts what it will not get. */
function keep({ waiting, missed }: Pick<Client<never>, 'waiting' | 'missed'>, entry: Entry): void {
  const key = keyOf(entry)
  const before = waiting.get(key)
  waiting.delete(key)
  waiting.set(key, entry)
  const gone = before ?? (waiting.size > WAITING_MAX ? waiting.values().next().value : undefined)
  if (gone === undefined) return
  if (before === undefined) waiting.delete(keyOf(gone))
  missed.set(gone.kind, (missed.get(gone.kind) ?? 0) + 1)
}

/** One server-sent event; without an id it says nothing of where a reader is. */
function eventText(event: string, data: string, id?: string): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`
}

/** Where a reader is, and when that was so, milliseconds. */
export interface Seen {
  readonly time: number
  readonly vector: Vector
}

/** The id of an event: a reader that comes back with it says what it has seen, to any instance. */
function idOf({ time, vector }: Seen): string {
  return `${time.toString(36)}.${vectorText(vector)}`
}

/** What an id says; undefined where it is none of ours. */
function seenOf(id: string): Seen | undefined {
  const [, time, text] = /^([0-9a-z]{1,10})\.([\w-]+)$/.exec(id) ?? []
  const vector = vectorOf(text ?? '')
  return time === undefined || vector === undefined ? undefined : { time: Number.parseInt(time, 36), vector }
}

/** In the order of their places, each with the position behind it: who has heard it and all before it is there. */
function inLogOrder(entries: readonly Entry[], from: Vector, to: Vector): Step[] {
  const reached = from.map((offsets) => [...offsets])
  const inOrder = entries.toSorted(byPosition)
  return inOrder.map((entry, place) => {
    const { topic, partition, offset } = entry.position
    for (let before = 0; before < topic; before += 1) reached[before] = [...(to[before] ?? [])]
    const offsets = reached[topic] ?? []
    for (let before = 0; before < partition; before += 1) offsets[before] = to[topic]?.[before] ?? 0
    const next = inOrder[place + 1]
    // Of what one record says, the last alone is behind it.
    offsets[partition] = next !== undefined && byPosition(entry, next) === 0 ? offset : offset + 1
    return { entry, vector: reached.map((each) => [...each]), place }
  })
}

function byPosition({ position: a }: Entry, { position: b }: Entry): number {
  return a.topic - b.topic || a.partition - b.partition || a.offset - b.offset
}
