import type { PoolState } from './channel-state.ts'
import { hostNow } from './clock-socket.ts'
import type { End } from './connection-socket.ts'
import type { Turns } from './gate.ts'
import { Gates, type GateKeeper } from './gates.ts'
import { isRefusal, Line, type LineTiming, lineTiming } from './line-socket.ts'
import type { Outcome } from './requests.ts'
import type { FrameEvent, StreamProtocol } from './venue.ts'
import type { Micros } from '../../schemas/records.ts'

export interface PoolTiming extends LineTiming {
  readonly tickMs: number
  /** When a symbol that the venue refused is asked for again. */
  readonly refusedAgainMs: number
}

export const poolTiming: PoolTiming = { ...lineTiming, tickMs: 50, refusedAgainMs: 600_000 }

export interface PoolHandlers {
  /** Every text frame as it came, before it is read. */
  frame(text: string, received: Micros, json: boolean): void
  events(events: readonly FrameEvent[], received: Micros): void
  acknowledged(symbols: readonly string[]): void
  refused(symbols: readonly string[]): void
  /** A connection in use ended: what its symbols traded meanwhile may be missing. */
  lost(symbols: readonly string[], end: End): void
}

/** All connections of one channel of a venue: symbols spread over them, several copies where the venue asks for it. */
export class SocketPool {
  readonly #protocol: StreamProtocol
  readonly #url: string
  readonly #timing: PoolTiming
  readonly #on: PoolHandlers
  readonly #gate: Turns
  #lines: Line[] = []
  readonly #refusedAt = new Map<string, number>()
  #wanted: ReadonlySet<string> = new Set()
  #everLive = false
  #unavailable = false
  #paused = false
  readonly #timer: NodeJS.Timeout

  /** `gates`: shared with the other channels of the host. */
  constructor(
    protocol: StreamProtocol,
    wsBase: string,
    on: PoolHandlers,
    timing: PoolTiming = poolTiming,
    gates: GateKeeper = new Gates(),
  ) {
    this.#protocol = protocol
    this.#url = wsBase + protocol.socket.path
    this.#timing = timing
    this.#on = on
    this.#gate = gates.of(wsBase, protocol.socket.minConnectSpacingMs)
    this.#timer = setInterval(() => this.#tick(hostNow()), timing.tickMs)
  }

  /** Connects, subscribes and unsubscribes until exactly `symbols` are streamed. */
  want(symbols: ReadonlySet<string>): void {
    this.#wanted = symbols
    this.#apply()
  }

  pause(): void {
    this.#paused = true
    for (const line of this.#lines) line.pause()
  }

  resume(): void {
    this.#paused = false
    for (const line of this.#lines) line.resume()
  }

  close(): void {
    clearInterval(this.#timer)
    for (const line of this.#lines) line.close()
    this.#lines = []
  }

  get state(): PoolState {
    const sockets = this.#lines.reduce((sum, line) => sum + line.sockets, 0)
    if (this.#lines.length === 0) return { state: 'off', sockets }
    if (this.#unavailable) return { state: 'unavailable', sockets }
    if (this.#allLive()) return { state: 'live', sockets }
    return { state: this.#everLive ? 'down' : 'connecting', sockets }
  }

  #tick(now: number): void {
    for (const [symbol, at] of this.#refusedAt) {
      if (now - at > this.#timing.refusedAgainMs) this.#refusedAt.delete(symbol)
    }
    this.#apply()
    for (const line of this.#lines) line.tick(now)
    if (this.#paused) this.pause() // also those that opened meanwhile
    if (this.#allLive()) this.#everLive = true
  }

  /** Every symbol has a line that is live; of several copies one is enough. */
  #allLive(): boolean {
    const live = new Set(this.#lines.filter((line) => line.live).flatMap((line) => [...line.symbols]))
    return live.size > 0 && this.#lines.every((line) => line.symbols.isSubsetOf(live))
  }

  #apply(): void {
    const wanted = this.#wanted
    const have = new Set(this.#lines.flatMap((line) => [...line.symbols]))
    const drop = [...have].filter((symbol) => !wanted.has(symbol))
    const add = [...wanted].filter((symbol) => !have.has(symbol) && !this.#refusedAt.has(symbol))
    if (drop.length > 0) this.#drop(drop)
    if (add.length > 0) for (let copy = 0; copy < this.#protocol.socket.copies; copy++) this.#add(add, copy)
  }

  #drop(symbols: readonly string[]): void {
    for (const line of this.#lines) {
      const own = symbols.filter((symbol) => line.symbols.has(symbol))
      if (own.length > 0) line.remove(own)
      if (line.symbols.size === 0) line.close()
    }
    this.#lines = this.#lines.filter((line) => line.symbols.size > 0)
  }

  /** Fills lines that have room, then opens new ones. Copies never share a line. */
  #add(symbols: readonly string[], copy: number): void {
    let rest = [...symbols]
    const lines = this.#lines.filter((line) => this.#copyOf.get(line) === copy)
    for (const line of lines) {
      const room = this.#protocol.socket.maxSymbolsPerConnection - line.symbols.size
      const part = rest.splice(0, Math.max(0, room))
      if (part.length > 0) line.add(part)
    }
    while (rest.length > 0) {
      const part = rest.slice(0, this.#protocol.socket.maxSymbolsPerConnection)
      rest = rest.slice(part.length)
      this.#openLine(part, copy)
    }
  }

  readonly #copyOf = new WeakMap<Line, number>()

  #openLine(symbols: readonly string[], copy: number): void {
    const line = new Line(this.#protocol, this.#url, symbols, this.#gate, this.#timing, {
      frame: (text, received, json) => this.#on.frame(text, received, json),
      events: (events, received) => {
        this.#unavailable = false
        this.#on.events(events, received)
      },
      outcome: (outcome) => this.#outcome(outcome),
      lost: (end, lost) => {
        if (isRefusal(end)) this.#unavailable = true
        this.#on.lost(lost, end)
      },
    })
    this.#copyOf.set(line, copy)
    this.#lines.push(line)
  }

  #outcome({ subscribed, refused }: Outcome): void {
    this.#unavailable = false
    const known = subscribed.filter((symbol) => this.#wanted.has(symbol))
    if (known.length > 0) this.#on.acknowledged(known)
    if (refused.length === 0) return
    for (const symbol of refused) this.#refusedAt.set(symbol, hostNow())
    for (const line of this.#lines) for (const symbol of refused) line.symbols.delete(symbol)
    this.#on.refused(refused)
  }
}
