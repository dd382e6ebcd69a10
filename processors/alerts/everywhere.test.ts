import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../schemas/records.ts'
import { Levels } from './shared-book.ts'
import { everywhereOf, listPart, ownersId } from './parts.ts'
import { cancel, command, createRule, given, mark, metric, newAlert, pause, resume } from './testing/records.ts'
import { T0, SECOND, type AlertsTestDriver } from './testing/records.ts'

const forAll = (when: object, more: object = {}): Message<'command'> => {
  const { value } = createRule(when, { id: 'r.a0', ...more })
  return { type: 'command', value: { ...value, asset: '*0' } }
}
const above = (value: number): object => ({ metric: 'cvd', operator: 'above', value })
const cvd = (asset: string, seconds: number, value: number): Message => {
  const told = metric(seconds, 'cvd', { 'cvd@binance': value }).value
  return { type: 'metric', value: { ...told, asset } }
}
const rang = (driver: AlertsTestDriver): string[] =>
  driver.triggers.map(({ symbol, trigger_id: id, time }) => `${symbol} ${id} ${(time - T0) / SECOND}`)

describe('a rule for all symbols', () => {
  it('rings for each by itself, again after a return, those listed later included', () => {
    const log = [
      cvd('btc', 10, 6),
      cvd('btc', 20, 7),
      cvd('eth', 30, 6),
      cvd('btc', 40, 4),
      mark(80),
      cvd('btc', 90, 6),
    ]
    const driver = given(forAll(above(5)), ...log)
    expect(rang(driver)).toEqual(['BTC r.a0.btc_1 10', 'ETH r.a0.eth_1 30', 'BTC r.a0.btc_2 90'])
    expect(rang(driver.restart().batch(cvd('x004', 100, 9), cvd('eth', 110, 9))).at(-1)).toBe('X004 r.a0.x004_1 100')
  })

  it('that was made while symbols are beyond it rings at their next figures', () => {
    const before = [createRule(above(100), { id: 'other' }), cvd('btc', 10, 6), mark(11)]
    expect(rang(given(...before, forAll(above(5)), cvd('btc', 20, 6)))).toEqual(['BTC r.a0.btc_1 20'])
  })

  it('has nothing of its own for a symbol that it does not ring for', () => {
    const driver = given(forAll(above(5)), cvd('btc', 10, 1), cvd('eth', 20, 2), cvd('btc', 30, 3))
    expect([...driver.state.alerts.keys()]).toEqual(['r.a0'])
    expect([...driver.batch(cvd('btc', 40, 6)).state.alerts.keys()]).toEqual(['r.a0', 'r.a0.btc'])
  })

  it('rings once for each symbol where it does not repeat, and goes on', () => {
    const log = [cvd('btc', 10, 6), cvd('btc', 20, 4), mark(90), cvd('btc', 100, 6), cvd('eth', 110, 6)]
    const driver = given(forAll(above(5), { repeat: false }), ...log)
    expect(rang(driver)).toEqual(['BTC r.a0.btc_1 10', 'ETH r.a0.eth_1 110'])
    expect(rang(driver.batch(mark(8 * 86_400)).restart())).toHaveLength(2)
  })

  it('is cancelled, rests and is changed for all of them by one command', () => {
    const begun = [forAll(above(5)), cvd('btc', 10, 6), cvd('btc', 20, 4), mark(80)]
    const cancelled = given(...begun, cancel('r.a0'), cvd('btc', 90, 6), cvd('eth', 91, 6))
    expect(rang(cancelled)).toHaveLength(1)
    expect(cancelled.orders.map(({ alert_id: id }) => id)).toEqual(['r.a0.btc', 'r.a0'])
    const rested = given(...begun, pause(null, 'r.a0'), cvd('btc', 90, 6), cvd('eth', 91, 6), resume('r.a0'))
    expect(rang(rested)).toHaveLength(1)
    expect(rang(rested.batch(cvd('eth', 100, 6), cvd('btc', 101, 6)))).toHaveLength(3)
    const terms = JSON.stringify({ kind: 'rule', when: above(8) })
    const edit = command({ action: 'edit', alert_id: 'r.a0', alert: newAlert({ kind: 'rule', condition: terms }) })
    const changed = given(...begun, edit, cvd('btc', 90, 6), cvd('eth', 91, 9), cvd('btc', 92, 9))
    expect(rang(changed).slice(1)).toEqual(['ETH r.a0.eth_1 91', 'BTC r.a0.btc_2 92'])
  })

  it('is forgotten with its parts, and what it looked at with it', () => {
    const driver = given(forAll(above(5), { hours: 1 }), cvd('btc', 10, 6), cvd('eth', 20, 6))
    driver.batch(mark(3_600))
    expect([driver.told.at(-1), driver.state.seriesCount]).toEqual(['expired', 0])
    expect(driver.batch(mark(3_601 + 7 * 86_400)).state.alerts.size).toBe(0)
  })

  it('is a rule: nothing else is for all', () => {
    const price = command({ alert: newAlert(), alert_id: 'r.a0', asset: '*0' })
    expect(given(price).told).toEqual(['rejected invalid_body'])
  })
})

it('tells the parts of a rule from its id', () => {
  expect(ownersId(listPart('alert_rule_1', 2, 'ada'))).toBe('alert_rule_1')
  expect(['r.1.ada', 'r.a3', 'r.a3.ada', 'r'].map(everywhereOf)).toEqual([undefined, undefined, 'r.a3', undefined])
})

it('keeps levels in order, whatever is added and taken out', () => {
  const entry = fc.tuple(fc.nat(50), fc.nat(2_000).map(String))
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 3_000, size: 'max' }), fc.nat(50), fc.nat(50), (entries, a, b) => {
      const levels = new Levels()
      const plain = new Set<string>()
      for (const [at, [key, id]] of entries.entries()) {
        const text = `${key} ${id}`
        if (plain.has(text) || at % 5 === 4) {
          levels.delete(key, id)
          plain.delete(text)
        } else {
          levels.add(key, id)
          plain.add(text)
        }
      }
      const [low, high] = a < b ? [a, b] : [b, a]
      const kept = [...plain]
        .map((text) => text.split(' '))
        .filter(([key]) => Number(key) >= low && Number(key) <= high)
      const ids = kept.map(([, id = '']) => id)
      expect(Map.groupBy(levels.between(low, high), (id) => id)).toEqual(Map.groupBy(ids, (id) => id))
    }),
    { numRuns: 30 },
  )
})
