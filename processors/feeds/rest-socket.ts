import { setTimeout as delay } from 'node:timers/promises'
import { retryAfterMs } from './connection-socket.ts'
import type { Rest, RestOutcome } from './rest.ts'
import { TokenBucket } from './token-bucket.ts'
import type { RestAnswer, RestCall, RestRules } from './venue.ts'

/** Longest wait for an answer, headers and body together. */
const deadlineMs = 10_000
/** The largest lists (all markets of a venue) have a few megabytes. */
const maxBodyBytes = 32 * 1024 * 1024
const tooMany: ReadonlySet<number> = new Set([418, 429])
const refusals: ReadonlySet<number> = new Set([403, 451])
/** Calls on their way at once; the others wait in line. */
const maxInFlight = 4
/** Waiting time where a venue says "too many" without a time. */
const tooManyMs = 10_000
const unavailableMs = 600_000

/** One venue's REST interface: calls wait for their share of its budget and have a deadline. */
export class RestClient implements Rest {
  readonly #base: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #bucket: TokenBucket
  readonly #replaced: boolean
  #inFlight = 0
  readonly #line: (() => void)[] = []
  #unavailableUntil = 0
  #used = 0
  readonly #stop = new AbortController()

  /** `replaced`: the base is configured, so a call's other host of the venue is not used. */
  constructor(base: string, rules: RestRules, replaced: boolean) {
    this.#base = base
    this.#headers = { accept: 'application/json', ...rules.headers }
    this.#bucket = new TokenBucket(rules)
    this.#replaced = replaced
  }

  /** Budget units spent so far. */
  get used(): number {
    return this.#used
  }

  get unavailable(): boolean {
    return Date.now() < this.#unavailableUntil
  }

  /** Calls beyond `maxInFlight` wait for their turn. Callers make one call per task at a time, which bounds the line. */
  async get<Row>(call: RestCall, parse: (body: unknown) => RestAnswer<Row>): Promise<RestOutcome<Row>> {
    if (this.#inFlight >= maxInFlight) {
      await new Promise<void>((resolve) => {
        this.#line.push(resolve)
      })
    }
    this.#inFlight++
    try {
      return await this.#get(call, parse)
    } finally {
      this.#inFlight--
      this.#line.shift()?.()
    }
  }

  close(): void {
    this.#stop.abort()
  }

  async #get<Row>(call: RestCall, parse: (body: unknown) => RestAnswer<Row>): Promise<RestOutcome<Row>> {
    const blocked = this.#unavailableUntil - Date.now()
    if (blocked > 0) return { kind: 'unavailable', status: 0, waitMs: blocked }
    for (let wait = this.#take(call); wait > 0; wait = this.#take(call)) {
      if (this.#stop.signal.aborted) return { kind: 'failed', message: 'stopped' }
      await delay(wait, undefined, { signal: this.#stop.signal }).catch(() => undefined) // aborted: asked above
    }
    this.#used += call.cost
    try {
      const base = this.#replaced ? this.#base : (call.base ?? this.#base)
      const signal = AbortSignal.any([AbortSignal.timeout(deadlineMs), this.#stop.signal])
      return await this.#read(await fetch(base + call.path, { headers: this.#headers, signal }), parse)
    } catch (error) {
      return { kind: 'failed', message: error instanceof Error ? `${error.message} ${causeOf(error)}` : String(error) }
    }
  }

  #take(call: RestCall): number {
    return this.#bucket.take(call.cost, Date.now())
  }

  async #read<Row>(response: Response, parse: (body: unknown) => RestAnswer<Row>): Promise<RestOutcome<Row>> {
    const retryAfter = retryAfterMs(response.headers.get('retry-after'), Date.now())
    if (tooMany.has(response.status)) return this.#limited(retryAfter, response)
    if (refusals.has(response.status)) return this.#refused(response)
    const text = await boundedText(response)
    const body = jsonOf(text)
    if (body === undefined) return { kind: 'failed', message: `HTTP ${response.status}, not JSON` }
    if (response.status >= 500) return { kind: 'failed', message: `HTTP ${response.status}` }
    const answer = parse(body)
    switch (answer.kind) {
      case 'rows':
        if (response.ok) return answer
        return { kind: 'error', code: `http_${response.status}`, message: text.slice(0, 200) }
      case 'limited':
        return this.#limited(answer.retryAfterMs ?? retryAfter, undefined)
      case 'error':
        return answer
    }
  }

  async #limited(retryAfter: number | undefined, response: Response | undefined): Promise<RestOutcome<never>> {
    const waitMs = retryAfter ?? tooManyMs
    this.#bucket.block(waitMs, Date.now())
    await response?.body?.cancel()
    return { kind: 'limited', waitMs }
  }

  async #refused(response: Response): Promise<RestOutcome<never>> {
    this.#unavailableUntil = Date.now() + unavailableMs
    await response.body?.cancel()
    return { kind: 'unavailable', status: response.status, waitMs: unavailableMs }
  }
}

/** The body as text; a longer one than we can have a use for is an error. */
async function boundedText(response: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > maxBodyBytes) throw new Error(`body over ${maxBodyBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function causeOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : ''
}
