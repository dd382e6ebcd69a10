import { Agent, request } from 'node:https'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { createSecureContext, getCACertificates } from 'node:tls'
import { isIP } from 'node:net'
import { Resolver } from 'node:dns/promises'
import { hostOf } from './address.ts'

/** Of a response body; what comes after it is not read. */
const BODY_BYTES_MAX = 64 * 1024
/** Of the body of a refusal, which is looked at for what it means. */
const TEXT_BYTES_MAX = 4 * 1024
const HEADER_BYTES_MAX = 16 * 1024
/**
 * A connection that nobody needs is closed: below the 15 s and more after which most servers do so themselves, and long
 * enough for the next figures, which come every 10 s, with no new handshake for each ring of theirs.
 */
const IDLE_MS_MAX = 14_000
const IDLE_PER_RECEIVER_MAX = 16
const TLS_SESSIONS_MAX = 1_000

/** One POST to an address that was checked; the URL's name is who must answer there. */
export interface Post {
  readonly url: URL
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Ends it at the deadline, whatever it is at. */
  readonly signal: AbortSignal
  /** Called when the whole request has been handed to the network. */
  readonly onSent: () => void
}

export interface Answer {
  readonly status: number
  readonly retryAfter: string | undefined
  /** How its body ended: whole, cut at `BODY_BYTES_MAX`, or broken by an error. */
  readonly body: 'whole' | 'cut' | { readonly error: unknown }
  /** How its body begins; empty where the status is a 2xx. */
  readonly text: string
}

/** HTTPS to receivers: dials what it is told, verifies who answers by name, keeps connections for a while. */
export class Caller {
  readonly #agent: Agent
  /** Keeps no connection, so that each is new. */
  readonly #fresh: Agent

  /** `ca`: PEM of a further authority, trusted beside those that Node trusts. */
  constructor(ca?: string) {
    const trust = ca === undefined ? {} : { ca: [...getCACertificates('default'), ca] }
    const secureContext = createSecureContext(trust) // once: reading all authorities takes milliseconds
    this.#agent = new Agent({
      keepAlive: true,
      timeout: IDLE_MS_MAX,
      maxFreeSockets: IDLE_PER_RECEIVER_MAX,
      maxCachedSessions: TLS_SESSIONS_MAX,
      secureContext,
    })
    this.#fresh = new Agent({ secureContext })
  }

  /** Rejects where no status came. Redirects are answers like others. */
  async post(post: Post): Promise<Answer> {
    try {
      return await this.#send(post, this.#agent)
    } catch (error) {
      if (!(error instanceof StaleError)) throw error
      return this.#send(post, this.#fresh)
    }
  }

  close(): void {
    this.#agent.destroy()
    this.#fresh.destroy()
  }

  #send({ url, address, headers, body, signal, onSent }: Post, agent: Agent): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const call = request({
        agent,
        method: 'POST',
        host: address,
        port: url.port === '' ? 443 : Number(url.port),
        path: `${url.pathname}${url.search}`,
        servername: serverName(url),
        headers: { ...headers, host: url.host, 'content-length': String(body.length) },
        maxHeaderSize: HEADER_BYTES_MAX,
        rejectUnauthorized: true, // whatever the environment says
        signal,
      })
      call.once('finish', onSent)
      let isAnswered = false // from there on the body tells what becomes of it
      call.once('response', (response) => {
        isAnswered = true
        void readAnswer(response).then(resolve)
      })
      call.once('upgrade', (response, socket) => {
        socket.destroy() // no other protocol is spoken here
        const { statusCode: status = 0, headers: said } = response
        resolve({ status, retryAfter: said['retry-after'], body: 'whole', text: '' })
      })
      call.on('error', (error) => {
        if (!isAnswered) reject(isStale(call, error) ? new StaleError() : error)
      })
      call.once('close', () => {
        if (!isAnswered) reject(new Error('closed without an answer'))
      })
      call.end(body)
    })
  }
}

/** The server had closed a kept connection just as it was used again: to be sent once more, over a new one. */
class StaleError extends Error {}

function isStale(call: ClientRequest, error: NodeJS.ErrnoException): boolean {
  return call.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}

/** The name that the certificate must have; none for a literal address, which is then looked for itself. */
function serverName({ hostname }: URL): string {
  return isIP(hostOf(hostname)) === 0 ? hostname.replace(/\.$/, '') : ''
}

function readAnswer(response: IncomingMessage): Promise<Answer> {
  const status = response.statusCode ?? 0
  const retryAfter = response.headers['retry-after']
  const isRefusal = status < 200 || status >= 300
  return new Promise((resolve) => {
    const kept: Buffer[] = []
    const text = (): string => Buffer.concat(kept).subarray(0, TEXT_BYTES_MAX).toString('utf8')
    const end = (body: Answer['body']): void => resolve({ status, retryAfter, body, text: text() })
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      if (isRefusal && bytes < TEXT_BYTES_MAX) kept.push(chunk)
      bytes += chunk.length
      if (bytes <= BODY_BYTES_MAX) return
      end('cut')
      response.destroy()
    })
    response.once('end', () => end('whole'))
    response.once('error', (error) => end({ error }))
  })
}

/** The addresses of a name, IPv4 first; none: there is no such name. Rejects where no name server answers. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

const QUERY_MS = 1_500
const TRIES = 2

/**
 * Asks the machine's name servers. Not through `getaddrinfo`, whose few threads one name that hangs would block for all
 * receivers; so the hosts file has no say. `localhost` is this machine (RFC 6761).
 */
export function systemResolver(): Resolve {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: TRIES })
  return async (hostname) => {
    const name = hostname.replace(/\.$/, '')
    if (/(?:^|\.)localhost$/.test(name)) return ['127.0.0.1', '::1']
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    const failure = answers.find((answer) => answer.status === 'rejected' && !isAbsence(answer.reason))
    if (addresses.length === 0 && failure?.status === 'rejected') throw failure.reason
    return addresses
  }
}

function isAbsence(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENODATA' || code === 'ENOTFOUND'
}
