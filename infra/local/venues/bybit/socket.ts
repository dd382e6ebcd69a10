import { connectionName } from '../identity.ts'
import type { Link } from '../link.ts'
import type { Subscribers } from '../subscribers.ts'
import type { Session } from '../venue-server.ts'
import type { World } from '../world.ts'

/** A connection that says nothing, not even a ping, is cut after 10 minutes. */
const IDLE_MS = 600_000
/** "Args total length no more than 21,000 characters per connection." */
const ARGS_CHARACTERS_MAX = 21_000
const PREFIX = 'publicTrade.'

/** One Bybit v5 public socket of the linear category. */
export class BybitSession implements Session {
  private readonly link: Link
  private readonly world: World
  private readonly subscribers: Subscribers
  private readonly topics = new Set<string>()
  private readonly name: string
  private heardAtMs: number

  constructor(link: Link, world: World, subscribers: Subscribers, number: number) {
    this.link = link
    this.world = world
    this.subscribers = subscribers
    this.name = `d9tcajmgcca9r5l6${connectionName(number, 4)}-${connectionName(number + 1, 5)}`
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
    for (const topic of this.topics) this.subscribers.delete(topic, this.link)
  }

  /** All of a request's topics or none: one that does not exist refuses it. */
  private subscribe(name: string, args: unknown): void {
    const topics = textsOf(args)
    if (topics === undefined || topics.length === 0) {
      this.refuse(name, 'subscribe', 'error:no args')
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
    this.reply(name, 'subscribe', '')
  }

  private exists(topic: string): boolean {
    return topic.startsWith(PREFIX) && this.world.find('bybit', topic.slice(PREFIX.length)) !== undefined
  }

  private take(topic: string): void {
    this.world.find('bybit', topic.slice(PREFIX.length))?.enter()
    this.topics.add(topic)
    this.subscribers.add(topic, this.link)
  }

  private drop(topic: string): void {
    this.topics.delete(topic)
    this.subscribers.delete(topic, this.link)
  }

  private reply(reqId: string, op: string, message: string): void {
    this.link.control({ success: true, ret_msg: message, conn_id: this.name, req_id: reqId, op })
  }

  private refuse(reqId: string, op: string, message: string): void {
    this.link.control({ success: false, ret_msg: message, conn_id: this.name, req_id: reqId, op })
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
