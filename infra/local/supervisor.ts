import { setTimeout as delay } from 'node:timers/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Child } from './child.ts'
import { refuses } from '../http/guard.ts'
import { closeServer, listen, type OpsServer } from '../http/ops.ts'

const HOLD_MS_DEFAULT = 30_000
const HOLD_MS_MAX = 600_000

/** One part of the local system: how it is started, and again. */
export interface Part {
  readonly name: string
  start(): Promise<Child>
}

type PartState = 'starting' | 'running' | 'held' | 'waiting' | 'stopped'

/** What `GET /parts` says of a part; `pid` and `url` are those of its newest process. */
export interface PartReport {
  readonly name: string
  readonly state: PartState
  readonly pid: number | undefined
  readonly url: string | undefined
  /** Times it was started again. */
  readonly restarts: number
}

export interface Pace {
  /** Wait before the first restart; doubled with each failure. */
  readonly firstMs: number
  readonly mostMs: number
  /** A part that ran this long has recovered: its next failure is a first one. */
  readonly resetAfterMs: number
  /** Wait between two starts while the disk is full: each start only writes it fuller. */
  readonly diskFullMs: number
}

const PACE: Pace = { firstMs: 200, mostMs: 5_000, resetAfterMs: 30_000, diskFullMs: 30_000 }
/** Less than this and a start is pointless: the broker shuts itself down when a write fails. */
const FREE_BYTES_MIN = 64 * 1024 * 1024

export interface Surroundings {
  log(line: string): void
  /** Called when a part came up, went down or got another process. */
  changed(): void
  /** Free bytes where the parts keep their data. */
  freeBytes(): number
}

/**
 * Keeps the parts of the local system running: one that ends unexpectedly is started again, after a wait that doubles
 * up to a limit, for as long as we run. Parts are stopped in the reverse of the order in which they were started.
 */
export class Supervisor {
  readonly #kept: SupervisedPart[] = []
  readonly #around: Surroundings
  readonly #pace: Pace
  #stopping = false

  constructor(around: Surroundings, pace: Pace = PACE) {
    this.#around = around
    this.#pace = pace
  }

  /** Starts a part for the first time; a failure is the caller's. */
  async start(part: Part): Promise<Child> {
    if (this.#stopping) throw new Error(`${part.name} is not started: the system is stopping`)
    const kept = new SupervisedPart(part, this.#around, this.#pace)
    this.#kept.push(kept)
    return kept.begin()
  }

  parts(): PartReport[] {
    return this.#kept.map((kept) => kept.report())
  }

  /** Kills a part now (SIGKILL) and keeps it down for `ms`; false where there is no such part. */
  hold(name: string, ms: number): boolean {
    const kept = this.#kept.find((candidate) => candidate.name === name)
    kept?.hold(ms)
    return kept !== undefined
  }

  async stop(): Promise<void> {
    this.#stopping = true
    for (const kept of this.#kept) kept.retire()
    for (const kept of this.#kept.toReversed()) await kept.end()
  }
}

/** One part that is kept running. */
class SupervisedPart {
  readonly #part: Part
  readonly #around: Surroundings
  readonly #pace: Pace
  readonly #retired = new AbortController()
  #state: PartState = 'starting'
  #child: Child | undefined
  #starting: Promise<Child> | undefined
  #keeping: Promise<void> | undefined
  #restarts = 0
  #failures = 0
  #heldUntil = 0

  constructor(part: Part, around: Surroundings, pace: Pace) {
    this.#part = part
    this.#around = around
    this.#pace = pace
  }

  get name(): string {
    return this.#part.name
  }

  report(): PartReport {
    return {
      name: this.name,
      state: this.#state,
      pid: this.#child?.pid,
      url: this.#child?.url,
      restarts: this.#restarts,
    }
  }

  async begin(): Promise<Child> {
    const child = await this.#launch()
    this.#keeping = this.#keep(child)
    return child
  }

  hold(ms: number): void {
    this.#heldUntil = performance.now() + ms
    if (this.#state === 'running') this.#kill()
  }

  /** From here on the part is not started again. */
  retire(): void {
    this.#retired.abort()
  }

  /** Stops what runs, also what is just being started. */
  async end(): Promise<void> {
    const child = await this.#starting?.catch(() => undefined) // its failure went to whoever asked for the start
    await (child ?? this.#child)?.stop()
    await this.#keeping
    this.#enter('stopped')
  }

  #kill(): void {
    if (this.#child === undefined) return
    try {
      process.kill(this.#child.pid, 'SIGKILL')
    } catch (error) {
      this.#around.log(`${this.name} had ended by itself before it could be held: ${String(error)}`)
    }
  }

  async #launch(): Promise<Child> {
    this.#enter('starting')
    this.#starting = this.#part.start()
    try {
      this.#child = await this.#starting
    } finally {
      this.#starting = undefined
    }
    this.#enter('running')
    if (performance.now() < this.#heldUntil) this.#kill()
    return this.#child
  }

  async #keep(first: Child): Promise<void> {
    let child: Child | undefined = first
    while (child !== undefined) {
      const began = performance.now()
      await child.exited
      if (this.#retired.signal.aborted) return
      if (performance.now() - began >= this.#pace.resetAfterMs) this.#failures = 0
      this.#around.log(`${this.name} ended unexpectedly; it is started again`)
      child = await this.#again()
    }
  }

  /** The next process that came up; undefined when the part was retired meanwhile. */
  async #again(): Promise<Child | undefined> {
    while (!this.#retired.signal.aborted) {
      await this.#wait()
      if (this.#retired.signal.aborted) return undefined
      this.#restarts += 1
      this.#failures += 1
      try {
        return await this.#launch()
      } catch (error) {
        this.#around.log(error instanceof Error ? error.message : String(error))
      }
    }
    return undefined
  }

  async #wait(): Promise<void> {
    const held = this.#heldUntil - performance.now()
    this.#enter(held > 0 ? 'held' : 'waiting')
    await this.#pause(held > 0 ? held : Math.min(this.#pace.firstMs * 2 ** this.#failures, this.#pace.mostMs))
    while (!this.#retired.signal.aborted && this.#around.freeBytes() < FREE_BYTES_MIN) {
      this.#around.log(`${this.name} waits for room: the disk is full (${this.#around.freeBytes()} bytes free)`)
      await this.#pause(this.#pace.diskFullMs)
    }
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#retired.signal }).catch(() => undefined) // retired: the caller looks
  }

  #enter(state: PartState): void {
    this.#state = state
    this.#around.changed()
  }
}

/**
 * The supervisor's loopback endpoint: `GET /parts` and `POST /hold/<part>?ms=30000`, which kills a part at once and
 * keeps it down that long.
 */
export async function startControl(supervisor: Supervisor): Promise<OpsServer> {
  const server = createServer((request, response) => answer(supervisor, request, response))
  const port = await listen(server, '127.0.0.1', 0)
  return { url: `http://127.0.0.1:${port}`, close: () => closeServer(server) }
}

function answer(supervisor: Supervisor, request: IncomingMessage, response: ServerResponse): void {
  if (refuses(request, response, [])) return
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  const [, verb, part] = url.pathname.split('/')
  if (request.method === 'GET' && verb === 'parts') return reply(response, 200, supervisor.parts())
  if (request.method !== 'POST' || verb !== 'hold' || part === undefined)
    return reply(response, 404, { error: 'not_found', message: 'see GET /parts and POST /hold/<part>?ms=30000' })
  const ms = Number(url.searchParams.get('ms') ?? HOLD_MS_DEFAULT)
  if (!Number.isInteger(ms) || ms < 0 || ms > HOLD_MS_MAX)
    return reply(response, 400, { error: 'invalid_ms', message: `ms is a whole number from 0 to ${HOLD_MS_MAX}` })
  if (!supervisor.hold(part, ms)) return reply(response, 404, { error: 'unknown_part', message: part })
  return reply(response, 200, { part, ms })
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`)
}
