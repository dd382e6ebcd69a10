import type { Micros } from '../../../schemas/records.ts'
import { type ChannelState, type PoolTiming, SocketPool } from '../transport/pool.ts'
import { isData, isJson, type End } from '../transport/connection.ts'
import type { Limiters } from '../transport/connect-limiter.ts'
import type { Fact, FrameEvent, VenueTrade } from '../venues/events.ts'
import type { DataStream } from '../venues/venue.ts'
import { hostNow, ticks } from './process-clock.ts'

/** The symbols of one connection. */
interface Streamed {
  readonly symbols: ReadonlySet<string>
}

/** What a channel brings, and how it is. */
export interface StreamHandlers {
  /** Every text frame as it came; `json`: it could be read as JSON. */
  frame(text: string, received: Micros, json: boolean): void
  trade(trade: VenueTrade, frame: string): void
  fact(fact: Fact, received: Micros): void
  heartbeat(symbol: string | null, lastId: number | null): void
  refused(reason: string, frame: string): void
  acknowledged(symbols: readonly string[]): void
  /** The venue does not know these symbols. */
  unknown(symbols: readonly string[]): void
  /** Their connection ended; `uncarried`: those that no other one has. */
  lost(symbols: readonly string[], uncarried: readonly string[]): void
  /** These symbols are heard again, after nothing was since `from`. */
  back(symbols: readonly string[], from: Micros, to: Micros): void
  note(what: string, details: Readonly<Record<string, unknown>>): void
}

/** A channel that was still, or not connected, for longer than this may have missed prices. */
const silenceMs = 15_000
const silence: Micros = silenceMs * 1_000

/** One WebSocket channel of a venue: from frames to trades and facts. */
export class StreamFeed {
  readonly stream: DataStream
  readonly #on: StreamHandlers
  readonly #pool: SocketPool
  /** When each connection last brought data or a heartbeat. */
  readonly #heardAt = new WeakMap<Streamed, Micros>()
  /** Since when a symbol has no connection. */
  readonly #lostAt = new Map<string, Micros>()

  constructor(stream: DataStream, base: string, on: StreamHandlers, timing?: PoolTiming, limiters?: Limiters) {
    this.stream = stream
    this.#on = on
    const handlers = {
      frame: (text: string, events: readonly FrameEvent[], received: Micros, from: Streamed) => {
        on.frame(text, received, isJson(events))
        if (events.some(isData)) this.#hear(from, received)
        this.#events(text, events, received)
      },
      acknowledged: (symbols: readonly string[]) => this.#acknowledged(symbols),
      refused: (symbols: readonly string[]) => on.unknown(symbols),
      lost: (symbols: readonly string[], end: End, uncarried: readonly string[]) => this.#lost(symbols, end, uncarried),
    }
    this.#pool = new SocketPool(stream, base, handlers, timing, limiters)
  }

  /** Prices count no longer than each connection of theirs gives signs of life: their channel is down before it is ended. */
  get state(): ChannelState {
    if (this.stream.topic !== 'market.tickers') return this.#pool.state
    return this.#pool.stateSince(ticks() - silenceMs)
  }

  want(symbols: ReadonlySet<string>): void {
    for (const symbol of this.#lostAt.keys()) if (!symbols.has(symbol)) this.#lostAt.delete(symbol)
    this.#pool.want(symbols)
  }

  pause(): void {
    this.#pool.pause()
  }

  resume(): void {
    this.#pool.resume()
  }

  /** Called often, with the time by ticks: connects, replaces what ended, sends what waits for its turn. */
  tick(now: number): void {
    this.#pool.tick(now)
  }

  close(): void {
    this.#pool.close()
  }

  #events(frame: string, events: readonly FrameEvent[], received: Micros): void {
    for (const event of events) {
      switch (event.kind) {
        case 'trade':
          this.#on.trade(event.trade, frame)
          break
        case 'fact':
          this.#on.fact(event.fact, received)
          break
        case 'heartbeat':
          this.#on.heartbeat(event.symbol, event.lastId)
          break
        case 'refused':
          this.#on.refused(event.reason, frame)
          break
        case 'rejected':
          this.#on.note('subscription refused', { message: event.message })
          break
        case 'closing':
          this.#on.note('connection will be closed', { message: event.message })
          break
        case 'subscribed':
        case 'unsubscribed':
        case 'pong':
      }
    }
  }

  #lost(symbols: readonly string[], end: End, uncarried: readonly string[]): void {
    this.#on.note('connection ended', { ...end, symbols: symbols.length })
    this.#on.lost(symbols, uncarried)
    const now = hostNow()
    // A silent connection was dead before we called it so.
    const at = (end.kind === 'silent' ? now - this.stream.socket.silentAfterMs : now) * 1_000
    for (const symbol of symbols) if (!this.#lostAt.has(symbol)) this.#lostAt.set(symbol, at)
  }

  #acknowledged(symbols: readonly string[]): void {
    this.#on.acknowledged(symbols)
    const now = hostNow() * 1_000
    const back = Map.groupBy(symbols, (symbol) => this.#lostAt.get(symbol))
    for (const symbol of symbols) this.#lostAt.delete(symbol)
    for (const [since, own] of back) {
      if (since !== undefined && now - since > silence) this.#on.back(own, since, now)
    }
  }

  #hear(from: Streamed, received: Micros): void {
    const since = this.#heardAt.get(from)
    this.#heardAt.set(from, received)
    if (since !== undefined && received - since > silence) this.#on.back([...from.symbols], since, received)
  }
}
