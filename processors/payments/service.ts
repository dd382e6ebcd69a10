import type { LogReader, Membership } from '../../infra/kafka/seam.ts'
import { Decoder } from '../kernel/decoder.ts'
import { FatalError, isFenced } from '../kernel/errors.ts'
import type { LostLogPolicy, Ports } from '../kernel/ports.ts'
import { Watch, type StopReason } from '../kernel/watch.ts'
import { Desk, INTENTS, PARTITION, type PaymentMeter } from './desk.ts'
import type { Settler } from './settler.ts'
import type { Seller } from './wire/offer.ts'

const OWNER = 'payments'
const FETCH = { maxWaitMs: 250, maxBytesPerPartition: 256 * 1024 }
const RETRY_MS = 200
/** A new owner that has just claimed must not be claimed from at once by the one that it replaced. */
const REOPEN_AFTER_MS = 1_000

export interface ServiceOptions {
  readonly membership: Membership
  readonly ports: Ports
  readonly settler: Settler
  readonly seller: Seller
  readonly payments: PaymentMeter
  readonly settleMs: number
  readonly onLostLog: LostLogPolicy
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

/** Settles payments for as long as the partition is ours: a desk, and after its failure another. */
export class Service {
  readonly #options: ServiceOptions
  readonly #reader: LogReader
  readonly #decoder: Decoder
  readonly #watch: Watch
  readonly #loop: Promise<void>
  #desk: Desk | undefined
  #isOurs = false
  #isStopping = false
  #goodAt: number
  #openAt = 0
  #lag = 0
  #fail: (reason: StopReason) => void = () => undefined
  /** Resolves when the process must end. Never on a clean stop. */
  readonly failed: Promise<StopReason>

  constructor(options: ServiceOptions) {
    const { membership, ports, sessionMs } = options
    this.#options = options
    this.#reader = ports.log.reader()
    this.#decoder = new Decoder(ports.codec, (id) => ports.lookUp(id))
    this.#goodAt = ports.clock.now()
    this.failed = new Promise((resolve) => {
      this.#fail = resolve
    })
    this.#watch = new Watch({ sessionMs, rows: [{ membership }] }, this.#goodAt)
    membership.onChange((partitions) => {
      this.#isOurs = partitions.includes(PARTITION)
      ports.report.info({ owner: this.#isOurs }, 'settling of payments assigned')
    })
    this.#loop = this.#run()
  }

  /** What is under way is gone on with by the next owner, from the log. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#loop
    await this.#closeDesk()
    await Promise.all([this.#reader.close(), this.#options.membership.leave()])
  }

  /** Milliseconds since it was last known to work, 0 while it does. */
  failingMs(now: number): number {
    return this.#desk === undefined && this.#isOurs ? now - this.#goodAt : 0
  }

  /** Intents not yet taken in. */
  get lag(): number {
    return this.#lag
  }

  health(): ServiceHealth {
    const { settler, ports } = this.#options
    const { trouble, losses } = settler
    const isWell = this.#watch.isWell([this], ports.clock.now())
    const counts = this.#desk?.counts ?? { open: 0, known: 0 }
    const lost = { gas_lost_wei: String(losses.gas), cooling: losses.cooling }
    return { ok: isWell && trouble === null, owner: this.#desk !== undefined, trouble, ...lost, ...counts }
  }

  async #run(): Promise<void> {
    const { clock } = this.#options.ports
    while (!this.#isStopping) {
      if (this.#isOurs && this.#desk === undefined && clock.now() >= this.#openAt) await this.#open()
      if (!this.#isOurs && this.#desk !== undefined) await this.#closeDesk()
      const desk = this.#desk
      if (desk?.hasRoom === true) await this.#fetch(desk)
      else await clock.delay(RETRY_MS)
      const reason = this.#watch.check([this], clock.now())
      if (reason !== undefined) this.#fail(reason)
    }
  }

  async #open(): Promise<void> {
    const { ports, settler, seller, payments, settleMs, onLostLog } = this.#options
    const onFailed = (error: unknown): void => this.#lose(error)
    try {
      const decoder = this.#decoder
      this.#desk = await Desk.open({ ports, decoder, settler, seller, payments, settleMs, onLostLog, onFailed })
    } catch (error) {
      this.#lose(error)
    }
  }

  async #fetch(desk: Desk): Promise<void> {
    const { clock, report } = this.#options.ports
    try {
      const position = { topic: INTENTS, partition: PARTITION, offset: desk.position }
      const [slice] = await this.#reader.fetch([position], FETCH)
      if (slice === undefined || slice.error === 'moved') {
        if (this.#watch.isFirstFailure('intents')) report.warn({}, 'no broker answers; trying again')
        await clock.delay(RETRY_MS)
        return
      }
      this.#watch.fetched('intents', clock.now())
      this.#lag = Math.max(0, slice.end - slice.next)
      if (desk === this.#desk) await desk.take(slice)
    } catch (error) {
      if (this.#watch.isFirstFailure('intents')) report.warn({ err: error }, 'fetch failed; trying again')
      await clock.delay(RETRY_MS)
    }
  }

  /** The desk is of no use any more; another takes its place in a moment. */
  #lose(error: unknown): void {
    const { meter, report, clock } = this.#options.ports
    this.#goodAt = this.#desk === undefined ? this.#goodAt : clock.now()
    this.#openAt = clock.now() + REOPEN_AFTER_MS
    if (error instanceof FatalError) {
      this.#fail({ exitCode: 4, code: error.code, message: error.message })
      return
    }
    const isOthers = isFenced(error)
    if (isOthers) meter.fenced(OWNER)
    else meter.failed(OWNER)
    report.warn({ err: error }, isOthers ? 'another instance settles payments now' : 'settling failed; beginning again')
    void this.#closeDesk()
  }

  async #closeDesk(): Promise<void> {
    const desk = this.#desk
    this.#desk = undefined
    await desk?.close().catch(() => undefined) // nothing of it is used any more
  }
}
