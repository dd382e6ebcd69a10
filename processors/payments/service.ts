import type { Membership } from '../../infra/kafka/seam.ts'
import { Decoder } from '../kernel/decoder.ts'
import { Runner } from '../kernel/run.ts'
import type { StopReason } from '../kernel/watch.ts'
import type { Settler } from './settler.ts'
import { OWNER, Settlement, type SettlementOptions } from './settlement.ts'

export interface ServiceOptions extends Omit<SettlementOptions, 'decoder'> {
  readonly membership: Membership
  readonly sessionMs: number
}

export interface ServiceHealth {
  readonly ok: boolean
  /** Whether this instance is the one that settles. */
  readonly owner: boolean
  readonly open: number
  readonly known: number
  readonly trouble: string | null
  /** Gas of transactions that were undone within the last hour, wei. */
  readonly gas_lost_wei: string
  /** Kinds of payers that nothing is sent for, for a while: their transactions were undone. */
  readonly cooling: number
}

/** Settles payments for as long as the partition is ours. */
export class Service {
  readonly #settler: Settler
  readonly #runner: Runner<Settlement>

  constructor({ membership, sessionMs, ...options }: ServiceOptions) {
    const { ports } = options
    const decoder = new Decoder(ports.codec, (id) => ports.lookUp(id))
    const open = (): Promise<Settlement> => Settlement.open({ ...options, decoder })
    this.#settler = options.settler
    this.#runner = new Runner({ hosted: [{ name: OWNER, membership, open }], ports, sessionMs })
  }

  /** Resolves when the process must end. Never on a clean stop. */
  get failed(): Promise<StopReason> {
    return this.#runner.failed
  }

  /** What is under way is gone on with by the next owner, from the log. */
  stop(): Promise<void> {
    return this.#runner.stop()
  }

  /** Intents not yet taken in. */
  get lag(): number {
    return this.#runner.lags()[0]?.records ?? 0
  }

  health(): ServiceHealth {
    const { trouble, losses } = this.#settler
    const counts = this.#runner.counts().get(OWNER)
    return {
      ok: this.#runner.isWell && trouble === null,
      owner: (this.#runner.partitions()[OWNER]?.running ?? 0) > 0,
      trouble,
      gas_lost_wei: String(losses.gas),
      cooling: losses.cooling,
      open: counts?.get('open') ?? 0,
      known: counts?.get('known') ?? 0,
    }
  }
}
