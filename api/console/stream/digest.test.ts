import { describe, expect, it } from 'vitest'
import { emptyFields } from '../../../schemas/codec.ts'
import type { Alert, Attempt, Mark, Message, Records, RecordType } from '../../../schemas/records.ts'
import { NEVER } from '../../../processors/alerts/state.ts'
import type { Update } from '../../stream/board.ts'
import { alert, CREATED as NOW } from '../testing/alert.ts'
import { Digest } from './digest.ts'

function message<Type extends RecordType>(type: Type, value: Records[Type]): Message {
  // One of the union's members, whose two fields belong together.
  return { type, value } as Message
}

const attempt: Attempt = {
  ...emptyFields('attempt'),
  trigger_id: 'alert_btc_1_2_1',
  alert_id: 'alert_btc_1_2',
  receiver: 'secret-receiver',
  number: 1,
  outcome: 'delivered',
  status: 200,
  started: NOW,
  finished: NOW + 5_000,
  test: false,
  triggered: NOW,
}

const MARK: Mark = { ...emptyFields('mark'), writer: 'cvd', run: 1, time: NOW, venues: [] }

describe('what a record says to a page', () => {
  it('holds no address, wallet, key or hash of an alert', () => {
    const digest = new Digest()
    const updates = [
      ...digest.of(message('alert', alert), 'alerts.state', 0),
      ...digest.of(message('attempt', attempt), 'webhooks.attempts', 0),
    ]
    expect(updates.map(({ kind, key }) => [kind, key])).toEqual([
      ['alert', 'alert_btc_1_2'],
      ['attempt', `alert_btc_1_2_1/1/${NOW}`],
    ])
    expect(JSON.stringify(updates)).not.toContain('secret')
  })

  it('says to which channel an alert tells, and nothing of a webhook', () => {
    const shown = (receiver: string): unknown =>
      new Digest().of(message('alert', { ...alert, receiver }), 'alerts.state', 0)[0]?.value
    expect(shown('slack:hooks.slack.com/T0/…#0123456789abcdef')).toMatchObject({
      channel: 'slack, hooks.slack.com/T0/…',
    })
    expect(shown('hooks.example.com:443')).toMatchObject({ channel: null })
  })

  it('says of a rule its group and tags, and that it can be changed', () => {
    const rule = { kind: 'rule', when: { metric: 'cvd', operator: 'above', value: 5 }, group: 'desk', tags: ['a', 'b'] }
    const written = { ...alert, kind: 'rule' as const, condition: JSON.stringify(rule), target_price: null }
    const shown = (given: Alert): unknown => new Digest().of(message('alert', given), 'alerts.state', 0)[0]?.value
    expect(shown(written)).toMatchObject({
      kind: 'rule',
      path: '/alerts',
      group: 'desk',
      tags: ['a', 'b'],
      editable: true,
    })
    expect(shown(alert)).toMatchObject({ kind: 'price', path: '/price-alert', group: null, tags: [], editable: false })
  })

  it('shows a rule for several symbols as one', () => {
    const digest = new Digest()
    const part = (id: string, symbol: string, trigger_count: number): Update | undefined =>
      digest.of(
        message('alert', { ...alert, alert_id: `alert_rule_list_1_2.${id}`, symbol, trigger_count }),
        'alerts.state',
        0,
      )[0]
    part('1.btc', 'BTC', 1)
    expect(part('2.eth', 'ETH', 2)).toMatchObject({
      key: 'alert_rule_list_1_2',
      value: { alert_id: 'alert_rule_list_1_2', symbol: 'BTC,ETH', trigger_count: 3 },
    })
    expect(part('1.btc', 'BTC', 5)).toMatchObject({ value: { symbol: 'BTC,ETH', trigger_count: 7 } })
    expect(digest.gone('alert_rule_list_1_2.1.btc')).toMatchObject({ value: { symbol: 'ETH', trigger_count: 2 } })
    expect(digest.gone('alert_rule_list_1_2.2.eth')).toMatchObject({ key: 'alert_rule_list_1_2', value: null })
  })

  it('says whether an alert rests, and until when', () => {
    const shown = (paused_until: number): unknown =>
      new Digest().of(message('alert', { ...alert, paused_until }), 'alerts.state', 0)[0]?.value
    expect(shown(0)).toMatchObject({ paused: false, paused_until: null })
    expect(shown(NOW)).toMatchObject({ paused: true, paused_until: NOW / 1000 })
    expect(shown(NEVER)).toMatchObject({ paused: true, paused_until: null })
  })

  it('is nothing where a price tells of a time that has passed', () => {
    const price = { asset: 'btc', price: 1, low: 1, high: 1, change_24h: null, sources: [], time: NOW, v: 1 }
    const of = (late: boolean): number =>
      new Digest().of(
        message('composite_price', { ...price, quality: 'good', late, bounds_from: 0 }),
        'alerts.inputs',
        0,
      ).length
    expect([of(false), of(true)]).toEqual([1, 0])
  })

  it('says at each mark of an asset’s flow that its partition’s volume deltas are others', () => {
    const says = (topic: string, partition: number): unknown[] =>
      new Digest().of(message('mark', MARK), topic, partition).map(({ kind, key, asset }) => [kind, key, asset])
    expect([says('derived.flow', 3), says('market.trades', 3)]).toEqual([[['cvd', '3', null]], []])
  })
})
