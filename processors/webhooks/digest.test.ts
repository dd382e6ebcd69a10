import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { LogRecord } from '../../infra/kafka/seam.ts'
import type { Trigger } from '../../schemas/records.ts'
import type { Clock } from '../kernel/ports.ts'
import { codec } from '../kernel/testing/task.ts'
import { MemoryBroker } from '../kernel/testing/memory-log.ts'
import type { Digest, Given } from './channels/channel.ts'
import { channels, readTarget } from './channels/channels.ts'
import { messageOf } from './channels/message.ts'
import type { Send } from './deliver.ts'
import { Deliveries } from './deliveries.ts'
import { UnwrittenRecords } from './delivery.ts'
import { BURST_MAX } from './limits.ts'
import { digestPayload } from './payload.ts'
import { quietEnd, readQuietHours } from './quiet-hours.ts'
import {
  append,
  attempts,
  dispatch,
  pending,
  resendOrder,
  stopOrder,
  triggerFor,
  triggerTo,
  type World,
} from './testing/world.ts'

const POLL = { timeout: 20_000, interval: 5 }
const SLACK = { type: 'slack', url: 'https://hooks.slack.com/services/T000/B000/XXXX' }
const MINUTE = 60_000
/** 2026-08-07 00:00 UTC: 02:00 in Berlin. */
const MIDNIGHT = Date.UTC(2026, 7, 7)

/** A clock that stands until it is moved. */
class StillClock implements Clock {
  time = MIDNIGHT
  /** How far the wall clock is off. */
  off = 0
  now = (): number => this.time + this.off
  steady = (): number => this.time
  delay = (): Promise<void> => delay(1)
  turn = (): Promise<void> => delay(0)
}

/** One message that was sent. */
interface Told {
  readonly id: string
  readonly triggers: readonly string[]
}

const worlds: World[] = []
afterEach(async () => {
  await Promise.all(worlds.splice(0).map(({ dispatcher }) => dispatcher.stop()))
})

type Answer = 'ok' | 'hang' | number

interface Begun extends World {
  readonly clock: StillClock
  readonly told: Told[]
}

function begin(given: { broker?: MemoryBroker; clock?: StillClock; answer?: (told: Told) => Answer } = {}): Begun {
  const { clock = new StillClock(), answer = () => 'ok', broker } = given
  const told: Told[] = []
  const send: Send = async (trigger, _attempt, onSent, digest?: Digest) => {
    const started = clock.now() * 1_000
    const triggers = digest?.triggers ?? [trigger]
    const one = { id: digest?.id ?? trigger.trigger_id, triggers: triggers.map(({ trigger_id: id }) => id) }
    told.push(one)
    onSent(started)
    const said = answer(one)
    if (said === 'hang') await new Promise<never>(() => undefined)
    const times = { started, finished: clock.now() * 1_000 }
    if (said === 'ok') return { ...times, status: 200, is: 'delivered', isCut: false }
    return { ...times, status: Number(said), is: 'failed', error: said === 410 ? 'gone' : 'status' }
  }
  const world = dispatch(send, { clock, ...(broker && { broker }) })
  worlds.push(world)
  return { ...world, clock, told }
}

/** The nth alert's trigger to a chat, at the clock's time. */
function toChat(n: number, clock: Clock, change: Partial<Trigger> = {}): Trigger {
  const alert = `alert_btc_1_${n}`
  return triggerFor(SLACK, { alert_id: alert, trigger_id: `${alert}_1`, time: clock.now() * 1_000, ...change })
}

const idsOf = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `alert_btc_1_${from + at}_1`)

const outcomes = (broker: MemoryBroker): Map<string, string[]> => {
  const all = new Map<string, string[]>()
  for (const { trigger_id: id, outcome } of attempts(broker)) all.set(id, [...(all.get(id) ?? []), outcome])
  return all
}

async function storm(world: Begun, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) append(world.broker, toChat(n, world.clock))
  await expect.poll(() => attempts(world.broker).length, POLL).toBe(count)
}

describe('a storm to one chat', () => {
  it('is told in digests beyond ten messages a minute, each ring listed and its fate recorded', async () => {
    const world = begin()
    await storm(world, 100)
    expect(world.told.map(({ id }) => id)).toEqual(idsOf(0, BURST_MAX))
    const held = attempts(world.broker).filter(({ outcome }) => outcome === 'digested')
    expect([held.length, held[0]?.number, held[0]?.due]).toEqual([90, 0, (MIDNIGHT + MINUTE) * 1_000])
    expect(world.dispatcher.oldest()).toBeUndefined() // what waits by its owner's wish is not late
    world.clock.time += MINUTE
    await expect.poll(() => attempts(world.broker).length, POLL).toBe(190)
    const digests = world.told.slice(BURST_MAX)
    expect(digests.map(({ triggers }) => triggers.length)).toEqual([25, 25, 25, 15])
    expect(digests.flatMap(({ triggers }) => triggers)).toEqual(idsOf(10, 100))
    for (const { id, triggers } of digests)
      for (const trigger of triggers)
        expect(attempts(world.broker).filter(({ trigger_id: of }) => of === trigger)).toMatchObject([
          { outcome: 'digested', digest: id },
          { outcome: 'delivered', number: 1, digest: id },
        ])
  })

  it('waits no longer where the wall clock is put back, and what rings then is told at once', async () => {
    const world = begin()
    await storm(world, 20)
    world.clock.off = -60 * MINUTE
    append(world.broker, toChat(20, world.clock))
    await expect.poll(() => world.told.map(({ id }) => id), POLL).toEqual([...idsOf(0, 10), ...idsOf(20, 21)])
    world.clock.time += MINUTE
    await expect.poll(() => world.told.at(-1)?.triggers, POLL).toEqual(idsOf(10, 20))
  })

  it('goes on after a kill: what waited is told in the same digest, once, and later ones join it', async () => {
    const first = begin()
    await storm(first, 20)
    first.membership.deal()
    const second = begin({ broker: first.broker, clock: first.clock })
    first.clock.time += MINUTE
    await expect.poll(() => second.told, POLL).toEqual([{ id: `${idsOf(10, 11)[0]}_digest`, triggers: idsOf(10, 20) }])
    await expect
      .poll(() => [...outcomes(first.broker).values()].flat().filter((one) => one === 'delivered').length, POLL)
      .toBe(20)
  })

  it('is told again as it was where nobody knows what came of it', async () => {
    const first = begin({ answer: ({ triggers }) => (triggers.length > 1 ? 'hang' : 'ok') })
    await storm(first, 14)
    first.clock.time += MINUTE
    await expect.poll(() => first.told.length, POLL).toBe(11)
    first.membership.deal()
    worlds.length = 0
    const second = begin({ broker: first.broker, clock: first.clock })
    await expect.poll(() => second.told, POLL).toEqual([first.told.at(-1)])
  })

  it('is tried again as a whole, without what was cancelled meanwhile or sent by hand', async () => {
    let said: Answer = 500
    const world = begin({ answer: ({ triggers }) => (triggers.length > 1 ? said : 'ok') })
    await storm(world, 14)
    world.clock.time += MINUTE
    await expect.poll(() => world.told.at(-1)?.triggers, POLL).toEqual(idsOf(10, 14))
    await expect.poll(() => outcomes(world.broker).get('alert_btc_1_13_1'), POLL).toEqual(['digested', 'retry'])
    const due = new Set(
      attempts(world.broker)
        .filter(({ outcome }) => outcome === 'retry')
        .map((one) => one.due),
    )
    expect(due.size).toBe(1)
    append(world.broker, stopOrder('alert_btc_1_11'))
    append(world.broker, resendOrder(toChat(12, world.clock), 12))
    await expect.poll(() => outcomes(world.broker).get('alert_btc_1_11_1')?.at(-1), POLL).toBe('cancelled')
    await expect.poll(() => outcomes(world.broker).get('alert_btc_1_12_1')?.at(-1), POLL).toBe('delivered')
    said = 'ok'
    world.clock.time += MINUTE
    await expect.poll(() => world.told.at(-1)?.triggers, POLL).toEqual(['alert_btc_1_10_1', 'alert_btc_1_13_1'])
    await expect.poll(() => pending(world.broker).get('alert_btc_1_13_1')?.state, POLL).toBe('finished')
  })

  it('loses nothing, whenever owners change', async () => {
    const clock = new StillClock()
    const first = begin({ clock })
    const all: Told[][] = [first.told]
    let owner = first.membership
    for (let n = 0; n < 300; n += 1) {
      append(first.broker, toChat(n, clock))
      if (n % 40 !== 39) continue
      await expect.poll(() => attempts(first.broker).length, POLL).toBeGreaterThan(n / 2)
      clock.time += n % 80 === 39 ? MINUTE / 2 : MINUTE
      owner.deal()
      const next = begin({ broker: first.broker, clock })
      all.push(next.told)
      owner = next.membership
    }
    const delivered = (): number =>
      new Set(attempts(first.broker).flatMap(({ outcome, trigger_id: id }) => (outcome === 'delivered' ? [id] : [])))
        .size
    await expect.poll(() => ((clock.time += 1_000), delivered()), POLL).toBe(300)
    expect(new Set(all.flat().flatMap(({ triggers }) => triggers)).size).toBe(300)
    expect(all.flat().length).toBeLessThan(200)
  })
})

it('leaves a chat alone that asked for it, under a next owner too, whatever else rings there', async () => {
  const first = begin({ answer: () => 429 })
  append(first.broker, toChat(1, first.clock))
  await expect.poll(() => pending(first.broker).get('alert_btc_1_1_1')?.left_alone_until ?? null, POLL).not.toBeNull()
  await leavesAlone(first, first.broker, 1_000)
})

it('leaves it alone too where the kill left no more than the attempt', async () => {
  const first = begin({ answer: () => 429 })
  append(first.broker, toChat(1, first.clock))
  await expect.poll(() => pending(first.broker).get('alert_btc_1_1_1')?.left_alone_until ?? null, POLL).not.toBeNull()
  const left = new MemoryBroker(first.clock)
  for (const topic of ['alerts.triggers', 'webhooks.attempts', 'webhooks.pending'])
    for (const record of first.broker.records(topic, 0)) if (!saysAlone(record)) left.append(topic, 0, [record])
  await leavesAlone(first, left, 6_000)
})

const saysAlone = ({ value }: LogRecord): boolean => {
  const message = value === null ? undefined : codec.decode(value)
  return message?.type === 'pending' && message.value.left_alone_until !== null
}

/** The next owner does for so long, milliseconds, whatever else rings there. */
async function leavesAlone(first: Begun, broker: MemoryBroker, forMs: number): Promise<void> {
  first.membership.deal()
  const second = begin({ broker, clock: first.clock })
  append(broker, toChat(2, first.clock))
  await expect.poll(() => pending(broker).get('alert_btc_1_2_1')?.state, POLL).toBe('due')
  await delay(20)
  expect(second.told).toEqual([])
  first.clock.time += forMs
  await expect.poll(() => second.told.map(({ id }) => id), POLL).toContain('alert_btc_1_2_1')
}

describe('that a ring is over', () => {
  const quiet = { delivery: JSON.stringify({ quiet_hours: '22:00-07:00 Europe/Berlin' }) }
  const ring = (clock: Clock): Trigger => toChat(0, clock, { trigger_id: 'alert_btc_1_0_1' })
  const over = (clock: Clock, more: Partial<Trigger> = {}): Trigger =>
    toChat(0, clock, { trigger_id: 'alert_btc_1_0_1_over', ...more })

  it.each([
    ['a digest of the minute', {}, MINUTE],
    ['quiet hours', quiet, 5 * 60 * MINUTE],
  ])('is told behind it, not with others in %s, where it is tried again', async (_, delivery, holdMs) => {
    let said: Answer = 500
    const world = begin({ answer: ({ id }) => (id === 'alert_btc_1_0_1' ? said : 'ok') })
    append(world.broker, ring(world.clock))
    await expect.poll(() => outcomes(world.broker).get('alert_btc_1_0_1'), POLL).toEqual(['retry'])
    for (let n = 1; n < BURST_MAX + 2; n += 1) append(world.broker, toChat(n, world.clock, delivery))
    append(world.broker, over(world.clock, delivery))
    await expect.poll(() => outcomes(world.broker).get('alert_btc_1_0_1_over'), POLL).toEqual(['digested'])
    world.clock.time += holdMs
    await expect.poll(() => outcomes(world.broker).get('alert_btc_1_11_1'), POLL).toEqual(['digested', 'delivered'])
    await expect.poll(() => outcomes(world.broker).get('alert_btc_1_0_1')?.length, POLL).toBe(2)
    expect(world.told.flatMap(({ triggers }) => triggers)).not.toContain('alert_btc_1_0_1_over')
    said = 'ok'
    world.clock.time += 10 * MINUTE
    await expect
      .poll(() => world.told.slice(-2).map(({ id }) => id), POLL)
      .toEqual(['alert_btc_1_0_1', 'alert_btc_1_0_1_over'])
    expect(outcomes(world.broker).get('alert_btc_1_0_1_over')).toEqual(['digested', 'delivered'])
  })

  it('is told with it, and with others, where they wait for the same digest', async () => {
    const world = begin()
    await storm(world, BURST_MAX)
    const [rang, ended] = [toChat(20, world.clock), toChat(20, world.clock, { trigger_id: 'alert_btc_1_20_1_over' })]
    for (const trigger of [rang, toChat(21, world.clock), ended]) append(world.broker, trigger)
    await expect.poll(() => attempts(world.broker).length, POLL).toBe(BURST_MAX + 3)
    world.clock.time += MINUTE
    await expect
      .poll(() => world.told.at(-1)?.triggers, POLL)
      .toEqual(['alert_btc_1_20_1', 'alert_btc_1_21_1', 'alert_btc_1_20_1_over'])
  })
})

describe('digests', () => {
  const counted = async (make: (n: number, clock: Clock) => Trigger, count = 15): Promise<number> => {
    const world = begin()
    for (let n = 0; n < count; n += 1) append(world.broker, make(n, world.clock))
    await expect.poll(() => attempts(world.broker).length, POLL).toBe(count)
    return world.told.length
  }
  const digest = (is: boolean): Partial<Trigger> => ({ delivery: JSON.stringify({ digest: is }) })
  const signed = (n: number, alert: string, more: Partial<Trigger>): Trigger =>
    triggerTo('https://a.example.com/hook', {
      alert_id: alert,
      trigger_id: `${alert}_${n}`,
      time: MIDNIGHT * 1_000,
      ...more,
    })

  it('are for chats, unless their owner says otherwise, and not for incidents', async () => {
    expect(await counted((n, clock) => toChat(n, clock, digest(false)))).toBe(15)
    const incident = { type: 'pagerduty', routing_key: '0'.repeat(32) }
    expect(
      await counted((n) =>
        triggerFor(incident, { trigger_id: `alert_1_${n}`, time: MIDNIGHT * 1_000, ...digest(true) }),
      ),
    ).toBe(15)
    expect(await counted((n, clock) => toChat(n, clock, { test: true }))).toBe(15)
  })

  it('are for signed webhooks where the owner of an alert says so, of that alert alone', async () => {
    expect(await counted((n) => signed(n, 'alert_1', {}))).toBe(15)
    expect(await counted((n) => signed(n, 'alert_1', digest(true)))).toBe(10)
    expect(await counted((n) => signed(n, `alert_${n}`, digest(true)))).toBe(15)
  })

  it('join the symbols of a rule, and name it by the id that its owner knows', async () => {
    expect(await counted((n) => signed(n, `alert_1.${n}.s${n}`, digest(true)))).toBe(10)
    const triggers = [1, 2].map((n) => signed(n, `alert_1.${n}.s${n}`, {}))
    const said = JSON.parse(digestPayload({ id: 'alert_1_digest', triggers }, 'live').toString()) as unknown
    expect(said).toMatchObject({ alert_id: 'alert_1', events: [{ alert_id: 'alert_1' }, { alert_id: 'alert_1' }] })
    expect(said).not.toHaveProperty('demo')
  })

  it('say of a simulated market that it is one', () => {
    const triggers = [1, 2].map((n) => signed(n, 'alert_1', {}))
    const said = JSON.parse(digestPayload({ id: 'alert_1_digest', triggers }, 'demo').toString()) as unknown
    expect(said).toMatchObject({ demo: true, events: [{ demo: true }, { demo: true }] })
  })
})

describe('quiet hours', () => {
  const quiet = { delivery: JSON.stringify({ quiet_hours: '22:00-07:00 Europe/Berlin' }) }
  /** 07:00 in Berlin. */
  const MORNING = Date.UTC(2026, 7, 7, 5)

  it('hold what rings until they end, and tell it in one message, also after a kill', async () => {
    const first = begin()
    append(first.broker, toChat(1, first.clock, quiet))
    append(first.broker, toChat(2, first.clock, { ...quiet, test: true }))
    await expect.poll(() => attempts(first.broker).length, POLL).toBe(2)
    first.membership.deal()
    const second = begin({ broker: first.broker, clock: first.clock })
    append(first.broker, toChat(3, first.clock, quiet))
    await expect.poll(() => attempts(first.broker).length, POLL).toBe(3)
    expect(attempts(first.broker)[2]).toMatchObject({
      outcome: 'digested',
      due: MORNING * 1_000,
      digest: 'alert_btc_1_1_1_digest',
    })
    first.clock.time = MORNING - 1
    await delay(20)
    expect(second.told).toEqual([])
    first.clock.time = MORNING
    await expect
      .poll(() => second.told, POLL)
      .toEqual([{ id: 'alert_btc_1_1_1_digest', triggers: ['alert_btc_1_1_1', 'alert_btc_1_3_1'] }])
    append(first.broker, toChat(4, first.clock, quiet))
    await expect.poll(() => second.told.at(-1)?.id, POLL).toBe('alert_btc_1_4_1')
  })

  it.each([0.5, 2])('tell too what a kill left no more of than its attempt, opened %d h later', async (hours) => {
    const first = begin()
    append(first.broker, toChat(1, first.clock))
    await expect.poll(() => pending(first.broker).get('alert_btc_1_1_1')?.state, POLL).toBe('finished')
    const written = first.broker.records('webhooks.pending', 0).length
    append(first.broker, toChat(2, first.clock, quiet))
    await expect.poll(() => outcomes(first.broker).get('alert_btc_1_2_1'), POLL).toEqual(['digested'])
    first.membership.deal()
    const left = new MemoryBroker(first.clock)
    for (const topic of ['alerts.triggers', 'webhooks.attempts']) left.append(topic, 0, first.broker.records(topic, 0))
    left.append('webhooks.pending', 0, first.broker.records('webhooks.pending', 0).slice(0, written))
    first.clock.time += hours * 60 * MINUTE
    const second = begin({ broker: left, clock: first.clock })
    await expect.poll(() => pending(left).get('alert_btc_1_2_1')?.state, POLL).toBe('due')
    first.clock.time = MORNING
    await expect.poll(() => second.told.map(({ id }) => id), POLL).toEqual(['alert_btc_1_2_1'])
  })

  it('hold a share of one destination, over restarts too, and what rings beyond for the minute, of it alone', () => {
    const limits = { open: 100, asked: 10, held: 15, inLine: 10 }
    const clock = new StillClock()
    const kept = new UnwrittenRecords()
    let deliveries = new Deliveries(0, [], limits)
    const ring = (n: number, chat = ''): number | null | undefined => {
      const to = { ...SLACK, url: `${SLACK.url}${chat}` }
      const trigger = triggerFor(to, { alert_id: `alert_${n}`, time: clock.now() * 1_000, ...quiet })
      deliveries.trigger(trigger, n, clock.now() * 1_000, kept)
      return kept.attempts.at(-1)?.due
    }
    const [morning, minute] = [MORNING * 1_000, (MIDNIGHT + MINUTE) * 1_000]
    expect([ring(1), ring(2), ring(3), ring(4)]).toEqual([morning, morning, morning, minute])
    const records = [...kept.pending.values()].flatMap((record) => record ?? [])
    deliveries = new Deliveries(0, records, limits)
    expect(ring(5)).toBe(minute)
    // Whatever one has waiting, others wait as they wish, each up to its share of what is left.
    expect([ring(11, 'a'), ring(12, 'a'), ring(13, 'a'), ring(14, 'a')]).toEqual([morning, morning, morning, minute])
    for (const chat of ['b', 'c', 'd']) expect(ring(20, chat)).toBe(morning)
    expect(ring(21, 'b')).toBe(morning)
    const told = (): string[] =>
      deliveries.due(clock.now() * 1_000).flatMap((first) => deliveries.start(first).map(({ id }) => id))
    expect(told()).toEqual([])
    clock.time += MINUTE
    expect(told().toSorted()).toEqual(['alert_14_1', 'alert_4_1', 'alert_5_1'])
    for (const n of [1, 11, 12, 13, 20, 21]) deliveries.stop(stopOrder(`alert_${n}`), clock.now() * 1_000, kept)
    expect([ring(6), ring(7)]).toEqual([morning, minute + MINUTE * 1_000])
  })

  it.each([
    ['in them too', quiet],
    ['before them', {}],
  ])('tell of an incident that it is over behind its ring, which rang %s and is tried again', async (_, rang) => {
    let said: Answer = 500
    const world = begin({ answer: ({ id }) => (id === 'alert_1_1' ? said : 'ok') })
    const incident = { type: 'pagerduty', routing_key: '0'.repeat(32) }
    const ring = triggerFor(incident, { alert_id: 'alert_1', trigger_id: 'alert_1_1', time: MIDNIGHT * 1_000, ...rang })
    append(world.broker, ring)
    append(world.broker, { ...ring, ...quiet, trigger_id: 'alert_1_1_over' })
    await expect.poll(() => attempts(world.broker).length, POLL).toBe(2)
    world.clock.time = MORNING
    await expect
      .poll(() => attempts(world.broker).filter(({ outcome }) => outcome === 'retry').length, POLL)
      .toBe(rang === quiet ? 1 : 2)
    await delay(20)
    expect(world.told.map(({ id }) => id)).not.toContain('alert_1_1_over')
    said = 'ok'
    world.clock.time += 10 * MINUTE
    await expect.poll(() => world.told.slice(-2).map(({ id }) => id), POLL).toEqual(['alert_1_1', 'alert_1_1_over'])
    expect(outcomes(world.broker).get('alert_1_1_over')).toEqual(['digested', 'delivered'])
  })

  it('tell what is alone as itself', async () => {
    const world = begin()
    append(world.broker, toChat(1, world.clock, quiet))
    await expect.poll(() => attempts(world.broker).length, POLL).toBe(1)
    world.clock.time = MORNING
    await expect.poll(() => world.told, POLL).toEqual([{ id: 'alert_btc_1_1_1', triggers: ['alert_btc_1_1_1'] }])
  })

  it.each([
    ['22:00-07:00 Europe/Berlin', '2026-08-07T00:00:30Z', '2026-08-07T05:00:00Z'],
    ['22:00-07:00 Europe/Berlin', '2026-08-07T20:00:00Z', '2026-08-08T05:00:00Z'],
    ['22:00-07:00 Europe/Berlin', '2026-08-07T19:59:59Z', null],
    ['22:00-07:00 Europe/Berlin', '2026-08-07T05:00:00Z', null],
    ['09:00-17:30 America/New_York', '2026-01-05T14:00:00Z', '2026-01-05T22:30:00Z'],
    ['09:00-17:30 Asia/Kolkata', '2026-01-05T03:29:59Z', null],
    ['22:00-07:00 Europe/Berlin', '2026-03-28T22:00:00Z', '2026-03-29T05:00:00Z'], // the clocks go forward
    ['22:00-07:00 Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25T06:00:00Z'], // and back
    ['00:00-02:30 Europe/Berlin', '2026-03-29T00:30:00Z', '2026-03-29T01:00:00Z'], // an hour that there is not
    ['22:00-02:30 Europe/Berlin', '2026-03-28T22:00:00Z', '2026-03-29T01:00:00Z'],
    ['22:00-02:30 Europe/Berlin', '2026-03-29T00:40:20Z', '2026-03-29T01:00:00Z'],
    ['22:00-02:30 Europe/Berlin', '2026-03-29T01:00:00Z', null],
    ['22:00-02:00 Europe/Berlin', '2026-03-28T22:00:00Z', '2026-03-29T01:00:00Z'],
  ])('%s at %s end at %s', (text, at, end) => {
    const quiet = readQuietHours(text)
    if (quiet === undefined) throw new Error('it can be read')
    expect(quietEnd(quiet, Date.parse(at) * 1_000)).toBe(end === null ? undefined : Date.parse(end) * 1_000)
  })

  it('are the same in any spelling of their zone, of which one format is kept', () => {
    const made = vi.spyOn(Intl, 'DateTimeFormat')
    const [first, ...others] = ['Asia/Kathmandu', 'asia/KATHMANDU', 'ASIA/kathmandu'].map((zone) => {
      const quiet = readQuietHours(`22:00-07:00 ${zone}`)
      return quiet && quietEnd(quiet, MIDNIGHT * 1_000 - 3_600_000_000)
    })
    const formats = made.mock.calls.length
    made.mockRestore()
    expect([formats, first]).toEqual([1, Date.UTC(2026, 7, 7, 1, 15) * 1_000])
    expect(others).toEqual([first, first])
  })

  it.each(['22:00-22:00 UTC', '24:00-07:00 UTC', '22:00-07:00 Mars/Olympus', '22:00-07:00', ''])(
    '%j are none',
    (text) => {
      expect(readQuietHours(text)).toBeUndefined()
    },
  )
})

describe('the message of a digest', () => {
  const destinations: Readonly<Record<string, Given>> = {
    slack: SLACK,
    discord: { type: 'discord', url: `https://discord.com/api/webhooks/123456789012345678/${'t'.repeat(40)}` },
    telegram: { type: 'telegram', bot_token: `123456789:${'T'.repeat(35)}`, chat_id: '-1001234567890' },
    teams: {
      type: 'teams',
      url: 'https://prod-1.westeurope.logic.azure.com/workflows/abc/triggers/manual/paths/invoke?sig=abc',
    },
    email: { type: 'email', to: 'me@example.com' },
    webhook: { type: 'webhook', url: 'https://a.example.com/hook' },
    template: { type: 'template', url: 'https://a.example.com/hook', body: '{"say": "{{text}}"}' },
  }

  it('has a line for each, which says when in UTC', () => {
    const [first, last] = ['2026-08-07T22:59:58.123Z', '2026-08-07T23:00:01.000Z'].map((at) =>
      triggerTo('https://a.example.com/', { condition_met: 'BTC rose above 1 USD', time: Date.parse(at) * 1_000 }),
    )
    if (first === undefined || last === undefined) throw new Error('there are triggers')
    const digest = { id: 'alert_1_digest', triggers: [first, last] }
    expect(messageOf({ trigger: first, digest, mode: 'live' })).toMatchObject({
      text: '22:59:58Z BTC rose above 1 USD\n23:00:01Z BTC rose above 1 USD',
    })
  })

  it.each(channels.filter(({ digest }) => digest.most > 1).map((channel) => [channel.name, channel] as const))(
    'of %s has each ring, at its largest, with a price of its own',
    (name, { digest: { most } }) => {
      const target = readTarget(destinations[name] ?? {}, { reach: 'any', hasMail: true })
      if ('refused' in target) throw new Error(target.refused)
      const said = (n: number): string =>
        `BTC rose above ${70_000 + n} USD (more_or_less): it is ${70_001 + n}.5 USD, as of #${n}`
      const triggers = Array.from({ length: most }, (_, n) =>
        triggerTo('https://a.example.com/', { condition_met: said(n) }),
      )
      const [trigger] = triggers
      if (trigger === undefined) throw new Error('there are triggers')
      const event = { trigger, digest: { id: 'alert_1_digest', triggers }, mode: 'live', sign: () => ({}) }
      const request = target.channel.request(target.destination, event)
      const text = request.by === 'smtp' ? request.text : request.body.toString()
      expect(triggers.filter((_, n) => !text.includes(String(70_000 + n)))).toEqual([])
      expect(text).not.toContain('…')
      expect(messageOf(event).fields).toMatchObject({
        event: 'digest',
        trigger_id: 'alert_1_digest',
        trigger_count: most,
      })
    },
  )
})
