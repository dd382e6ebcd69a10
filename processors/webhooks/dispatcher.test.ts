import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { hostClock } from '../../infra/clock.ts'
import type { Log, LogRecord } from '../../infra/kafka/seam.ts'
import type { Trigger } from '../../schemas/records.ts'
import { MemoryBroker } from '../kernel/testing/memory-log.ts'
import { codec, lettersIn } from '../kernel/testing/task.ts'
import type { Clock } from '../kernel/ports.ts'
import type { Answer, Post } from './agent.ts'
import type { Send } from './deliver.ts'
import { POSITION } from './delivery.ts'
import { retryAfterSeconds, type Failure } from './attempt.ts'
import {
  append,
  attempts,
  dispatch,
  fastClock,
  pending,
  resendOrder,
  senderTo,
  stopOrder,
  triggerFor,
  triggerTo,
  type DispatchOptions,
  type World,
} from './testing/world.ts'

const POLL = { timeout: 20_000, interval: 5 }

interface Refused {
  readonly error: Failure
  readonly status?: number
  readonly retryAfterSeconds?: number
}
type ReceiverAnswer = 'ok' | 'hang' | 'hang, then fail' | Refused

/** A network that answers as it is told, and knows what was sent. */
class FakeNetwork {
  readonly sent: string[] = []
  readonly #clock: Clock
  answer: (trigger: Trigger, attempt: number) => ReceiverAnswer = () => 'ok'
  #hanging: (() => void)[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  send: Send = async (trigger, attempt, onSent) => {
    const started = this.#clock.now() * 1_000
    this.sent.push(trigger.trigger_id)
    onSent(started)
    const said = this.answer(trigger, attempt)
    if (said === 'hang' || said === 'hang, then fail') await new Promise<void>((resolve) => this.#hanging.push(resolve))
    await delay(0)
    const finished = this.#clock.now() * 1_000
    if (said === 'hang, then fail') return { started, finished, status: 500, is: 'failed', error: 'status' }
    if (typeof said === 'string') return { started, finished, status: 200, is: 'delivered', isCut: false }
    return { started, finished, status: 500, is: 'failed', ...said }
  }

  get hanging(): number {
    return this.#hanging.length
  }

  letGo(): void {
    for (const resolve of this.#hanging.splice(0)) resolve()
  }
}

const worlds: World[] = []

afterEach(async () => {
  await Promise.all(worlds.splice(0).map(({ dispatcher }) => dispatcher.stop()))
})

function begin(given: DispatchOptions = {}): World & { network: FakeNetwork } {
  const clock = given.clock ?? hostClock
  const network = new FakeNetwork(clock)
  const world = dispatch(network.send, { ...given, clock })
  worlds.push(world)
  return { ...world, network }
}

const URL_A = 'https://a.example.com/hook'
const URL_B = 'https://b.example.com/hook'

function numbered(n: number, url = URL_A): Trigger {
  const alert = `alert_btc_1_${n}`
  return triggerTo(url, { alert_id: alert, trigger_id: `${alert}_1`, time: 1_786_060_000_000_000 + n })
}

/** What tells that the ring of `numbered` is over. */
function over(n: number): Trigger {
  const { trigger_id: id, ...ring } = numbered(n)
  return { ...ring, trigger_id: `${id}_over` }
}

/** A client of the log that says how many fetches are under way. */
function watched(broker: MemoryBroker): { readonly log: Log; readonly fetching: () => number } {
  const log = broker.connect()
  let fetching = 0
  const open = log.reader.bind(log)
  vi.spyOn(log, 'reader').mockImplementation(() => {
    const reader = open()
    const fetch = reader.fetch.bind(reader)
    vi.spyOn(reader, 'fetch').mockImplementation((...asked) => {
      fetching += 1
      return fetch(...asked).finally(() => (fetching -= 1))
    })
    return reader
  })
  return { log, fetching: () => fetching }
}

const FAILED: ReceiverAnswer = { error: 'status' }
/** 2026-08-06T23:06:40.333Z: a wait from here to a date has a fraction of a microsecond. */
const DATED_AT = 1_786_057_600_333_000

const saysTwo = ({ value }: LogRecord): boolean => {
  const message = value === null ? undefined : codec.decode(value)
  return message?.type === 'pending' && message.value.attempts === 2
}

describe('a dispatcher', () => {
  it('delivers each trigger once, and the log says so', async () => {
    const { broker, network, dispatcher } = begin()
    for (let n = 0; n < 50; n++) append(broker, numbered(n))
    await expect.poll(() => attempts(broker).length, POLL).toBe(50)
    expect(new Set(network.sent).size).toBe(50)
    expect(attempts(broker).every(({ outcome, number }) => outcome === 'delivered' && number === 1)).toBe(true)
    await expect.poll(() => pending(broker).get(POSITION)?.trigger_offset, POLL).toBe(50)
    expect(dispatcher.health()).toMatchObject({ ok: true, open: 0, inFlight: 0, queued: 0 })
    expect(dispatcher.oldest()).toBeUndefined()
  })

  it('tries again in time where the wall clock is put back, also while nobody had the partition', async () => {
    let [time, off] = [Date.now(), 3_600_000]
    const clock = { ...hostClock, now: () => time + off, steady: () => time }
    const { broker, network, membership } = begin({ clock })
    network.answer = (_, attempt) => (attempt < 3 ? FAILED : 'ok')
    append(broker, numbered(1))
    await expect.poll(() => attempts(broker).length, POLL).toBe(1)
    const putBack = async (): Promise<void> => {
      const due = attempts(broker).at(-1)?.due ?? 0
      off -= 3_600_000
      const soonest = (): number => pending(broker).get(numbered(1).trigger_id)?.due ?? Infinity
      await expect.poll(soonest, POLL).toBe(due - 3_600_000_000)
    }
    await putBack()
    time += 10_000
    await expect.poll(() => attempts(broker).length, POLL).toBe(2)
    membership.deal()
    const isNoticed = putBack()
    begin({ broker, clock }).network.answer = () => 'ok'
    await isNoticed
    time += 60_000
    await expect.poll(() => attempts(broker).at(-1)?.outcome, POLL).toBe('delivered')
  })

  it('tries again in time where the clock is put back after a kill that left no more than the attempt', async () => {
    let time = Date.now()
    const clock = { ...hostClock, now: () => time }
    const first = begin({ clock })
    first.network.answer = () => FAILED
    append(first.broker, numbered(1))
    await expect.poll(() => pending(first.broker).get('alert_btc_1_1_1')?.attempts, POLL).toBe(1)
    time += 10_000
    await expect.poll(() => attempts(first.broker).length, POLL).toBe(2)
    first.membership.deal()
    const left = new MemoryBroker(clock)
    for (const topic of ['alerts.triggers', 'webhooks.attempts', 'webhooks.pending'])
      for (const record of first.broker.records(topic, 0)) if (!saysTwo(record)) left.append(topic, 0, [record])
    time -= 3_600_000
    begin({ broker: left, clock })
    const due = (attempts(left)[1]?.due ?? 0) - 3_600_000_000
    await expect.poll(() => pending(left).get('alert_btc_1_1_1'), POLL).toMatchObject({ attempts: 2, due })
  })

  it('reports a test under its request, and what ends undelivered', async () => {
    const { broker, network, notes } = begin()
    network.answer = ({ trigger_id: id }) => (id.endsWith('_9') ? { error: 'rejected' } : 'ok')
    append(broker, { ...numbered(1), trigger_id: 'alert_btc_1_1_test_my-request_0f', test: true })
    append(broker, numbered(2))
    append(broker, { ...numbered(3), trigger_id: 'alert_btc_1_3_9' })
    await expect.poll(() => attempts(broker).length, POLL).toBe(3)
    const said = notes.fields.filter((fields) => 'trigger' in fields)
    expect(said).toHaveLength(2)
    expect(said).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ trigger: 'alert_btc_1_1_test_my-request_0f', outcome: 'delivered', error: null }),
        expect.objectContaining({ trigger: 'alert_btc_1_3_9', outcome: 'cancelled', error: 'rejected' }),
      ]),
    )
  })

  it('times a first attempt that is answered before it is told to be sent, and no later one, nor one by hand', async () => {
    let timed = 0
    const told: (() => void)[] = []
    const send: Send = (_, attempt, onSent) => {
      const now = Date.now() * 1_000
      told.push(() => onSent(now))
      const result = { started: now, finished: now }
      if (attempt > 1) return Promise.resolve({ ...result, status: 204, is: 'delivered', isCut: false })
      return Promise.resolve({ ...result, status: 500, is: 'failed', error: 'status' })
    }
    const world = dispatch(send, { clock: fastClock(1_000), onFirstSent: () => (timed += 1) })
    worlds.push(world)
    const offset = append(world.broker, numbered(1))
    await expect.poll(() => attempts(world.broker).length, POLL).toBe(2)
    append(world.broker, resendOrder(numbered(1), offset))
    await expect.poll(() => attempts(world.broker).length, POLL).toBe(3)
    for (const tell of told) tell()
    expect([told.length, timed]).toEqual([3, 1])
  })

  it('retries by the schedule until it is exhausted, and the oldest is known meanwhile', async () => {
    const { broker, network, dispatcher } = begin({ clock: fastClock(100_000) })
    network.answer = () => ({ error: 'status' })
    append(broker, numbered(1))
    await expect.poll(() => attempts(broker).length, POLL).toBeGreaterThan(2)
    expect(dispatcher.oldest()).toBe(1_786_060_000_000_001)
    await expect.poll(() => attempts(broker).at(-1)?.outcome, POLL).toBe('exhausted')
    const all = attempts(broker)
    expect(all.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    const early = all.slice(1).filter(({ started }, index) => started < (all[index]?.due ?? Infinity))
    expect(early).toEqual([])
    expect(new Set(network.sent).size).toBe(1)
    expect(dispatcher.oldest()).toBeUndefined()
  })

  it('ends an alert whose receiver is gone: what waits, and what comes', async () => {
    const { broker, network } = begin()
    const first = numbered(1)
    network.answer = ({ trigger_id }) => ({ error: trigger_id.endsWith('_2') ? 'gone' : 'status' })
    append(broker, first)
    await expect.poll(() => attempts(broker).length, POLL).toBe(1)
    append(broker, { ...first, trigger_id: 'alert_btc_1_1_2' })
    await expect.poll(() => attempts(broker).filter(({ error }) => error === 'gone').length, POLL).toBe(2)
    append(broker, { ...first, trigger_id: 'alert_btc_1_1_3' })
    await expect.poll(() => attempts(broker).filter(({ error }) => error === 'gone').length, POLL).toBe(3)
    expect(network.sent).not.toContain('alert_btc_1_1_3')
    const gone = attempts(broker).filter(({ error }) => error === 'gone')
    expect(gone.map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled', 'cancelled'])
  })

  it('ends and begins again all symbols of a rule together: gone by one, delivered by the test of another', async () => {
    const { broker, network } = begin()
    const of = (part: string, nth: number, test = false): Trigger => {
      const alert = `alert_rule_1.${part}`
      return { ...numbered(1), alert_id: alert, trigger_id: `${alert}_${nth}`, test }
    }
    const lastOf = ({ trigger_id: id }: Trigger): unknown =>
      attempts(broker).findLast(({ trigger_id }) => trigger_id === id)?.outcome
    network.answer = () => ({ error: 'gone' })
    append(broker, of('2.eth', 1))
    await expect.poll(() => lastOf(of('2.eth', 1)), POLL).toBe('cancelled')
    append(broker, of('1.btc', 1))
    await expect.poll(() => lastOf(of('1.btc', 1)), POLL).toBe('cancelled')
    expect(network.sent).toEqual([of('2.eth', 1).trigger_id])
    network.answer = () => 'ok'
    append(broker, of('1.btc', 2, true))
    await expect.poll(() => lastOf(of('1.btc', 2)), POLL).toBe('delivered')
    append(broker, of('2.eth', 2))
    await expect.poll(() => lastOf(of('2.eth', 2)), POLL).toBe('delivered')
  })

  it('stops the symbol of a rule that its owner cancels, and no other', async () => {
    const { broker, network } = begin()
    network.answer = () => ({ error: 'status' })
    for (const alert_id of ['alert_rule_1.1.btc', 'alert_rule_1.2.eth'])
      append(broker, { ...numbered(1), alert_id, trigger_id: `${alert_id}_1` })
    await expect.poll(() => attempts(broker).length, POLL).toBe(2)
    append(broker, stopOrder('alert_rule_1.1.btc'))
    await expect.poll(() => attempts(broker).length, POLL).toBe(3)
    expect(attempts(broker)[2]).toMatchObject({ alert_id: 'alert_rule_1.1.btc', error: 'stopped' })
    expect(pending(broker).get('alert_rule_1.2.eth_1')?.state).toBe('due')
  })

  it('makes no further attempt for a cancelled alert', async () => {
    const { broker, network } = begin()
    network.answer = () => ({ error: 'status' })
    append(broker, numbered(1))
    await expect.poll(() => attempts(broker).length, POLL).toBe(1)
    append(broker, stopOrder('alert_btc_1_1'))
    await expect.poll(() => attempts(broker).at(-1), POLL).toMatchObject({ outcome: 'cancelled', error: 'stopped' })
    const { length } = network.sent
    append(broker, numbered(2))
    await expect.poll(() => network.sent.at(-1), POLL).toBe('alert_btc_1_2_1')
    expect(network.sent.filter((id) => id === 'alert_btc_1_1_1')).toHaveLength(length)
  })

  it('makes no further attempt where the one under way fails after the cancel', async () => {
    const { broker, network } = begin({ clock: fastClock(0) })
    network.answer = () => 'hang, then fail'
    append(broker, numbered(1))
    await expect.poll(() => network.hanging, POLL).toBe(1)
    append(broker, stopOrder('alert_btc_1_1'))
    await expect.poll(() => pending(broker).get('alert_btc_1_1_1')?.state, POLL).toBe('stopped')
    network.letGo()
    await expect
      .poll(() => attempts(broker), POLL)
      .toMatchObject([{ outcome: 'cancelled', error: 'status', due: null }])
    await expect.poll(() => pending(broker).get('alert_btc_1_1_1')?.state, POLL).toBe('finished')
  })

  it('sends once more what its owner asks for, under the same id', async () => {
    const { broker, network } = begin()
    const trigger = numbered(1)
    const offset = append(broker, trigger)
    await expect.poll(() => attempts(broker).length, POLL).toBe(1)
    append(broker, resendOrder(trigger, offset))
    await expect.poll(() => attempts(broker).length, POLL).toBe(2)
    expect(network.sent).toEqual([trigger.trigger_id, trigger.trigger_id])
    append(broker, resendOrder(trigger, offset + 1))
    await expect
      .poll(() => attempts(broker).at(-1), POLL)
      .toMatchObject({ number: 0, outcome: 'cancelled', error: 'not_found' })
  })

  it('sends nothing of another alert once more, whose trigger an order names', async () => {
    const { broker, network } = begin({})
    const trigger = numbered(1)
    const offset = append(broker, trigger)
    await expect.poll(() => attempts(broker).length, POLL).toBe(1)
    append(broker, resendOrder({ ...trigger, alert_id: 'alert_btc_1' }, offset))
    await expect
      .poll(() => attempts(broker).at(-1), POLL)
      .toMatchObject({ alert_id: 'alert_btc_1', outcome: 'cancelled', error: 'not_found' })
    expect(network.sent).toEqual([trigger.trigger_id])
  })

  it('begins its schedule again with what its owner asks for while it is tried, over a change of owners too', async () => {
    const first = begin({ clock: fastClock(0) })
    first.network.answer = () => FAILED
    const offset = append(first.broker, numbered(1))
    for (let asked = 0; asked < 12; asked++) {
      await expect.poll(() => pending(first.broker).get('alert_btc_1_1_1')?.attempts, POLL).toBe(1)
      await expect.poll(() => attempts(first.broker).length, POLL).toBe(asked + 1)
      append(first.broker, resendOrder(numbered(1), offset))
    }
    await expect.poll(() => pending(first.broker).get(POSITION)?.trigger_offset, POLL).toBe(13)
    await expect.poll(() => attempts(first.broker).length, POLL).toBe(13)
    const all = attempts(first.broker)
    expect(all.filter(({ number, outcome }) => number !== 1 || outcome !== 'retry')).toEqual([])
    first.membership.deal()
    const second = begin({ broker: first.broker, clock: fastClock(100) })
    await expect.poll(() => attempts(second.broker).length, POLL).toBe(14)
    expect(attempts(second.broker)[13]).toMatchObject({ number: 2, outcome: 'delivered' })
    expect(attempts(second.broker)[13]?.started).toBeGreaterThanOrEqual(all[12]?.due ?? Infinity)
  })

  it.each([
    { where: 'in line', waits: { inFlight: 1, queued: 1 } },
    { where: 'under way', waits: { inFlight: 1, queued: 0 } },
  ])('begins its schedule again where that is $where meanwhile, over a kill too', async ({ waits }) => {
    let [time, timed] = [Date.now(), 0]
    const clock = { ...hostClock, now: () => time, steady: () => time }
    const first = begin({ clock, limits: { slots: 1, perReceiver: 1 } })
    const { broker, network, dispatcher } = first
    network.answer = () => FAILED
    const offset = append(broker, numbered(1))
    await expect.poll(() => pending(broker).get('alert_btc_1_1_1')?.attempts, POLL).toBe(1)
    network.answer = () => 'hang'
    if (waits.queued > 0) append(broker, numbered(2))
    await expect.poll(() => network.hanging, POLL).toBe(waits.queued)
    time += 10_000
    await expect.poll(() => dispatcher.health(), POLL).toMatchObject(waits)
    append(broker, resendOrder(numbered(1), offset))
    await expect.poll(() => pending(broker).get(POSITION)?.trigger_offset, POLL).toBe(2 + waits.queued)
    first.membership.deal()
    const second = begin({ broker, clock, onFirstSent: () => (timed += 1) })
    second.network.answer = () => FAILED
    const tried = (): unknown => attempts(broker).filter(({ alert_id: id }) => id === 'alert_btc_1_1')
    await expect.poll(tried, POLL).toMatchObject([{ number: 1 }, { number: 1, outcome: 'retry' }])
    network.letGo()
    await expect.poll(() => timed, POLL).toBe(waits.queued) // that of the other
  })

  it('tells that a ring is over after the ring, which is tried again, and tells it where the ring ends untold', async () => {
    const { broker, network } = begin({ clock: fastClock(100) })
    network.answer = ({ trigger_id: id }, attempt) => (id === 'alert_btc_1_1_1' && attempt < 3 ? FAILED : 'ok')
    append(broker, numbered(1))
    append(broker, over(1))
    await expect.poll(() => attempts(broker).length, POLL).toBe(4)
    expect(network.sent).toEqual([...Array<string>(3).fill('alert_btc_1_1_1'), 'alert_btc_1_1_1_over'])
    network.answer = ({ trigger_id: id }) => (id === 'alert_btc_1_2_1' ? { error: 'rejected' } : 'ok')
    append(broker, numbered(2))
    append(broker, over(2))
    await expect.poll(() => attempts(broker).length, POLL).toBe(6)
    expect(network.sent.slice(4)).toEqual(['alert_btc_1_2_1', 'alert_btc_1_2_1_over'])
  })

  it('tells that a ring is over as soon as the ring is told, by hand too, and nothing of either once it is stopped', async () => {
    const { broker, network } = begin({ clock: fastClock(0) })
    network.answer = () => FAILED
    const offset = append(broker, numbered(1))
    append(broker, over(1))
    append(broker, numbered(2))
    append(broker, over(2))
    await expect.poll(() => pending(broker).get(POSITION)?.trigger_offset, POLL).toBe(4)
    await expect.poll(() => attempts(broker).length, POLL).toBe(2)
    append(broker, stopOrder('alert_btc_1_2'))
    network.answer = () => 'ok'
    append(broker, resendOrder(numbered(1), offset))
    await expect.poll(() => pending(broker).get('alert_btc_1_1_1_over')?.state, POLL).toBe('finished')
    const rings = ['alert_btc_1_1_1', 'alert_btc_1_2_1']
    expect(network.sent).toEqual([...rings, 'alert_btc_1_1_1', 'alert_btc_1_1_1_over'])
    expect(pending(broker).get('alert_btc_1_2_1_over')?.state).toBe('finished')
  })

  it('takes a trigger that the log repeats for what it is', async () => {
    const { broker, network } = begin()
    for (const n of [1, 1, 2, 1]) append(broker, numbered(n))
    await expect.poll(() => pending(broker).get(POSITION)?.trigger_offset, POLL).toBe(4)
    await expect.poll(() => attempts(broker).length, POLL).toBe(2)
    expect(network.sent).toEqual(['alert_btc_1_1_1', 'alert_btc_1_2_1'])
  })

  it.each([
    ['seconds with a fraction', 9.800000190734863],
    ['a date with milliseconds', retryAfterSeconds('Thu, 06 Aug 2026 23:07:00.640 GMT', DATED_AT) ?? NaN],
  ])('is not disturbed by a destination that asks for rest by %s', async (_, wait) => {
    const { broker, network, notes } = begin()
    network.answer = (_, attempt) => {
      return attempt === 1 ? { error: 'status', status: 429, retryAfterSeconds: wait } : 'ok'
    }
    const limited = triggerFor({ type: 'template', url: URL_A, body: '{}' }, numbered(1))
    append(broker, limited)
    await expect.poll(() => pending(broker).get(limited.trigger_id)?.attempts, POLL).toBe(1)
    const until = (attempts(broker)[0]?.finished ?? 0) + Math.round(wait * 1_000_000)
    expect(pending(broker).get(limited.trigger_id)?.left_alone_until).toBe(until)
    expect(notes.sums['failed']).toBeUndefined()
  })

  it('keeps a trigger of a kind that only a newer release knows for that one, and delivers the others', async () => {
    const posted: string[] = []
    const post = ({ url }: Post): Promise<Answer> => {
      posted.push(url.hostname)
      return Promise.resolve({ status: 200, retryAfter: undefined, body: 'whole', text: '' })
    }
    const older = dispatch(senderTo({ post }, { reach: 'any', resolve: () => Promise.resolve(['127.0.0.1']) }))
    worlds.push(older)
    const { broker, notes } = older
    append(broker, { ...numbered(1), kind: 'unknown' })
    append(broker, numbered(2, URL_B))
    await expect.poll(() => attempts(broker).length, POLL).toBe(2)
    const unknown = attempts(broker).find(({ trigger_id }) => trigger_id === 'alert_btc_1_1_1')
    expect(unknown).toMatchObject({ outcome: 'retry', error: 'message_unwritable', number: 1, status: null })
    expect([posted, notes.sums['failed']]).toEqual([['b.example.com'], undefined])
    older.membership.deal()
    const newer = begin({ broker, clock: fastClock(100) })
    await expect.poll(() => pending(broker).get('alert_btc_1_1_1')?.state, POLL).toBe('finished')
    expect(newer.network.sent).toEqual(['alert_btc_1_1_1'])
  })

  it('sets aside what it cannot read', async () => {
    const { broker, network } = begin()
    broker.append('alerts.triggers', 0, [{ key: 'x', value: Buffer.from('no record'), time: 1 }])
    append(broker, numbered(1))
    await expect.poll(() => network.sent, POLL).toEqual(['alert_btc_1_1_1'])
    expect(lettersIn(broker)).toMatchObject([{ processor: 'webhooks', topic: 'alerts.triggers', offset: 0 }])
  })
})

describe('a partition with much that is not finished', () => {
  const open = { open: 24, asked: 4, held: 8, inLine: 6 }
  const outcomeOf = ({ broker }: World, id: string): string | undefined => {
    const attempt = attempts(broker).findLast(({ trigger_id }) => trigger_id === id)
    return attempt && `${attempt.outcome} ${attempt.error}`
  }
  /** The nth ring of the alert `n`. */
  const ring = (n: number, url: string, nth: number, test = false): Trigger => {
    const trigger = numbered(n, url)
    return { ...trigger, trigger_id: `${trigger.alert_id}_${nth}`, test }
  }
  const takenIn = async ({ broker }: World, triggers: number): Promise<void> => {
    await expect.poll(() => pending(broker).get(POSITION)?.trigger_offset, POLL).toBe(triggers)
  }

  it('ends what is beyond a share of the room, of the alert and the receiver that fail, and delivers to others', async () => {
    const world = begin({ open })
    const { broker, network } = world
    network.answer = ({ receiver }) => (receiver.startsWith('c.') ? 'ok' : 'hang')
    for (let nth = 0; nth < 20; nth++)
      for (const [n, url] of [URL_A, URL_B].entries()) append(broker, ring(n, url, nth))
    append(broker, ring(2, URL_A, 0)) // another alert with the receiver of the first
    append(broker, ring(3, 'https://c.example.com/hook', 0))
    await expect.poll(() => outcomeOf(world, 'alert_btc_1_3_0'), POLL).toBe('delivered null')
    expect(outcomeOf(world, 'alert_btc_1_0_19')).toBe('exhausted backlog')
    expect(outcomeOf(world, 'alert_btc_1_1_19')).toBe('exhausted backlog')
    expect(pending(broker).get('alert_btc_1_2_0')?.state).toBe('due')
    network.letGo()
  })

  it('takes in what owners ask for when it is full, up to a bound, and their cancels', async () => {
    const world = begin({ open })
    const { broker, network } = world
    network.answer = () => 'hang'
    for (let n = 0; n < 30; n++) append(broker, ring(n, `https://r${n}.example.com/hook`, 0))
    await takenIn(world, 30)
    expect(outcomeOf(world, 'alert_btc_1_29_0')).toBe('exhausted backlog')
    append(broker, ring(1, 'https://r1.example.com/hook', 1, true))
    append(broker, resendOrder(ring(29, 'https://r29.example.com/hook', 0), 29))
    await expect.poll(() => network.sent.slice(-2), POLL).toEqual(['alert_btc_1_1_1', 'alert_btc_1_29_0'])
    for (let nth = 2; nth < 5; nth++) append(broker, ring(1, 'https://r1.example.com/hook', nth, true))
    append(broker, stopOrder('alert_btc_1_0'))
    await takenIn(world, 36)
    expect(outcomeOf(world, 'alert_btc_1_1_4')).toBe('exhausted backlog')
    network.letGo()
    await expect.poll(() => outcomeOf(world, 'alert_btc_1_29_0'), POLL).toBe('delivered null')
    append(broker, ring(40, URL_A, 0))
    network.answer = () => 'ok'
    await expect.poll(() => outcomeOf(world, 'alert_btc_1_40_0'), POLL).toBe('delivered null')
  })

  it('leaves what follows in the log while receivers that answer well have much in line', async () => {
    const broker = new MemoryBroker(hostClock)
    const { log, fetching } = watched(broker)
    const world = begin({ broker, log, open: { ...open, open: 60 }, limits: { slots: 4, perReceiver: 4 } }) // of one 20
    const { network } = world
    append(broker, ring(1, URL_A, 0))
    await expect.poll(() => outcomeOf(world, 'alert_btc_1_1_0'), POLL).toBe('delivered null')
    network.answer = () => 'hang'
    for (let nth = 1; nth <= 12; nth++) append(broker, ring(nth, URL_A, nth))
    await takenIn(world, 13)
    await expect.poll(fetching, POLL).toBe(0)
    for (let nth = 13; nth <= 22; nth++) append(broker, ring(nth, URL_A, nth))
    network.answer = () => 'ok'
    network.letGo()
    await expect.poll(() => attempts(broker).length, POLL).toBe(23)
    expect(attempts(broker).filter(({ error }) => error !== null)).toEqual([])
  })
})

describe('after a crash', () => {
  it('what was under way is sent again under the same id, and what was delivered is not', async () => {
    const first = begin()
    first.network.answer = ({ trigger_id }) => (trigger_id === 'alert_btc_1_2_1' ? 'hang' : 'ok')
    for (const n of [1, 2, 3]) append(first.broker, numbered(n))
    const finished = (): number =>
      [...pending(first.broker).values()].filter((each) => each.state === 'finished').length
    await expect.poll(finished, POLL).toBe(2)
    await expect.poll(() => pending(first.broker).get(POSITION)?.trigger_offset, POLL).toBe(3)
    first.membership.deal() // it loses the partition and writes nothing more
    const second = begin({ broker: first.broker })
    await expect.poll(() => attempts(second.broker).length, POLL).toBe(3)
    expect(second.network.sent).toEqual(['alert_btc_1_2_1'])
    first.network.letGo()
    expect(attempts(second.broker).map(({ trigger_id }) => trigger_id)).toContain('alert_btc_1_2_1')
  })

  it('a retry is due when it was due before', async () => {
    const first = begin()
    first.network.answer = () => ({ error: 'status' })
    append(first.broker, numbered(1))
    await expect.poll(() => pending(first.broker).get('alert_btc_1_1_1')?.attempts, POLL).toBe(1)
    const due = attempts(first.broker)[0]?.due ?? Infinity
    first.membership.deal()
    const second = begin({ broker: first.broker, clock: fastClock(100) })
    await expect.poll(() => attempts(second.broker).length, POLL).toBe(2)
    expect(attempts(second.broker)[1]).toMatchObject({ number: 2, outcome: 'delivered' })
    expect(attempts(second.broker)[1]?.started).toBeGreaterThanOrEqual(due)
    expect(second.network.sent).toHaveLength(1)
  })

  it('what tells that a ring is over still waits for the ring', async () => {
    const first = begin({ clock: fastClock(0) })
    first.network.answer = () => FAILED
    append(first.broker, numbered(1))
    append(first.broker, over(1))
    await expect.poll(() => pending(first.broker).get(POSITION)?.trigger_offset, POLL).toBe(2)
    await expect.poll(() => pending(first.broker).get('alert_btc_1_1_1')?.attempts, POLL).toBe(1)
    first.membership.deal()
    const second = begin({ broker: first.broker, clock: fastClock(100) })
    await expect.poll(() => pending(first.broker).get('alert_btc_1_1_1_over')?.state, POLL).toBe('finished')
    expect(second.network.sent).toEqual(['alert_btc_1_1_1', 'alert_btc_1_1_1_over'])
    expect(first.network.sent).toEqual(['alert_btc_1_1_1'])
  })

  it('an alert that was cancelled while an attempt was under way gets no further one', async () => {
    const first = begin()
    first.network.answer = () => 'hang'
    append(first.broker, numbered(1))
    await expect.poll(() => first.network.hanging, POLL).toBe(1)
    append(first.broker, stopOrder('alert_btc_1_1'))
    await expect.poll(() => pending(first.broker).get(POSITION)?.trigger_offset, POLL).toBe(2)
    first.membership.deal()
    const second = begin({ broker: first.broker })
    await expect.poll(() => attempts(second.broker).at(-1), POLL).toMatchObject({ outcome: 'cancelled' })
    expect(second.network.sent).toEqual([])
    first.network.letGo()
  })

  it('a retry that became due meanwhile is not made where its alert was cancelled meanwhile', async () => {
    const first = begin()
    first.network.answer = () => FAILED
    append(first.broker, numbered(1))
    await expect.poll(() => pending(first.broker).get('alert_btc_1_1_1')?.attempts, POLL).toBe(1)
    first.membership.deal()
    append(first.broker, stopOrder('alert_btc_1_1'))
    const anHourLater = { ...hostClock, now: () => hostClock.now() + 3_600_000 }
    const second = begin({ broker: first.broker, clock: anHourLater })
    await expect.poll(() => attempts(second.broker).at(-1), POLL).toMatchObject({ outcome: 'cancelled' })
    expect(second.network.sent).toEqual([])
  })

  it('an owner that was frozen is refused by the log', async () => {
    const first = begin()
    first.network.answer = () => 'hang'
    append(first.broker, numbered(1))
    await expect.poll(() => first.network.hanging, POLL).toBe(1)
    await expect.poll(() => pending(first.broker).get(POSITION)?.trigger_offset, POLL).toBe(1)
    const second = begin({ broker: first.broker })
    await expect.poll(() => attempts(second.broker).length, POLL).toBe(1)
    second.membership.deal()
    first.network.letGo()
    await expect.poll(() => first.notes.sums['fenced'], POLL).toBe(1)
    expect(attempts(first.broker).filter(({ number }) => number === 1)).toHaveLength(1)
  })

  it('nothing is lost, whenever owners change', async () => {
    const { broker, network, membership } = begin()
    const all = Array.from({ length: 400 }, (_, n) => numbered(n, n % 3 === 0 ? URL_A : URL_B))
    const networks = [network]
    let owner = membership
    for (const [n, trigger] of all.entries()) {
      append(broker, trigger)
      if (n % 50 !== 49) continue
      await expect.poll(() => attempts(broker).length, POLL).toBeGreaterThan(n / 2)
      owner.deal()
      const next = begin({ broker })
      networks.push(next.network)
      owner = next.membership
    }
    const delivered = (): number => new Set(attempts(broker).map(({ trigger_id }) => trigger_id)).size
    await expect.poll(delivered, POLL).toBe(400)
    const sent = new Set(networks.flatMap((each) => each.sent))
    expect([...sent].sort()).toEqual(all.map(({ trigger_id }) => trigger_id).sort())
  })
})

describe('a clean stop', () => {
  it('waits for what is under way and writes what came of it', async () => {
    const { broker, network, dispatcher } = begin()
    network.answer = () => 'hang'
    append(broker, numbered(1))
    await expect.poll(() => network.hanging, POLL).toBe(1)
    const stopped = dispatcher.stop()
    network.letGo()
    await stopped
    worlds.length = 0
    expect(attempts(broker)).toMatchObject([{ outcome: 'delivered' }])
    expect(pending(broker).get('alert_btc_1_1_1')?.state).toBe('finished')
  })
})
