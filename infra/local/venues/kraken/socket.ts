import type { Economy, SpotMarket } from '../economy.ts'
import type { Link } from '../link.ts'
import type { Subscribers } from '../subscribers.ts'
import { Throttle } from '../throttle.ts'
import type { Micros } from '../trade.ts'
import type { Session } from '../venue-server.ts'
import { socketName } from './names.ts'
import { tickerData, timeText } from './rows.ts'

/** A connection without subscriptions that says nothing is closed after about a minute. */
const IDLE_MS = 60_000
/** The venue does not say how many messages are too many. */
const MESSAGES_PER_SECOND = 50

/** What makes a ticker come: a trade, or a change of the best bid and offer. */
export const triggers = ['trades', 'bbo'] as const
export type Trigger = (typeof triggers)[number]

export interface KrakenParts {
  readonly economy: Economy
  readonly clock: () => Micros
  readonly subscribers: Subscribers
  readonly number: number
}

/** One socket of Kraken's second version; the `ticker` channel. */
export class KrakenSession implements Session {
  private readonly link: Link
  private readonly parts: KrakenParts
  /** Symbol to topic. */
  private readonly topics = new Map<string, string>()
  private readonly messages = new Throttle(1000)
  private heardAtMs: number

  constructor(link: Link, parts: KrakenParts) {
    this.link = link
    this.parts = parts
    this.heardAtMs = link.openedAtMs
    // A number of 64 bits: more than a double holds.
    const id = `44218940131011${String(parts.number).padStart(5, '0')}`
    link.control(
      `{"channel":"status","type":"update","data":[{"version":"2.0.10","system":"online","api_version":"v2","connection_id":${id}}]}`,
    )
  }

  receive(text: string): void {
    const nowMs = Date.now()
    this.heardAtMs = nowMs
    if (this.messages.use(nowMs) > MESSAGES_PER_SECOND) {
      this.link.control({ Error: 'Exceeded msg rate' })
      return
    }
    const request = requestOf(text)
    if (request === undefined) {
      this.say({ error: 'Malformed request', success: false })
      return
    }
    switch (request.method) {
      case 'ping':
        this.say({ method: 'pong', ...named(request) })
        return
      case 'subscribe':
      case 'unsubscribe':
        // One answer per symbol, so a wrong one does not hold up the others.
        for (const symbol of request.symbols) this.change(request, request.method, symbol)
        return
      default:
        this.refuse(request, 'Unsupported method')
    }
  }

  /** "A heartbeat is sent approximately once a second once a channel is subscribed." */
  tick(nowMs: number): void {
    if (this.topics.size > 0) this.link.control('{"channel":"heartbeat"}')
    else if (nowMs - this.heardAtMs > IDLE_MS) this.link.close(1000)
  }

  closed(): void {
    for (const topic of this.topics.values()) this.parts.subscribers.delete(topic, this.link)
  }

  private change(request: Request, method: 'subscribe' | 'unsubscribe', symbol: string): void {
    const market = this.parts.economy.spots('kraken').find((candidate) => socketName(candidate) === symbol)
    const known = this.topics.get(symbol)
    if (request.channel !== 'ticker') this.refuse(request, `Channel not supported ${request.channel}`, symbol)
    else if (method === 'unsubscribe') this.unsubscribe(request, symbol, known)
    else if (market === undefined) this.refuse(request, `Currency pair not supported ${symbol}`, symbol)
    else if (known === undefined) this.subscribe(request, symbol, market)
    else this.refuse(request, 'Already subscribed', symbol)
  }

  private subscribe(request: Request, symbol: string, market: SpotMarket): void {
    const topic = topicOf(request.trigger, symbol)
    this.topics.set(symbol, topic)
    this.parts.subscribers.add(topic, this.link)
    const result = { channel: 'ticker', event_trigger: request.trigger, snapshot: request.snapshot, symbol }
    this.say({ method: 'subscribe', result, success: true, ...named(request) })
    if (request.snapshot) this.link.data(market, tickerFrame('snapshot', market, this.parts.economy))
  }

  private unsubscribe(request: Request, symbol: string, topic: string | undefined): void {
    if (topic === undefined) {
      this.refuse(request, 'Subscription Not Found', symbol)
      return
    }
    this.topics.delete(symbol)
    this.parts.subscribers.delete(topic, this.link)
    this.say({ method: 'unsubscribe', result: { channel: 'ticker', symbol }, success: true, ...named(request) })
  }

  private refuse(request: Request, error: string, symbol?: string): void {
    const { method } = request
    this.say({ error, method, success: false, ...(symbol === undefined ? {} : { symbol }), ...named(request) })
  }

  /** Every answer says when the request came and when it leaves. */
  private say({ req_id, ...answer }: Readonly<Record<string, unknown>>): void {
    const time = this.parts.clock()
    const times = { time_in: timeText(time), time_out: timeText(time + 42) }
    this.link.control({ ...answer, ...times, ...(req_id === undefined ? {} : { req_id }) })
  }
}

export function topicOf(trigger: Trigger, symbol: string): string {
  return `ticker:${trigger}:${symbol}`
}

export function tickerFrame(type: 'snapshot' | 'update', market: SpotMarket, economy: Economy): string {
  return `{"channel":"ticker","type":"${type}","data":[${tickerData(market, economy.spot(market))}]}`
}

interface Request {
  readonly method: string
  readonly id: number | undefined
  readonly channel: string
  readonly symbols: readonly string[]
  readonly trigger: Trigger
  readonly snapshot: boolean
}

function named({ id }: Request): { req_id?: number } {
  return id === undefined ? {} : { req_id: id }
}

function requestOf(text: string): Request | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const { method, req_id, params } = recordOf(value)
  if (typeof method !== 'string') return undefined
  const { channel, symbol, event_trigger, snapshot } = recordOf(params)
  return {
    method,
    id: typeof req_id === 'number' ? req_id : undefined,
    channel: typeof channel === 'string' ? channel : '',
    symbols: Array.isArray(symbol) ? symbol.filter((item) => typeof item === 'string') : [],
    trigger: event_trigger === 'bbo' ? 'bbo' : 'trades',
    snapshot: snapshot !== false,
  }
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
