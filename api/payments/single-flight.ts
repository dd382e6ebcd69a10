import { ApiError } from '../request/errors.ts'
import type { Reply } from '../request/reply.ts'

/**
 * Paid requests that are being looked at: each once, however many copies of it come. Of others with its payment the log
 * knows which it is for: whoever has read the payment on the chain must not keep its customer waiting.
 */
export class SingleFlight {
  readonly #flights = new Map<string, Promise<Reply>>()
  readonly #keys = new Set<string>()

  get size(): number {
    return this.#flights.size + this.#keys.size
  }

  /** Joins the flight of the same payment and request, or starts it. */
  join(id: string, fingerprint: string, start: () => Promise<Reply>): Promise<Reply> {
    const name = `${id} ${fingerprint}`
    const known = this.#flights.get(name)
    if (known !== undefined) return known
    const reply = start().finally(() => this.#flights.delete(name))
    this.#flights.set(name, reply)
    return reply
  }

  /** Does what the key is for, unless that is under way: with another payment it would be paid for twice. */
  async alone<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#keys.has(key)) throw paidOtherwise()
    this.#keys.add(key)
    try {
      return await work()
    } finally {
      this.#keys.delete(key)
    }
  }
}

const RETRY_AFTER_SECONDS = 2

/** Another payment for the same Idempotency-Key is being taken, or credit charged, here or by another instance, or was. */
export function paidOtherwise(): ApiError {
  const message =
    'A request with this Idempotency-Key is being paid for otherwise, and nothing was taken for this one; send it again in a moment, or as it was paid for first.'
  return new ApiError('data_unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}

export function usedAlready(): ApiError {
  const message =
    'This payment was used for another request, or with another Idempotency-Key: send again what was sent, with the key that it had, or sign a new one.'
  return new ApiError('payment_already_used', message)
}
