import type { Link } from '../link.ts'
import type { Subscribers } from '../subscribers.ts'
import { Throttle } from '../throttle.ts'
import type { Session } from '../venue-server.ts'
import type { World } from '../world.ts'
import { combined } from './frames.ts'

/** "10 incoming messages per second", more is a policy violation. */
const MESSAGES_PER_SECOND = 10
const STREAMS_MAX = 1024
/** "A ping frame every 3 minutes"; no pong within 10 minutes ends the connection. */
const PING_MS = 180_000
const PONG_WITHIN_MS = 600_000

/** The part of the venue that a path leads to: `market` has `@aggTrade`, `public` the undocumented `@trade`. */
export type Route = 'market' | 'public' | 'private'

export interface BinanceSocketOptions {
  readonly world: World
  readonly subscribers: BinanceSubscribers
  readonly route: Route
  readonly combined: boolean
  readonly streams: readonly string[]
  readonly lifetimeMs: number
}

export interface BinanceSubscribers {
  readonly raw: Subscribers
  readonly combined: Subscribers
}

/** One Binance USD-M market-data socket. */
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
    if (nowMs - this.pingedAtMs < PING_MS) return
    if (this.pingedAtMs - this.pongAtMs >= PONG_WITHIN_MS) {
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
    const within = this.messages.use(Date.now()) <= MESSAGES_PER_SECOND
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
      if (!this.carries(stream)) continue
      this.options.world.find('binance', symbolOf(stream))?.enter()
      this.topic.add(stream, this.link)
    }
  }

  private remove(streams: readonly string[]): void {
    for (const stream of streams) {
      this.streams.delete(stream)
      this.topic.delete(stream, this.link)
    }
  }

  /** Each route has its own streams; another route's are accepted and never push anything. */
  private carries(stream: string): boolean {
    const { route } = this.options
    return (route === 'market' && stream.endsWith('@aggTrade')) || (route === 'public' && stream.endsWith('@trade'))
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
