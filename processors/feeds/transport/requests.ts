import type { FrameEvent } from '../venues/events.ts'
import type { MakeRequest } from '../venues/venue.ts'

/** One control frame that we send, and what it asks for. */
export interface Request {
  readonly id: number
  readonly kind: 'subscribe' | 'unsubscribe'
  readonly symbols: readonly string[]
  readonly frame: string
}

type Verdict = Extract<FrameEvent, { kind: 'subscribed' | 'unsubscribed' | 'rejected' }>
type Rejection = Extract<Verdict, { kind: 'rejected' }>

/** What a venue's answer means for the symbols that were asked for. */
export interface Outcome {
  readonly subscribed: readonly string[]
  readonly unsubscribed: readonly string[]
  readonly refused: readonly string[]
  /** A request for several symbols was refused as a whole: each is asked for on its own. */
  readonly again: readonly string[]
}

const nothing: Outcome = { subscribed: [], unsubscribed: [], refused: [], again: [] }

/** The open requests of one connection, so that an answer that names only a request's id finds its symbols. */
export class Requests {
  readonly #open = new Map<number, { kind: Request['kind']; waiting: Set<string>; since: number }>()
  readonly #frames: MakeRequest
  #nextId = 1

  constructor(frames: MakeRequest) {
    this.#frames = frames
  }

  /** Makes requests of one frame each. Venues split by their own limits; halving finds a part that fits into one frame. */
  make(kind: Request['kind'], symbols: readonly string[]): Request[] {
    if (symbols.length === 0) return []
    const id = this.#nextId++
    const [frame, ...more] = this.#frames(kind, symbols, id)
    if (frame === undefined) return []
    if (more.length === 0 || symbols.length === 1) return [{ id, kind, symbols, frame }]
    const half = symbols.length >> 1
    return [...this.make(kind, symbols.slice(0, half)), ...this.make(kind, symbols.slice(half))]
  }

  /** The frame is on its way: from here on the answer is waited for. */
  sent(request: Request, now: number): void {
    this.#open.set(request.id, { kind: request.kind, waiting: new Set(request.symbols), since: now })
  }

  /** Reads an answer; symbols that nobody waits for are passed on as they are. */
  answer(verdict: Verdict): Outcome {
    const asked = this.#asked(verdict)
    const symbols = verdict.symbols ?? asked
    switch (verdict.kind) {
      case 'subscribed': {
        this.#settle(symbols, 'subscribe')
        return { ...nothing, subscribed: symbols, unsubscribed: this.#endedBy(verdict) }
      }
      case 'unsubscribed':
        this.#settle(symbols, 'unsubscribe')
        return { ...nothing, unsubscribed: symbols }
      case 'rejected':
        return this.#rejected(verdict, symbols, asked)
    }
  }

  /** Milliseconds that the oldest unanswered subscription has waited; 0 where none is open. */
  waitingFor(now: number): number {
    let longest = 0
    for (const { kind, since } of this.#open.values())
      if (kind === 'subscribe') longest = Math.max(longest, now - since)
    return longest
  }

  /** Time in which no answer could be read does not count. */
  forgive(ms: number): void {
    for (const request of this.#open.values()) request.since += ms
  }

  /** Whether a subscription is still unanswered. */
  get subscribing(): boolean {
    return [...this.#open.values()].some(({ kind }) => kind === 'subscribe')
  }

  /** What the request that is answered still waits for; without a number it is the oldest one. */
  #asked({ id }: Verdict): string[] {
    const request = id === null ? this.#open.values().next().value : this.#open.get(id)
    return [...(request?.waiting ?? [])]
  }

  /** An answer that lists everything that is subscribed also says which subscriptions have ended. */
  #endedBy(verdict: Extract<Verdict, { kind: 'subscribed' }>): string[] {
    if (verdict.whole !== true) return []
    const listed = new Set(verdict.symbols)
    const ended = [...this.#open.values()]
      .filter(({ kind }) => kind === 'unsubscribe')
      .flatMap(({ waiting }) => [...waiting].filter((symbol) => !listed.has(symbol)))
    this.#settle(ended, 'unsubscribe')
    return ended
  }

  /**
   * A refusal that names symbols is theirs. The rest of the request is asked for again, since one bad symbol may fail it
   * all (Bybit), or still waited for where each symbol has an answer of its own (Kraken). A refusal that names none is
   * found out by asking for each on its own.
   */
  #rejected(verdict: Rejection, symbols: readonly string[], asked: readonly string[]): Outcome {
    const open = verdict.id === null ? this.#open.values().next().value : this.#open.get(verdict.id)
    if (open?.kind === 'unsubscribe') {
      this.#settle(asked, 'unsubscribe')
      return nothing
    }
    if (verdict.alone === true) {
      this.#settle(symbols, 'subscribe')
      return { ...nothing, refused: symbols }
    }
    this.#settle([...symbols, ...asked], 'subscribe')
    if (verdict.symbols === null)
      return asked.length > 1 ? { ...nothing, again: asked } : { ...nothing, refused: asked }
    const refused = new Set(verdict.symbols)
    return { ...nothing, refused: verdict.symbols, again: asked.filter((symbol) => !refused.has(symbol)) }
  }

  #settle(symbols: readonly string[], kind: Request['kind']): void {
    for (const [id, request] of this.#open) {
      if (request.kind !== kind) continue
      for (const symbol of symbols) request.waiting.delete(symbol)
      if (request.waiting.size === 0) this.#open.delete(id)
    }
  }
}
