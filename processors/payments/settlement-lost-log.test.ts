import { describe, expect, it } from 'vitest'
import type { LogGap, PaymentEvent, PaymentIntent } from '../../schemas/records.ts'
import type { Clock } from '../kernel/ports.ts'
import { codec, testTask, testTaskOn, type TestTask } from '../kernel/testing/task.ts'
import { intentOf, NOW, SELLER } from './testing/intents.ts'
import { EVENTS, INTENTS, PARTITION, Settlement, type SettlementOptions } from './settlement.ts'
import type { Outcome, Settler, Settling } from './settler.ts'

const nothing = (): void => undefined
const clock: Clock = {
  now: () => NOW * 1_000,
  steady: () => NOW * 1_000,
  delay: (ms) => (ms === 0 ? Promise.resolve() : new Promise(nothing)),
  turn: () => Promise.resolve(),
}

/** Sends each payment once and says how it ended when it is told to. */
class Bank implements Settler {
  readonly by = 'us'
  readonly trouble = null
  readonly losses = { gas: 0n, cooling: 0 }
  readonly recall = nothing
  readonly sent: string[] = []
  readonly #ends = new Map<string, PromiseWithResolvers<Outcome>>()

  async settle({ intent, sent, sending }: Settling): Promise<Outcome> {
    const id = intent.payment_id
    if (sent.length === 0) {
      await sending({ tx: '0xaa', raw: null })
      this.sent.push(id)
    }
    return this.#end(id).promise
  }

  settled(id: string): void {
    this.#end(id).resolve({ is: 'settled', tx: '0xaa', block: 7, by: 'us' })
  }

  failed(id: string): void {
    this.#end(id).resolve({ is: 'failed', tx: null, reason: 'insufficient_funds' })
    this.#ends.delete(id)
  }

  #end(id: string): PromiseWithResolvers<Outcome> {
    const known = this.#ends.get(id) ?? Promise.withResolvers<Outcome>()
    this.#ends.set(id, known)
    return known
  }
}

interface Begun extends TestTask {
  readonly bank: Bank
  settlement: Settlement
}

async function begin(before?: Begun, policy: SettlementOptions['onLostLog'] = 'go-on'): Promise<Begun> {
  await before?.settlement.owned.close()
  const world = before === undefined ? testTask({}, clock) : testTaskOn(before.broker, {}, clock)
  const bank = before?.bank ?? new Bank()
  const settlement = await Settlement.open({
    ...world,
    onLostLog: policy,
    settler: bank,
    seller: SELLER,
    payments: { settled: nothing, failed: nothing, pending: nothing },
    settleMs: 20_000,
  })
  void settlement.owned.failed.then((error) => {
    throw error
  })
  return { ...world, bank, settlement }
}

function ask({ broker }: TestTask, ...names: readonly string[]): void {
  for (const name of names) {
    const intent = asked(name)
    const value = codec.encode(INTENTS, 'payment_intent', intent)
    broker.append(INTENTS, PARTITION, [{ key: intent.payment_id, value, time: NOW * 1_000 }])
  }
}

/** A request by its name: the first letter is its payment. */
function asked(name: string): PaymentIntent {
  const nonce = `0x${name.charCodeAt(0).toString(16).padStart(64, '0')}`
  return intentOf({ payment_id: name.charAt(0), request_id: name, nonce, created: NOW * 1e6 })
}

async function read({ settlement, ports }: Begun, rounds = 4): Promise<void> {
  for (let index = 0; index < rounds; index++) {
    const position = { topic: INTENTS, partition: PARTITION, offset: settlement.owned.position(INTENTS) }
    const [slice] = await ports.reader.fetch([position], { maxWaitMs: 0, maxBytesPerPartition: 1e6 })
    if (slice !== undefined) await settlement.work([slice])
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate) // what was taken in is settled meanwhile
  }
}

function said({ broker }: TestTask): string[] {
  return decoded<PaymentEvent>(broker.records(EVENTS, PARTITION), 'payment_event').map(
    ({ event, request_id: request }) => `${event} ${request}`,
  )
}

function gaps({ broker }: TestTask): LogGap[] {
  return decoded<LogGap>(broker.records('control.gaps', PARTITION), 'log_gap')
}

function requests({ broker }: TestTask): string[] {
  return decoded<PaymentIntent>(broker.records(INTENTS, PARTITION), 'payment_intent').map(
    ({ request_id: request }) => request,
  )
}

function decoded<Value>(records: readonly { readonly value: Buffer | null }[], type: string): Value[] {
  return records.flatMap(({ value }) => {
    const message = value === null ? undefined : codec.decode(value)
    return message?.type === type ? [message.value as Value] : []
  })
}

/** Three payments are under way when the log loses the intents of the last two. */
async function cut(): Promise<Begun> {
  const begun = await begin()
  ask(begun, 'a1', 'b1', 'c1')
  await read(begun)
  begun.broker.lose(INTENTS, PARTITION, 1)
  return begun
}

describe('intents that lost their tail', () => {
  it('are gone on with where they differ: what came in their place is settled, and the gap is told', async () => {
    const begun = await cut()
    ask(begun, 'd1')
    await read(begun)
    expect(begun.bank.sent).toEqual(['a', 'b', 'c', 'd'])
    expect(gaps(begun)).toMatchObject([
      { reader: 'payments', topic: INTENTS, reason: 'cut', position: 3, next: 1, shift: 3 },
    ])
    expect(begun.notes.sums['gaps']).toBe(1)
  })

  it('have those that are under way again, once, so that the next owner ends what this one has sent', async () => {
    const begun = await cut()
    await read(begun)
    expect(requests(begun)).toEqual(['a1', 'b1', 'c1'])
    const next = await begin(begun)
    await read(next)
    for (const id of ['a', 'b', 'c']) next.bank.settled(id)
    await read(next)
    expect(next.bank.sent).toEqual(['a', 'b', 'c'])
    expect(said(next).filter((word) => word.startsWith('settled'))).toEqual(['settled a1', 'settled b1', 'settled c1'])
    expect(gaps(next)).toHaveLength(1)
  })

  it('give a place twice, and what is asked there is no old request', async () => {
    const begun = await cut()
    begun.bank.failed('c')
    await read(begun)
    ask(begun, 'c2')
    await read(begun)
    expect(begun.bank.sent).toEqual(['a', 'b', 'c', 'c'])
    const next = await begin(begun)
    await read(next)
    next.bank.settled('c')
    await read(next)
    expect(said(next).filter((word) => word.endsWith('c2'))).toEqual(['broadcast c2', 'settled c2'])
  })

  it('charge nobody who was told that the payment failed, although its intent is written again', async () => {
    const begun = await cut()
    begun.bank.failed('c')
    await read(begun)
    ask(begun, 'c1') // by who wrote it first, who had not heard yet
    await read(begun)
    const next = await begin(begun)
    await read(next)
    expect(next.bank.sent).toEqual(['a', 'b', 'c'])
    expect(said(next).filter((word) => word.endsWith('c1'))).toEqual(['broadcast c1', 'failed c1'])
  })

  it('are found at the next opening', async () => {
    const begun = await cut()
    ask(begun, 'd1', 'e1', 'f1', 'g1')
    const next = await begin(begun)
    await read(next)
    expect(next.bank.sent).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    expect(gaps(next)).toMatchObject([{ reason: 'cut', position: 3, next: 1, shift: 3 }])
    await read(await begin(next))
    expect(gaps(next)).toHaveLength(1)
  })

  it('end the process where it is to stop, and nothing is sent', async () => {
    const begun = await cut()
    ask(begun, 'd1')
    await expect(begin(begun, 'stop')).rejects.toMatchObject({ code: 'lost-log' })
    expect(begun.bank.sent).toEqual(['a', 'b', 'c'])
  })
})

describe('another log in the place of the intents', () => {
  it('that is shorter is gone on with at its end: nothing that is asked there is passed over', async () => {
    const begun = await begin()
    begun.broker.restart() // the other one knows nothing of this epoch
    ask(begun, 'a1', 'b1', 'c1')
    await read(begun)
    for (const id of ['a', 'b', 'c']) begun.bank.settled(id)
    begun.broker.replace(INTENTS, PARTITION)
    await read(begun)
    ask(begun, 'd1', 'e1')
    await read(begun)
    expect(begun.bank.sent).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(gaps(begun)).toMatchObject([{ reason: 'replaced', position: 3, next: 0 }])
  })

  it('is gone on with at its end, with a recorded gap, also after a further restart', async () => {
    const begun = await cut()
    begun.broker.replace(INTENTS, PARTITION)
    ask(begun, 'd1', 'e1', 'g1')
    const next = await begin(begun)
    ask(next, 'f1')
    await read(next)
    await read(await begin(next))
    expect(next.bank.sent).toEqual(['a', 'b', 'c', 'f'])
    expect(gaps(next)).toMatchObject([{ reason: 'replaced', position: 3, next: 3 }])
  })

  it('is read on from there although its owner ended before it had read anything of it', async () => {
    const begun = await cut()
    begun.broker.replace(INTENTS, PARTITION)
    ask(begun, 'd1', 'e1', 'g1')
    const next = await begin(begun)
    ask(next, 'f1')
    await read(await begin(next))
    expect(next.bank.sent).toEqual(['a', 'b', 'c', 'f'])
    expect(gaps(next)).toHaveLength(1)
  })
})

it('intents that were deleted before they were read are a gap', async () => {
  const begun = await begin()
  ask(begun, 'a1')
  await read(begun)
  ask(begun, 'b1', 'c1')
  begun.broker.truncate(INTENTS, PARTITION, 2)
  await read(begun)
  expect(begun.bank.sent).toEqual(['a', 'c'])
  expect(gaps(begun)).toMatchObject([{ reason: 'retention', position: 1, next: 2, missing: 1 }])
})
