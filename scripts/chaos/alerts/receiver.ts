import { createHmac, createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

/** As usual of servers on the Internet (nginx: 75 s); Node's own 5 s are not. */
const KEPT_MS = 75_000
/** Longest delivery that is read, bytes. */
const BODY_BYTES_MAX = 64 * 1024
/** One delivery in this many is refused at first, so that retries are part of the account. */
const REFUSE_ONE_IN = 10

/** What came of one trigger: by itself, or in a digest. */
export interface Delivered {
  /** As its owner knows it. */
  readonly alertId: string
  readonly symbol: string
  readonly count: number
  readonly test: boolean
  /** SHA-256 of its event as it came first; what differs from it under the same id is wrong. */
  readonly body: string
  /** Host's milliseconds of its first byte. */
  readonly first: number
  attempts: number
  /** Attempts that were answered with a success: host's milliseconds of each. */
  readonly taken: number[]
  /** One of them was a digest. */
  isDigested: boolean
}

/** A receiver that keeps its own account of what came, in its own words: it shares no code with the dispatcher. */
export interface Receiver {
  readonly url: string
  readonly deliveries: ReadonlyMap<string, Delivered>
  /** What was wrong with a delivery, with its id. */
  readonly wrong: readonly string[]
  /** Tells it the secret of an alert; without it a delivery is taken and its signature looked at later. */
  know(alertId: string, secret: string): void
  close(): Promise<void>
}

/** An event as the documentation has it. */
interface Event {
  readonly alert_id: string
  readonly symbol: string
  readonly trigger_id: string
  readonly test?: boolean
  readonly data: { readonly trigger_count: number }
}

interface Digest {
  readonly event: 'digest'
  readonly trigger_id: string
  readonly alert_id: string
  readonly count: number
  readonly events: readonly Event[]
}

interface Waiting {
  readonly id: string
  readonly body: Buffer
  readonly signature: string
}

/** Starts an HTTPS receiver on a free port of this machine. */
export async function startReceiver(
  tls: { readonly cert: string; readonly key: string },
  refuses = true,
): Promise<Receiver> {
  const account = new Account(refuses)
  const server = createServer({ cert: tls.cert, key: tls.key }, (request, response) => {
    account.take(request, response).catch((error: unknown) => {
      // A dispatcher that is killed breaks off: what came of it counts for nothing. Anything else is wrong.
      if (!request.destroyed) account.wrong.push(`a delivery that cannot be read: ${String(error)}`)
      response.destroy()
    })
  })
  server.keepAliveTimeout = KEPT_MS
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}`,
    deliveries: account.deliveries,
    wrong: account.wrong,
    know: (alertId, secret) => account.know(alertId, secret),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

class Account {
  readonly deliveries = new Map<string, Delivered>()
  readonly wrong: string[] = []
  readonly #refuses: boolean
  readonly #secrets = new Map<string, string>()
  /** By alert: it can ring before its creation is answered. */
  readonly #waiting = new Map<string, Waiting[]>()

  constructor(refuses: boolean) {
    this.#refuses = refuses
  }

  know(alertId: string, secret: string): void {
    this.#secrets.set(alertId, secret)
    for (const waiting of this.#waiting.get(alertId) ?? []) this.#check(secret, waiting)
    this.#waiting.delete(alertId)
  }

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const first = performance.timeOrigin + performance.now()
    const body = await read(request)
    const id = header(request, 'webhook-id')
    const status = body === undefined ? 413 : this.#enter(id, body, first, header(request, 'x-svc-signature'))
    response.writeHead(status).end()
  }

  /** Enters a delivery and says how it is answered. */
  #enter(id: string, body: Buffer, first: number, signature: string): number {
    const said = JSON.parse(body.toString('utf8')) as Event | Digest
    const events = 'events' in said ? said.events : [said]
    const isDigest = 'events' in said
    if (said.trigger_id !== id) this.wrong.push(`${id}: its body is of ${said.trigger_id}`)
    if (isDigest && (said.count !== events.length || events.length < 2))
      this.wrong.push(`${id}: a digest of ${said.count} that has ${events.length}`)
    for (const { alert_id } of events)
      if (alert_id !== said.alert_id) this.wrong.push(`${id}: it tells ${alert_id} too`)
    const secret = this.#secrets.get(said.alert_id)
    const waiting = { id, body, signature }
    if (secret !== undefined) this.#check(secret, waiting)
    else this.#waiting.set(said.alert_id, [...(this.#waiting.get(said.alert_id) ?? []), waiting])
    const told = events.map((event) => this.#enterEvent(event, first))
    const isFirst = told.every(({ attempts }) => attempts === 1)
    const hash = told[0]?.body ?? ''
    if (this.#refuses && isFirst && Number.parseInt(hash.slice(0, 8), 16) % REFUSE_ONE_IN === 0) return 503
    for (const known of told) {
      known.taken.push(first)
      known.isDigested ||= isDigest
    }
    return 204
  }

  #enterEvent(event: Event, first: number): Delivered {
    const { trigger_id: id, alert_id: alertId, symbol, test, data } = event
    const hash = createHash('sha256').update(JSON.stringify(event)).digest('hex')
    const fresh = { alertId, symbol, count: data.trigger_count, test: test === true, body: hash, first }
    const known = this.deliveries.get(id) ?? { ...fresh, attempts: 0, taken: [], isDigested: false }
    this.deliveries.set(id, known)
    if (known.body !== hash) this.wrong.push(`${id}: another body under the same id`)
    known.attempts += 1
    return known
  }

  #check(secret: string, { id, body, signature }: Waiting): void {
    const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
    if (signature !== expected) this.wrong.push(`${id}: its signature is not the alert's`)
  }
}

function header(request: IncomingMessage, name: string): string {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}

/** undefined where there is too much of it. */
async function read(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
