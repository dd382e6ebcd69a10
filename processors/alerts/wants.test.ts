import { expect, it } from 'vitest'
import {
  cancel,
  command,
  create,
  DAY,
  extend,
  given,
  mark,
  newLiquidationAlert,
  SECOND,
  T0,
  type Given,
} from './given.ts'
import { AlertWants } from './wants.ts'

const liquidation = (id: string, asset: string, hours: number) =>
  command({ alert: newLiquidationAlert({ expires_in_hours: hours }), alert_id: id, asset })

/** What a reader of the cache wants. */
function wantsOf(g: Given): AlertWants {
  const wants = new AlertWants()
  for (const { topic, key, message } of g.emitted) {
    if (topic === 'alerts.state') wants.apply(key, message?.type === 'alert' ? message.value : null)
  }
  return wants
}

it('wants the assets of living liquidation alerts, until the last of them ends', () => {
  const g = given(create({}, 'p'), liquidation('a', 'btc', 2), liquidation('b', 'btc', 1), liquidation('c', 'pepe', 1))
  expect(wantsOf(g).assets()).toEqual(['btc', 'pepe'])
  expect(wantsOf(g).until('btc')).toBe(T0 + 7_200 * SECOND)
  g.batch(extend(3, null, 'b'), cancel('c'))
  expect(wantsOf(g).until('btc')).toBe(T0 + 14_400 * SECOND)
  expect(wantsOf(g).until('pepe')).toBeUndefined()
})

it('wants nothing when they have ended or are forgotten', () => {
  expect(wantsOf(given(liquidation('a', 'btc', 2), mark(7_200))).assets()).toEqual([])
  expect(wantsOf(given(liquidation('a', 'btc', 2), mark(7_200), mark(9 * DAY))).assets()).toEqual([])
})
