import type { Claim, LogRecord, OutRecord, Slice } from '../../infra/kafka/seam.ts'
import type { PaymentEvent } from '../../schemas/records.ts'
import type { Message, Micros } from '../../schemas/records.ts'
import { claimed } from '../kernel/claimed.ts'
import { DEAD_LETTERS, DeadLetters } from '../kernel/dead-letters.ts'
import type { Decoder } from '../kernel/decoder.ts'
import { Grounds } from '../kernel/grounds.ts'
import { GAPS, InputGaps, readGaps, type Told } from '../kernel/log-gaps.ts'
import type { LostLogPolicy, Ports } from '../kernel/ports.ts'
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
/** Under what an event keeps the last intent that had been read. */
const STOOD = `${INTENTS}/${PARTITION}`
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
  readonly onLostLog: LostLogPolicy
  /** Called once: it is of no use any more. */
  readonly onFailed: (error: unknown) => void
}

/** The intents' partition, from its claim to its end: what nobody else may do meanwhile is done here. */
export class Desk {
  readonly #options: DeskOptions
  readonly #claim: Claim
  readonly #dead: DeadLetters
  readonly #ledger: Ledger
  readonly #grounds: Grounds
  readonly #gaps = new InputGaps()
  readonly #abort = new AbortController()
  #next: number
  #open = 0
  #isFailed = false

  /**
   * Claims the events, then reads what they say, then looks whether the intents are those that were read. They are read
   * again over a day: what is not answered is gone on with.
   */
  static async open(options: DeskOptions): Promise<Desk> {
    const { log, reader, clock, meter } = options.ports
    const startedAt = clock.now()
    const targets = [EVENTS, DEAD_LETTERS, GAPS].map((topic) => ({ topic, partition: PARTITION }))
    return claimed(log, `${OWNER}-${PARTITION}`, targets, async (claim) => {
      const dead = new DeadLetters(OWNER, PARTITION, options.ports)
      const since = async (topic: string, time: number): Promise<number> =>
        (await reader.offsets(topic, [PARTITION], { time })).get(PARTITION) ?? 0
      const intents = await since(INTENTS, startedAt - KNOWN_MS)
      const events = await since(EVENTS, startedAt - KNOWN_MS - SKEW_MS)
      const ledger = new Ledger()
      const failures: Failure[] = []
      let last: PaymentEvent | undefined
      for await (const records of reader.toEnd(EVENTS, PARTITION, events)) {
        for (const record of records) {
          const message = await read(record, EVENTS, { options, claim, dead })
          if (message?.type !== 'payment_event') continue
          failures.push(...failureOf(message.value, ledger))
          ledger.restore(message.value)
          if (STOOD in message.value.stood) last = message.value
        }
      }
      options.settler.recall(failures)
      const gaps = await readGaps(reader, options.decoder, OWNER, PARTITION, dead)
      await dead.write(claim)
      const end = (await reader.offsets(INTENTS, [PARTITION], 'end')).get(PARTITION) ?? 0
      const desk = new Desk({ options, claim, dead }, { ledger, next: intents, end, stood: last?.stood ?? {} })
      await desk.#begin(gaps, last?.time ?? 0)
      void claim.lost.then((error) => desk.#lose(error))
      meter.restored(OWNER, clock.now() - startedAt)
      return desk
    })
  }

  /** Where the intents ended at the claim: all before may have been answered by a former owner. */
  readonly #claimedAt: number
  /** Up to where the intents were read, by whomever: what lies before is read once more. */
  #reached: number

  private constructor(
    { options, claim, dead }: { options: DeskOptions; claim: Claim; dead: DeadLetters },
    { ledger, next, end, stood }: { ledger: Ledger; next: number; end: number; stood: PaymentEvent['stood'] },
  ) {
    const { ports, onLostLog: policy } = options
    this.#options = options
    this.#claim = claim
    this.#dead = dead
    this.#ledger = ledger
    this.#grounds = new Grounds({ reader: OWNER, partition: PARTITION, ports, claim, policy }, stood)
    this.#next = next
    this.#reached = Math.max(next, (stood[STOOD]?.offset ?? -1) + 1)
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
    if (slice.error === 'moved' || slice.from > this.#next) return
    const begin = slice.records.find(({ offset }) => offset >= this.#reached)
    const isNew = begin !== undefined && this.#grounds.isNewEpoch(INTENTS, PARTITION, begin)
    if ((slice.error === 'out-of-range' || isNew) && (await this.#look())) return
    if (slice.error === 'out-of-range') {
      this.#next = Math.max(this.#next, slice.start) // what is read once more is not there any more
      return
    }
    const { clock, meter } = this.#options.ports
    const startedAt = clock.now()
    for (const record of slice.records) {
      if (record.offset < this.#next) continue
      const message = await read(record, INTENTS, { options: this.#options, claim: this.#claim, dead: this.#dead })
      const offset = record.offset + this.#gaps.shiftAt(record.offset)
      if (record.offset >= this.#reached) this.#grounds.read(INTENTS, PARTITION, record)
      if (message?.type === 'payment_intent') this.#intent({ intent: message.value, offset })
      this.#moveTo(record.offset + 1)
    }
    this.#moveTo(Math.max(this.#next, slice.next))
    if (this.#next >= this.#claimedAt) this.#ledger.restored()
    this.#ledger.forget(clock.now() / 1_000)
    if (slice.records.length > 0) meter.applied(OWNER, slice.records.length, clock.now() - startedAt)
  }

  #moveTo(offset: number): void {
    this.#next = offset
    this.#reached = Math.max(this.#reached, offset)
  }

  /** `since`: when what the intents stand on was written; gaps that were told later say where they went on. */
  async #begin(gaps: readonly Told[], since: Micros): Promise<void> {
    for (const told of gaps) {
      const { topic, reason, next, time } = told.gap
      if (topic !== INTENTS) continue
      this.#gaps.add(told)
      if (reason === 'replaced') this.#next = Math.max(this.#next, next)
      if (time >= since) await this.#goOn(next)
    }
    await this.#look()
  }

  /**
   * Looks whether the intents are those that were read; true: they go on elsewhere. Those of what was lost that are under
   * way are written again, so that a later owner ends what this one has sent.
   */
  async #look(): Promise<boolean> {
    const position = { topic: INTENTS, partition: PARTITION, offset: this.#reached }
    const lost = await this.#grounds.look(position)
    if (lost === undefined) return false
    const { is, next } = lost
    if (!this.#gaps.knows(position.offset, next)) {
      const shift = this.#gaps.shiftBehind(position.offset, next)
      const from = is === 'replaced' ? 0 : next + this.#gaps.shiftAt(next)
      this.#gaps.add(await this.#grounds.tell(position, lost, shift))
      if (is !== 'retention') this.#guard(this.#writeAgain(this.#ledger.underWay(from)))
    }
    this.#next = is === 'cut' ? Math.min(this.#next, next) : Math.max(this.#next, next)
    await this.#goOn(next)
    return true
  }

  async #goOn(next: number): Promise<void> {
    await this.#grounds.moveTo({ topic: INTENTS, partition: PARTITION, offset: next })
    this.#reached = next
  }

  async #writeAgain(lost: readonly Placed[]): Promise<void> {
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
    const stood = this.#grounds.saved(INTENTS, PARTITION)
    const records: OutRecord[] = events.map((event) => ({
      key: event.payment_id,
      value: codec.encode(EVENTS, 'payment_event', { ...event, stood }),
      time,
    }))
    if (records.length === 0) return
    this.#grounds.wrote(EVENTS, PARTITION, await this.#claim.send(EVENTS, PARTITION, records), records)
    for (const lost of this.#grounds.takeOverwritten()) {
      await this.#grounds.tellOutput(lost)
      throw new Error(`${EVENTS} has lost its tail`) // what is left to do is read anew
    }
    meter.outputs(OWNER, EVENTS, records.length)
  }

  /** The first failure ends the desk; another is opened, and finds in the log what this one has left. */
  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => this.#lose(error))
  }

  #lose(error: unknown): void {
    if (this.#isFailed || this.#abort.signal.aborted) return
    this.#isFailed = true
    this.#options.onFailed(error)
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

/** The record; one that cannot be read is never in the way of the others. */
async function read(
  record: LogRecord,
  topic: typeof EVENTS | typeof INTENTS,
  { options, claim, dead }: { options: DeskOptions; claim: Claim; dead: DeadLetters },
): Promise<Message | undefined> {
  const message = await dead.read(options.decoder, topic, record)
  await dead.write(claim)
  return message
}
