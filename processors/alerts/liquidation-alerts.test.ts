import { expect, it } from 'vitest'
import { command, given, mark, newLiquidationAlert, risk, SECOND, T0, type Given } from './given.ts'
import type { NewAlert } from '../../schemas/alerts.ts'

const create = (fields: Partial<NewAlert> = {}, id = 'a') =>
  command({ alert: newLiquidationAlert(fields), alert_id: id })
const after = (g: Given): string[] => g.told.slice(1)

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

it('does not ring every minute while the risk stays', () => {
  const g = given(create())
  for (let seconds = 5; seconds < 300; seconds += 5) g.batch(mark(seconds), risk(seconds, 12))
  expect(after(g)).toEqual(['triggered'])
})

it('rings in the same order before and after a restart', () => {
  const ids = ['c', 'a', 'b']
  const begin = (): Given =>
    given(create({ min_value_usd: 20_000 }, 'c'), create({}, 'a'), create({ threshold_pct: 20 }, 'b')).batch(
      risk(5, 6, { at_risk_5_usd: 500 }),
    )
  const ring = (g: Given): string[] => g.batch(risk(10, 30)).triggers.map(({ alert_id: id }) => id)
  expect(ring(begin())).toEqual(ids.toSorted())
  expect(ring(begin().restart())).toEqual(ids.toSorted())
})
