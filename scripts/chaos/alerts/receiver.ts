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

/** What came under one `webhook-id`. */
export interface Delivered {
  readonly alertId: string
  readonly count: number
  readonly test: boolean
  /** SHA-256 of the first body; what differs from it under the same id is wrong. */
  readonly body: string
  /** Host's milliseconds of its first byte. */
  readonly first: number
  attempts: number
  /** Attempts that were answered with a success: host's milliseconds of each. */
  readonly taken: number[]
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
    const { alert_id, test, data } = JSON.parse(body.toString('utf8')) as {
      alert_id: string
      test?: boolean
      data: { trigger_count: number }
    }
    const hash = createHash('sha256').update(body).digest('hex')
    const fresh = { alertId: alert_id, count: data.trigger_count, test: test === true, body: hash, first }
    const known = this.deliveries.get(id) ?? { ...fresh, attempts: 0, taken: [] }
    this.deliveries.set(id, known)
    if (known.body !== hash) this.wrong.push(`${id}: another body under the same id`)
    const secret = this.#secrets.get(alert_id)
    const waiting = { id, body, signature }
    if (secret !== undefined) this.#check(secret, waiting)
    else this.#waiting.set(alert_id, [...(this.#waiting.get(alert_id) ?? []), waiting])
    known.attempts += 1
    const refused = this.#refuses && known.attempts === 1 && Number.parseInt(hash.slice(0, 8), 16) % REFUSE_ONE_IN === 0
    if (refused) return 503
    known.taken.push(first)
    return 204
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
