import { ApiError } from '../errors.ts'
import type { Reply } from '../reply.ts'

interface InFlight {
  readonly fingerprint: string
  readonly reply: Promise<Reply>
}

/** Payments that are being looked at: one at a time by its id, however many copies of it come. */
export class SingleFlight {
  readonly #flights = new Map<string, InFlight>()
  readonly #keys = new Set<string>()

  get size(): number {
    return this.#flights.size + this.#keys.size
  }

  /** Joins the flight of the same payment and request, or starts it; throws where the payment pays for another request. */
  join(id: string, fingerprint: string, start: () => Promise<Reply>): Promise<Reply> {
    const known = this.#flights.get(id)
    if (known !== undefined) {
      if (known.fingerprint !== fingerprint) throw usedAlready()
      return known.reply
    }
    const reply = start().finally(() => this.#flights.delete(id))
    this.#flights.set(id, { fingerprint, reply })
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
  return new ApiError('payment_already_used', 'This payment was used for another request; sign a new one.')
}
