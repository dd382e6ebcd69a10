import type { Claim, LogRecord, OutRecord, Slice } from '../../infra/kafka/seam.ts'
import { UndecodableError } from '../../schemas/codec.ts'
import type { PaymentEvent } from '../../schemas/payments.ts'
import type { Message, Micros } from '../../schemas/records.ts'
import { claimed } from '../kernel/claimed.ts'
import { causeOf, DEAD_LETTERS, DeadLetters } from '../kernel/dead-letters.ts'
import type { Decoder } from '../kernel/decoder.ts'
import type { Ports } from '../kernel/ports.ts'
import { refusalOf } from './admit.ts'
import { eventOf, KNOWN_MS, Ledger, type Open, type Placed } from './ledger.ts'
import type { Failure, Outcome, Sent, Settler } from './settler.ts'
import { hex } from './token.ts'
import type { Seller } from './wire/offer.ts'
import { BOUGHT_OTHERWISE } from './wire/reasons.ts'

export const INTENTS = 'payments.intents'
export const EVENTS = 'payments.events'
/** The one partition: one wallet has one writer. */
export const PARTITION = 0
const OWNER = 'payments'
/** Whoever wrote an intent may have a clock ahead of ours by less: what became of it is read from that much earlier on. */
const SKEW_MS = 3_600_000
/** Payments under way; beyond, no more are taken in until some have ended. */
const OPEN_MAX = 1_000

/** What is counted of payments. */
export interface PaymentMeter {
  settled(by: PaymentEvent['by'], ms: number): void
  failed(reason: string): void
  pending(): void
}

export interface DeskOptions {
  readonly ports: Ports
  readonly decoder: Decoder
  readonly settler: Settler
  readonly seller: Seller
  readonly payments: PaymentMeter
  /** How long until a payment without an outcome is said to be pending, milliseconds. */
  readonly settleMs: number
  /** Called once: it is of no use any more. */
  readonly onFailed: (error: unknown) => void
}

/** The intents' partition, from its claim to its end: what nobody else may do meanwhile is done here. */
export class Desk {
  readonly #options: DeskOptions
  readonly #claim: Claim
  readonly #dead: DeadLetters
  readonly #ledger: Ledger
  readonly #abort = new AbortController()
  #next: number
  #open = 0
  #isFailed = false

  /** Claims the events, then reads what they say, then what of the intents is not answered. */
  static async open(options: DeskOptions): Promise<Desk> {
    const { log, reader, clock, meter } = options.ports
    const startedAt = clock.now()
    const targets = [EVENTS, DEAD_LETTERS].map((topic) => ({ topic, partition: PARTITION }))
    return claimed(log, `${OWNER}-${PARTITION}`, targets, async (claim) => {
      const dead = new DeadLetters(OWNER, PARTITION, options.ports)
      const since = async (topic: string, time: number): Promise<number> =>
        (await reader.offsets(topic, [PARTITION], { time })).get(PARTITION) ?? 0
      const intents = await since(INTENTS, startedAt - KNOWN_MS)
      const events = await since(EVENTS, startedAt - KNOWN_MS - SKEW_MS)
      const ledger = new Ledger()
      const failures: Failure[] = []
      for await (const records of reader.toEnd(EVENTS, PARTITION, events)) {
        for (const record of records) {
          const message = await read(record, EVENTS, { options, claim, dead })
          if (message?.type !== 'payment_event') continue
          failures.push(...failureOf(message.value, ledger))
          ledger.restore(message.value)
        }
      }
      options.settler.recall(failures)
      meter.restored(OWNER, clock.now() - startedAt)
      const end = (await reader.offsets(INTENTS, [PARTITION], 'end')).get(PARTITION) ?? 0
      return new Desk({ options, claim, dead }, { ledger, next: intents, end })
    })
  }

  /** Where the intents ended at the claim: all before may have been answered by a former owner. */
  readonly #claimedAt: number

  private constructor(
    { options, claim, dead }: { options: DeskOptions; claim: Claim; dead: DeadLetters },
    { ledger, next, end }: { ledger: Ledger; next: number; end: number },
  ) {
    this.#options = options
    this.#claim = claim
    this.#dead = dead
    this.#ledger = ledger
    this.#next = next
    this.#claimedAt = end
  }

  get position(): number {
    return this.#next
  }

  get hasRoom(): boolean {
    return this.#open < OPEN_MAX
  }

  /** Payments under way, and payments known. */
  get counts(): { readonly open: number; readonly known: number } {
    return { open: this.#open, known: this.#ledger.size }
  }

  /** Takes in what a fetch brought. Calls must not overlap. */
  async take(slice: Slice): Promise<void> {
    const { clock, meter } = this.#options.ports
    const startedAt = clock.now()
    for (const record of slice.records) {
      if (record.offset < this.#next) continue
      const message = await read(record, INTENTS, { options: this.#options, claim: this.#claim, dead: this.#dead })
      if (message?.type === 'payment_intent') this.#intent({ intent: message.value, offset: record.offset })
      this.#next = record.offset + 1
    }
    this.#next = Math.max(this.#next, slice.next)
    if (this.#next >= this.#claimedAt) this.#ledger.restored()
    this.#ledger.forget(clock.now() / 1_000)
    if (slice.records.length > 0) meter.applied(OWNER, slice.records.length, clock.now() - startedAt)
  }

  /** Ends all settling where it stands. */
  async close(): Promise<void> {
    this.#abort.abort()
    await this.#claim.close()
  }

  #intent(placed: Placed): void {
    const task = this.#ledger.take(placed, this.#now())
    const said = { time: this.#now(), by: 'unknown' } as const
    if (task === 'conflict')
      this.#guard(this.#write([eventOf(placed, { ...said, event: 'conflict', reason: 'payment_already_used' })]))
    const isBegun = (this.#ledger.open(placed.intent.payment_id)?.sent.length ?? 0) > 0
    const refusal = refusalOf(placed.intent, this.#options.seller, this.#now() / 1e6)
    if (task === 'bought') this.#guard(this.#refuse(placed, BOUGHT_OTHERWISE))
    else if (task === 'stale') this.#guard(this.#refuse(placed, 'unexpected_settle_error'))
    else if (task === 'settle' && refusal !== null && !isBegun) this.#guard(this.#refuse(placed, refusal))
    else if (task === 'settle') this.#guard(this.#settle(placed))
  }

  #refuse(placed: Placed, reason: string): Promise<void> {
    this.#options.payments.failed(reason)
    return this.#ended(placed, { is: 'failed', tx: null, reason })
  }

  async #settle(placed: Placed): Promise<void> {
    const { settler, payments, ports } = this.#options
    const { intent } = placed
    const open = this.#ledger.open(intent.payment_id)
    if (open === undefined) return
    const startedAt = ports.clock.now()
    this.#open += 1
    const settling = settler.settle({
      intent,
      sent: [...open.sent],
      sending: (sent) => this.#sending(placed, open, sent),
      signal: this.#abort.signal,
    })
    void this.#remind(placed, open)
    try {
      const outcome = await settling
      await this.#ended(placed, outcome)
      if (outcome.is === 'settled') payments.settled(outcome.by, ports.clock.now() - startedAt)
      else payments.failed(outcome.reason)
    } finally {
      this.#open -= 1
    }
  }

  /** The log has it before anything is handed out; a former owner that has just woken is refused here. */
  async #sending(placed: Placed, open: Open, { tx, raw }: Sent): Promise<void> {
    const { by } = this.#options.settler
    open.sent.push({ tx, raw })
    await this.#write([eventOf(placed, { event: 'broadcast', time: this.#now(), tx, raw, by })])
  }

  /** Says that there is no outcome yet, once. */
  async #remind(placed: Placed, open: Open): Promise<void> {
    await this.#options.ports.clock.delay(this.#options.settleMs)
    const isOpen = this.#ledger.open(placed.intent.payment_id) === open
    if (!isOpen || open.isPending || this.#abort.signal.aborted) return
    open.isPending = true
    this.#options.payments.pending()
    const { tx = null } = open.sent.at(-1) ?? {}
    const said = { event: 'pending', time: this.#now(), tx, reason: 'settlement_pending' } as const
    this.#guard(this.#write([eventOf(placed, said)]))
  }

  async #ended({ intent }: Placed, outcome: Outcome): Promise<void> {
    const told = this.#ledger.end(intent.payment_id, outcome)
    const time = this.#now()
    await this.#write(
      told.map((placed) => eventOf(placed, { event: outcome.is, time, ...wordsOf(outcome, this.#options.settler.by) })),
    )
  }

  async #write(events: readonly PaymentEvent[]): Promise<void> {
    const { codec, clock, meter } = this.#options.ports
    const time = clock.now()
    const records: OutRecord[] = events.map((event) => ({
      key: event.payment_id,
      value: codec.encode(EVENTS, 'payment_event', event),
      time,
    }))
    if (records.length === 0) return
    await this.#claim.send(EVENTS, PARTITION, records)
    meter.outputs(OWNER, EVENTS, records.length)
  }

  /** The first failure ends the desk; another is opened, and finds in the log what this one has left. */
  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (this.#isFailed || this.#abort.signal.aborted) return
      this.#isFailed = true
      this.#options.onFailed(error)
    })
  }

  #now(): Micros {
    return this.#options.ports.clock.now() * 1_000
  }
}

/** What was undone after we had sent it. */
function failureOf({ event, by, payer, tx, time, payment_id: id }: PaymentEvent, ledger: Ledger): Failure[] {
  const { raw = null } = ledger.open(id)?.sent.at(-1) ?? {}
  if (event !== 'failed' || by !== 'us' || tx === null || raw === null) return []
  return [{ payer, tx: hex(tx), raw, time: time / 1_000 }]
}

function wordsOf(outcome: Outcome, by: Settler['by']): Partial<PaymentEvent> {
  const { tx } = outcome
  if (outcome.is === 'failed') return { tx, reason: outcome.reason, by: tx === null ? 'unknown' : by }
  return { tx, block: outcome.block, by: outcome.by }
}

/** The record; undefined for one that cannot be read: set aside, never in the way of the others. */
async function read(
  record: LogRecord,
  topic: typeof EVENTS | typeof INTENTS,
  { options, claim, dead }: { options: DeskOptions; claim: Claim; dead: DeadLetters },
): Promise<Message | undefined> {
  if (record.value === null) return undefined
  try {
    return await options.decoder.decodeOrAsk(record.value)
  } catch (error) {
    if (!(error instanceof UndecodableError)) throw error
    dead.add(topic, record, causeOf(error))
    await dead.write(claim)
    return undefined
  }
}
