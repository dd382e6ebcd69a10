import { WebSocket, type RawData } from 'ws'
import { hostNow, ticks } from '../runtime/process-clock.ts'
import { Requests, type Outcome, type Request } from './requests.ts'
import type { FrameEvent } from '../venues/events.ts'
import type { StreamProtocol } from '../venues/venue.ts'
import type { Micros } from '../../../schemas/records.ts'

/** No trade frame comes near it (Bybit puts up to 1024 trades into one); a longer one ends the connection. */
const maxFrameBytes = 4 * 1024 * 1024
/** Control frames that wait for their turn; more are a programmer's error and end the connection. */
const maxQueuedFrames = 5_000
/** A loop that stood still longer than this (a frozen process) gets its time added to all deadlines. */
const stallMs = 2_000

export interface ConnectionTiming {
  readonly handshakeMs: number
  /** From a subscribe frame to its acknowledgement. */
  readonly ackWithinMs: number
}

/** Why a connection is over. `refused`: the venue answered the upgrade with an HTTP status. */
export type End =
  | { readonly kind: 'closed'; readonly code: number; readonly reason: string }
  | { readonly kind: 'refused'; readonly status: number; readonly retryAfterMs: number | undefined }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'silent' | 'unacknowledged' | 'overflow' }

interface ConnectionHandlers {
  /** A text frame as it came, and what it says. */
  frame(text: string, events: readonly FrameEvent[], received: Micros): void
  outcome(outcome: Outcome): void
  /** The venue will close soon. */
  closing(): void
  ended(end: End): void
}

/** One WebSocket connection to a venue: subscribes, answers pings, and ends itself when the venue goes silent. */
export class Connection {
  readonly #protocol: StreamProtocol
  readonly #timing: ConnectionTiming
  readonly #on: ConnectionHandlers
  readonly #socket: WebSocket
  readonly #requests: Requests
  readonly #queue: Request[] = []
  /** What is subscribed as soon as it is open. */
  readonly #first: Set<string>
  #state: 'opening' | 'open' | 'ended' = 'opening'
  #lastFrameSent = 0
  #lastData: number
  #lastReceived: number
  #lastTick: number
  #lastPing: number
  #gotData = false

  constructor(
    protocol: StreamProtocol,
    url: string,
    symbols: readonly string[],
    timing: ConnectionTiming,
    on: ConnectionHandlers,
  ) {
    this.#protocol = protocol
    this.#requests = new Requests(protocol.request)
    this.#timing = timing
    this.#on = on
    this.#first = new Set(symbols)
    this.#lastData = this.#lastReceived = this.#lastTick = this.#lastPing = ticks()
    this.#socket = new WebSocket(url, {
      handshakeTimeout: timing.handshakeMs,
      maxPayload: maxFrameBytes,
      perMessageDeflate: false,
    })
    this.#listen()
  }

  get open(): boolean {
    return this.#state === 'open'
  }

  /** Everything was acknowledged and data came since. */
  get delivering(): boolean {
    return this.acknowledged && this.#gotData
  }

  get acknowledged(): boolean {
    return this.open && this.#queue.length === 0 && !this.#requests.subscribing
  }

  /** When data or a heartbeat came last, or it was opened, by ticks. -Infinity: it is not open. */
  get heardAt(): number {
    return this.open ? this.#lastData : -Infinity
  }

  subscribe(symbols: readonly string[]): void {
    if (this.#state === 'opening') for (const symbol of symbols) this.#first.add(symbol)
    if (this.#state !== 'open') return
    this.#enqueue(this.#requests.make('subscribe', symbols))
  }

  unsubscribe(symbols: readonly string[]): void {
    if (this.#state === 'opening') for (const symbol of symbols) this.#first.delete(symbol)
    if (this.#state !== 'open') return
    this.#enqueue(this.#requests.make('unsubscribe', symbols))
  }

  pause(): void {
    if (this.open) this.#socket.pause()
  }

  resume(): void {
    if (!this.#socket.isPaused) return
    this.#lastData = this.#lastReceived = ticks()
    this.#socket.resume()
  }

  /** Ends the connection without an `ended` call. */
  close(): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    this.#socket.terminate()
  }

  /** Called often: sends what waits for its spacing, pings, and judges silence. */
  tick(now: number): void {
    this.#forgiveTime(now)
    if (this.#state !== 'open' || this.#socket.isPaused) return
    this.#sendNext(now)
    this.#ping(now)
    if (now - this.#lastData > this.#protocol.socket.silentAfterMs) this.#end({ kind: 'silent' })
    else if (this.#requests.waitingFor(now) > this.#timing.ackWithinMs) this.#end({ kind: 'unacknowledged' })
  }

  #listen(): void {
    const socket = this.#socket
    socket.on('open', () => {
      this.#state = 'open'
      this.#lastData = this.#lastReceived = this.#lastPing = ticks()
      this.subscribe([...this.#first])
      this.#sendNext(ticks())
    })
    socket.on('message', (data) => this.#receive(data))
    socket.on('close', (code, reason) => this.#end({ kind: 'closed', code, reason: reason.toString('utf8') }))
    socket.on('error', (error) => this.#end({ kind: 'failed', message: error.message }))
    socket.on('unexpected-response', (request, response) => {
      const status = response.statusCode ?? 0
      this.#end({ kind: 'refused', status, retryAfterMs: retryAfterMs(response.headers['retry-after'], hostNow()) })
      response.destroy()
      request.destroy()
    })
  }

  #receive(data: RawData): void {
    if (this.#state === 'ended') return
    const now = ticks()
    const received = hostNow() * 1_000
    this.#lastReceived = now
    const text = textOf(data)
    const events = this.#protocol.parse(text)
    for (const event of events) this.#control(event, now)
    this.#on.frame(text, events, received)
  }

  #control(event: FrameEvent, now: number): void {
    switch (event.kind) {
      case 'trade':
      case 'fact':
      case 'heartbeat':
        this.#lastData = now
        this.#gotData = true
        return
      case 'subscribed':
      case 'unsubscribed':
      case 'rejected': {
        const outcome = this.#requests.answer(event)
        this.#enqueue(outcome.again.flatMap((symbol) => this.#requests.make('subscribe', [symbol])))
        this.#on.outcome(outcome)
        return
      }
      case 'closing':
        this.#on.closing()
        return
      case 'pong':
      case 'refused':
    }
  }

  #enqueue(requests: readonly Request[]): void {
    if (this.#queue.length + requests.length > maxQueuedFrames) this.#end({ kind: 'overflow' })
    else this.#queue.push(...requests)
  }

  #sendNext(now: number): void {
    const spacing = this.#protocol.socket.minFrameSpacingMs
    while (this.open && now - this.#lastFrameSent >= spacing) {
      const request = this.#queue.shift()
      if (request === undefined) return
      this.#send(request.frame, now)
      this.#requests.sent(request, now)
      if (spacing > 0) return
    }
  }

  #ping(now: number): void {
    const rules = this.#protocol.socket.ping
    if (rules === undefined || now - this.#lastFrameSent < this.#protocol.socket.minFrameSpacingMs) return
    const quietSince = rules.onlyWhenQuiet ? Math.max(this.#lastPing, this.#lastReceived) : this.#lastPing
    if (now - quietSince < rules.everyMs) return
    this.#lastPing = now
    this.#send(rules.frame, now)
  }

  #send(frame: string, now: number): void {
    this.#lastFrameSent = now
    this.#socket.send(frame, (error) => {
      if (error) this.#end({ kind: 'failed', message: error.message })
    })
  }

  /** A process that was frozen or reads nothing has data waiting in its sockets: they are read before anything is judged. */
  #forgiveTime(now: number): void {
    const passed = now - this.#lastTick
    this.#lastTick = now
    if (passed <= stallMs && !this.#socket.isPaused) return
    this.#lastData = Math.min(now, this.#lastData + passed)
    this.#requests.forgive(passed)
  }

  #end(end: End): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    this.#socket.terminate()
    this.#on.ended(end)
  }
}

/** Whether an event is a sign of life. */
export function isData({ kind }: FrameEvent): boolean {
  return kind === 'trade' || kind === 'fact' || kind === 'heartbeat'
}

/** Whether a frame that says this is JSON. `pong` as a text frame (OKX) is none either, but then it does not begin like it. */
export function isJson(events: readonly FrameEvent[]): boolean {
  return !events.some((event) => event.kind === 'refused' && event.reason === 'not-json')
}

/** Seconds or an HTTP date, as milliseconds from `now`; undefined where the header is absent or no wait can be read off it. */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  if (header === null || header === undefined || header === '') return undefined
  const seconds = Number(header)
  return waitOf(Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(header) - now)
}

/** No venue bans for longer (Binance's longest are of three days): what says more is no wait, but a time in place of seconds. */
const banMsMax = 3 * 86_400_000

/** A wait that a venue told, milliseconds; undefined where it is none. */
export function waitOf(ms: number): number | undefined {
  return ms <= banMsMax ? Math.max(0, ms) : undefined
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return data instanceof ArrayBuffer ? Buffer.from(data).toString('utf8') : data.toString('utf8')
}
