import { setTimeout as delay } from 'node:timers/promises'

const EVERY_MS = 200
/** A caller who waits longer asks again. */
const ANSWER_MS = 2_000
/** An API that asks for a payment answers. */
const PAYMENT_REQUIRED = 402

/** Asks an address all the time, and knows for how long nobody answered. */
export class Asker {
  readonly #url: () => string
  readonly #stopped = new AbortController()
  readonly #running: Promise<void>
  #answeredAt = performance.now()
  #mostMs = 0

  constructor(url: () => string) {
    this.#url = url
    this.#running = this.#run()
  }

  /** The longest time between two answers, milliseconds. */
  async stop(): Promise<number> {
    if (!this.#stopped.signal.aborted) this.#count()
    this.#stopped.abort()
    await this.#running
    return Math.round(this.#mostMs)
  }

  #count(): void {
    this.#mostMs = Math.max(this.#mostMs, performance.now() - this.#answeredAt)
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped
    while (!signal.aborted) {
      if (await this.#isAnswered()) {
        this.#count()
        this.#answeredAt = performance.now()
      }
      await delay(EVERY_MS, undefined, { signal }).catch(() => undefined) // stopped: the loop looks
    }
  }

  #isAnswered(): Promise<boolean> {
    return fetch(this.#url(), { signal: AbortSignal.timeout(ANSWER_MS) }).then(
      ({ ok, status }) => ok || status === PAYMENT_REQUIRED,
      () => false,
    )
  }
}
