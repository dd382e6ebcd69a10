import type { Logger } from '../../infra/log.ts'
import type { Terms } from '../../processors/payments/terms.ts'
import { RateLimiter } from '../limits.ts'
import type { Unread } from '../unread.ts'
import { KafkaLedger } from './kafka-ledger.ts'
import type { Payments } from './payments.ts'
import { SingleFlight } from './single-flight.ts'

export interface OpenOptions {
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
  return {
    seller: terms.seller,
    isPlayMoney: terms.mode === 'local',
    publicUrl: terms.publicUrl ?? ownUrl,
    ledger,
    ...signatureChecks(signatureNode(terms.rpcUrl), terms.seller, options.now),
    refusals: new RateLimiter(refusalLimit),
    inFlight: new SingleFlight(),
    close: () => ledger.close(),
  }
}
