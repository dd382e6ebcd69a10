import { describe, expect, it } from 'vitest'
import { localCodec } from '../../../schemas/codec.ts'
import type { Message, Trigger } from '../../../schemas/records.ts'
import { CoreTestDriver, only } from '../../kernel/testing/core-test-driver.ts'
import { payloadOf } from '../../webhooks/payload.ts'
import { alertsOf } from '../alerts.ts'
import { command, create, mark, newAlert, price, risk, SECOND, T0 } from '../testing/records.ts'
import type { AlertsState } from '../state.ts'
import { move } from '../testing/move.ts'
import { EVERY_RECORD, Kinds, writeRule, type AlertKind, type StoredAlert, type Terms } from './kind.ts'
import { alertKinds } from './kinds.ts'
import { readRuleTerms } from './rule-terms.ts'

/** The table with one line more, as the guide says. */
const kinds = new Kinds<Terms>([...alertKinds, move])
const alerts = alertsOf(kinds)
const codec = localCodec()

const createMove = (id: string, percent: unknown): Message => {
  const terms = { kind: 'move', percent }
  return command({ alert_id: id, alert: newAlert(writeRule(terms)) })
}
const moved = (seconds: number, change: number | null): Message => price(seconds, 101, { change_24h: change })

/** The input as the log gives it back: by its bytes. */
function readBack({ type, value }: Message): Message {
  return codec.decode(codec.encode('alerts.inputs', type, value))
}

const feed = (...messages: readonly Message[]): CoreTestDriver<AlertsState> =>
  new CoreTestDriver(alerts, 'alerts.inputs').batch(...messages.map(readBack))

const triggersOf = (fed: CoreTestDriver<AlertsState>): Trigger[] =>
  only(fed.emitted, 'trigger').map((value) => {
    const message = codec.decode(codec.encode('alerts.triggers', 'trigger', value))
    if (message.type !== 'trigger') throw new Error('a trigger stays one')
    return message.value
  })

const log = [
  mark(0),
  createMove('a', 5),
  createMove('b', 7.5),
  create({ target_price: 100 }, 'p'),
  moved(1, 4.9),
  moved(2, null),
  moved(3, -7.5),
  moved(4, 6),
  moved(5, 1),
  mark(70),
  moved(71, 5),
]

describe('a kind that is one file and one line of the table', () => {
  it('is created, rings, comes back and rings again, beside others at the same records', () => {
    const rang = triggersOf(feed(...log)).map(({ trigger_id: id, time }) => `${id} ${(time - T0) / SECOND}`)
    expect(rang).toEqual(['p_1 1', 'a_1 3', 'b_1 3', 'a_2 71'])
  })

  it('says in journal, cache and trigger what it waits for and what met it', () => {
    const fed = feed(...log)
    const condition = '{"kind":"move","percent":7.5}'
    expect(only(fed.emitted, 'alert').find(({ alert_id: id }) => id === 'b')).toMatchObject({ kind: 'rule', condition })
    expect(triggersOf(fed).find(({ alert_id: id }) => id === 'b')).toMatchObject({
      kind: 'rule',
      condition: '{"kind":"move","percent":7.5,"change_pct":-7.5}',
      condition_met: 'BTC moved -7.5 % in 24 hours, 7.5 % or more',
    })
  })

  it('has its own part of the webhook', () => {
    const body = triggersOf(feed(...log)).map((trigger) => JSON.parse(payloadOf(trigger, 'live', kinds).toString()))
    expect(body[2]).toMatchObject({
      event: 'move_alert',
      alert_id: 'b',
      data: { triggered: true, current_price: 101, percent: 7.5, change_pct: -7.5, sources: [{ price: 101 }, {}] },
    })
    expect(body[0]).toMatchObject({ event: 'price_alert', data: { target_price: 100 } })
  })

  it('sends test events', () => {
    const [trigger] = triggersOf(feed(mark(0), createMove('a', 5), command({ action: 'test' })))
    if (trigger === undefined) throw new Error('no test event')
    expect(JSON.parse(payloadOf(trigger, 'live', kinds).toString())).toMatchObject({
      test: true,
      data: { triggered: false, percent: 5, change_pct: null },
    })
  })

  it('is refused where its terms are not whole, or no kind is of that name', () => {
    const wrong = [createMove('a', 'five'), command({ alert_id: 'b', alert: newAlert(writeRule({ kind: 'other' })) })]
    const garbled = command({ alert_id: 'c', alert: newAlert({ kind: 'rule', condition: '{' }) })
    const events = only(feed(mark(0), ...wrong, garbled).emitted, 'alert_event')
    expect(events.map(({ error }) => error)).toEqual(['invalid_body', 'invalid_body', 'invalid_body'])
  })

  it('gives the same again from the begin of the log, and from any snapshot on', () => {
    const whole = feed(...log).emitted
    expect(feed(...log).emitted).toEqual(whole)
    for (let at = 0; at < log.length; at++) {
      const fed = feed(...log.slice(0, at)).restart()
      expect(fed.batch(...log.slice(at).map(readBack)).emitted).toEqual(whole)
    }
  })

  it('writes triggers again that the log lost, each with its own evidence', () => {
    const fed = feed(...log)
    const again: unknown[] = []
    alerts.restate?.(fed.state, 'alerts.triggers', { partition: 0, v: 99, partitionTime: 0 }, ({ message }) =>
      again.push(message?.value),
    )
    expect(again).toEqual(only(fed.emitted, 'trigger'))
  })
})

describe.each([...kinds].map((kind) => [kind.kind, kind] as const))('the kind %s', (name, kind: AlertKind) => {
  const examples: Readonly<Record<string, readonly Terms[]>> = {
    price: ['above', 'below', 'crosses_above', 'crosses_below'].map((condition) => {
      return { kind: 'price', condition, target_price: 1.5 } as Terms
    }),
    liquidation: [{ kind: 'liquidation', threshold_pct: 5, min_value_usd: 0 } as Terms],
    rule: [
      { metric: 'cvd', operator: 'above', value: 5 },
      { all: [{ metric: 'price_change_pct', window: '1h', operator: 'between', value: [1, 2], hysteresis: 1 }] },
      { any: [{ metric: 'funding_signal', operator: 'becomes', value: 'neutral', exchange: 'okx', close: '5m' }] },
    ].map((when) => readRuleTerms({ when, held_for: '90s', resolved: true, note: 'n' }) as Terms),
    move: [{ kind: 'move', percent: 3 } as Terms],
  }

  it('reads from the log what it wrote', () => {
    for (const terms of examples[name] ?? []) expect(kinds.read(kind.write(terms))).toEqual(terms)
    expect(examples[name]).toBeDefined()
  })

  it('waits at levels that it has', () => {
    if (kind.stand !== undefined) return // it stands among the levels of figures
    const levels = [...Object.keys(kind.levels), EVERY_RECORD]
    for (const terms of examples[name] ?? [])
      for (const status of ['active', 'triggered'] as const)
        for (const armed of [false, true]) expect(levels).toContain(kind.wait({ terms, status, armed } as StoredAlert))
    const others = Object.values(kind.levels).flatMap(({ insteadOf }) => insteadOf ?? [])
    expect(levels).toEqual(expect.arrayContaining(others))
  })
})

it('lets a liquidation core’s risk decide about no other kind', () => {
  expect(triggersOf(feed(mark(0), createMove('a', 5), risk(1, 50)))).toEqual([])
})
