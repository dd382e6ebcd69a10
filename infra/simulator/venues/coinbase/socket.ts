import type { Link } from '../../link.ts'
import type { SpotMarket } from '../../market/economy.ts'
import type { Context } from '../venue-api.ts'
import { fieldsIn, fieldsOf, type Subscribers, VenueSession } from '../socket.ts'
import { heartbeatFrame, matchFrame, products, type Shown, tickerFrame } from './rows.ts'

/** "You must send a subscribe message within 5 seconds or be disconnected." */
const SUBSCRIBE_WITHIN_MS = 5_000
/** "100 messages sent by the client per second per connection." */
const MESSAGES_PER_SECOND = 100

const channels = ['matches', 'heartbeat', 'ticker'] as const

/** One Coinbase Exchange feed socket. */
export class CoinbaseSession extends VenueSession {
  private readonly context: Context
  private subscribed = false

  constructor(link: Link, context: Context, subscribers: Subscribers) {
    super(link, subscribers)
    this.context = context
  }

  receive(text: string): void {
    if (!this.within(MESSAGES_PER_SECOND)) {
      this.refuse('Rate limit exceeded', 'too many messages')
      this.link.close(1008)
      return
    }
    const request = requestOf(text)
    if (request === undefined) {
      this.refuse('Malformed JSON', 'the message is no JSON object of a known type')
      return
    }
    const wrong = request.wanted.map((one) => this.wrongWith(one)).find(Boolean)
    if (wrong !== undefined) this.refuse('Failed to subscribe', wrong)
    else if (request.type === 'subscribe') this.subscribe(request.wanted)
    else {
      for (const { channel, product } of request.wanted) this.leave(topicOf(channel, product))
      this.echo()
    }
  }

  tick(nowMs: number): void {
    if (!this.subscribed && nowMs - this.link.openedAtMs > SUBSCRIBE_WITHIN_MS) {
      this.refuse('Failed to subscribe', 'no subscribe message within 5 seconds')
      this.link.close(1008)
      return
    }
    const { world } = this.context
    for (const product of this.productsOf('heartbeat')) {
      this.link.control(heartbeatFrame(product, world.find('coinbase', product)?.newest, world.now))
    }
  }

  private subscribe(wanted: readonly Wanted[]): void {
    this.subscribed = true
    const { world } = this.context
    const fresh = wanted.filter(({ channel, product }) => !this.topics.has(topicOf(channel, product)))
    for (const { channel, product } of fresh) {
      if (channel === 'matches') world.find('coinbase', product)?.enter()
      this.join(topicOf(channel, product))
    }
    this.echo()
    for (const { channel, product } of fresh) {
      const shown = channel === 'ticker' ? findShown(this.context, product) : undefined
      if (shown !== undefined) this.link.data(shown.market, tickerFrame(shown))
      // The most recent match of each product, whether or not the reader has seen it before.
      const history = channel === 'matches' ? world.find('coinbase', product) : undefined
      if (history?.newest !== undefined) this.link.control(matchFrame(history.market, history.newest, 'last_match'))
    }
  }

  /** Always the full set that is subscribed now. */
  private echo(): void {
    const sets = channels.map((name) => ({ name, product_ids: this.productsOf(name), account_ids: null }))
    this.link.control({
      type: 'subscriptions',
      channels: sets.filter(({ product_ids }) => product_ids.length > 0),
    })
  }

  private productsOf(channel: string): string[] {
    const prefix = topicOf(channel, '')
    return [...this.topics].filter((topic) => topic.startsWith(prefix)).map((topic) => topic.slice(prefix.length))
  }

  /** Of some products that are listed nothing is ever said; they can be subscribed all the same. */
  private wrongWith({ channel, product }: Wanted): string | undefined {
    if (!channels.some((name) => name === channel)) return `${channel} is not a valid channel`
    const markets = this.context.economy.spots('coinbase')
    const online = products(markets).some(({ id, status, trading_disabled }) => {
      return id === product && status === 'online' && !trading_disabled
    })
    return online ? undefined : `${product} is not a valid product`
  }

  private refuse(message: string, reason: string): void {
    this.link.control({ type: 'error', message, reason })
  }
}

export function topicOf(channel: string, product: string): string {
  return `${channel}:${product}`
}

/** The products that are listed now, each with its prices and its trades. */
export function allShown(context: Context): Shown[] {
  return context.economy.spots('coinbase').map((market) => shownOf(context, market))
}

export function findShown(context: Context, product: string): Shown | undefined {
  const market = context.economy.spots('coinbase').find(({ symbol }) => symbol === product)
  return market === undefined ? undefined : shownOf(context, market)
}

function shownOf({ world, economy }: Context, market: SpotMarket): Shown {
  return { market, state: economy.spot(market), history: world.find('coinbase', market.symbol) }
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
  const { type, channels: asked, product_ids } = fieldsIn(text) ?? {}
  if ((type !== 'subscribe' && type !== 'unsubscribe') || !Array.isArray(asked)) return undefined
  const common = namesOf(product_ids)
  return { type, wanted: asked.flatMap((channel: unknown) => wantedOf(channel, common)) }
}

function wantedOf(channel: unknown, common: readonly string[]): Wanted[] {
  if (typeof channel === 'string') return common.map((product) => ({ channel, product }))
  const { name, product_ids } = fieldsOf(channel)
  const wanted = product_ids === undefined ? common : namesOf(product_ids)
  return wanted.map((product) => ({ channel: typeof name === 'string' ? name : '', product }))
}

function namesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
