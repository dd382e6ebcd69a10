import type { IncomingMessage } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { ApiError } from './errors.ts'
import { rateLimited } from './limits.ts'
import type { Schema } from './schema.ts'

/** No body that any route takes is nearly as large, bytes. */
const BODY_BYTES_MAX = 16 * 1024

/** Characters of an unknown field's name that a refusal repeats. */
const FIELD_SHOWN_MAX = 64

/** A JSON object as it was sent. */
export type Body = Readonly<Record<string, unknown>>

/** A request's body: what it says, and as it was sent. */
export interface Sent {
  readonly object: Body
  readonly bytes: Buffer
}

/** Refuses a field that the route does not know: who wrote it expects something of it. */
export function assertKnown(body: Body, schema: Schema): void {
  const known = Object.keys(Object(schema['properties']) as object)
  const field = Object.keys(body).find((name) => !known.includes(name))
  if (field === undefined) return
  const words = `There is no field ${JSON.stringify(field.slice(0, FIELD_SHOWN_MAX))} here`
  throw new ApiError('invalid_body', `${words}; there are ${known.join(', ')}.`, {
    field: field.slice(0, FIELD_SHOWN_MAX),
  })
}

/**
 * Reads a request's body as a JSON object; undefined where there is none. How long it may take is the server's own
 * deadline for a request. Throws `unsupported_media_type`, `body_too_large` and `invalid_body`.
 */
async function readBody(request: IncomingMessage): Promise<Sent | undefined> {
  assertJson(request)
  const bytes = await read(request)
  return bytes.length === 0 ? undefined : { object: parse(bytes), bytes }
}

/** Reads bodies; of those that are still coming one caller has a few only, so that it cannot hold every place. */
export class Bodies {
  readonly #callerMax: number
  readonly #coming = new Map<string, number>()

  constructor(callerMax: number) {
    this.#callerMax = callerMax
  }

  /** As `readBody`; throws `rate_limited` too. */
  async read(request: IncomingMessage, caller: string): Promise<Sent | undefined> {
    if (!request.complete) await turn() // in which what came with the head is taken
    if (request.complete) return readBody(request)
    this.#count(caller, 1)
    try {
      if ((this.#coming.get(caller) ?? 0) > this.#callerMax)
        throw rateLimited(`You are sending ${this.#callerMax} bodies already; finish one first.`, {
          limit: this.#callerMax,
          retryAfterSeconds: 1,
        })
      return await readBody(request)
    } finally {
      this.#count(caller, -1)
    }
  }

  #count(caller: string, by: number): void {
    const count = (this.#coming.get(caller) ?? 0) + by
    if (count === 0) this.#coming.delete(caller)
    else this.#coming.set(caller, count)
  }
}

/** A missing Content-Type is taken as JSON. */
function assertJson({ headers }: IncomingMessage): void {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
  const isJson = type === '' || type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type)
  const coding = headers['content-encoding'] ?? 'identity'
  if (!isJson || coding !== 'identity')
    throw new ApiError('unsupported_media_type', 'Send the body as it is, with Content-Type: application/json.')
}

async function read(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) throw tooLarge()
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > BODY_BYTES_MAX) break
      chunks.push(chunk)
    }
  } catch (error) {
    throw new ApiError('invalid_body', 'The body ended too early; send it whole.', { cause: error })
  }
  if (length > BODY_BYTES_MAX) throw tooLarge()
  return Buffer.concat(chunks)
}

function tooLarge(): ApiError {
  return new ApiError('body_too_large', `Send at most ${BODY_BYTES_MAX} bytes.`)
}

function parse(bytes: Buffer): Body {
  const value = jsonOf(bytes)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ApiError('invalid_body', 'Send a JSON object, such as {"symbol": "BTC"}.')
  return value as Body
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw new ApiError('invalid_body', 'The body is not JSON in UTF-8; send a JSON object.', { cause: error })
  }
}
