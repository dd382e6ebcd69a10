import { describe, expect, it } from 'vitest'
import { avroType, emptyFields } from '../../../schemas/codec.ts'
import type { Flow, Message, Micros, Signal } from '../../../schemas/records.ts'
import { create, price, risk } from '../../../processors/alerts/testing/records.ts'
import { LATENESS } from '../../../processors/cvd/state.ts'
import { versionOf } from '../../../processors/kernel/version.ts'
import { LiveCheck, restsOnOlder, type LeadIn } from './compare.ts'
import type { Derived, Window } from './live-check.ts'

const HOUR: Micros = 3_600_000_000
const BEGIN: Micros = 1_786_060_800_000_000

const flow: Flow = {
  asset: 'btc',
  instrument: 'binance:perp:BTCUSDT',
  bucket: BEGIN,
  part: 0,
  buy: 1,
  sell: 0,
  buy_quote: 100,
  sell_quote: 0,
  buy_count: 1,
  sell_count: 0,
  open: 100,
  high: 100,
  low: 100,
  close: 100,
  open_time: BEGIN,
  close_time: BEGIN,
  first_id: 1,
  last_id: 1,
  final: true,
  v: versionOf(1, 50),
}
const signal: Signal = {
  asset: 'btc',
  kind: 'cvd',
  period: '1h',
  from: 'neutral',
  to: 'bullish_pressure',
  value: 0.1,
  evidence: { buy: 1, sell: 0 },
  time: BEGIN,
  v: versionOf(1, 50),
  exchange: null,
}

describe('what rests on an older log', () => {
  const lead = (hours: number): LeadIn => {
    return {
      begin: BEGIN,
      from: BEGIN + hours * HOUR,
      terms: new Set(['binance:perp:BTCUSDT']),
      alerts: new Set(['a']),
    }
  }
  const at = (hours: number): Micros => BEGIN + hours * HOUR
  const of = (fields: Partial<Signal>): Message => ({ type: 'signal', value: { ...signal, ...fields } })
  const row = (fields: Partial<Flow>): Message => ({ type: 'flow', value: { ...flow, ...fields } })

  it.each<[string, Message, number, boolean]>([
    ['a row of the tape', row({}), 0, false],
    ['a row of a bucket before it', row({ bucket: BEGIN - 1 }), 24, true],
    ['a late trade, whose ids cannot be checked', row({ part: -7 }), 24, true],
    ['a period that the tape holds', of({ period: '4h', time: at(4) }), 4, false],
    ['a period that begins before it', of({ period: '4h', time: at(4) - 1 }), 4, true],
    ['a period of a week after a day', of({ period: '7d', time: at(24) }), 24, true],
    ['a funding signal after an hour', of({ kind: 'funding', period: '' }), 1, false],
    ['liquidation levels', risk(0, 5), 168, true],
    ['a price after an hour', price(0, 100), 1, false],
    ['a price within the first', price(0, 100), 0.5, true],
  ])('%s', (_, message, hours, expected) => {
    expect(restsOnOlder(message, lead(hours))).toBe(expected)
  })

  it('an alert that was created on the tape does not, another does', () => {
    const { value } = create()
    const event = {
      event: 'triggered',
      alert_id: value.alert_id,
      request_id: null,
      error: null,
      message: null,
    } as const
    const told = (id: string): Message => {
      return {
        type: 'alert_event',
        value: { ...event, alert_id: id, trigger_id: null, alert: null, time: BEGIN, v: 1 },
      }
    }
    expect([restsOnOlder(told('a'), lead(1)), restsOnOlder(told('b'), lead(1))]).toEqual([false, true])
  })
})

describe('a partition beside what was lived', () => {
  const window: Window = { generation: 1, from: 10, to: 100, fromTime: 0, toTime: BEGIN }
  const derived = (value: Flow): Derived => {
    const body = avroType('flow').toBuffer(value)
    return { topic: 'derived.flow', message: { type: 'flow', value }, body }
  }
  const checked = (replayed: readonly Flow[], live: readonly Flow[]) => {
    const check = new LiveCheck({ restsOnOlder: () => false })
    for (const value of replayed) check.replayed('cvd', derived(value))
    check.settle('cvd')
    check.begin(new Map([['cvd', window]]))
    for (const value of live) check.live(derived(value))
    return check.close()
  }

  it('compares the highest version of a row, whatever was written before and twice', () => {
    const first = { ...flow, buy: 0.5, v: versionOf(1, 40) }
    const { differences, tallies } = checked([first, flow], [first, flow, first, flow])
    expect(differences).toEqual([])
    expect(tallies.get('derived.flow')).toMatchObject({ compared: 1, repeated: 1 })
  })

  it('leaves out what follows from records outside of the window', () => {
    const later = { ...flow, bucket: flow.bucket + 1, v: versionOf(1, 100) }
    const earlier = { ...flow, bucket: flow.bucket + 2, v: versionOf(1, 9) }
    expect(checked([flow, earlier], [flow, later, earlier]).tallies.get('derived.flow')).toMatchObject({ compared: 1 })
  })

  it('leaves out the mark of buckets that close behind the window', () => {
    const told = (topic: Derived['topic'], time: Micros): Derived => {
      const value = { ...emptyFields('mark'), writer: 'cvd', run: 0, time }
      return { topic, message: { type: 'mark', value }, body: avroType('mark').toBuffer(value) }
    }
    const check = new LiveCheck({ restsOnOlder: () => false })
    check.begin(new Map([['cvd', window]]))
    for (const time of [BEGIN, BEGIN - LATENESS, BEGIN - LATENESS + 1]) check.live(told('alerts.inputs', time))
    check.live(told('derived.flow', BEGIN))
    const { differences } = check.close()
    expect(differences.map(({ topic, live }) => [topic, live?.value])).toMatchObject([
      ['alerts.inputs', { time: BEGIN - LATENESS }],
      ['derived.flow', { time: BEGIN }],
    ])
  })

  it('counts a row that a later record has replaced', () => {
    const later = { ...flow, buy: 2, v: versionOf(1, 200) }
    const { differences, tallies } = checked([flow], [later])
    expect(differences).toEqual([])
    expect(tallies.get('derived.flow')).toMatchObject({ compared: 0, overtaken: 1 })
  })

  it.each([
    ['missing-live', [flow], []],
    ['only-live', [], [flow]],
    ['different', [flow], [{ ...flow, buy: 1 + Number.EPSILON }]],
  ] as const)('finds what is %s', (kind, replayed, live) => {
    expect(checked(replayed, live).differences.map((difference) => difference.kind)).toEqual([kind])
  })

  it('leaves out what no mark stands behind yet', () => {
    const check = new LiveCheck({ restsOnOlder: () => false })
    check.replayed('cvd', derived(flow))
    check.begin(new Map([['cvd', window]]))
    expect(check.close().differences).toEqual([])
  })
})
