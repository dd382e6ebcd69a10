import { backoffMs, type BackoffRules } from '../time/backoff.ts'
import { ticks } from '../runtime/process-clock.ts'
import { Connection, isData, type ConnectionTiming, type End } from './connection.ts'
import type { Limiter } from './connect-limiter.ts'
import type { Outcome } from './requests.ts'
import type { FrameEvent } from '../venues/events.ts'
import type { StreamProtocol } from '../venues/venue.ts'
import type { Micros } from '../../../schemas/records.ts'

export interface ReconnectTiming extends ConnectionTiming {
  readonly backoff: BackoffRules
  /** A replacement that is acknowledged but quiet takes over after this long. */
  readonly quietTakeoverMs: number
  /** How long a venue that refuses us (403, 451) is left alone. */
  readonly unavailableMs: number
}

export const reconnectTiming: ReconnectTiming = {
  handshakeMs: 10_000,
  ackWithinMs: 10_000,
  backoff: { firstMs: 250, maxMs: 30_000 },
  quietTakeoverMs: 10_000,
  unavailableMs: 600_000,
}

/** HTTP statuses that mean "not for you": a retry storm would only prolong them. */
const refusals: ReadonlySet<number> = new Set([403, 451])
const tooMany: ReadonlySet<number> = new Set([418, 429])
/** Waiting time where a venue says "too many" without a time. */
const tooManyMs = 60_000

export interface ReconnectHandlers {
  frame(text: string, events: readonly FrameEvent[], received: Micros): void
  outcome(outcome: Outcome): void
  /** A connection ended that was in use; `unavailable` where the venue refuses us. */
  lost(end: End, symbols: readonly string[]): void
}

/**
 * Keeps one set of symbols connected: reconnects with jittered back-off that starts anew only when data came, and
 * replaces a connection before the venue ends it. The new one delivers before the old one closes, so there is no hole.
 */
export class ReconnectingSocket {
  readonly symbols: Set<string>
  readonly #protocol: StreamProtocol
  readonly #url: string
  readonly #limiter: Limiter
  readonly #timing: ReconnectTiming
  readonly #on: ReconnectHandlers
  #current: Connection | undefined
  #next: Connection | undefined
  #attempt = 0
  /** When the next connection may be opened; undefined: none is needed. */
  #dueAt: number | undefined
  #rotateAt = Infinity
  #nextSince = 0
  #closed = false

  constructor(
    protocol: StreamProtocol,
    url: string,
    symbols: readonly string[],
    limiter: Limiter,
    timing: ReconnectTiming,
    on: ReconnectHandlers,
  ) {
    this.symbols = new Set(symbols)
    this.#protocol = protocol
    this.#url = url
    this.#limiter = limiter
    this.#timing = timing
    this.#on = on
    this.#dueAt = ticks()
  }

  get sockets(): number {
    return [this.#current, this.#next].filter((connection) => connection?.open === true).length
  }

  /** Its symbols are acknowledged and data or heartbeats keep coming. */
  get live(): boolean {
    return this.#current?.acknowledged === true || this.#next?.delivering === true
  }

  /** As of a connection; the newest of two. */
  get heardAt(): number {
    return Math.max(...this.#open().map(({ heardAt }) => heardAt))
  }

  add(symbols: readonly string[]): void {
    for (const symbol of symbols) this.symbols.add(symbol)
    for (const connection of this.#open()) connection.subscribe(symbols)
  }

  remove(symbols: readonly string[]): void {
    for (const symbol of symbols) this.symbols.delete(symbol)
    for (const connection of this.#open()) connection.unsubscribe(symbols)
  }

  pause(): void {
    for (const connection of this.#open()) connection.pause()
  }

  resume(): void {
    for (const connection of this.#open()) connection.resume()
  }

  close(): void {
    this.#closed = true
    for (const connection of this.#open()) connection.close()
    this.#current = this.#next = undefined
  }

  tick(now: number): void {
    for (const connection of this.#open()) connection.tick(now)
    if (this.#closed) return
    if (now >= this.#rotateAt && this.#settled) this.#dueAt = now
    if (this.#dueAt !== undefined && now >= this.#dueAt && this.#limiter.tryNow(now)) this.#connect(now)
    if (this.#next !== undefined && this.#mayTakeOver(this.#next, now)) this.#takeOver(now)
  }

  #open(): Connection[] {
    return [this.#current, this.#next].filter((connection) => connection !== undefined)
  }

  #connect(now: number): void {
    this.#dueAt = undefined
    const connection: Connection = new Connection(this.#protocol, this.#url, [...this.symbols], this.#timing, {
      frame: (text, events, received) => this.#frame(text, events, received),
      outcome: (outcome) => this.#on.outcome(outcome),
      closing: () => this.#closing(connection),
      ended: (end) => this.#ended(connection, end),
    })
    this.#nextSince = now
    if (this.#current === undefined) this.#use(connection, now)
    else this.#next = connection
  }

  #frame(text: string, events: readonly FrameEvent[], received: Micros): void {
    if (this.#attempt > 0 && this.#settled && events.some(isData)) this.#attempt = 0
    this.#on.frame(text, events, received)
  }

  /** One connection, no other on its way: data on it proves that connecting works. */
  get #settled(): boolean {
    return this.#next === undefined && this.#dueAt === undefined
  }

  #mayTakeOver(next: Connection, now: number): boolean {
    return next.delivering || (next.acknowledged && now - this.#nextSince > this.#timing.quietTakeoverMs)
  }

  #takeOver(now: number): void {
    const old = this.#current
    if (this.#next !== undefined) this.#use(this.#next, now)
    this.#next = undefined
    old?.close()
  }

  #use(connection: Connection, now: number): void {
    this.#current = connection
    this.#rotateAt = now + rotateAfterMs(this.#protocol.socket.lifetimeMs, Math.random())
  }

  #closing(connection: Connection): void {
    if (connection === this.#current) this.#rotateAt = 0
  }

  #ended(connection: Connection, end: End): void {
    if (this.#closed) return
    const wasCurrent = connection === this.#current
    if (wasCurrent) {
      this.#current = undefined
      if (this.#next !== undefined) this.#use(this.#next, ticks())
    }
    this.#next = undefined
    this.#on.lost(end, wasCurrent ? [...this.symbols] : [])
    if (this.#current === undefined || !wasCurrent) this.#retry(end)
  }

  /** Full jitter after a failure; a refusal blocks all connections of the venue. */
  #retry(end: End): void {
    const now = ticks()
    if (end.kind === 'refused' && refusals.has(end.status)) this.#limiter.blockUntil(now + this.#timing.unavailableMs)
    if (end.kind === 'refused' && tooMany.has(end.status))
      this.#limiter.blockUntil(now + (end.retryAfterMs ?? tooManyMs))
    this.#dueAt = now + backoffMs(this.#attempt++, Math.random(), this.#timing.backoff)
  }
}

/** Whether the end of a connection means that the venue will not have us. */
export function isRefusal(end: End): boolean {
  return end.kind === 'refused' && refusals.has(end.status)
}

/** An hour before the venue would end it, a quarter before where its connections are short; spread by up to a tenth. */
export function rotateAfterMs(lifetimeMs: number | undefined, random: number): number {
  if (lifetimeMs === undefined) return Infinity
  const margin = Math.min(3_600_000, lifetimeMs / 4)
  return (lifetimeMs - margin) * (1 - random / 10)
}
