import type { Link, MarketRef } from '../../link.ts'
import type { TradeVenueName } from '../../../../schemas/venues.ts'
import type { Market } from '../../market/markets.ts'
import type { Context } from '../venue-api.ts'
import { fieldsIn, Subscribers, textsOf, VenueSession } from '../socket.ts'

const STREAMS_MAX = 1024

/** What Binance's futures and spot sockets differ in. */
interface ConnectionLimits {
  /** More than so many messages in a second, pongs too, are a policy violation. */
  readonly messagesPerSecond: number
  /** A ping frame comes this often; without a pong for so long the connection ends. */
  readonly pingMs: number
  readonly pongWithinMs: number
}

/** Who listens to which stream: as it is, or as the combined endpoint `/stream` wraps it. */
export class Listeners {
  readonly links = new Subscribers()

  isHeard(stream: string): boolean {
    return this.links.of(stream).size + this.links.of(wrappedTopic(stream)).size > 0
  }

  /** What is said beside trades; the frame is made only where somebody listens. */
  tell(stream: string, about: MarketRef, frame: () => string): void {
    if (!this.isHeard(stream)) return
    const text = frame()
    this.links.tell(stream, about, () => text)
    this.links.tell(wrappedTopic(stream), about, () => wrapped(stream, text))
  }

  trade(stream: string, market: Market, frames: () => readonly string[]): void {
    if (!this.isHeard(stream)) return
    const [plain, combined] = [this.links.of(stream), this.links.of(wrappedTopic(stream))]
    for (const frame of frames()) {
      for (const link of plain) link.trade(market, frame)
      if (combined.size === 0) continue
      const text = wrapped(stream, frame)
      for (const link of combined) link.trade(market, text)
    }
  }
}

function wrappedTopic(stream: string): string {
  return `/stream ${stream}`
}

function wrapped(stream: string, frame: string): string {
  return `{"stream":"${stream}","data":${frame}}`
}

/** `/ws/<stream>/...` or `/stream?streams=a/b`; undefined where a path is neither. */
export function openingOf(path: string, query: URLSearchParams): Opening | undefined {
  const match = /^\/(ws|stream)(?:\/(.*))?$/.exec(path)
  if (match === null) return undefined
  const combined = match[1] === 'stream'
  const named = combined ? (query.get('streams') ?? '') : (match[2] ?? '')
  return { combined, streams: named.split('/').filter((stream) => stream !== '') }
}

interface Opening {
  readonly combined: boolean
  readonly streams: readonly string[]
}

interface Options extends Opening {
  readonly context: Context
  readonly listeners: Listeners
  readonly limits: ConnectionLimits
  /** Whose trades its streams are. */
  readonly trades: TradeVenueName
  /** Whether a stream ever says anything here; others are accepted in silence. */
  readonly carries: (stream: string) => boolean
}

/** One Binance market-data socket. */
export class BinanceSession extends VenueSession {
  private readonly options: Options
  private readonly streams = new Set<string>()
  private pingedAtMs: number
  private pongAtMs: number

  constructor(link: Link, options: Options) {
    super(link, options.listeners.links)
    this.options = options
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
    const fields = fieldsIn(text)
    if (fields === undefined) {
      this.link.control({ code: 3, msg: `Invalid JSON: ${text.slice(0, 100)}` })
      return
    }
    const { method, params, id } = fields
    if (isId(id)) this.answer(String(method), params, id ?? null)
    else this.refuse(null, 'request ID must be an unsigned integer, or a string of 36 at most')
  }

  tick(nowMs: number): void {
    const { context, limits } = this.options
    if (nowMs - this.link.openedAtMs >= (context.lifetimeMs ?? 86_400_000)) {
      this.link.close(1001, 'connection lifetime reached')
      return
    }
    if (nowMs - this.pingedAtMs < limits.pingMs) return
    if (this.pingedAtMs - this.pongAtMs >= limits.pongWithinMs) {
      this.link.close(1008, 'Pong timeout')
      return
    }
    this.pingedAtMs = nowMs
    this.link.ping()
  }

  announceClosing(): void {
    const notice = JSON.stringify({ e: 'serverShutdown', E: this.options.context.world.nowMs })
    this.link.control(this.options.combined ? wrapped('!serverShutdown', notice) : notice)
  }

  /** Says whether the connection is still within its rate. */
  private count(): boolean {
    const within = this.within(this.options.limits.messagesPerSecond)
    if (!within) this.link.close(1008, 'Too many requests')
    return within
  }

  private answer(method: string, params: unknown, id: Id): void {
    switch (method) {
      case 'SUBSCRIBE':
      case 'UNSUBSCRIBE':
        this.change(method, params, id)
        return
      case 'LIST_SUBSCRIPTIONS':
        this.link.control({ result: [...this.streams], id })
        return
      default:
        this.refuse(
          id,
          `unknown variant \`${method}\`, expected one of \`SUBSCRIBE\`, \`UNSUBSCRIBE\`, \`LIST_SUBSCRIPTIONS\`, \`SET_PROPERTY\`, \`GET_PROPERTY\``,
        )
    }
  }

  private change(method: 'SUBSCRIBE' | 'UNSUBSCRIBE', params: unknown, id: Id): void {
    const streams = textsOf(params)
    if (streams === undefined) {
      this.refuse(id, 'invalid type for `params`, expected a sequence of strings')
      return
    }
    if (method === 'UNSUBSCRIBE') this.remove(streams)
    else if (new Set([...this.streams, ...streams]).size > STREAMS_MAX) {
      this.refuse(id, `more than ${STREAMS_MAX} streams`)
      return
    } else this.add(streams)
    this.link.control({ result: null, id })
  }

  /** Unknown streams are accepted in silence, as the venue does. */
  private add(streams: readonly string[]): void {
    const { context, carries, trades } = this.options
    for (const stream of streams) {
      this.streams.add(stream)
      if (!carries(stream)) continue
      if (/@(?:aggTrade|trade)$/.test(stream)) context.world.find(trades, symbolOf(stream))?.enter()
      this.join(this.topicOf(stream))
    }
  }

  private remove(streams: readonly string[]): void {
    for (const stream of streams) {
      this.streams.delete(stream)
      this.leave(this.topicOf(stream))
    }
  }

  private topicOf(stream: string): string {
    return this.options.combined ? wrappedTopic(stream) : stream
  }

  private refuse(id: Id, reason: string): void {
    this.link.control({ code: 2, msg: `Invalid request: ${reason}`, id })
  }
}

type Id = string | number | null

function isId(id: unknown): id is Id | undefined {
  if (id === undefined || id === null) return true
  return typeof id === 'string' ? id.length <= 36 : Number.isSafeInteger(id)
}

/** btcusdt@aggTrade to BTCUSDT. */
function symbolOf(stream: string): string {
  return stream.slice(0, Math.max(0, stream.indexOf('@'))).toUpperCase()
}
