import { beforeEach, describe, expect, it } from 'vitest'
import { CoreTestDriver, only } from '../kernel/testing/core-test-driver.ts'
import type { Output } from '../kernel/processor.ts'
import { alerts } from './alerts.ts'
import { cancel, create, createRule, mark, metric, price, SECOND, T0 } from './testing/records.ts'
import type { AlertsState } from './state.ts'

let fed: CoreTestDriver<AlertsState>
beforeEach(() => {
  fed = new CoreTestDriver(alerts, 'alerts.inputs')
})

/** What the state says again of an output that lost its tail. */
function again(output: 'alerts.triggers' | 'alerts.state' | 'alerts.events'): Output[] {
  const said: Output[] = []
  alerts.restate?.(fed.state, output, { partition: 0, v: 99, partitionTime: 0 }, (one) => said.push(one))
  return said
}

describe('triggers that the log lost', () => {
  it('are said again as they were, also after a restart', () => {
    fed.batch(
      mark(0),
      create(),
      create({ target_price: 102 }, 'b'),
      price(1, 101),
      price(70, 99),
      mark(70),
      price(71, 103),
    )
    const told = fed.take().filter(({ topic }) => topic === 'alerts.triggers')
    expect(only(told, 'trigger').map(({ trigger_id }) => trigger_id)).toEqual(['a_1', 'a_2', 'b_1'])
    fed.restart()
    expect(again('alerts.triggers')).toEqual(told)
  })

  it('are said again where time alone rang them, each with its own time', () => {
    const rule = (id: string) => {
      const above = { metric: 'cvd', operator: 'above', value: 5 }
      return createRule(above, { id, held_for: '30s', resolved: true })
    }
    const closes = createRule({ metric: 'cvd', operator: 'below', value: 10, close: '1m' }, { id: 'c', resolved: true })
    const cvd = (seconds: number, value: number) => metric(seconds, 'cvd', { 'cvd@okx': value })
    fed.batch(mark(0), closes, rule('a'), cvd(10, 6), rule('b'), cvd(20, 6), mark(50), cvd(51, 9), mark(60), mark(120))
    const told = fed.take().filter(({ topic }) => topic === 'alerts.triggers')
    const rang = only(told, 'trigger').map(({ trigger_id: id, time }) => `${id} ${(time - T0) / SECOND}`)
    expect(rang).toEqual(['a_1 40', 'b_1 50', 'c_1 60'])
    fed.restart()
    expect(again('alerts.triggers')).toEqual(told)
  })

  it('are known for ten minutes', () => {
    fed.batch(mark(0), create(), price(1, 101), mark(600))
    expect(only(again('alerts.triggers'), 'trigger')).toHaveLength(1)
    fed.batch(mark(601))
    expect(again('alerts.triggers')).toEqual([])
    expect(fed.save().filter((key) => key.startsWith('-rung'))).toHaveLength(1)
  })

  it('come with the end of the deliveries of what was cancelled since', () => {
    fed.batch(mark(0), create(), price(1, 101), cancel())
    expect(only(again('alerts.triggers'), 'delivery_order')).toMatchObject([{ order: 'stop', alert_id: 'a' }])
  })
})

it('says the state of each alert again where that topic lost its tail', () => {
  fed.batch(mark(0), create(), create({}, 'b'), price(1, 101))
  expect(only(again('alerts.state'), 'alert')).toMatchObject([
    { alert_id: 'a', status: 'triggered', v: 99 },
    { alert_id: 'b', status: 'triggered', v: 99 },
  ])
  expect(again('alerts.events')).toEqual([])
})
