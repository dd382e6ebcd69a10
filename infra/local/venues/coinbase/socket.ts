import type { Link } from '../link.ts'
import type { Subscribers } from '../subscribers.ts'
import { Throttle } from '../throttle.ts'
import type { Session } from '../venue-server.ts'
import { tickerFrame } from './data-rows.ts'
import { heartbeatFrame, matchFrame } from './frames.ts'
import type { Showcase } from './showcase.ts'

/** "You must send a subscribe message within 5 seconds or be disconnected." */
const SUBSCRIBE_WITHIN_MS = 5_000
/** "100 messages sent by the client per second per connection." */
const MESSAGES_PER_SECOND = 100

const channelNames = ['matches', 'heartbeat', 'ticker'] as const
type Channel = (typeof channelNames)[number]

/** One Coinbase Exchange feed socket. */
export class CoinbaseSession implements Session {
  private readonly link: Link
  private readonly showcase: Showcase
  private readonly subscribers: Subscribers
  private readonly products: Readonly<Record<Channel, Set<string>>> = {
    matches: new Set(),
    heartbeat: new Set(),
    ticker: new Set(),
  }
  private readonly messages = new Throttle(1000)
  private subscribed = false

  constructor(link: Link, showcase: Showcase, subscribers: Subscribers) {
    this.link = link
    this.showcase = showcase
    this.subscribers = subscribers
  }

  receive(text: string): void {
    if (this.messages.use(Date.now()) > MESSAGES_PER_SECOND) {
      this.refuse('Rate limit exceeded', 'too many messages')
      this.link.close(1008)
      return
    }
    const request = requestOf(text)
    if (request === undefined) {
      this.refuse('Malformed JSON', 'the message is no JSON object of a known type')
      return
    }
    const wrong = request.wanted.map(({ channel, product }) => this.wrongWith(channel, product)).find(Boolean)
    if (wrong !== undefined) this.refuse('Failed to subscribe', wrong)
    else if (request.type === 'subscribe') this.subscribe(request.wanted)
    else this.unsubscribe(request.wanted)
  }

  tick(nowMs: number): void {
    if (!this.subscribed && nowMs - this.link.openedAtMs > SUBSCRIBE_WITHIN_MS) {
      this.refuse('Failed to subscribe', 'no subscribe message within 5 seconds')
      this.link.close(1008)
      return
    }
    for (const product of this.products.heartbeat) {
      const { world } = this.showcase
      this.link.control(heartbeatFrame(product, world.find('coinbase', product)?.newest, world.now))
    }
  }

  closed(): void {
    for (const channel of channelNames) {
      for (const product of this.products[channel]) this.subscribers.delete(topicOf(channel, product), this.link)
    }
  }

  private subscribe(wanted: readonly Wanted[]): void {
    this.subscribed = true
    const fresh = wanted.filter(({ channel, product }) => !this.set(channel).has(product))
    for (const { channel, product } of fresh) {
      this.set(channel).add(product)
      if (channel === 'matches') this.showcase.world.find('coinbase', product)?.enter()
      this.subscribers.add(topicOf(channel, product), this.link)
    }
    this.echo()
    for (const { channel, product } of fresh) {
      // The most recent match of each product, whether or not the reader has seen it before.
      if (channel === 'matches') this.lastMatch(product)
      if (channel === 'ticker') this.ticker(product)
    }
  }

  private unsubscribe(wanted: readonly Wanted[]): void {
    for (const { channel, product } of wanted) {
      this.set(channel).delete(product)
      this.subscribers.delete(topicOf(channel, product), this.link)
    }
    this.echo()
  }

  /** Always the full set that is subscribed now. */
  private echo(): void {
    const channels = channelNames
      .filter((name) => this.products[name].size > 0)
      .map((name) => ({ name, product_ids: [...this.products[name]], account_ids: null }))
    this.link.control({ type: 'subscriptions', channels })
  }

  private lastMatch(product: string): void {
    const history = this.showcase.world.find('coinbase', product)
    if (history?.newest !== undefined) {
      this.link.control(matchFrame(history.market, history.newest, 'last_match'))
    }
  }

  private ticker(product: string): void {
    const shown = this.showcase.find(product)
    if (shown !== undefined) this.link.data(shown.market, tickerFrame(shown))
  }

  private wrongWith(channel: string, product: string): string | undefined {
    if (!isChannel(channel)) return `${channel} is not a valid channel`
    return !this.showcase.isOnline(product) ? `${product} is not a valid product` : undefined
  }

  /** Only channels that `wrongWith` has passed come here. */
  private set(channel: string): Set<string> {
    return isChannel(channel) ? this.products[channel] : new Set()
  }

  private refuse(message: string, reason: string): void {
    this.link.control({ type: 'error', message, reason })
  }
}

function isChannel(name: string): name is Channel {
  return channelNames.some((channel) => channel === name)
}

/** Wanted channels are known ones where this is asked. */
export function topicOf(channel: string, product: string): string {
  return `${channel}:${product}`
}

interface Wanted {
  readonly channel: string
  readonly product: string
}

interface Request {
  readonly type: 'subscribe' | 'unsubscribe'
  readonly wanted: readonly Wanted[]
}

/** Channels are names, which then mean the request's own `product_ids`, or objects with theirs. */
function requestOf(text: string): Request | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  const { type, channels } = fields
  if ((type !== 'subscribe' && type !== 'unsubscribe') || !Array.isArray(channels)) return undefined
  const common = textsOf(fields['product_ids'])
  const wanted = channels.flatMap((channel: unknown) => wantedOf(channel, common))
  return { type, wanted }
}

function wantedOf(channel: unknown, common: readonly string[]): Wanted[] {
  if (typeof channel === 'string') return common.map((product) => ({ channel, product }))
  const { name, product_ids } = (typeof channel === 'object' && channel !== null ? channel : {}) as Record<
    string,
    unknown
  >
  const products = product_ids === undefined ? common : textsOf(product_ids)
  return products.map((product) => ({ channel: typeof name === 'string' ? name : '', product }))
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
