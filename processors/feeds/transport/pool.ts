import { ticks } from '../runtime/process-clock.ts'
import type { End } from './connection.ts'
import { type Limiters, ConnectLimiters, type Limiter } from './connect-limiter.ts'
import {
  isRefusal,
  type ReconnectHandlers,
  ReconnectingSocket,
  type ReconnectTiming,
  reconnectTiming,
} from './reconnecting-socket.ts'
import type { Outcome } from './requests.ts'
import type { FrameEvent } from '../venues/events.ts'
import type { StreamProtocol } from '../venues/venue.ts'
import type { Micros, VenueState } from '../../../schemas/records.ts'

export interface PoolTiming extends ReconnectTiming {
  /** When a symbol that the venue refused is asked for again. */
  readonly refusedAgainMs: number
}

export const poolTiming: PoolTiming = { ...reconnectTiming, refusedAgainMs: 600_000 }

interface PoolHandlers {
  /** `connection`: that which brought it, of one place among all; the same one when it was replaced. */
  frame(
    text: string,
    events: readonly FrameEvent[],
    received: Micros,
    connection: { readonly symbols: ReadonlySet<string> },
  ): void
  acknowledged(symbols: readonly string[]): void
  refused(symbols: readonly string[]): void
  /** A connection in use ended: what its symbols traded meanwhile may be missing. `uncarried`: no other copy has them. */
  lost(symbols: readonly string[], end: End, uncarried: readonly string[]): void
}

/** All connections of one channel of a venue: symbols spread over them, several copies where the venue asks for it. */
export class SocketPool {
  readonly #protocol: StreamProtocol
  readonly #url: string
  readonly #timing: PoolTiming
  readonly #on: PoolHandlers
  readonly #limiter: Limiter
  #connections: ReconnectingSocket[] = []
  readonly #refusedAt = new Map<string, number>()
  #wanted: ReadonlySet<string> = new Set()
  #everLive = false
  #unavailable = false
  #paused = false

  /** `limiters`: shared with the other channels of the host. */
  constructor(
    protocol: StreamProtocol,
    wsBase: string,
    on: PoolHandlers,
    timing: PoolTiming = poolTiming,
    limiters: Limiters = new ConnectLimiters(),
  ) {
    this.#protocol = protocol
    this.#url = wsBase + protocol.socket.path
    this.#timing = timing
    this.#on = on
    this.#limiter = limiters.of(wsBase, protocol.socket.minConnectSpacingMs)
  }

  /** Connects, subscribes and unsubscribes until exactly `symbols` are streamed. */
  want(symbols: ReadonlySet<string>): void {
    this.#wanted = symbols
    this.#apply()
  }

  pause(): void {
    this.#paused = true
    for (const connection of this.#connections) connection.pause()
  }

  resume(): void {
    this.#paused = false
    for (const connection of this.#connections) connection.resume()
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
    this.#connections = []
  }

  get state(): ChannelState {
    return this.stateSince(-Infinity)
  }

  /** The state where a connection that brought neither data nor a heartbeat since then, by ticks, is not live. */
  stateSince(since: number): ChannelState {
    const sockets = this.#connections.reduce((sum, connection) => sum + connection.sockets, 0)
    if (this.#connections.length === 0) return { state: 'off', sockets }
    if (this.#unavailable) return { state: 'unavailable', sockets }
    if (this.#allLive(since)) return { state: 'live', sockets }
    return { state: this.#everLive ? 'down' : 'connecting', sockets }
  }

  /** Called often, with the time by ticks. */
  tick(now: number): void {
    const again = [...this.#refusedAt].filter(([, at]) => now - at > this.#timing.refusedAgainMs)
    for (const [symbol] of again) this.#refusedAt.delete(symbol)
    if (again.length > 0) this.#apply()
    for (const connection of this.#connections) connection.tick(now)
    if (this.#paused) this.pause() // also those that opened meanwhile
    this.#everLive ||= this.#allLive(-Infinity)
  }

  /** Every symbol has a connection that is live; of several copies one is enough. */
  #allLive(since: number): boolean {
    const live = this.#carried(since)
    return live.size > 0 && this.#connections.every((connection) => connection.symbols.isSubsetOf(live))
  }

  /** What connections bring that are acknowledged, and were heard since then, by ticks. */
  #carried(since: number): Set<string> {
    const isLive = ({ live, heardAt }: ReconnectingSocket): boolean => live && heardAt >= since
    return new Set(this.#connections.filter(isLive).flatMap(({ symbols }) => [...symbols]))
  }

  #apply(): void {
    const wanted = this.#wanted
    const have = new Set(this.#connections.flatMap((connection) => [...connection.symbols]))
    const drop = [...have].filter((symbol) => !wanted.has(symbol))
    const add = [...wanted].filter((symbol) => !have.has(symbol) && !this.#refusedAt.has(symbol))
    if (drop.length > 0) this.#drop(drop)
    if (add.length > 0) for (let copy = 0; copy < this.#protocol.socket.copies; copy++) this.#add(add, copy)
  }

  #drop(symbols: readonly string[]): void {
    for (const connection of this.#connections) {
      const own = symbols.filter((symbol) => connection.symbols.has(symbol))
      if (own.length > 0) connection.remove(own)
      if (connection.symbols.size === 0) connection.close()
    }
    this.#connections = this.#connections.filter((connection) => connection.symbols.size > 0)
  }

  /** Fills connections that have room, then opens new ones. Copies never share a connection. */
  #add(symbols: readonly string[], copy: number): void {
    let rest = [...symbols]
    const open = this.#connections.filter((connection) => this.#copyOf.get(connection) === copy)
    for (const connection of open) {
      const room = this.#protocol.socket.maxSymbolsPerConnection - connection.symbols.size
      const part = rest.splice(0, Math.max(0, room))
      if (part.length > 0) connection.add(part)
    }
    while (rest.length > 0) {
      const part = rest.slice(0, this.#protocol.socket.maxSymbolsPerConnection)
      rest = rest.slice(part.length)
      this.#openConnection(part, copy)
    }
  }

  readonly #copyOf = new WeakMap<ReconnectingSocket, number>()

  #openConnection(symbols: readonly string[], copy: number): void {
    const handlers: ReconnectHandlers = {
      frame: (text, events, received) => {
        this.#unavailable = false
        this.#on.frame(text, events, received, connection)
      },
      outcome: (outcome) => this.#outcome(outcome),
      lost: (end, lost) => {
        if (isRefusal(end)) this.#unavailable = true
        const carried = this.#carried(-Infinity)
        const uncarried = lost.filter((symbol) => !carried.has(symbol))
        this.#on.lost(lost, end, uncarried)
      },
    }
    const [url, limiter, timing] = [this.#url, this.#limiter, this.#timing]
    const connection = new ReconnectingSocket(this.#protocol, url, symbols, limiter, timing, handlers)
    this.#copyOf.set(connection, copy)
    this.#connections.push(connection)
  }

  #outcome({ subscribed, refused }: Outcome): void {
    this.#unavailable = false
    const known = subscribed.filter((symbol) => this.#wanted.has(symbol))
    if (known.length > 0) this.#on.acknowledged(known)
    if (refused.length === 0) return
    for (const symbol of refused) this.#refusedAt.set(symbol, ticks())
    for (const connection of this.#connections) for (const symbol of refused) connection.symbols.delete(symbol)
    this.#on.refused(refused)
  }
}

/** How a channel is: all its connections, or its answers. */
export type ChannelState = Pick<VenueState, 'state' | 'sockets'>

/** Best first: one channel that lives keeps a venue alive for its topic. */
const order = ['live', 'connecting', 'down', 'unavailable', 'off', 'unknown'] as const

/** The state of a venue for a topic, of the states of its streams and polls for it. */
export function joined(states: readonly ChannelState[]): ChannelState {
  const sockets = states.reduce((sum, state) => sum + state.sockets, 0)
  const best = order.find((candidate) => states.some(({ state }) => state === candidate))
  return { state: best ?? 'off', sockets }
}
