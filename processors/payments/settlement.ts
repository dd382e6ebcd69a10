import type { OutRecord, Slice } from '../../infra/kafka/seam.ts'
import type { LogGap, PaymentEvent, PaymentIntent } from '../../schemas/records.ts'
import type { Micros } from '../../schemas/records.ts'
import type { LostOutput, OwnedOptions, OwnedPartition } from '../kernel/owned-partition.ts'
import { openOwned } from '../kernel/owned-partition.ts'
import type { JournaledGap } from '../kernel/log-gaps.ts'
import type { PartitionWork } from '../kernel/partition-owner.ts'
import { boughtBy } from '../credit/credit.ts'
import { refusalOf, BOUGHT_OTHERWISE } from './wire/refusals.ts'
import { eventOf, KNOWN_MS, Ledger, type Open, type LoggedIntent } from './ledger.ts'
import type { Failure, Outcome, Sent, Settler } from './settler.ts'
import { hex } from './token.ts'
import type { Seller } from './wire/offer.ts'
import { RESERVING } from './wire/purchase.ts'

export const INTENTS = 'payments.intents'
export const EVENTS = 'payments.events'
/** Where what was bought as credit is counted. */
export const CREDIT_LOG = 'payments.credit'
/** The one partition: one wallet has one writer. */
export const PARTITION = 0
export const OWNER = 'payments'
/** Under what an event keeps the last intent that had been read. */
const STOOD = `${INTENTS}/${PARTITION}`
/** Whoever wrote an intent may have a clock ahead of ours by less: what became of it is read from that much earlier on. */
const SKEW_MS = 3_600_000
/** Payments under way; beyond, no more are taken in until some have ended. */
const OPEN_MAX = 1_000
/** How often it looks for payments that nobody can bring again. */
const FORGETS_EVERY_MS = 60_000

/** What is counted of payments. */
export interface PaymentMeter {
  settled(by: PaymentEvent['by'], ms: number): void
  failed(reason: string): void
  pending(): void
}

export interface SettlementOptions extends Pick<OwnedOptions, 'ports' | 'decoder' | 'onLostLog'> {
  readonly settler: Settler
  readonly seller: Seller
  readonly payments: PaymentMeter
  /** How long until a payment without an outcome is said to be pending, milliseconds. */
  readonly settleMs: number
}

/** The intents' partition, from its claim to its end: what nobody else may do meanwhile is done here. */
export class Settlement implements PartitionWork {
  readonly owned: OwnedPartition
  readonly #options: SettlementOptions
  readonly #ledger: Ledger
  /** Where the intents ended at the claim: all before may have been answered by a former owner. */
  readonly #claimedAt: number
  #open = 0
  /** By the steady clock: the wall clock may be put back. */
  #forgetsAtMs = 0

  /**
   * Claims the events, then reads what they say, then checks whether the intents are those that were read. They are read
   * again over a day: what is not answered is gone on with.
   */
  static open(options: SettlementOptions): Promise<Settlement> {
    const { ports, decoder, onLostLog } = options
    const outputs = [EVENTS, CREDIT_LOG].map((topic) => ({ topic, partition: PARTITION }))
    const owning = { name: OWNER, partition: PARTITION, inputs: [INTENTS], outputs, ports, decoder, onLostLog } as const
    return openOwned(owning, async (owned) => {
      const now = ports.clock.now()
      const offsetOf = async (topic: string, at: 'end' | { time: number }): Promise<number> =>
        (await ports.reader.offsets(topic, [PARTITION], at)).get(PARTITION) ?? 0
      const next = await offsetOf(INTENTS, { time: now - KNOWN_MS })
      const { ledger, last } = await restore(owned, options, await offsetOf(EVENTS, { time: now - KNOWN_MS - SKEW_MS }))
      const settlement = new Settlement(owned, options, ledger, await offsetOf(INTENTS, 'end'))
      await settlement.#begin(next, last)
      return settlement
    })
  }

  private constructor(owned: OwnedPartition, options: SettlementOptions, ledger: Ledger, claimedAt: number) {
    this.owned = owned
    this.#options = options
    this.#ledger = ledger
    this.#claimedAt = claimedAt
  }

  get hasRoom(): boolean {
    return this.#open < OPEN_MAX
  }

  /** Payments under way, and payments known. */
  counts(): { readonly open: number; readonly known: number } {
    return { open: this.#open, known: this.#ledger.size }
  }

  /** Takes in what a fetch brought. */
  async work(slices: readonly Slice[]): Promise<void> {
    for (const slice of slices) await this.#take(slice)
    this.tick()
  }

  /** What nobody can bring again is forgotten; now and then, since all payments of a day are looked at. */
  tick(): void {
    if (this.owned.position(INTENTS) >= this.#claimedAt) this.#ledger.restored()
    const ms = this.#options.ports.clock.steady()
    if (ms < this.#forgetsAtMs) return
    this.#forgetsAtMs = ms + FORGETS_EVERY_MS
    this.#ledger.forget(this.#now() / 1e6)
  }

  async #take(slice: Slice): Promise<void> {
    const records = await this.owned.accept(slice)
    if (records === undefined) return
    const { clock, meter } = this.#options.ports
    const startedAt = clock.now()
    for (const record of records) {
      const message = await this.owned.read(INTENTS, record)
      const offset = record.offset + this.owned.gapsOf(INTENTS).shiftAt(record.offset)
      this.owned.moveTo(INTENTS, record.offset + 1, record)
      if (message?.type === 'payment_intent') this.#intent({ intent: message.value, offset })
    }
    this.owned.moveTo(INTENTS, slice.next)
    if (records.length > 0) meter.applied(OWNER, records.length, clock.now() - startedAt)
  }

  /** `last`: the event that says what the intents were left at; gaps that were told later say where they went on. */
  async #begin(next: number, last: PaymentEvent | undefined): Promise<void> {
    const { owned } = this
    const later = (await owned.readGaps()).filter(({ gap }) => gap.topic === INTENTS && gap.time >= (last?.time ?? 0))
    const from = Math.max(next, owned.gapsOf(INTENTS).replacedUpTo)
    const handlers = {
      onGap: ({ gap }: JournaledGap) => this.#guard(this.#writeAgain(gap)),
      onLostOutputs: (lost: readonly LostOutput[]) => this.#readAnew(lost),
    }
    await owned.begin(new Map([[INTENTS, from]]), last?.stood ?? {}, handlers, later)
  }

  async #readAnew(lost: readonly LostOutput[]): Promise<void> {
    for (const output of lost) await this.owned.tell(output)
    throw new Error(`${EVENTS} has lost its tail`) // what is left to do is read anew
  }

  /** The intents of what was lost that are under way are written again, so that a later owner ends what this one has sent. */
  async #writeAgain({ reason, next }: LogGap): Promise<void> {
    if (reason === 'retention') return
    const lost = this.#ledger.underWay(reason === 'replaced' ? 0 : next + this.owned.gapsOf(INTENTS).shiftAt(next))
    if (lost.length === 0) return
    const { log, codec } = this.#options.ports
    const writer = log.writer()
    const records = lost.map(({ intent }) => ({
      key: intent.payment_id,
      value: codec.encode(INTENTS, 'payment_intent', intent),
      time: intent.created / 1_000,
    }))
    await writer.send(INTENTS, PARTITION, records)
    await writer.close()
  }

  #intent(placed: LoggedIntent): void {
    const task = this.#ledger.take(placed, this.#now())
    const fields = { time: this.#now(), by: 'unknown' } as const
    if (task === 'conflict')
      this.#guard(this.#write([eventOf(placed, { ...fields, event: 'conflict', reason: 'payment_already_used' })]))
    const isBegun = (this.#ledger.open(placed.intent.payment_id)?.sent.length ?? 0) > 0
    const refusal = refusalOf(placed.intent, this.#options.seller, this.#now() / 1e6)
    if (task === 'bought') this.#guard(this.#refuse(placed, BOUGHT_OTHERWISE))
    else if (task === 'stale') this.#guard(this.#refuse(placed, 'unexpected_settle_error'))
    else if (task === 'settle' && placed.intent.version === RESERVING) this.#guard(this.#reserve(placed))
    else if (task === 'settle' && refusal !== null && !isBegun) this.#guard(this.#refuse(placed, refusal))
    else if (task === 'settle') this.#guard(this.#settle(placed))
  }

  /** Nothing is moved: from now on the purchase is what is charged to credit, and payments for it are refused. */
  async #reserve({ intent }: LoggedIntent): Promise<void> {
    const told = this.#ledger.end(intent.payment_id, { is: 'reserved' })
    const event = { event: 'reserved', time: this.#now(), by: 'unknown' } as const
    await this.#write(told.map((placed) => eventOf(placed, event)))
  }

  #refuse(placed: LoggedIntent, reason: string): Promise<void> {
    this.#options.payments.failed(reason)
    return this.#ended(placed, { is: 'failed', tx: null, reason })
  }

  async #settle(placed: LoggedIntent): Promise<void> {
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
      signal: this.owned.signal,
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
  async #sending(placed: LoggedIntent, open: Open, { tx, raw }: Sent): Promise<void> {
    const { by } = this.#options.settler
    open.sent.push({ tx, raw })
    await this.#write([eventOf(placed, { event: 'broadcast', time: this.#now(), tx, raw, by })])
  }

  /** Says that there is no outcome yet, once. */
  async #remind(placed: LoggedIntent, open: Open): Promise<void> {
    await this.#options.ports.clock.delay(this.#options.settleMs)
    const isOpen = this.#ledger.open(placed.intent.payment_id) === open
    if (!isOpen || open.isPending || this.owned.signal.aborted) return
    open.isPending = true
    this.#options.payments.pending()
    const { tx = null } = open.sent.at(-1) ?? {}
    const event = { event: 'pending', time: this.#now(), tx, reason: 'settlement_pending' } as const
    this.#guard(this.#write([eventOf(placed, event)]))
  }

  async #ended({ intent }: LoggedIntent, outcome: Outcome): Promise<void> {
    const told = this.#ledger.end(intent.payment_id, outcome)
    const time = this.#now()
    if (outcome.is === 'settled') for (const placed of told) await this.#credit(placed.intent, time)
    await this.#write(
      told.map((placed) => eventOf(placed, { event: outcome.is, time, ...wordsOf(outcome, this.#options.settler.by) })),
    )
  }

  /** Before the payment is said to have settled: until then the next owner would write it again, and it counts once. */
  async #credit(intent: PaymentIntent, time: Micros): Promise<void> {
    const command = boughtBy(intent, intent.request_id, time)
    if (command === undefined) return
    const { codec, meter } = this.#options.ports
    const value = codec.encode(CREDIT_LOG, 'credit_command', command)
    await this.owned.send(CREDIT_LOG, PARTITION, [{ key: command.key_id, value, time: time / 1_000 }])
    meter.outputs(OWNER, CREDIT_LOG, 1)
  }

  async #write(events: readonly PaymentEvent[]): Promise<void> {
    const { codec, clock, meter, report } = this.#options.ports
    const time = clock.now()
    const stood = this.owned.stood(INTENTS)
    const records: OutRecord[] = events.map((event) => ({
      key: event.payment_id,
      value: codec.encode(EVENTS, 'payment_event', { ...event, stood }),
      time,
    }))
    if (records.length === 0) return
    await this.owned.send(EVENTS, PARTITION, records)
    await this.owned.recover()
    meter.outputs(OWNER, EVENTS, records.length)
    for (const { request_id: request, payment_id: payment, event, reason, tx } of events)
      report.info({ request, payment, event, reason, tx }, 'a payment went on')
  }

  /** The first failure ends it; another is opened, and finds in the log what this one has left. */
  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => this.owned.fail(error))
  }

  #now(): Micros {
    return this.#options.ports.clock.now() * 1_000
  }
}

/** What the events say from an offset on, and the last of them that says what the intents were left at. */
async function restore(
  owned: OwnedPartition,
  { ports, settler }: SettlementOptions,
  from: number,
): Promise<{ ledger: Ledger; last: PaymentEvent | undefined }> {
  const ledger = new Ledger()
  const failures: Failure[] = []
  const left: Sent[] = []
  let last: PaymentEvent | undefined
  for await (const records of ports.reader.toEnd(EVENTS, PARTITION, from)) {
    for (const record of records) {
      const message = await owned.read(EVENTS, record)
      if (message?.type !== 'payment_event') continue
      failures.push(...failureOf(message.value, ledger))
      left.push(...leftBy(message.value, ledger))
      ledger.restore(message.value)
      if (STOOD in message.value.stood) last = message.value
    }
  }
  settler.recall(failures, left)
  return { ledger, last }
}

/** What was undone after we had sent it. */
function failureOf({ event, by, payer, tx, time, payment_id: id }: PaymentEvent, ledger: Ledger): Failure[] {
  const { raw = null } = ledger.open(id)?.sent.at(-1) ?? {}
  if (event !== 'failed' || by !== 'us' || tx === null || raw === null) return []
  return [{ payer, tx: hex(tx), raw, time: time / 1_000 }]
}

/** What we have sent for a payment that has ended otherwise. */
function leftBy({ event, by, payment_id: id }: PaymentEvent, ledger: Ledger): readonly Sent[] {
  const isOther = event === 'failed' || (event === 'settled' && by === 'other')
  return isOther ? (ledger.open(id)?.sent ?? []) : []
}

function wordsOf(outcome: Outcome, by: Settler['by']): Partial<PaymentEvent> {
  const { tx } = outcome
  if (outcome.is === 'failed') return { tx, reason: outcome.reason, by: tx === null ? 'unknown' : by }
  return { tx, block: outcome.block, by: outcome.by }
}
