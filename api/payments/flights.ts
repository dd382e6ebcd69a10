import { ApiError } from '../errors.ts'
import type { Given } from './given.ts'
import type { Answer } from '../route.ts'

interface Flight {
  readonly fingerprint: string
  readonly outcome: Promise<Answer | Given>
}

/** Payments that are being looked at: one at a time by its id, however many copies of it come. */
export class Flights {
  readonly #flights = new Map<string, Flight>()

  get size(): number {
    return this.#flights.size
  }

  /** Joins the flight of the same payment and request, or starts it; throws where the payment pays for another request. */
  join(id: string, fingerprint: string, start: () => Promise<Answer | Given>): Promise<Answer | Given> {
    const known = this.#flights.get(id)
    if (known !== undefined) {
      if (known.fingerprint !== fingerprint) throw usedAlready()
      return known.outcome
    }
    const outcome = start().finally(() => this.#flights.delete(id))
    this.#flights.set(id, { fingerprint, outcome })
    return outcome
  }
}

export function usedAlready(): ApiError {
  return new ApiError('payment_already_used', 'This payment was used for another request; sign a new one.')
}
