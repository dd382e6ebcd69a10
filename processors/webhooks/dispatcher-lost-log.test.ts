import { afterEach, describe, expect, it } from 'vitest'
import { hostClock } from '../../infra/clock.ts'
import type { Trigger } from '../../schemas/records.ts'
import type { LogGap } from '../../schemas/records.ts'
import { codec, goesAway } from '../kernel/testing/task.ts'
import type { Clock } from '../kernel/ports.ts'
import { MemoryBroker } from '../kernel/testing/memory-log.ts'
import type { Send } from './deliver.ts'
import { POSITION } from './delivery.ts'
import {
  append,
  attempts,
  dispatch,
  fastClock,
  pending,
  triggerTo,
  type DispatchOptions,
  type World,
} from './testing/world.ts'

const POLL = { timeout: 20_000, interval: 5 }
const worlds: World[] = []

afterEach(async () => {
  await Promise.all(worlds.splice(0).map(({ dispatcher }) => dispatcher.stop()))
})

interface Begun extends World {
  readonly sent: string[]
}

/** A dispatcher whose receivers take everything but what `refuses` says, and what it sent. */
function begin(given: DispatchOptions = {}, refuses: (id: string) => boolean = () => false): Begun {
  const sent: string[] = []
  const { clock = hostClock } = given
  const send: Send = ({ trigger_id: id }, _attempt, onSent) => {
    const now = clock.now() * 1_000
    sent.push(id)
    onSent(now)
    const result = { started: now, finished: now }
    if (refuses(id)) return Promise.resolve({ ...result, status: 500, is: 'failed', error: 'status' })
    return Promise.resolve({ ...result, status: 200, is: 'delivered', isCut: false })
  }
  const world = dispatch(send, given)
  worlds.push(world)
  return { ...world, sent }
}

/** Triggers of half a year ago: longer than anything is remembered without a look. */
function numbered(n: number, v = n): Trigger {
  const alert = `alert_btc_1_${n}`
  const changes = { alert_id: alert, trigger_id: `${alert}_1`, time: 1_780_000_000_000_000 + n, v }
  return triggerTo('https://a.example.com/hook', changes)
}

const ids = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => numbered(from + index).trigger_id)

/** A dispatcher that has delivered the triggers from 0 up to `count`, and has said so. */
async function delivered(count: number): Promise<Begun> {
  const world = begin()
  for (let n = 0; n < count; n++) append(world.broker, numbered(n))
  await settled(world.broker, count)
  return world
}

async function settled(broker: MemoryBroker, position: number): Promise<void> {
  await expect.poll(() => pending(broker).get(POSITION)?.trigger_offset, POLL).toBe(position)
  await expect.poll(() => [...pending(broker).values()].filter(({ state }) => state === 'due'), POLL).toEqual([])
}

function gapsTold(broker: MemoryBroker): LogGap[] {
  return broker.records('control.gaps', 0).flatMap(({ value }) => {
    const message = value === null ? undefined : codec.decode(value)
    return message?.type === 'log_gap' ? [message.value] : []
  })
}

/** Another dispatcher in the place of that one. */
function next({ broker, membership }: World, clock: Clock = hostClock): Begun {
  membership.deal()
  return begin({ broker, clock })
}

describe('triggers that lost their tail', () => {
  it('before the first was read, are all sent that come in that place', async () => {
    const world = begin()
    for (const _mark of [0, 1, 2]) world.broker.at('alerts.triggers', 0).skip() // of claims: nobody reads them
    await expect.poll(() => pending(world.broker).get(POSITION)?.trigger_offset, POLL).toBe(3)
    world.broker.lose('alerts.triggers', 0, 1)
    for (let n = 1; n < 5; n++) append(world.broker, numbered(n))
    await settled(world.broker, 5)
    expect(world.sent).toEqual(ids(1, 5))
    expect(gapsTold(world.broker)).toMatchObject([{ reason: 'cut', position: 3, next: 1 }])
  })

  it('are gone on with where they differ: what is written again is not sent again, what is new is sent', async () => {
    const first = await delivered(50)
    first.broker.lose('alerts.triggers', 0, 30)
    for (let n = 30; n < 55; n++) append(first.broker, numbered(n))
    await settled(first.broker, 55)
    expect(first.sent.slice(50)).toEqual(ids(50, 55))
    expect(gapsTold(first.broker)).toMatchObject([
      { reader: 'webhooks', topic: 'alerts.triggers', reason: 'cut', position: 50, next: 30 },
    ])
  })

  it('are gone on with so by the next owner too', async () => {
    const first = await delivered(50)
    first.membership.deal()
    first.broker.lose('alerts.triggers', 0, 30)
    for (let n = 30; n < 55; n++) append(first.broker, numbered(n))
    const second = next(first)
    await expect.poll(() => second.sent, POLL).toEqual(ids(50, 55))
    await settled(first.broker, 55)
  })

  it('are never folded from their start', async () => {
    const first = await delivered(50)
    first.membership.deal()
    first.broker.lose('alerts.triggers', 0, 30)
    const second = next(first)
    await expect.poll(() => pending(second.broker).get(POSITION)?.trigger_offset, POLL).toBe(30)
    append(second.broker, numbered(50))
    await expect.poll(() => second.sent, POLL).toEqual(ids(50, 51))
  })

  it('that are another log now are gone on with at its end', async () => {
    const first = await delivered(5)
    first.membership.deal()
    first.broker.replace('alerts.triggers', 0)
    for (let n = 0; n < 9; n++) append(first.broker, numbered(n))
    const second = next(first)
    await expect.poll(() => gapsTold(second.broker), POLL).toMatchObject([{ reason: 'replaced', next: 9 }])
    append(second.broker, numbered(9))
    await expect.poll(() => second.sent, POLL).toEqual(ids(9, 10))
  })

  it('that were deleted before they were read are a gap', async () => {
    const first = await delivered(3)
    first.membership.deal()
    for (let n = 3; n < 7; n++) append(first.broker, numbered(n))
    first.broker.truncate('alerts.triggers', 0, 5)
    const second = next(first)
    await expect.poll(() => second.sent, POLL).toEqual(ids(5, 7))
    expect(gapsTold(second.broker)).toMatchObject([{ reason: 'retention', position: 3, next: 5, missing: 2 }])
  })

  it('that are a longer log since the broker was away are gone on with at its end', async () => {
    const broker = new MemoryBroker(hostClock)
    const away = { isAway: false, asked: 0 }
    const world = begin({ broker, log: goesAway(broker, away) })
    for (let n = 0; n < 3; n++) append(broker, numbered(n))
    await settled(broker, 3)
    away.isAway = true
    await expect.poll(() => away.asked, POLL).toBeGreaterThan(1)
    broker.replace('alerts.triggers', 0)
    for (let n = 10; n < 19; n++) append(broker, numbered(n))
    away.isAway = false
    await expect.poll(() => gapsTold(broker), POLL).toMatchObject([{ reason: 'replaced', position: 3, next: 9 }])
    append(broker, numbered(20))
    await expect.poll(() => world.sent, POLL).toEqual([...ids(0, 3), ...ids(20, 21)])
  })

  it('are sent although they lie elsewhere now', async () => {
    const clock = fastClock(50) // the next attempt is seconds away
    const first = begin({ clock }, () => true)
    for (let n = 0; n < 3; n++) append(first.broker, numbered(n))
    await expect.poll(() => attempts(first.broker).length, POLL).toBe(3)
    await expect.poll(() => pending(first.broker).get(POSITION)?.trigger_offset, POLL).toBe(3)
    first.membership.deal()
    first.broker.lose('alerts.triggers', 0, 1)
    append(first.broker, numbered(7))
    for (let n = 1; n < 3; n++) append(first.broker, numbered(n))
    const second = next(first, clock)
    await expect.poll(() => new Set(second.sent), POLL).toEqual(new Set([...ids(0, 3), ...ids(7, 8)]))
    expect(attempts(second.broker).filter(({ outcome }) => outcome === 'cancelled')).toEqual([])
  })

  it('are sent by the same owner although another lay there before', async () => {
    const clock = fastClock(50)
    let isUp = false
    const world = begin({ clock }, () => !isUp)
    for (let n = 0; n < 3; n++) append(world.broker, numbered(n))
    await expect.poll(() => attempts(world.broker).length, POLL).toBe(3)
    world.broker.lose('alerts.triggers', 0, 1)
    for (const n of [2, 1, 7]) append(world.broker, numbered(n))
    await expect.poll(() => pending(world.broker).get(POSITION)?.trigger_offset, POLL).toBe(4)
    isUp = true
    const delivered = (): string[] =>
      attempts(world.broker).flatMap(({ outcome, trigger_id: id }) => (outcome === 'delivered' ? [id] : []))
    await expect.poll(() => new Set(delivered()), POLL).toEqual(new Set([...ids(0, 3), ...ids(7, 8)]))
    expect(attempts(world.broker).filter(({ outcome }) => outcome === 'cancelled')).toEqual([])
  })
})

describe('what is pending, when it has lost its tail', () => {
  it('is known again by the attempts: nothing that ended is sent again', async () => {
    const first = await delivered(50)
    first.membership.deal()
    first.broker.lose('webhooks.pending', 0, 3)
    const second = next(first)
    append(second.broker, numbered(50))
    await settled(second.broker, 51)
    expect(second.sent).toEqual(ids(50, 51))
  })

  it('is known again although all of it is gone, and long ago', async () => {
    const first = await delivered(50)
    first.membership.deal()
    first.broker.replace('webhooks.pending', 0)
    const second = next(first)
    append(second.broker, numbered(50))
    await settled(second.broker, 51)
    expect(second.sent).toEqual(ids(50, 51))
  })
})

describe('attempts that lost their tail', () => {
  it('are told as lost, and nothing that ended is sent again', async () => {
    const first = await delivered(50)
    first.membership.deal()
    first.broker.lose('webhooks.attempts', 0, 20)
    const second = next(first)
    append(second.broker, numbered(50))
    await settled(second.broker, 51)
    expect(second.sent).toEqual(ids(50, 51))
    expect(gapsTold(second.broker)).toMatchObject([{ topic: 'webhooks.attempts', reason: 'output_cut' }])
  })
})

describe('a partition that another dispatcher has claimed', () => {
  it('is let go of by who has nothing to send, as soon as its claim is renewed', async () => {
    const first = await delivered(1)
    const second = begin({ broker: first.broker })
    await expect.poll(() => second.dispatcher.health().partitions.running, POLL).toBe(1)
    expect(first.notes.sums['fenced']).toBeUndefined()
    first.broker.renew()
    await expect.poll(() => first.notes.sums['fenced'], POLL).toBe(1)
    expect(second.notes.sums['fenced']).toBeUndefined()
  })
})

describe('a core that was built again', () => {
  it('rings nobody again: its triggers are known as long as their journal says', async () => {
    const first = await delivered(50)
    for (let n = 0; n < 52; n++) append(first.broker, numbered(n, 2 ** 45 + n))
    await settled(first.broker, 102)
    expect(first.sent.slice(50)).toEqual(ids(50, 52))
  })

  it('rings nobody again, whatever is still known of what is pending', async () => {
    const first = await delivered(50)
    first.membership.deal()
    for (let n = 0; n < 52; n++) append(first.broker, numbered(n, 2 ** 45 + n))
    first.broker.replace('webhooks.pending', 0)
    const second = next(first)
    await settled(second.broker, 102)
    expect(second.sent).toEqual(ids(50, 52))
  })
})
