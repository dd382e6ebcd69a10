import { connectionName } from '../identity.ts'
import type { Link } from '../link.ts'
import type { Subscribers } from '../subscribers.ts'
import type { Session } from '../venue-server.ts'
import type { World } from '../world.ts'
import type { BybitDataStream, Category } from './data-stream.ts'

/** A connection that says nothing, not even a ping, is cut after 10 minutes. */
const IDLE_MS = 600_000
/** "Args total length no more than 21,000 characters per connection." */
const ARGS_CHARACTERS_MAX = 21_000
/** "Spot can input up to 10 args for each subscription request sent to one connection"; linear has no such limit. */
const SPOT_ARGS_MAX = 10
const PREFIX = 'publicTrade.'

interface Parts {
  readonly world: World
  readonly category: Category
  readonly subscribers: Subscribers
  readonly data: BybitDataStream
  readonly number: number
}

/** One Bybit v5 public socket of one category. */
export class BybitSession implements Session {
  private readonly link: Link
  private readonly parts: Parts
  private readonly topics = new Set<string>()
  private readonly name: string
  private heardAtMs: number

  constructor(link: Link, parts: Parts) {
    this.link = link
    this.parts = parts
    this.name = `d9tcajmgcca9r5l6${connectionName(parts.number, 4)}-${connectionName(parts.number + 1, 5)}`
    this.heardAtMs = link.openedAtMs
  }

  receive(text: string): void {
    this.heardAtMs = Date.now()
    const request = requestOf(text)
    const name = typeof request?.req_id === 'string' ? request.req_id : ''
    switch (request?.op) {
      case 'ping':
        this.reply(name, 'ping', 'pong')
        return
      case 'subscribe':
        this.subscribe(name, request.args)
        return
      case 'unsubscribe':
        for (const topic of textsOf(request.args) ?? []) this.drop(topic)
        this.reply(name, 'unsubscribe', '')
        return
      default:
        this.refuse(name, typeof request?.op === 'string' ? request.op : '', 'Params Error')
    }
  }

  tick(nowMs: number): void {
    if (nowMs - this.heardAtMs > IDLE_MS) this.link.close(1000)
  }

  closed(): void {
    for (const topic of this.topics) this.parts.subscribers.delete(topic, this.link)
  }

  /** All of a request's topics or none: one that does not exist refuses it. */
  private subscribe(name: string, args: unknown): void {
    const topics = textsOf(args)
    if (topics === undefined || topics.length === 0) {
      this.refuse(name, 'subscribe', 'error:no args')
      return
    }
    if (this.parts.category === 'spot' && topics.length > SPOT_ARGS_MAX) {
      this.refuse(name, 'subscribe', 'args size >10')
      return
    }
    const unknown = topics.find((topic) => !this.exists(topic))
    if (unknown !== undefined) {
      this.refuse(name, 'subscribe', `error:handler not found,topic:${unknown}`)
      return
    }
    const twice = topics.find((topic) => this.topics.has(topic))
    if (twice !== undefined) {
      this.refuse(name, 'subscribe', `error:already subscribed,topic:${twice}`)
      return
    }
    if ([...this.topics, ...topics].join('').length > ARGS_CHARACTERS_MAX) {
      this.refuse(name, 'subscribe', 'args total length exceeds 21,000 characters')
      return
    }
    for (const topic of topics) this.take(topic)
    // The two categories acknowledge in different words.
    this.reply(name, 'subscribe', this.parts.category === 'spot' ? 'subscribe' : '')
    for (const topic of topics) this.parts.data.greet(this.parts.category, topic, this.link)
  }

  private exists(topic: string): boolean {
    const { category, data } = this.parts
    if (!topic.startsWith(PREFIX)) return data.exists(category, topic)
    return category === 'linear' && data.exists('linear', `tickers.${topic.slice(PREFIX.length)}`)
  }

  private take(topic: string): void {
    if (topic.startsWith(PREFIX)) this.parts.world.find('bybit', topic.slice(PREFIX.length))?.enter()
    this.topics.add(topic)
    this.parts.subscribers.add(topic, this.link)
  }

  private drop(topic: string): void {
    this.topics.delete(topic)
    this.parts.subscribers.delete(topic, this.link)
  }

  private reply(reqId: string, op: string, message: string): void {
    this.link.control({ success: true, ret_msg: message, conn_id: this.name, ...this.named(reqId), op })
  }

  private refuse(reqId: string, op: string, message: string): void {
    this.link.control({ success: false, ret_msg: message, conn_id: this.name, ...this.named(reqId), op })
  }

  /** Spot leaves out the id of a request that had none. */
  private named(reqId: string): { req_id?: string } {
    return this.parts.category === 'spot' && reqId === '' ? {} : { req_id: reqId }
  }
}

interface Request {
  readonly op?: unknown
  readonly req_id?: unknown
  readonly args?: unknown
}

function requestOf(text: string): Request | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function textsOf(args: unknown): string[] | undefined {
  return Array.isArray(args) && args.every((arg) => typeof arg === 'string') ? args : undefined
}
