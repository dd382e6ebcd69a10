import { describe, expect, it } from 'vitest'
import type { Message, NewAlert } from '../../schemas/records.ts'
import { CoreTestDriver } from '../kernel/testing/core-test-driver.ts'
import type { Output } from '../kernel/processor.ts'
import { mark as feedMark, says } from '../liquidations/testing/records.ts'
import { liquidations } from '../liquidations/liquidations.ts'
import { alerts } from './alerts.ts'
import {
  command,
  given,
  mark,
  newLiquidationAlert,
  risk,
  SECOND,
  T0,
  type AlertsTestDriver,
} from './testing/records.ts'

const create = (fields: Partial<NewAlert> = {}, id = 'a') =>
  command({ alert: newLiquidationAlert(fields), alert_id: id })
const after = (g: AlertsTestDriver): string[] => g.told.slice(1)

it.each([
  [5, 1_000, false],
  [5.1, 1_000, true],
  [5.1, 999, false],
  [50, 999, false],
  [0, 1_000_000, false],
])('rings with over 5 %% and at least 1,000 USD at risk: %d %% and %d USD: %s', (pct, usd, rings) => {
  expect(after(given(create(), risk(5, pct, { at_risk_5_usd: usd })))).toEqual(rings ? ['triggered'] : [])
})

it('shows the figures, and open interest as its sources', () => {
  expect(given(create(), risk(5, 12)).triggers).toMatchObject([
    {
      severity: 'high',
      cascade_risk: 'high',
      current_price: 100,
      oi_at_risk_pct: 12,
      oi_at_risk_usd: 12_000,
      threshold_pct: 5,
      quality: 'good',
      sources: [
        { exchange: 'binance', price: null, open_interest_usd: 50_000, time: T0 + 5 * SECOND },
        { exchange: 'okx', price: null, open_interest_usd: 50_000, time: T0 + 5 * SECOND },
      ],
    },
  ])
})

it.each([
  [5.003, '5.003'],
  [5.126, '5.13'],
])('says a share over the threshold as one that is over it: %d', (pct, shown) => {
  const words = expect.stringContaining(`${shown} % of BTC open interest`) as string
  expect(given(create(), risk(5, pct)).triggers).toMatchObject([{ condition_met: words }])
})

it('is degraded with one venue only', () => {
  const [only] = risk(5, 12).value.exchanges
  expect(given(create(), risk(5, 12, { exchanges: only === undefined ? [] : [only] })).triggers[0]?.quality).toBe(
    'degraded',
  )
})

it('waits for the other figure, whichever is short, and is taken back as soon as both are there', () => {
  const g = given(create(), risk(5, 12, { at_risk_5_usd: 10 }), risk(10, 3, { at_risk_5_usd: 5_000 }))
  expect(after(g)).toEqual([])
  g.batch(risk(15, 3, { at_risk_5_usd: 10 }), risk(20, 12, { at_risk_5_usd: 10 }))
  expect(after(g)).toEqual([])
  expect(after(g.batch(risk(25, 12)))).toEqual(['triggered'])
})

it('rings again after its minute when one of the figures has been back', () => {
  const g = given(create(), risk(5, 12), risk(10, 12, { at_risk_5_usd: 10 }), risk(15, 12), mark(64.9), risk(64.9, 12))
  expect(after(g)).toEqual(['triggered'])
  expect(after(g.batch(mark(65), risk(70, 12)))).toEqual(['triggered', 'rearmed', 'triggered'])
})

it('is back at exactly its threshold, and does not ring there', () => {
  const waiting = given(create(), risk(5, 6, { at_risk_5_usd: 999 }), risk(10, 5, { at_risk_5_usd: 1_000 }))
  expect(after(waiting)).toEqual([])
  const rung = given(create(), risk(5, 6), risk(10, 5), mark(66))
  expect(after(rung)).toEqual(['triggered', 'rearmed'])
})

it('does not ring every minute while the risk stays', () => {
  const g = given(create())
  for (let seconds = 5; seconds < 300; seconds += 5) g.batch(mark(seconds), risk(seconds, 12))
  expect(after(g)).toEqual(['triggered'])
})

it('rings in the same order before and after a restart', () => {
  const ids = ['c', 'a', 'b']
  const begin = (): AlertsTestDriver =>
    given(create({ min_value_usd: 20_000 }, 'c'), create({}, 'a'), create({ threshold_pct: 20 }, 'b')).batch(
      risk(5, 6, { at_risk_5_usd: 500 }),
    )
  const ring = (g: AlertsTestDriver): string[] => g.batch(risk(10, 30)).triggers.map(({ alert_id: id }) => id)
  expect(ring(begin())).toEqual(ids.toSorted())
  expect(ring(begin().restart())).toEqual(ids.toSorted())
})

describe('risk that is told again, by a core of another generation that was built again', () => {
  it('rings nobody, whatever it says of a time that was told of before', () => {
    const g = given(create(), risk(5, 3), risk(10, 4))
    g.batch(risk(5, 30), risk(10, 30))
    expect(after(g)).toEqual([])
    expect(after(g.restart().batch(risk(10, 30)))).toEqual([])
    expect(after(g.batch(risk(15, 30)))).toEqual(['triggered'])
  })

  it('takes nothing back that rang', () => {
    const g = given(create(), risk(5, 12), mark(90), risk(90, 12))
    expect(after(g.batch(risk(10, 1), risk(90, 1)))).toEqual(['triggered'])
    expect(after(g.batch(risk(95, 1)))).toEqual(['triggered', 'rearmed'])
  })

  it('rings nobody where the state was saved before risks were remembered', () => {
    const saved = [...alerts.save(given(create(), mark(60)).state)]
    const old = saved.flatMap(([key, part]) => (part === null || key.startsWith('risk|') ? [] : [[key, part] as const]))
    const state = alerts.load(new Map(old))
    const rings = (seconds: number): boolean => {
      const emitted: Output[] = []
      const entry = { topic: 'alerts.inputs', offset: 9, time: 0, message: risk(seconds, 30) } as const
      alerts.apply(state, entry, { partition: 0, v: 9, partitionTime: 0 }, (output) => emitted.push(output))
      return emitted.length > 0
    }
    expect([30, 60, 61].map(rings)).toEqual([false, false, true])
  })

  it('is of each asset by itself', () => {
    const g = given(create(), risk(20, 12, { asset: 'eth' }), risk(5, 12))
    expect(after(g)).toEqual(['triggered'])
  })

  it('rings when the other core first says it of now, and not for its past', () => {
    const market = [says(0, { mark: 100, size: 0 }), ...quiet(1, 60), says(61, { size: 1_000 }), ...quiet(62, 120)]
    // What a core with other shares said of the same market.
    const before = told(market).map((record) => (record.type === 'mark' ? record : calmer(record)))
    const g = given(command({ alert: newLiquidationAlert({ threshold_pct: 3 }), alert_id: 'a' }))
    g.batch(...before)
    expect(after(g)).toEqual([])
    const again = told(market)
    expect(again.filter(isRinging).length).toBeGreaterThan(5)
    g.batch(...again)
    expect(after(g)).toEqual([])
    const later = told([...market, ...quiet(121, 130)]).slice(again.length)
    const first = later.find(isRinging)
    if (first === undefined) throw new Error('nothing is said of now')
    expect(after(g.batch(first))).toEqual(['triggered'])
  })
})

/** A mark each second, and one price. */
function quiet(from: number, to: number): Message[] {
  return Array.from({ length: to - from + 1 }, (_, n) => [says(from + n, { mark: 100 }), feedMark(from + n)]).flat()
}

/** What the liquidations core says of a market, from its begin. */
function told(market: readonly Message[]): Message[] {
  const outputs = new CoreTestDriver(liquidations, 'market.funding').batch(...market).take()
  return outputs.flatMap(({ topic, message }) => (topic === 'alerts.inputs' && message !== null ? [message] : []))
}

function calmer(record: Message): Message {
  if (record.type !== 'liquidation_risk') return record
  return { ...record, value: { ...record.value, at_risk_5_pct: 1, at_risk_5_usd: 1_000 } }
}

function isRinging(record: Message): boolean {
  return record.type === 'liquidation_risk' && record.value.at_risk_5_pct > 3 && record.value.at_risk_5_usd >= 1_000
}
