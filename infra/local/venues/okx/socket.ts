import { connectionName } from '../identity.ts'
import type { Link } from '../link.ts'
import type { Subscribers } from '../subscribers.ts'
import { Throttle } from '../throttle.ts'
import type { Session } from '../venue-server.ts'
import type { World } from '../world.ts'
import { topicOf, type Arg, type OkxDataStream } from './data-stream.ts'

/** "If there’s a network problem or no data is pushed for more than 30 seconds, the connection breaks." */
const IDLE_MS = 30_000
/** "The total number of subscribe, unsubscribe and login requests per connection is limited to 480 per hour." */
const REQUESTS_PER_HOUR = 480
const HOUR_MS = 3_600_000

/** `public` carries the merged `trades` and all that is not trades, `business` the single ones of `trades-all`. */
export type OkxRoute = 'public' | 'business'

export const channelOf: Readonly<Record<OkxRoute, string>> = { public: 'trades', business: 'trades-all' }

interface Parts {
  readonly world: World
  readonly subscribers: Subscribers
  readonly data: OkxDataStream
  readonly route: OkxRoute
  readonly number: number
}

/** One OKX v5 public or business socket. */
export class OkxSession implements Session {
  private readonly link: Link
  private readonly parts: Parts
  private readonly topics = new Set<string>()
  private readonly requests = new Throttle(HOUR_MS)
  private readonly connId: string

  constructor(link: Link, parts: Parts) {
    this.link = link
    this.parts = parts
    this.connId = connectionName(parts.number, 8)
  }

  receive(text: string): void {
    if (text === 'ping') {
      this.link.control('pong')
      return
    }
    const request = requestOf(text)
    if (request === undefined) {
      this.refuse(undefined, '60012', `Invalid request: ${text.slice(0, 200)}`)
      return
    }
    const { id, op, args } = request
    if (this.requests.use(Date.now()) > REQUESTS_PER_HOUR) {
      this.refuse(id, '60014', 'Requests too frequent')
      return
    }
    // One answer per arg, so a wrong one does not hold up the others.
    for (const arg of args) {
      if (op === 'subscribe') this.subscribe(id, arg)
      else this.unsubscribe(id, arg)
    }
  }

  tick(nowMs: number): void {
    const unsubscribed = this.topics.size === 0 && nowMs - this.link.openedAtMs > IDLE_MS
    if (unsubscribed || nowMs - this.link.sentAtMs > IDLE_MS) this.link.close(4004, 'No data received in 30s.')
  }

  closed(): void {
    for (const topic of this.topics) this.parts.subscribers.delete(topic, this.link)
  }

  /** 60 seconds before the venue ends a connection for its own reasons. */
  announceClosing(): void {
    this.link.control({
      event: 'notice',
      code: '64008',
      msg: 'The connection will soon be closed for a service upgrade. Please reconnect.',
      connId: this.connId,
    })
  }

  private subscribe(id: string | undefined, arg: Arg): void {
    const { world, data, route } = this.parts
    const trades = arg.channel === channelOf[route] && data.lists(arg.instId ?? '')
    if (!trades && (route !== 'public' || !data.exists(arg))) {
      const asked = `channel:${arg.channel}${arg.instId === undefined ? '' : `,instId:${arg.instId}`}`
      this.refuse(
        id,
        '60018',
        `Subscribe failed, wrong URL or ${asked} doesn't exist. Please use the correct URL, channel and parameters referring to API document.`,
      )
      return
    }
    if (trades) world.find('okx', arg.instId ?? '')?.enter()
    const topic = topicOf(arg)
    this.topics.add(topic)
    this.parts.subscribers.add(topic, this.link)
    this.acknowledge(id, 'subscribe', arg)
    data.greet(arg, this.link)
  }

  private unsubscribe(id: string | undefined, arg: Arg): void {
    const topic = topicOf(arg)
    this.topics.delete(topic)
    this.parts.subscribers.delete(topic, this.link)
    this.acknowledge(id, 'unsubscribe', arg)
  }

  private acknowledge(id: string | undefined, event: string, arg: Arg): void {
    this.link.control({ ...(id === undefined ? {} : { id }), event, arg, connId: this.connId })
  }

  private refuse(id: string | undefined, code: string, msg: string): void {
    this.link.control({ ...(id === undefined ? {} : { id }), event: 'error', msg, code, connId: this.connId })
  }
}

interface Request {
  readonly id: string | undefined
  readonly op: 'subscribe' | 'unsubscribe'
  readonly args: readonly Arg[]
}

function requestOf(text: string): Request | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const { id, op, args } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  if (op !== 'subscribe' && op !== 'unsubscribe') return undefined
  if (!Array.isArray(args) || args.length === 0 || !args.every(isArg)) return undefined
  return { id: typeof id === 'string' && /^[a-zA-Z0-9]{1,32}$/.test(id) ? id : undefined, op, args }
}

function isArg(value: unknown): value is Arg {
  if (typeof value !== 'object' || value === null || !('channel' in value)) return false
  const texts = [value.channel, 'instId' in value ? value.instId : '', 'instType' in value ? value.instType : '']
  return texts.every((text) => typeof text === 'string')
}
