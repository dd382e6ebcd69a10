import { hostClock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log.ts'
import type { Terms } from '../../processors/payments/terms.ts'
import type { Credit } from '../credit/credit.ts'
import { KafkaCredit } from '../credit/kafka-credit.ts'
import { Purses } from '../credit/purses.ts'
import { RateLimiter } from '../request/limits.ts'
import type { Unread } from '../log/unread.ts'
import { KafkaLedger } from './kafka-ledger.ts'
import type { Payments } from './payments.ts'
import { SingleFlight } from './single-flight.ts'

/** How API keys and callers without one are limited. */
interface CustomerLimits {
  /** Requests of one key a second, and at once; 0: no limit. */
  readonly perSecond: number
  readonly burst: number
  /** Requests for nothing of one address on a day; 0: none. */
  readonly freePerDay: number
}

export interface OpenOptions {
  readonly limits: CustomerLimits
  readonly terms: Terms
  /** Where the API listens: the base of our addresses where nothing else is configured. */
  readonly ownUrl: string
  readonly brokers: readonly string[]
  readonly namespace: string
  readonly registryUrl: string
  readonly log: Logger
  readonly now: () => number
  readonly unread: Unread
}

/** Payments that are not accepted: as many a second, and at once, as free requests usually have. */
const refusalLimit = { perSecond: 20, burst: 40, callersMax: 100_000 } as const

/** Payments on their log. What checks signatures is loaded only where it is needed. */
export async function openPayments(options: OpenOptions): Promise<Payments & { close(): Promise<void> }> {
  const { terms, ownUrl } = options
  const { signatureChecks, signatureNode } = await import('./signatures.ts')
  const ledger = new KafkaLedger({ ...options, settleMs: terms.settleMs })
  const credit = openCredit(options)
  return {
    seller: terms.seller,
    isPlayMoney: terms.mode === 'local',
    publicUrl: terms.publicUrl ?? ownUrl,
    ledger,
    ...signatureChecks(signatureNode(terms.rpcUrl), terms.seller, hostClock.steady),
    refusals: new RateLimiter(refusalLimit),
    inFlight: new SingleFlight(),
    credit,
    close: async () => {
      await credit.close()
      await ledger.close()
    },
  }
}

/** How often the log is told what was charged, milliseconds: what is not told when an instance is killed is nobody's. */
const FLUSH_MS = 250
const CALLERS_MAX = 100_000
const DAY_SECONDS = 86_400

function openCredit({ limits, ...options }: OpenOptions): Credit & { close(): Promise<void> } {
  const { log: report, now } = options
  const log = new KafkaCredit(options)
  const onLost = (amount: number): void => report.warn({ amount }, 'charges came too late for the log and are nobody’s')
  const purses = new Purses({ log, now, onLost })
  const flushing = setInterval(() => void purses.flush(), FLUSH_MS).unref()
  const { perSecond, burst, freePerDay } = limits
  const free = { perSecond: freePerDay / DAY_SECONDS, burst: freePerDay, callersMax: CALLERS_MAX }
  return {
    log,
    purses,
    rate: new RateLimiter({ perSecond, burst, callersMax: CALLERS_MAX }),
    free: freePerDay === 0 ? null : new RateLimiter(free),
    lasting: new Map(),
    close: async () => {
      clearInterval(flushing)
      await purses.close()
      await log.close()
    },
  }
}
