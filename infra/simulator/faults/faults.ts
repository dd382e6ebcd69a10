import type { Link, MarketRef } from '../link.ts'
import type { VenueName } from '../../../schemas/venues.ts'
import { Random } from '../market/random.ts'
import type { RestReply, Session, VenueApi } from '../venues/venue-api.ts'
import { secondsText } from '../venues/rest.ts'

/** A fault with neither a count nor a duration ends after this many frames, or this long. */
const COUNT_DEFAULT = 20
const DURATION_DEFAULT_MS = 10_000
const FRAMES_WITHIN_MS = 120_000
/** Where only a duration is given, each frame has this chance to be hit. */
const HIT_CHANCE = 0.3
/** A frame that is held back leaves after this at the latest. */
const HELD_MS_MAX = 100
const REMEMBERED_MAX = 500
/** A file of so few bytes holds a checksum, and leaves as it is. */
const CHECKSUM_BYTES = 200

interface Fault {
  readonly id: number
  readonly order: FaultOrder
  readonly startedMs: number
  readonly untilMs: number
  readonly random: Random
  /** Frames, sockets or answers it may still hit. */
  left: number
  hits: number
}

interface Held {
  readonly frame: string
  /** Frames that may still overtake it. */
  overtaking: number
}

/** What goes wrong on purpose. Trades happen all the same: they are in REST and in the ledger. */
export class Faults {
  private readonly seed: number
  private readonly links = new Map<Link, Session>()
  private readonly held = new Map<Link, Held[]>()
  private readonly counters = new Map<FaultKind, number>()
  private readonly past: object[] = []
  private active: Fault[] = []
  private started = 0

  constructor(seed: number) {
    this.seed = seed
  }

  opened(link: Link, session: Session): void {
    this.links.set(link, session)
  }

  closed(link: Link): void {
    this.links.delete(link)
    this.held.delete(link)
  }

  /** Starts a fault and returns what `GET /faults` will say of it. */
  start(order: FaultOrder, nowMs: number): object {
    this.started += 1
    const framed = frameKinds.has(order.kind)
    const open = order.durationMs === undefined && order.count === undefined
    const durationMs = order.durationMs ?? (framed && order.kind !== 'silence' ? FRAMES_WITHIN_MS : DURATION_DEFAULT_MS)
    const fault: Fault = {
      id: this.started,
      order,
      startedMs: nowMs,
      untilMs: nowMs + durationMs,
      random: new Random(order.seed ?? this.seed, this.started),
      left: order.count ?? (framed && open && order.kind !== 'silence' ? COUNT_DEFAULT : Number.POSITIVE_INFINITY),
      hits: 0,
    }
    if (order.kind === 'disconnect') this.disconnect(fault)
    if (order.kind === 'closing') this.announceClosing(fault)
    this.active.push(fault)
    return described(fault)
  }

  /** Frees held frames and ends what is over; called many times a second. */
  tick(nowMs: number): void {
    for (const fault of this.active) {
      if (nowMs < fault.untilMs && fault.left > 0) continue
      if (fault.order.kind === 'closing') this.close(fault)
      this.past.push(described(fault))
      if (this.past.length > REMEMBERED_MAX) this.past.shift()
    }
    this.active = this.active.filter((fault) => nowMs < fault.untilMs && fault.left > 0)
    for (const [link, frames] of this.held) {
      if (nowMs - link.sentAtMs < HELD_MS_MAX) continue
      this.held.delete(link)
      for (const { frame } of frames) link.send(frame)
    }
  }

  status(): object {
    const connections: Record<string, number> = {}
    for (const { venue } of this.links.keys()) connections[venue] = (connections[venue] ?? 0) + 1
    return {
      kinds: faultKinds,
      active: this.active.map(described),
      past: this.past,
      hits: Object.fromEntries(this.counters),
      connections,
    }
  }

  /** The frames that leave instead of `frame`. */
  trade(link: Link, market: MarketRef, frame: string): readonly string[] {
    return this.leaving(this.active, link, market, frame)
  }

  /** As `trade`, but a fault with a count is meant for trades, so that as many of them are hit as were ordered. */
  data(link: Link, market: MarketRef, frame: string): readonly string[] {
    const lasting = this.active.filter(({ left }) => left === Number.POSITIVE_INFINITY)
    return this.leaving(lasting, link, market, frame)
  }

  private leaving(active: readonly Fault[], link: Link, market: MarketRef, frame: string): readonly string[] {
    if (active.length === 0 && !this.held.has(link)) return [frame]
    const overtaken = this.overtaken(link)
    for (const fault of active) {
      if (!frameKinds.has(fault.order.kind) || !concerns(fault.order, market) || !this.hits(fault)) continue
      return [...this.tampered(fault, link, frame), ...overtaken]
    }
    return [frame, ...overtaken]
  }

  /** Whether acknowledgements, heartbeats and pongs leave. */
  speaks(link: Link): boolean {
    return !this.active.some(
      ({ order }) => order.kind === 'silence' && order.symbol === undefined && at(order, link.venue),
    )
  }

  /** The status that a new socket is refused with. */
  socketStatus(venue: VenueName): number | undefined {
    for (const fault of this.active) {
      if (!at(fault.order, venue)) continue
      if (fault.order.kind === 'ws_403') return this.counted(fault, 403)
      if (fault.order.kind === 'disconnect' && fault.order.durationMs !== undefined) return this.counted(fault, 503)
    }
    return undefined
  }

  /** The answer instead of the venue's own, or how long the caller waits for it. */
  restReply(
    api: Pick<VenueApi, 'name' | 'isFiles' | 'tooMany'>,
    nowMs: number,
  ): { reply?: RestReply; delayMs?: number } {
    for (const fault of this.active) {
      if (!at(fault.order, api.name) || fault.left <= 0) continue
      if (fault.order.kind === 'slow_rest') return this.counted(fault, { delayMs: 2000 + fault.random.below(3000) })
      const refused = refusedReply(fault.order.kind, api, fault.untilMs - nowMs)
      const reply = refused && api.isFiles === true ? bare(fault.order.kind, fault.untilMs - nowMs) : refused
      if (reply !== undefined) return this.counted(fault, { reply })
    }
    return {}
  }

  /** A file as it leaves. */
  file(venue: VenueName, reply: RestReply, body: Buffer): RestReply {
    for (const fault of this.active) {
      const { kind } = fault.order
      if (!at(fault.order, venue) || fault.left <= 0 || !fileKinds.has(kind) || body.length <= CHECKSUM_BYTES) continue
      if (kind === 'archive_cut') return this.counted(fault, { ...reply, isCut: true })
      const damaged = Buffer.from(body)
      const place = fault.random.below(damaged.length)
      damaged[place] = (damaged[place] ?? 0) ^ 0xff
      return this.counted(fault, { ...reply, body: damaged })
    }
    return reply
  }

  /** Bytes that the slowest reader has not taken yet. */
  unread(): number {
    return Math.max(0, ...[...this.links.keys()].map((link) => link.unread))
  }

  private hits(fault: Fault): boolean {
    if (fault.left <= 0) return false
    const sure = fault.order.kind === 'silence' || fault.order.durationMs === undefined
    return sure || fault.random.chance(HIT_CHANCE)
  }

  private tampered(fault: Fault, link: Link, frame: string): readonly string[] {
    this.counted(fault, undefined)
    switch (fault.order.kind) {
      case 'doubled':
        return [frame, frame]
      case 'reordered': {
        const held = this.held.get(link) ?? []
        held.push({ frame, overtaking: 1 + fault.random.below(3) })
        this.held.set(link, held)
        return []
      }
      case 'malformed':
        return fault.random.chance(0.5) ? [damaged(frame, fault.random)] : [damaged(frame, fault.random), frame]
      default:
        return []
    }
  }

  /** Held frames of this link that enough others have overtaken. */
  private overtaken(link: Link): string[] {
    const held = this.held.get(link)
    if (held === undefined) return []
    for (const frame of held) frame.overtaking -= 1
    const free = held.filter(({ overtaking }) => overtaking <= 0).map(({ frame }) => frame)
    const rest = held.filter(({ overtaking }) => overtaking > 0)
    if (rest.length === 0) this.held.delete(link)
    else this.held.set(link, rest)
    return free
  }

  private disconnect(fault: Fault): void {
    for (const link of this.links.keys()) {
      if (!at(fault.order, link.venue) || fault.left <= 0) continue
      this.counted(fault, undefined)
      link.cut()
    }
    // Done, unless the door stays shut.
    fault.left = fault.order.durationMs === undefined ? 0 : Number.POSITIVE_INFINITY
  }

  private announceClosing(fault: Fault): void {
    for (const [link, session] of this.links) {
      if (!at(fault.order, link.venue) || link.openedAtMs > fault.startedMs) continue
      this.counted(fault, undefined)
      session.announceClosing?.()
    }
  }

  /** Sockets that were opened after the announcement stay. */
  private close(fault: Fault): void {
    for (const link of this.links.keys()) {
      if (at(fault.order, link.venue) && link.openedAtMs <= fault.startedMs) link.close(1001, 'service upgrade')
    }
  }

  private counted<Value>(fault: Fault, value: Value): Value {
    fault.hits += 1
    fault.left -= 1
    this.counters.set(fault.order.kind, (this.counters.get(fault.order.kind) ?? 0) + 1)
    return value
  }
}

const frameKinds: ReadonlySet<FaultKind> = new Set(['silence', 'lost', 'doubled', 'reordered', 'malformed'])

const fileKinds: ReadonlySet<FaultKind> = new Set(['archive_damaged', 'archive_cut'])

function at(order: FaultOrder, venue: string): boolean {
  return order.venue === undefined || order.venue === venue
}

function concerns(order: FaultOrder, market: MarketRef): boolean {
  if (!at(order, market.venue)) return false
  return order.symbol === undefined || order.symbol === market.asset || order.symbol === market.symbol
}

function described({ id, order, startedMs, untilMs, left, hits }: Fault): object {
  const { kind, venue, symbol, durationMs, count, seed } = order
  return {
    id,
    kind,
    venue,
    symbol,
    duration_ms: durationMs,
    count,
    seed,
    started_ms: startedMs,
    until_ms: untilMs,
    left: Number.isFinite(left) ? left : null,
    hits,
  }
}

/** What a venue answers to a caller it does not serve now, each in its own words. */
function refusedReply(kind: FaultKind, api: Pick<VenueApi, 'name' | 'tooMany'>, leftMs: number): RestReply | undefined {
  switch (kind) {
    case 'rest_429':
      return api.tooMany(leftMs)
    case 'rest_418':
      // Only Binance has this status; the others ban with 403.
      return api.name === 'binance'
        ? {
            status: 418,
            headers: { 'retry-after': secondsText(leftMs) },
            body: { code: -1003, msg: `Way too many requests; IP banned until ${leftMs} ms from now.` },
          }
        : forbidden
    case 'rest_403':
      return forbidden
    case 'rest_451':
      return {
        status: 451,
        body: {
          code: 0,
          msg: "Service unavailable from a restricted location according to 'b. Eligibility' in https://www.binance.com/en/terms. Please contact customer service if you believe you received this message in error.",
        },
      }
    default:
      return undefined
  }
}

/** What a host of files says, which knows no words of the venue. */
function bare(kind: FaultKind, leftMs: number): RestReply {
  return { status: Number(kind.slice('rest_'.length)), headers: { 'retry-after': secondsText(leftMs) }, body: '' }
}

const forbidden: RestReply = { status: 403, body: '<html><head><title>403 Forbidden</title></head></html>' }

/** A frame as no venue should send it: cut short, not JSON at all, the wrong JSON, or fields of the wrong type. */
function damaged(frame: string, random: Random): string {
  const ways: readonly (() => string)[] = [
    () => frame.slice(0, 1 + random.below(frame.length - 1)),
    () => '<html><body>502 Bad Gateway</body></html>',
    () => 'null',
    () => '[]',
    () => '{}',
    () => '',
    () => frame.replaceAll(/"(p|px|price)":"[^"]*"/g, '"$1":null'),
    () => frame.replaceAll(/"(q|sz|size|v)":"[^"]*"/g, '"$1":"a lot"'),
    () => frame.replaceAll(/"(m|S|side)":("[^"]*"|true|false)/g, '"$1":7'),
  ]
  return (ways[random.below(ways.length)] ?? (() => ''))()
}

/** What can be asked of `POST /faults`, and what each does by itself when nothing more is said. */
export const faultKinds = {
  disconnect: 'cuts open sockets (`count` of them, else all); with `duration_ms` none is let in again until then',
  silence: 'sockets stay open and nothing is sent; with `symbol` only that one’s trades are missing',
  lost: 'trade frames are not sent',
  doubled: 'trade frames are sent twice',
  reordered: 'trade frames are overtaken by up to three later ones',
  malformed: 'trade frames come damaged, or damaged ones come beside them',
  closing: 'the venue announces that it closes its sockets, and does after `duration_ms`',
  slow_rest: 'REST answers take 2 to 5 seconds',
  rest_429: 'REST answers that there were too many requests',
  rest_418: 'REST answers that the address is banned',
  rest_403: 'REST refuses the address',
  rest_451: 'REST refuses the country',
  ws_403: 'new sockets are refused with HTTP 403',
  archive_damaged: 'a byte of a file of an archive is another',
  archive_cut: 'the connection ends in the middle of a file of an archive',
} as const

export type FaultKind = keyof typeof faultKinds

export interface FaultOrder {
  readonly kind: FaultKind
  readonly venue: VenueName | undefined
  /** An asset as in the ledger, or a venue's symbol. */
  readonly symbol: string | undefined
  readonly durationMs: number | undefined
  readonly count: number | undefined
  readonly seed: number | undefined
}

type OrderResult = { readonly order: FaultOrder } | { readonly error: string; readonly kinds: readonly string[] }

/** Reads the body of `POST /faults`; `venues`: those that there are. */
export function faultOrder(body: unknown, venues: readonly VenueName[]): OrderResult {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const { kind, venue, symbol } = fields
  if (typeof kind !== 'string' || !isKind(kind)) return refusal(`unknown kind ${JSON.stringify(kind)}`)
  const known = venues.find((name) => name === venue)
  if (venue !== undefined && known === undefined) return refusal(`unknown venue ${JSON.stringify(venue)}`)
  if (symbol !== undefined && typeof symbol !== 'string') return refusal('symbol must be a text')
  const numbers = ['duration_ms', 'count', 'seed'] as const
  for (const name of numbers) {
    if (fields[name] !== undefined && !isCount(fields[name]))
      return refusal(`${name} must be a whole number of 0 or more`)
  }
  const [durationMs, count, seed] = numbers
    .map((name) => fields[name])
    .map((value) => (isCount(value) ? value : undefined))
  return { order: { kind, venue: known, symbol, durationMs, count, seed } }
}

function refusal(error: string): OrderResult {
  return { error, kinds: Object.keys(faultKinds) }
}

function isKind(kind: string): kind is FaultKind {
  return Object.hasOwn(faultKinds, kind)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
