import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { VenueName } from '../../schemas/venues.ts'

/** What a slow reader may leave unread before it is cut off, as venues do. */
const UNREAD_BYTES_MAX = 64 * 1024 * 1024

/** Whose frame it is: enough for a fault to know whether it is meant. */
export interface MarketRef {
  readonly venue: string
  readonly symbol: string
  readonly asset: string
}

/** What stands between a venue and its sockets. */
interface Tamper {
  /** The frames that leave instead of this one, now. */
  trade(link: Link, market: MarketRef, frame: string): readonly string[]
  /** The same for what is said beside trades. */
  data(link: Link, market: MarketRef, frame: string): readonly string[]
  /** Whether acknowledgements, heartbeats and pongs leave. */
  speaks(link: Link): boolean
}

/** One socket as its venue sees it. Frames of streams pass through the faults, all others do not. */
export class Link {
  readonly venue: VenueName
  readonly openedAtMs: number
  private readonly socket: WebSocket
  private readonly stream: Duplex
  private readonly tamper: Tamper
  private corked = false
  /** When anything was last sent, host clock. */
  sentAtMs: number

  constructor(parts: { venue: VenueName; socket: WebSocket; stream: Duplex; tamper: Tamper; openedAtMs: number }) {
    this.venue = parts.venue
    this.socket = parts.socket
    this.stream = parts.stream
    this.tamper = parts.tamper
    this.openedAtMs = parts.openedAtMs
    this.sentAtMs = parts.openedAtMs
  }

  /** Acknowledgements, heartbeats, errors. */
  control(frame: string | object): void {
    if (this.tamper.speaks(this)) this.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  /** One frame of a trade stream. */
  trade(market: MarketRef, frame: string): void {
    for (const text of this.tamper.trade(this, market, frame)) this.send(text)
  }

  /** One frame of another stream: prices, funding, liquidations. */
  data(market: MarketRef, frame: string): void {
    for (const text of this.tamper.data(this, market, frame)) this.send(text)
  }

  /** Already tampered with. */
  send(text: string): void {
    if (this.socket.readyState !== this.socket.OPEN) return
    if (!this.corked) {
      this.corked = true
      this.stream.cork()
      // All frames of one moment leave in one write.
      queueMicrotask(() => {
        this.corked = false
        this.stream.uncork()
      })
    }
    this.sentAtMs = Date.now()
    this.socket.send(text)
    if (this.socket.bufferedAmount > UNREAD_BYTES_MAX) this.cut()
  }

  /** Bytes that the reader has not taken yet. */
  get unread(): number {
    return this.socket.bufferedAmount
  }

  ping(): void {
    if (this.socket.readyState === this.socket.OPEN) this.socket.ping()
  }

  close(code: number, reason = ''): void {
    this.socket.close(code, reason)
  }

  /** Drops the connection without a word, as a network does. */
  cut(): void {
    this.socket.terminate()
  }

  onPong(listener: () => void): void {
    this.socket.on('pong', listener)
  }
}
