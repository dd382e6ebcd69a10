import { describe, expect, it } from 'vitest'
import { recordId } from '../../schemas/record-id.ts'
import type { Message } from '../../schemas/records.ts'
import {
  cancel,
  command,
  create,
  createRule,
  DAY,
  extend,
  given,
  HOUR,
  latePrice,
  mark,
  metric,
  newAlert,
  pause,
  price,
  SECOND,
  T0,
  type AlertsTestDriver,
} from './testing/records.ts'
import { payloadOf } from '../webhooks/payload.ts'
import { alerts } from './alerts.ts'
import { applyCommand } from './commands.ts'
import { REQUESTS_MAX } from './state.ts'

const after = (g: AlertsTestDriver): string[] => g.told.slice(1)
const expires = (g: AlertsTestDriver): number => ((g.state.alerts.get('a')?.expires_at ?? 0) - T0) / SECOND / HOUR

describe('a creation', () => {
  it('gives an active alert of partition time, in the journal and the cache', () => {
    const g = given(mark(10), create({ expires_in_hours: 2 }))
    const alert = { alert_id: 'a', status: 'active', created_at: T0 + 10 * SECOND, trigger_count: 0 }
    expect(g.events).toMatchObject([{ event: 'created', alert, error: null, time: T0 + 10 * SECOND }])
    expect(g.events[0]?.alert?.expires_at).toBe(T0 + (10 + 2 * HOUR) * SECOND)
    expect(g.emitted.filter(({ topic }) => topic === 'alerts.state')).toMatchObject([
      { key: 'a', message: { value: alert } },
    ])
  })

  it('is told apart from others of its second by when the log took it, over a restart too', () => {
    const at = (created: number, id: string) =>
      command({ alert: newAlert(), alert_id: id, created: T0 + created * SECOND })
    const g = given(mark(10), at(10.25, 'z'), at(10.5, 'b')).restart()
    // One of another caller's clock, one whose clock is an hour ahead, and the next second.
    g.batch(at(10.4, 'y'), at(3_610, 'a'), at(10.75, 'x'), mark(13), at(13.5, 'm'))
    const taken = ['z', 'b', 'y', 'a', 'x', 'm'].map((id) => (g.state.alerts.get(id)?.taken ?? 0) - T0)
    const [z, b] = [10.25 * SECOND, 10.5 * SECOND]
    expect(taken).toEqual([z, b, b + 1, 12 * SECOND, 12 * SECOND + 1, 13.5 * SECOND])
    expect(g.state.alerts.get('b')?.created_at).toBe(T0 + 10 * SECOND)
  })

  describe('while no mark comes', () => {
    const late = (command: Message<'command'>, hours: number): Message<'command'> => {
      return { type: 'command', value: { ...command.value, created: T0 + hours * HOUR * SECOND } }
    }

    it('lives as long as was asked for, from when its caller made it', () => {
      const g = given(late(create({ expires_in_hours: 1 }), 2)).restart()
      expect([(g.state.alerts.get('a')?.created_at ?? 0) - T0, expires(g)]).toEqual([2 * HOUR * SECOND, 3])
      expect(after(g.batch(mark(2 * HOUR + 1), price(2 * HOUR + 2, 101)))).toEqual(['triggered'])
      expect(after(g.batch(mark(3 * HOUR - 1)))).toEqual(['triggered'])
    })

    it('rings at no price from before it', () => {
      const g = given(late(create(), 2), latePrice(2 * HOUR - 60, 90, 110))
      expect(after(g)).toEqual([])
      expect(after(g.batch(latePrice(2 * HOUR + 60, 90, 110)))).toEqual(['triggered'])
    })

    it('looks at each price from then on, also where its caller’s clock is ahead', () => {
      expect(after(given(late(create(), 2), price(1, 101)))).toEqual(['triggered'])
    })

    it('is at most 30 days from the last mark', () => {
      const g = given(late(create({ expires_in_hours: 1 }), 90 * 24))
      expect(expires(g)).toBe(30 * 24 + 1)
    })

    it('and is extended, lives so much longer', () => {
      const g = given(create({ expires_in_hours: 1 }), late(extend(1), 2))
      expect([after(g), expires(g)]).toEqual([['extended'], 3])
      expect(after(g.batch(mark(3 * HOUR - 1), mark(3 * HOUR)))).toEqual(['extended', 'expired'])
    })
  })

  it.each([
    ['no condition of ours', { condition: 'near' }],
    ['no target', { target_price: null }],
    ['a target that is no number', { target_price: NaN }],
    ['a lifetime beyond what is kept', { expires_in_hours: 721 }],
    ['no lifetime', { expires_in_hours: 0 }],
    ['liquidation figures missing', { kind: 'liquidation' as const, condition: 'cascade_risk' }],
  ])('with %s is refused', (_, fields) => {
    expect(given(create(fields)).told).toEqual(['rejected invalid_body'])
  })

  it('of the same idempotency key is the same alert for a day, with another body a conflict', () => {
    const key = { idempotency: 'k', body_hash: 'h' }
    const g = given(create(key), mark(DAY - 1), create(key, 'b'), create({ ...key, body_hash: 'other' }, 'c'))
    expect(after(g)).toEqual(['repeated', 'rejected idempotency_conflict'])
    expect(g.events.map(({ alert_id: id }) => id)).toEqual(['a', 'a', 'a'])
    expect(after(g.batch(mark(DAY), create(key, 'd')))).toEqual([
      'repeated',
      'rejected idempotency_conflict',
      'expired',
      'created',
    ])
  })

  it('keeps what its key was used for over a restart', () => {
    const key = { idempotency: 'k', body_hash: 'h' }
    const g = given(create(key)).restart()
    expect(after(g.batch(create(key, 'b')))).toEqual(['repeated'])
  })
})

it('that had expired and is extended looks at nothing from before that', () => {
  const g = given(create({ expires_in_hours: 1 }), mark(2 * HOUR), extend(24, 'paid'))
  expect(after(g)).toEqual(['expired', 'extended'])
  expect(after(g.batch(price(2 * HOUR - 5, 101)))).toEqual(['expired', 'extended'])
  expect(after(g.batch(price(2 * HOUR + 5, 101)))).toEqual(['expired', 'extended', 'triggered'])
})

it('follows a command once, however often it is in the log', () => {
  const [made, longer] = [create(), extend(1)]
  expect(given(made, longer, made, longer).restart().batch(longer).told).toEqual(['created', 'extended'])
})

it('remembers requests for an hour', () => {
  const longer = extend(1)
  const g = given(create(), longer, mark(HOUR - 1), longer)
  expect(after(g)).toEqual(['extended'])
  expect(g.batch(mark(HOUR)).state.requests.size).toBe(0)
})

it('remembers no more requests than its limit, the newest', () => {
  const first = extend(1)
  const g = given(create(), first, mark(1))
  // Without the driver, which would take seconds for as many.
  for (let n = 0; n < REQUESTS_MAX; n++) applyCommand(g.state, cancel('nobody').value)
  expect(g.state.requests.size).toBe(REQUESTS_MAX)
  g.take()
  expect(g.batch(first).told).toEqual(['extended'])
})

it.each([extend(1), cancel(), command({ action: 'test' }), command({ action: 'resend' })])(
  'refuses what is asked of an alert that is not there',
  (asked) => {
    const g = given({ ...asked, value: { ...asked.value, alert_id: 'nobody' } })
    expect(g.events).toMatchObject([{ event: 'rejected', error: 'alert_not_found', alert: null, alert_id: 'nobody' }])
  },
)

describe('an extension', () => {
  it('moves the end of an active alert on', () => {
    const g = given(create(), mark(HOUR), extend(10), mark(24 * HOUR), mark(34 * HOUR - 1))
    expect([after(g), expires(g)]).toEqual([['extended'], 34])
    expect(after(g.batch(mark(34 * HOUR)))).toEqual(['extended', 'expired'])
  })

  it('reaches 30 days from now at most', () => {
    const g = given(create(), extend(29 * 24), extend(1))
    expect([after(g), expires(g)]).toEqual([['extended', 'rejected invalid_add_hours'], 30 * 24])
    expect(after(g.batch(mark(HOUR), extend(1))).at(-1)).toBe('extended')
  })

  it.each([null, 0, -1])('by %j hours is refused', (hours) => {
    const asked = command({ action: 'extend', add_hours: hours })
    expect(after(given(create(), asked))).toEqual(['rejected invalid_add_hours'])
  })

  it('without a payment takes an active alert', () => {
    expect(after(given(create(), price(1, 101), extend(1))).at(-1)).toBe('rejected alert_not_active')
    expect(after(given(create(), mark(DAY), extend(1))).at(-1)).toBe('rejected alert_not_active')
    expect(after(given(create(), cancel(), extend(1))).at(-1)).toBe('rejected alert_not_active')
  })

  it('that was paid is applied though the alert has triggered meanwhile', () => {
    const g = given(create(), price(1, 101), extend(1, 'paid'))
    expect([after(g).at(-1), expires(g), g.state.alerts.get('a')?.status]).toEqual(['extended', 25, 'triggered'])
  })

  it('that was paid is applied though the alert has expired meanwhile: it lives from now on', () => {
    const g = given(create({ condition: 'crosses_above' }), price(1, 99), mark(25 * HOUR), extend(1, 'paid'))
    expect([after(g), expires(g)]).toEqual([['expired', 'extended'], 26])
    expect(g.state.alerts.get('a')).toMatchObject({ status: 'active', armed: false, ended_at: 0 })
    g.batch(price(25 * HOUR + 1, 101), price(25 * HOUR + 2, 99), price(25 * HOUR + 3, 101))
    expect(g.rang).toEqual([25 * HOUR + 3])
  })

  it('that was paid evaluates a level that had ended while triggered again', () => {
    const g = given(create(), price(1, 101), mark(25 * HOUR), extend(1, 'paid'))
    g.batch(price(25 * HOUR + 1, 99), price(25 * HOUR + 2, 101))
    expect(g.rang).toEqual([1, 25 * HOUR + 2])
  })

  it('that was paid is refused by the cancel only, and never reaches beyond 30 days', () => {
    expect(after(given(create(), cancel(), extend(1, 'paid'))).at(-1)).toBe('rejected alert_not_active')
    const g = given(create(), extend(29 * 24), extend(24, 'paid'))
    expect([after(g).at(-1), expires(g)]).toEqual(['extended', 30 * 24])
  })
})

describe('a payment', () => {
  const paid = (id: string, payment = 'p'): ReturnType<typeof command> =>
    command({ alert: newAlert(), alert_id: id, payment })

  it('makes one alert, whatever request and id bring it again, over a restart too', () => {
    const g = given(paid('a'), paid('b')).restart().batch(paid('c'))
    expect(g.told).toEqual(['created', 'repeated', 'repeated'])
    expect(g.events.map(({ alert }) => alert?.alert_id)).toEqual(['a', 'a', 'a'])
    expect(g.batch(paid('d', 'q')).told.at(-1)).toBe('created')
  })

  it('adds its hours once, and never makes an alert and more time', () => {
    const g = given(create(), extend(1, 'p'), extend(1, 'p')).restart().batch(extend(1, 'p'), paid('b'))
    expect([after(g), expires(g)]).toEqual([['extended', 'repeated', 'repeated', 'repeated'], 25])
  })

  it('is not used up by what was refused', () => {
    const g = given(extend(1, 'p'), create(), extend(1, 'p'))
    expect(g.told).toEqual(['rejected alert_not_found', 'created', 'extended'])
  })

  it('is known for two days, longer than an authorization is valid', () => {
    const g = given(paid('a'), mark(2 * DAY - 1), paid('b'))
    expect(g.told).toEqual(['created', 'expired', 'repeated'])
    expect(g.batch(mark(2 * DAY)).restart().state.payments.size).toBe(0)
  })
})

describe('a cancel', () => {
  it.each([
    ['active', [create()]],
    ['triggered', [create(), price(1, 101)]],
  ])('ends one that is %s, and the deliveries that are due', (_, messages) => {
    const g = given(...messages, cancel())
    expect(g.told.at(-1)).toBe('cancelled')
    expect(g.orders).toMatchObject([{ order: 'stop', alert_id: 'a', receiver: 'hooks.example:443' }])
    const before = g.told.length
    g.batch(price(90, 99), mark(100), price(101, 105), mark(DAY))
    expect(g.told).toHaveLength(before)
  })

  it('of one that is cancelled or expired is refused', () => {
    expect(after(given(create(), cancel(), cancel())).at(-1)).toBe('rejected alert_not_active')
    expect(after(given(create(), mark(DAY), cancel())).at(-1)).toBe('rejected alert_not_active')
  })
})

describe('a change of a rule that rang', () => {
  const above = (value: number) => ({ metric: 'cvd', operator: 'above', value })
  const cvd = (seconds: number, value: number) => metric(seconds, 'cvd', { 'cvd@okx': value })
  const edit = (value: number, more: object = {}) => {
    const { value: made } = createRule(above(value), { ...more })
    return command({ action: 'edit', alert: made.alert })
  }

  it('lets it ring no sooner than its new cooldown after its last ring, also where it had waited out the old one', () => {
    const rang = [createRule(above(5)), cvd(10, 6), cvd(20, 4), mark(71)]
    const hour = (...log: readonly Message[]) => given(...rang, edit(5, { cooldown: '1h' }), ...log).rang
    expect(hour(cvd(90, 6), mark(3_609), cvd(3_609.5, 7))).toEqual([10])
    expect(hour(cvd(90, 6), mark(3_610), cvd(3_620, 7))).toEqual([10, 3_620])
    expect(given(...rang, mark(4_000), edit(5, { cooldown: '1h' }), cvd(4_010, 6)).rang).toEqual([10, 4_010])
    expect(given(createRule(above(5)), edit(5, { cooldown: '1h' }), cvd(10, 6)).rang).toEqual([10])
  })

  it('tells that the ring is over where it told so, once, with the terms by which it rang', () => {
    const rings = [createRule(above(5), { resolved: true, note: 'old' }), cvd(10, 6), mark(20)]
    const g = given(...rings, edit(50, { resolved: true, note: 'new' }))
    expect(g.triggers.map(({ trigger_id: id }) => id)).toEqual(['a_1', 'a_1_over'])
    const record = recordId({ topic: 'alerts.inputs', partition: 0, offset: 4 })
    expect(g.triggers[1]).toMatchObject({ time: T0 + 20 * SECOND, trigger_count: 1, record })
    const bodies = g.triggers.map((trigger): unknown => JSON.parse(payloadOf(trigger, 'live').toString()))
    expect(bodies[1]).toMatchObject({
      data: {
        triggered: false,
        status: 'resolved',
        note: 'old',
        figures: [{ metric: 'cvd', value: 6 }],
        condition_met: 'Over: BTC CVD above 5: the rule was changed; now CVD 6',
      },
    })
    g.restart().batch(cvd(30, 4), mark(70), cvd(80, 60), cvd(90, 4), mark(150))
    expect(g.triggers.map(({ trigger_id: id }) => id)).toEqual(['a_1', 'a_1_over', 'a_2', 'a_2_over'])
  })

  it('tells nothing of a ring that is over, or of which nobody wanted to know it', () => {
    const ids = (...log: readonly Message[]) => given(...log).triggers.map(({ trigger_id: id }) => id)
    expect(ids(createRule(above(5)), cvd(10, 6), edit(7, { resolved: true }))).toEqual(['a_1'])
    const over = [createRule(above(5), { resolved: true }), cvd(10, 6), cvd(20, 4)]
    expect(ids(...over, edit(7))).toEqual(['a_1', 'a_1_over'])
    expect(ids(...over, mark(70), edit(7))).toEqual(['a_1', 'a_1_over'])
    expect(ids(createRule(above(5), { resolved: true }), edit(7), cvd(10, 6))).toEqual([])
  })

  it('tells so where it rests, of each symbol of a rule for all, and again where the log lost it', () => {
    const rests = given(createRule(above(5), { resolved: true }), cvd(10, 6), pause(null), edit(7))
    expect(rests.triggers.map(({ trigger_id: id }) => id)).toEqual(['a_1', 'a_1_over'])
    const { value } = createRule(above(5), { id: 'r.a0', resolved: true })
    const log = [{ type: 'command', value: { ...value, asset: '*0' } } as const, cvd(10, 6)]
    const all = given(...log)
      .restart()
      .batch({ ...edit(7), value: { ...edit(7).value, alert_id: 'r.a0' } })
    expect(all.triggers.map(({ trigger_id: id }) => id)).toEqual(['r.a0.btc_1', 'r.a0.btc_1_over'])
    const again: unknown[] = []
    alerts.restate?.(all.state, 'alerts.triggers', { partition: 0, v: 9, partitionTime: 0 }, ({ key }) =>
      again.push(key),
    )
    expect(again).toEqual(['r.a0.btc_1', 'r.a0.btc_1_over'])
  })
})

describe('a test event', () => {
  it('is marked, has the newest price and changes nothing', () => {
    const g = given(create(), price(1, 99), command({ action: 'test', request_id: 'r' }))
    expect(g.triggers).toMatchObject([
      { trigger_id: 'a_test_r', test: true, current_price: 99, trigger_count: 0, quality: 'good' },
    ])
    expect(g.events.at(-1)).toMatchObject({ event: 'tested', trigger_id: 'a_test_r', alert: { status: 'active' } })
    expect(g.emitted.filter(({ topic }) => topic === 'alerts.state')).toHaveLength(1)
  })

  it('shows the newest price, not what candles told of a time before it', () => {
    const g = given(create(), price(1, 99), latePrice(60, 97, 98), command({ action: 'test', request_id: 'r' }))
    expect(g.triggers.at(-1)).toMatchObject({ test: true, current_price: 99 })
  })

  it('is refused after a cancel', () => {
    expect(after(given(create(), cancel(), command({ action: 'test' }))).at(-1)).toBe('rejected alert_not_active')
  })
})

describe('a resend', () => {
  const resend = (trigger: string | null) =>
    command({ action: 'resend', trigger_id: trigger, trigger_partition: 3, trigger_offset: 7 })

  it('is an order for the dispatcher', () => {
    const g = given(create(), resend('a_1'))
    expect(g.events.at(-1)).toMatchObject({ event: 'resent', trigger_id: 'a_1' })
    expect(g.orders).toMatchObject([
      { order: 'resend', trigger_id: 'a_1', trigger_partition: 3, trigger_offset: 7, receiver: 'hooks.example:443' },
    ])
  })

  it.each(['b_1', 'ab_1', null])('of %j, which is not of the alert, is refused', (trigger) => {
    expect(after(given(create(), resend(trigger)))).toEqual(['rejected invalid_body'])
  })
})

describe('an end', () => {
  it('comes with the mark alone', () => {
    expect(after(given(create({ expires_in_hours: 1 }), mark(HOUR - 1)))).toEqual([])
    expect(after(given(create({ expires_in_hours: 1 }), mark(HOUR)))).toEqual(['expired'])
  })

  it('leaves one that is triggered as it is, not evaluated any more, and tells the cache', () => {
    const g = given(create(), price(1, 101), mark(DAY), price(DAY + 1, 99), mark(DAY + 100), price(DAY + 101, 101))
    expect(after(g)).toEqual(['triggered'])
    const states = g.emitted.filter(({ topic }) => topic === 'alerts.state')
    expect(states.at(-1)).toMatchObject({ message: { value: { status: 'triggered', ended_at: T0 + DAY * SECOND } } })
  })

  it('comes before the end of a cooldown of the same moment', () => {
    const g = given(create({ expires_in_hours: 1 }), mark(HOUR - 60), price(HOUR - 60, 101), price(HOUR - 59, 99))
    expect(after(g.batch(mark(HOUR)))).toEqual(['triggered'])
  })

  it('is told of for 7 days', () => {
    const g = given(create(), mark(DAY), mark(8 * DAY - 1))
    expect(g.state.alerts.size).toBe(1)
    g.take()
    g.batch(mark(8 * DAY))
    expect(g.emitted).toMatchObject([
      { topic: 'alerts.state', key: 'a', message: null },
      { topic: 'alerts.events', message: { type: 'mark' } },
    ])
    expect(g.state.alerts.size).toBe(0)
    expect(g.save()).toContain('-alert|a')
  })

  it('of a symbol that rang is told of as long as its rule for a list lives, and 7 days more', () => {
    const rings = { metric: 'cvd', operator: 'above', value: 5 }
    const until = (hours: number, ...log: readonly Message[]): number => {
      const g = given(createRule(rings, { id: 'r.1.btc', repeat: false, hours }), ring, ...log).restart()
      for (let day = 1; day < 60; day += 1) if (g.batch(mark(day * DAY)).state.alerts.size === 0) return day
      return Infinity
    }
    const ring = metric(10, 'cvd', { 'cvd@okx': 6 })
    expect([until(720), until(24), until(0)]).toEqual([37, 8, Infinity])
    expect(until(48, extend(240, 'paid', 'r.1.btc'))).toBe(19)
    expect([until(720, cancel('r.1.btc')), until(0, mark(DAY - 1), cancel('r.1.btc'))]).toEqual([7, 8])
    expect(given(createRule(rings, { repeat: false, hours: 720 }), ring, mark(8 * DAY)).state.alerts.size).toBe(0)
  })
})

it('forwards a mark that raises time every ten seconds of it, behind what it changed', () => {
  const g = given(create({ expires_in_hours: 1 }), mark(HOUR), mark(HOUR), mark(HOUR + 9), mark(HOUR + 11), mark(5))
  const types = g.emitted.map(({ message }) => message?.type)
  expect(types).toEqual(['mark', 'alert_event', 'alert', 'alert_event', 'alert', 'mark', 'mark'])
})

it('saves what changed and no more', () => {
  const g = given(create(), create({}, 'b'), price(1, 99))
  expect(g.save().filter((key) => !key.startsWith('request'))).toEqual([
    'alert|a',
    'alert|b',
    'clock',
    'price|btc',
    'risk|',
  ])
  expect(g.batch(mark(2)).save()).toEqual(['clock'])
  expect(g.batch(price(3, 101, { asset: 'eth' })).save()).toEqual(['clock', 'price|eth'])
})
