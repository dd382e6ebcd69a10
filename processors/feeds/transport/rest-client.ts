import type { VenueName } from '../../../schemas/venues.ts'
import { hostNow, ticks } from '../runtime/process-clock.ts'
import type { Rest, RestAnswer, RestCall, RestHost, RestOutcome, RestRules, Venue } from '../venues/venue.ts'
import { retryAfterMs, waitOf } from './connection.ts'
import { type Priority, RequestQueue } from './request-queue.ts'

/** Longest wait for an answer, headers and body together. */
const deadlineMs = 10_000
/** The largest lists (all markets of a venue) have a few megabytes. */
const maxBodyBytes = 32 * 1024 * 1024
const tooMany: ReadonlySet<number> = new Set([418, 429])
const refusals: ReadonlySet<number> = new Set([403, 451])
/** The venue's own deadline has passed. */
const timedOut = 408
/** Waiting time where a venue says "too many" without a time. */
const tooManyMs = 10_000
const unavailableMs = 600_000
/** An answer that took longer says little of the time. */
const freshMs = 2_000

/** What an answer's `Date` says, milliseconds, and when it came by the monotonic clock. */
type OnDate = (second: number, mono: number) => void

/** What a host has told us, by ticks: until when it refuses us, and until when it wants no calls. */
interface Told {
  unavailableUntil: number
  blockedUntil: number
}

/** What each host has told, by its base: whichever client asked it. */
class ToldByHosts {
  readonly #told = new Map<string, Told>()

  of(base: string): Told {
    const told = this.#told.get(base) ?? { unavailableUntil: 0, blockedUntil: 0 }
    this.#told.set(base, told)
    return told
  }
}

/** One REST host of a venue: calls wait for their share of its budget and have a deadline. */
export class RestClient implements Rest {
  readonly #base: string
  readonly #rules: RestRules
  readonly #hosts: ToldByHosts
  readonly #told: Told
  /** By their base: hosts that some calls name, each with a budget like this one's. */
  readonly #others = new Map<string, RestClient>()
  readonly #headers: Readonly<Record<string, string>>
  readonly #resets: RestRules['resets']
  readonly #queue: RequestQueue
  readonly #replaced: boolean
  readonly #onDate: OnDate | undefined
  #timer: NodeJS.Timeout | undefined
  #used = 0
  readonly #stop = new AbortController()

  /**
   * `replaced`: the base is configured, so a call's other host of the venue is not used. `repair`: the share of `rules`
   * that the repair of trades may use. `onDate`: hears what an answer says of the time. `hosts`: shared with the clients
   * of other venues that may have the same host.
   */
  constructor(
    base: string,
    rules: RestRules,
    replaced: boolean,
    repair?: RestRules,
    onDate?: OnDate,
    hosts = new ToldByHosts(),
  ) {
    this.#base = base
    this.#rules = rules
    this.#hosts = hosts
    this.#told = hosts.of(base)
    this.#headers = { accept: 'application/json', ...rules.headers, ...repair?.headers }
    this.#resets = rules.resets
    this.#queue = new RequestQueue(rules, repair)
    this.#replaced = replaced
    this.#onDate = onDate
  }

  /** Budget units spent so far. */
  get used(): number {
    return [...this.#others.values()].reduce((sum, { used }) => sum + used, this.#used)
  }

  /** Calls that wait for their share. */
  get waiting(): number {
    return [...this.#others.values()].reduce((sum, { waiting }) => sum + waiting, this.#queue.length)
  }

  get unavailable(): boolean {
    return ticks() < this.#told.unavailableUntil
  }

  /** Waits for its turn by `priority`. Callers have few calls under way per task, which bounds the queue. */
  async get<Row>(
    call: RestCall,
    parse: (body: unknown) => RestAnswer<Row>,
    priority: Priority = 'repair',
  ): Promise<RestOutcome<Row>> {
    const other = this.#otherOf(call)
    if (other !== undefined) return other.get(call, parse, priority)
    if (!this.unavailable && !this.#stop.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#queue.enqueue(priority, call.cost, resolve)
        this.#release()
      })
      try {
        return await this.#get(call, parse)
      } finally {
        this.#queue.ended(priority)
        this.#release()
      }
    }
    return this.#turnedAway()
  }

  close(): void {
    this.#stop.abort()
    clearTimeout(this.#timer)
    this.#queue.releaseAll()
    for (const other of this.#others.values()) other.close()
  }

  /** The client of the host that the call names; undefined: it is this one's. */
  #otherOf({ base }: RestCall): RestClient | undefined {
    if (this.#replaced || base === undefined || base === this.#base || this.#stop.signal.aborted) return undefined
    const known = this.#others.get(base)
    const other = known ?? new RestClient(base, this.#rules, false, undefined, this.#onDate, this.#hosts)
    this.#others.set(base, other)
    return other
  }

  #release(): void {
    clearTimeout(this.#timer)
    if (this.#stop.signal.aborted || this.unavailable) return this.#queue.releaseAll()
    const now = ticks()
    const blockedMs = this.#told.blockedUntil - now
    if (blockedMs > 0) this.#queue.block(blockedMs, now)
    const again = this.#queue.release(now)
    if (again !== undefined) this.#timer = setTimeout(() => this.#release(), again)
  }

  #turnedAway(): RestOutcome<never> {
    if (this.#stop.signal.aborted) return { kind: 'failed', message: 'stopped' }
    return { kind: 'unavailable', status: 0, waitMs: Math.max(0, this.#told.unavailableUntil - ticks()) }
  }

  async #get<Row>(call: RestCall, parse: (body: unknown) => RestAnswer<Row>): Promise<RestOutcome<Row>> {
    if (this.#stop.signal.aborted || this.unavailable) return this.#turnedAway()
    this.#used += call.cost
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(deadlineMs), this.#stop.signal])
      const askedAt = performance.now()
      const { body } = call
      const headers = body === undefined ? this.#headers : { ...this.#headers, 'Content-Type': 'application/json' }
      const asked = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      const response = await fetch(this.#base + call.path, { headers, signal, ...asked })
      this.#hearDate(response.headers, askedAt)
      return await this.#read(response, parse)
    } catch (error) {
      return { kind: 'failed', message: error instanceof Error ? `${error.message} ${causeOf(error)}` : String(error) }
    }
  }

  /** An answer out of a cache, or one that took long, says an earlier time. */
  #hearDate(headers: Headers, askedAt: number): void {
    const now = performance.now()
    const date = Date.parse(headers.get('date') ?? '')
    const isFresh = now - askedAt <= freshMs && Number(headers.get('age') ?? 0) === 0
    if (isFresh && !Number.isNaN(date)) this.#onDate?.(date, now)
  }

  async #read<Row>(response: Response, parse: (body: unknown) => RestAnswer<Row>): Promise<RestOutcome<Row>> {
    const retryAfter = retryAfterMs(response.headers.get('retry-after'), hostNow()) ?? this.#untilReset(response)
    if (tooMany.has(response.status)) return this.#limited(retryAfter, response)
    if (refusals.has(response.status)) return this.#refused(response)
    const text = await boundedText(response)
    const body = jsonOf(text)
    if (body === undefined) return { kind: 'failed', message: `HTTP ${response.status}, not JSON` }
    if (response.status >= 500 || response.status === timedOut)
      return { kind: 'failed', message: `HTTP ${response.status}` }
    const answer = parse(body)
    switch (answer.kind) {
      case 'rows':
        if (response.ok) return answer
        return { kind: 'error', code: `http_${response.status}`, message: text.slice(0, 200) }
      case 'limited':
        return this.#limited(retryAfter, undefined)
      case 'failed':
      case 'error':
        return answer
    }
  }

  /** As the venue says it by a time of its own; undefined: it does not. */
  #untilReset({ headers }: Response): number | undefined {
    const { header, unitMs } = this.#resets ?? { header: '', unitMs: 0 }
    const until = header === '' ? 0 : Number(headers.get(header) ?? 0) * unitMs
    return until > hostNow() ? waitOf(until - hostNow()) : undefined
  }

  async #limited(retryAfter: number | undefined, response: Response | undefined): Promise<RestOutcome<never>> {
    const waitMs = retryAfter ?? tooManyMs
    const now = ticks()
    this.#told.blockedUntil = Math.max(this.#told.blockedUntil, now + waitMs)
    this.#queue.block(waitMs, now)
    await response?.body?.cancel()
    return { kind: 'limited', waitMs }
  }

  async #refused(response: Response): Promise<RestOutcome<never>> {
    this.#told.unavailableUntil = ticks() + unavailableMs
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

interface Known {
  readonly venue: VenueName
  readonly host: RestHost
  readonly client: RestClient
}

/** Where the hosts are, and who hears what an answer says of the time. */
interface RestHostsOptions {
  readonly address: (venue: VenueName, host: RestHost) => { readonly base: string; readonly replaced: boolean }
  readonly onDate: (venue: VenueName, second: number, mono: number) => void
}

/** One client per REST host of a venue: its polls, its lists and the repair of its trades share one budget. */
export class RestHosts {
  readonly #all: readonly Known[]

  /** `venues`: those that are switched on. */
  constructor(venues: readonly Venue[], { address, onDate }: RestHostsOptions) {
    const hosts = new ToldByHosts()
    this.#all = venues.flatMap(({ name: venue, budgets, repair }) =>
      (['rest', 'spotRest'] as const).flatMap((host): Known[] => {
        const budget = budgets[host]
        if (budget === undefined) return []
        const { base, replaced } = address(venue, host)
        const share = host === 'rest' ? repair : undefined
        const heard = (second: number, mono: number): void => onDate(venue, second, mono)
        return [{ venue, host, client: new RestClient(base, budget, replaced, share, heard, hosts) }]
      }),
    )
  }

  of(venue: VenueName, host: RestHost): RestClient {
    const known = this.#all.find((one) => one.venue === venue && one.host === host)
    if (known === undefined) throw new Error(`${venue} has no ${host} with an address and a budget`)
    return known.client
  }

  get all(): readonly Known[] {
    return this.#all
  }

  close(): void {
    for (const { client } of this.#all) client.close()
  }
}
