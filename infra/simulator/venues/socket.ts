import type { Link, MarketRef } from '../link.ts'
import type { Session } from './venue-api.ts'
import { Throttle } from './rest.ts'

/** Who listens to what: topic to connections. */
export class Subscribers {
  private readonly links = new Map<string, Set<Link>>()

  add(topic: string, link: Link): void {
    const links = this.links.get(topic)
    if (links === undefined) this.links.set(topic, new Set([link]))
    else links.add(link)
  }

  delete(topic: string, link: Link): void {
    const links = this.links.get(topic)
    links?.delete(link)
    if (links?.size === 0) this.links.delete(topic)
  }

  of(topic: string): ReadonlySet<Link> {
    return this.links.get(topic) ?? none
  }

  /** Sends a frame to all of a topic; it is made only where somebody listens. */
  tell(topic: string, about: MarketRef, frame: () => string): void {
    const links = this.of(topic)
    if (links.size === 0) return
    const text = frame()
    for (const link of links) link.data(about, text)
  }

  /** Sends frames of trades to all of a topic; they are made only where somebody listens. */
  trades(topic: string, market: MarketRef, frames: () => readonly string[]): void {
    const links = this.of(topic)
    if (links.size > 0) for (const frame of frames()) for (const link of links) link.trade(market, frame)
  }
}

const none: ReadonlySet<Link> = new Set()

/** What was last said of each topic, so that it is said again only when it has changed. */
export class Changes {
  private readonly said = new Map<string, { readonly cause: string; readonly atMs: number }>()

  /** Whether to speak: when `cause` is another one, after `changedMs`, or the same after `unchangedMs`. */
  isDue(
    topic: string,
    cause: () => string,
    nowMs: number,
    { changedMs, unchangedMs } = { changedMs: 0, unchangedMs: Number.POSITIVE_INFINITY },
  ): boolean {
    const before = this.said.get(topic)
    const ageMs = nowMs - (before?.atMs ?? Number.NEGATIVE_INFINITY)
    if (ageMs < changedMs) return false
    const now = cause()
    if (now === before?.cause && ageMs < unchangedMs) return false
    this.said.set(topic, { cause: now, atMs: nowMs })
    return true
  }
}

/** True once in each period. */
export class EveryPeriod {
  private readonly periodMs: number
  private atMs = 0

  constructor(periodMs: number) {
    this.periodMs = periodMs
  }

  isDue(nowMs: number): boolean {
    if (nowMs - this.atMs < this.periodMs) return false
    this.atMs = nowMs
    return true
  }
}

/** One socket with its subscriptions; what is said on it is each venue's own. */
export abstract class VenueSession implements Session {
  protected readonly link: Link
  protected readonly topics = new Set<string>()
  /** When the client last said anything. */
  protected heardAtMs: number
  private readonly subscribers: Subscribers
  private readonly messages: Throttle

  /** `windowMs`: in which messages are counted. */
  constructor(link: Link, subscribers: Subscribers, windowMs = 1000) {
    this.link = link
    this.subscribers = subscribers
    this.messages = new Throttle(windowMs)
    this.heardAtMs = link.openedAtMs
  }

  abstract receive(text: string): void
  abstract tick(nowMs: number): void

  closed(): void {
    for (const topic of this.topics) this.subscribers.delete(topic, this.link)
  }

  /** Counts a message; false where it is more than `most` in the window. */
  protected within(most: number): boolean {
    return this.messages.use(Date.now()) <= most
  }

  protected join(topic: string): void {
    this.topics.add(topic)
    this.subscribers.add(topic, this.link)
  }

  protected leave(topic: string): void {
    this.topics.delete(topic)
    this.subscribers.delete(topic, this.link)
  }
}

export type Fields = Readonly<Record<string, unknown>>

/** The fields of a JSON object; none of another JSON value; undefined where the text is no JSON. */
export function fieldsIn(text: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return undefined
  }
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

/** The texts of a list; undefined where it is none or something else is in it. */
export function textsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined
}
