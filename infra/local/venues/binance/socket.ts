import type { Link } from '../link.ts'
import type { Subscribers } from '../subscribers.ts'
import { Throttle } from '../throttle.ts'
import type { Session } from '../venue-server.ts'
import type { World } from '../world.ts'
import { combined } from './frames.ts'

const STREAMS_MAX = 1024

/** What Binance's futures and spot sockets differ in. */
export interface SocketManners {
  /** More than so many messages in a second are a policy violation. */
  readonly messagesPerSecond: number
  /** A ping frame comes this often; without a pong for so long the connection ends. */
  readonly pingMs: number
  readonly pongWithinMs: number
}

export interface BinanceSocketOptions {
  readonly world: World
  readonly subscribers: BinanceSubscribers
  readonly manners: SocketManners
  /** Whether a stream ever says anything here; others are accepted in silence. */
  readonly carries: (stream: string) => boolean
  /** A stream that is carried was subscribed. */
  readonly entered: (stream: string) => void
  readonly combined: boolean
  readonly streams: readonly string[]
  readonly lifetimeMs: number
}

export interface BinanceSubscribers {
  readonly raw: Subscribers
  readonly combined: Subscribers
}

/** One Binance market-data socket. */
export class BinanceSession implements Session {
  private readonly link: Link
  private readonly options: BinanceSocketOptions
  private readonly streams = new Set<string>()
  private readonly messages = new Throttle(1000)
  private combined: boolean
  private pingedAtMs: number
  private pongAtMs: number

  constructor(link: Link, options: BinanceSocketOptions) {
    this.link = link
    this.options = options
    this.combined = options.combined
    this.pingedAtMs = link.openedAtMs
    this.pongAtMs = link.openedAtMs
    link.onPong(() => {
      this.pongAtMs = this.pingedAtMs
      this.count()
    })
    this.add(options.streams)
  }

  receive(text: string): void {
    if (!this.count()) return
    let request: unknown
    try {
      request = JSON.parse(text)
    } catch {
      this.link.control({ code: 3, msg: `Invalid JSON: ${text.slice(0, 100)}` })
      return
    }
    this.answer(request)
  }

  tick(nowMs: number): void {
    if (nowMs - this.link.openedAtMs >= this.options.lifetimeMs) {
      this.link.close(1001, 'connection lifetime reached')
      return
    }
    if (nowMs - this.pingedAtMs < this.options.manners.pingMs) return
    if (this.pingedAtMs - this.pongAtMs >= this.options.manners.pongWithinMs) {
      this.link.close(1008, 'Pong timeout')
      return
    }
    this.pingedAtMs = nowMs
    this.link.ping()
  }

  closed(): void {
    this.remove([...this.streams])
  }

  announceClosing(): void {
    const notice = JSON.stringify({ e: 'serverShutdown', E: this.options.world.nowMs })
    this.link.control(this.combined ? combined('!serverShutdown', notice) : notice)
  }

  /** Says whether the connection is still within its rate. */
  private count(): boolean {
    const within = this.messages.use(Date.now()) <= this.options.manners.messagesPerSecond
    if (!within) this.link.close(1008, 'Too many requests')
    return within
  }

  private answer(request: unknown): void {
    const { method, params, id } = (typeof request === 'object' && request !== null ? request : {}) as Request
    if (!validId(id)) {
      this.refuse(null, 'Invalid request: request ID must be an unsigned integer, or a string of 36 at most')
      return
    }
    switch (method) {
      case 'SUBSCRIBE':
      case 'UNSUBSCRIBE':
        this.change(method, params, id ?? null)
        return
      case 'LIST_SUBSCRIPTIONS':
        this.link.control({ result: [...this.streams], id: id ?? null })
        return
      case 'SET_PROPERTY':
        this.setProperty(params, id ?? null)
        return
      case 'GET_PROPERTY':
        this.link.control({ result: this.combined, id: id ?? null })
        return
      default:
        this.refuse(
          id ?? null,
          `Invalid request: unknown variant \`${String(method)}\`, expected one of \`SUBSCRIBE\`, \`UNSUBSCRIBE\`, \`LIST_SUBSCRIPTIONS\`, \`SET_PROPERTY\`, \`GET_PROPERTY\``,
        )
    }
  }

  private change(method: 'SUBSCRIBE' | 'UNSUBSCRIBE', params: unknown, id: RequestId): void {
    if (!Array.isArray(params) || !params.every((stream) => typeof stream === 'string')) {
      this.refuse(id, 'Invalid request: invalid type for `params`, expected a sequence of strings')
      return
    }
    if (method === 'UNSUBSCRIBE') this.remove(params)
    else if (new Set([...this.streams, ...params]).size > STREAMS_MAX) {
      this.refuse(id, `Invalid request: more than ${STREAMS_MAX} streams`)
      return
    } else this.add(params)
    this.link.control({ result: null, id })
  }

  private setProperty(params: unknown, id: RequestId): void {
    const [name, value] = Array.isArray(params) ? (params as unknown[]) : []
    if (name !== 'combined' || typeof value !== 'boolean') {
      this.refuse(id, 'Invalid request: property name must be one of: `combined`')
      return
    }
    const streams = [...this.streams]
    this.remove(streams)
    this.combined = value
    this.add(streams)
    this.link.control({ result: null, id })
  }

  /** Unknown streams are accepted in silence, as the venue does. */
  private add(streams: readonly string[]): void {
    for (const stream of streams) {
      this.streams.add(stream)
      if (!this.options.carries(stream)) continue
      this.options.entered(stream)
      this.topic.add(stream, this.link)
    }
  }

  private remove(streams: readonly string[]): void {
    for (const stream of streams) {
      this.streams.delete(stream)
      this.topic.delete(stream, this.link)
    }
  }

  private get topic(): Subscribers {
    return this.combined ? this.options.subscribers.combined : this.options.subscribers.raw
  }

  private refuse(id: RequestId, msg: string): void {
    this.link.control({ code: 2, msg, id })
  }
}

type RequestId = string | number | null

interface Request {
  readonly method?: unknown
  readonly params?: unknown
  readonly id?: unknown
}

function validId(id: unknown): id is RequestId | undefined {
  if (id === undefined || id === null) return true
  return typeof id === 'string' ? id.length <= 36 : Number.isSafeInteger(id)
}

/** btcusdt@aggTrade to BTCUSDT. */
export function symbolOf(stream: string): string {
  return stream.slice(0, Math.max(0, stream.indexOf('@'))).toUpperCase()
}
