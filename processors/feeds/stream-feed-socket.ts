import type { Micros } from '../../schemas/records.ts'
import { hostNow } from './clock-socket.ts'
import type { End } from './connection-socket.ts'
import type { GateKeeper } from './gates.ts'
import type { PoolState } from './channel-state.ts'
import { SocketPool, type PoolTiming } from './pool-socket.ts'
import type { DataStream, Fact } from './source.ts'
import type { FrameEvent } from './venue.ts'

export interface StreamReport {
  fact(stream: DataStream, fact: Fact, received: Micros): void
  refused(stream: DataStream, reason: string, frame: string): void
  /** The venue does not know these symbols. */
  unknown(stream: DataStream, symbols: readonly string[]): void
  /** These symbols (undefined: all) are heard again, after nothing was since `from`. */
  back(stream: DataStream, symbols: readonly string[] | undefined, from: Micros, to: Micros): void
  note(stream: DataStream, what: string, details: Readonly<Record<string, unknown>>): void
}

/** A channel that was still, or not connected, for longer than this may have missed prices. */
const silence: Micros = 15_000_000

/** One WebSocket channel of a source: from frames to facts. */
export class StreamFeed {
  readonly stream: DataStream
  readonly #report: StreamReport
  readonly #pool: SocketPool
  #frame = ''
  #heardAt: Micros | undefined
  /** Since when a symbol has no connection. */
  readonly #lostAt = new Map<string, Micros>()

  constructor(stream: DataStream, base: string, report: StreamReport, timing?: PoolTiming, gates?: GateKeeper) {
    this.stream = stream
    this.#report = report
    const handlers = {
      frame: (text: string) => {
        this.#frame = text
      },
      events: (events: readonly FrameEvent[], received: Micros) => this.#events(events, received),
      acknowledged: (symbols: readonly string[]) => this.#acknowledged(symbols),
      refused: (symbols: readonly string[]) => report.unknown(stream, symbols),
      lost: (symbols: readonly string[], end: End) => this.#lost(symbols, end),
    }
    this.#pool = new SocketPool(stream, base, handlers, timing, gates)
  }

  get state(): PoolState {
    return this.#pool.state
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

  close(): void {
    this.#pool.close()
  }

  #events(events: readonly FrameEvent[], received: Micros): void {
    for (const event of events) {
      switch (event.kind) {
        case 'fact':
          this.#hear(received)
          this.#report.fact(this.stream, event.fact, received)
          break
        case 'heartbeat':
          this.#hear(received)
          break
        case 'refused':
          this.#report.refused(this.stream, event.reason, this.#frame)
          break
        case 'rejected':
          this.#report.note(this.stream, 'subscription refused', { message: event.message })
          break
        case 'closing':
          this.#report.note(this.stream, 'connection will be closed', { message: event.message })
          break
        case 'trade':
        case 'subscribed':
        case 'unsubscribed':
        case 'pong':
      }
    }
  }

  #lost(symbols: readonly string[], end: End): void {
    this.#report.note(this.stream, 'connection ended', { ...end, symbols: symbols.length })
    const now = hostNow()
    // A silent connection was dead before we called it so.
    const at = (end.kind === 'silent' ? now - this.stream.socket.silentAfterMs : now) * 1_000
    for (const symbol of symbols) if (!this.#lostAt.has(symbol)) this.#lostAt.set(symbol, at)
  }

  #acknowledged(symbols: readonly string[]): void {
    const now = hostNow() * 1_000
    const back = Map.groupBy(symbols, (symbol) => this.#lostAt.get(symbol))
    for (const symbol of symbols) this.#lostAt.delete(symbol)
    for (const [since, own] of back) {
      if (since !== undefined && now - since > silence) this.#report.back(this.stream, own, since, now)
    }
  }

  #hear(received: Micros): void {
    const since = this.#heardAt
    this.#heardAt = received
    if (since !== undefined && received - since > silence) this.#report.back(this.stream, undefined, since, received)
  }
}
