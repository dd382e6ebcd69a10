import { credit, creditRow } from '../../processors/credit/credit.ts'
import { CoreTestDriver, only } from '../../processors/kernel/testing/core-test-driver.ts'
import type { ApiKey, CreditCommand } from '../../schemas/records.ts'
import type { Credit } from '../credit/credit.ts'
import { KeyStore, type CreditLog } from '../credit/key-store.ts'
import { Purses } from '../credit/purses.ts'
import { ApiError } from '../request/errors.ts'
import { RateLimiter } from '../request/limits.ts'

/** The log of credit in memory: the real core decides, at once. */
export class FakeCreditLog implements CreditLog {
  readonly newest = new KeyStore()
  readonly commands: CreditCommand[] = []
  readonly core = new CoreTestDriver(credit, creditRow.inputs[0] ?? 'payments.credit')
  /** Set: the log is away. */
  isAway = false

  async book(): Promise<KeyStore> {
    return this.newest
  }

  async command(command: CreditCommand): Promise<ApiKey> {
    const key = this.#take(command).find(({ request_id: request }) => request === command.request_id)
    await new Promise((resolve) => setImmediate(resolve))
    if (key === undefined) throw new ApiError('data_unavailable', 'Nothing follows.', { retryAfterSeconds: 2 })
    return key
  }

  async tell(command: CreditCommand): Promise<void> {
    this.#take(command)
  }

  #take(command: CreditCommand): ApiKey[] {
    if (this.isAway) throw new ApiError('data_unavailable', 'The log is away.', { retryAfterSeconds: 2 })
    this.commands.push(command)
    const at = this.core.emitted.length
    this.core.batch({ type: 'credit_command', value: command })
    const keys = only(this.core.emitted.slice(at), 'api_key')
    for (const key of keys) this.newest.put(key)
    return keys
  }
}

/** Credit on a log in memory; `now` in milliseconds. */
export function fakeCredit(now: () => number, log = new FakeCreditLog()): Credit & { readonly log: FakeCreditLog } {
  return {
    log,
    purses: new Purses({ log, now, onLost: () => undefined }),
    rate: new RateLimiter({ perSecond: 0, burst: 1, callersMax: 100 }),
    free: null,
    lasting: new Map(),
  }
}
