import fc from 'fast-check'
import { expect, it } from 'vitest'
import { localCodec } from '../../schemas/codec.ts'
import { paymentId } from '../../schemas/keys.ts'
import type { PaymentEvent } from '../../schemas/records.ts'
import { Decoder } from '../kernel/decoder.ts'
import { quietMeter, quietReport } from '../kernel/quiet.ts'
import { MemoryBroker, stillClock } from '../kernel/testing/memory-log.ts'
import type { Clock, Ports } from '../kernel/ports.ts'
import { testTask } from '../kernel/testing/task.ts'
import { eventOf } from './ledger.ts'
import { EVENTS, INTENTS, PARTITION, Settlement } from './settlement.ts'
import { intentOf, NOW, SELLER } from './testing/intents.ts'
import { AbortedError, type Outcome, type Sent, type Settler, type Settling } from './settler.ts'
import { LAW_MS } from '../kernel/testing/law.ts'

/** `late`: settled some hours later; an owner that opens meanwhile finds it so. */
type InjectedOutcome = 'settled' | 'failed' | 'late'

const codec = localCodec()
const MINUTE = 60_000
/** The clock of who writes intents is ahead of ours, milliseconds. */
const AHEAD = 5 * MINUTE

/** A chain in memory: what becomes of each payment is fixed with it. */
class Bank implements Settler {
  readonly by = 'us'
  readonly trouble = null
  readonly losses = { gas: 0n, cooling: 0 }
  readonly outcomes = new Map<string, InjectedOutcome>()
  readonly charged: string[] = []
  #waiting: (() => void)[] = []

  async settle({ intent, sent, sending, signal }: Settling): Promise<Outcome> {
    const id = intent.payment_id
    const outcome = this.outcomes.get(id)
    if (sent.length === 0) {
      await sending({ tx: '0xaa', raw: null })
      if (outcome !== 'failed') this.charged.push(id)
    }
    if (outcome === 'failed') return { is: 'failed', tx: '0xaa', reason: 'invalid_transaction_state' }
    if (outcome === 'late' && sent.length === 0) await this.#mined(signal)
    return { is: 'settled', tx: '0xaa', block: 7, by: 'us' }
  }

  recall(): void {
    // nothing is lost here
  }

  mine(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #mined(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(resolve)
      signal.addEventListener('abort', () => reject(new AbortedError('the settling was ended')))
    })
  }
}

interface Step {
  readonly minutes: number
  /** The owner is gone, and another one opens. */
  readonly restarts: boolean
  readonly outcome: InjectedOutcome
  /** Requests that bring the step's payment. */
  readonly brings: number
  /** Records of one fetch. */
  readonly batch: number
}

/** The real settlement over a log in memory: owners one after the other, each reading on in batches. */
async function history(steps: readonly Step[]): Promise<{ events: PaymentEvent[]; bank: Bank }> {
  let now = NOW * 1_000
  const clock: Clock = {
    now: () => now,
    steady: () => now,
    delay: (ms) => (ms === 0 ? Promise.resolve() : new Promise(() => undefined)),
    turn: () => Promise.resolve(),
  }
  const broker = new MemoryBroker(clock)
  const bank = new Bank()
  const log = broker.connect()
  const lookUp = (): Promise<boolean> => Promise.resolve(false)
  const hint = (): Promise<void> => Promise.resolve()
  const ports: Ports = { log, reader: log.reader(), codec, lookUp, hint, clock, meter: quietMeter, report: quietReport }
  const open = async (): Promise<Settlement> => {
    const opened = await Settlement.open({
      ports,
      decoder: new Decoder(codec, lookUp),
      settler: bank,
      seller: SELLER,
      payments: { settled: () => undefined, failed: () => undefined, pending: () => undefined },
      settleMs: 20_000,
      onLostLog: 'go-on',
    })
    void opened.owned.failed.then((error) => {
      throw error
    })
    return opened
  }
  let settlement = await open()
  for (const [index, { minutes, restarts, outcome, brings, batch }] of steps.entries()) {
    now += minutes * MINUTE
    if (index % 4 === 0) bank.mine()
    if (restarts) {
      await settlement.owned.close()
      settlement = await open()
    }
    const id = bring(broker, { index, brings, now: now + AHEAD })
    bank.outcomes.set(id, outcome)
    await readOn(settlement, broker, batch)
  }
  await settlement.owned.close()
  settlement = await open()
  await readOn(settlement, broker, 1)
  await settlement.owned.close()
  const events = broker.records(EVENTS, PARTITION).flatMap(({ value }) => {
    const message = value === null ? undefined : codec.decode(value)
    return message?.type === 'payment_event' ? [message.value] : []
  })
  return { events, bank }
}

function bring(broker: MemoryBroker, { index, brings, now }: { index: number; brings: number; now: number }): string {
  const nonce = `0x${String(index).padStart(64, '0')}`
  const { chain_id: chain, asset, from } = intentOf()
  const id = paymentId(chain, asset, from, nonce)
  const times = { created: now * 1_000, valid_before: now / 1_000 + 300 }
  for (let request = 0; request < brings; request++) {
    const intent = intentOf({ payment_id: id, request_id: `${index}-${request}`, nonce, ...times })
    broker.append(INTENTS, PARTITION, [{ key: id, value: codec.encode(INTENTS, 'payment_intent', intent), time: now }])
  }
  return id
}

async function readOn(settlement: Settlement, broker: MemoryBroker, batch: number): Promise<void> {
  for (;;) {
    const slice = broker
      .at(INTENTS, PARTITION)
      .slice({ topic: INTENTS, partition: PARTITION, offset: settlement.owned.position(INTENTS) }, Infinity)
    if (slice.records.length === 0) return
    const records = slice.records.slice(0, batch)
    await settlement.work([{ ...slice, records, next: (records.at(-1)?.offset ?? 0) + 1 }])
    await new Promise(setImmediate) // what was taken is settled meanwhile
  }
}

const step: fc.Arbitrary<Step> = fc.record({
  minutes: fc.integer({ min: 0, max: 200 }),
  restarts: fc.boolean(),
  outcome: fc.constantFrom<InjectedOutcome>('settled', 'settled', 'late', 'failed'),
  brings: fc.integer({ min: 1, max: 3 }),
  batch: fc.integer({ min: 1, max: 3 }),
})

it('says of each payment what became of it, once, over many restarts', { timeout: LAW_MS }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const { events, bank } = await history(steps)
      const said = Map.groupBy(events, ({ payment_id: id }) => id)
      const ends = [...bank.outcomes.keys()].map(
        (id) =>
          new Set(said.get(id)?.flatMap(({ event }) => (event === 'settled' || event === 'failed' ? [event] : []))),
      )
      expect(ends).toEqual(
        [...bank.outcomes.values()].map((outcome) => new Set([outcome === 'late' ? 'settled' : outcome])),
      )
      expect(events.filter(({ event }) => event === 'settled')).toHaveLength(bank.charged.length)
      expect(new Set(bank.charged).size).toBe(bank.charged.length)
    }),
    { numRuns: 200 },
  )
})

it('tells the settler what a former owner has sent for payments that somebody else has settled', async () => {
  const delay: Clock['delay'] = (ms) => (ms === 0 ? Promise.resolve() : new Promise(() => undefined))
  const world = testTask({}, { ...stillClock, now: () => NOW * 1_000, delay })
  const tell = (id: string, fields: Pick<PaymentEvent, 'event'> & Partial<PaymentEvent>): void => {
    const event = eventOf({ intent: intentOf({ payment_id: id }), offset: 0 }, { time: NOW * 1e6, ...fields })
    const value = codec.encode(EVENTS, 'payment_event', event)
    world.broker.append(EVENTS, PARTITION, [{ key: id, value, time: NOW * 1_000 }])
  }
  for (const [by, tx] of [['us', '0xaa'] as const, ['other', '0xbb'] as const]) {
    tell(by, { event: 'broadcast', tx, raw: tx })
    tell(by, { event: 'settled', by })
  }
  const recalled: Sent[] = []
  const recall: Settler['recall'] = (_, left) => void recalled.push(...left)
  const payments = { settled: () => undefined, failed: () => undefined, pending: () => undefined }
  const settler = Object.assign(new Bank(), { recall })
  const settlement = await Settlement.open({ ...world, settler, seller: SELLER, payments, settleMs: 20_000 })
  expect(recalled).toEqual([{ tx: '0xbb', raw: '0xbb' }])
  await settlement.owned.close()
})
