import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bounded, LAW_MS } from '../kernel/testing/law.ts'
import type { Message } from '../../schemas/records.ts'
import { ruleLogs } from './testing/any-log.ts'
import { Model } from './testing/model.ts'
import { AlertsTestDriver } from './testing/records.ts'

/** What the core has said, as the model says it. */
function toldOf({ events, triggers }: AlertsTestDriver): string[] {
  const told = events.map(({ event, alert, alert_id: id, error, trigger_id: trigger }) =>
    [
      event,
      alert === null ? '' : id,
      alert?.status,
      alert?.trigger_count,
      event === 'triggered' ? trigger : error,
    ].join(' '),
  )
  return [...told, ...triggers.filter(({ test }) => !test).map(({ trigger_id: id, record }) => `${id} by ${record}`)]
    .map(squeezed)
    .sort()
}

const squeezed = (line: string): string => line.replaceAll(/ +/g, ' ')

function demandedOf(model: Model, log: readonly Message[]): string[] {
  return log
    .flatMap((message, offset) => {
      const { events, triggers } = model.apply(message, offset)
      const told = events.map((event) => {
        const [name, id, status, count, , more] = event.split(' ')
        return [name, id, status, count, more].join(' ')
      })
      return [...told, ...triggers.map(({ triggerId, record }) => `${triggerId} by ${record}`)]
    })
    .map(squeezed)
    .sort()
}

it(
  'demands of any rules just what the core says, restarted anywhere',
  () => {
    const rang = { once: 0, again: 0, over: 0, byTime: 0, forAll: 0 }
    fc.assert(
      fc.property(ruleLogs, fc.array(fc.nat(160), { maxLength: 4 }), (log, restarts) => {
        const driver = new AlertsTestDriver()
        for (const [at, message] of log.entries()) {
          driver.batch(message)
          if (restarts.includes(at)) driver.restart()
        }
        expect(toldOf(driver)).toEqual(demandedOf(new Model(0), log))
        for (const { trigger_id: id, record } of driver.triggers) {
          const offset = Number(record.split('-').at(-1))
          if (id.endsWith('_over')) rang.over += 1
          else rang[id.endsWith('_1') ? 'once' : 'again'] += 1
          if (log[offset]?.type === 'mark') rang.byTime += 1
          if (id.includes('.a0.')) rang.forAll += 1
        }
      }),
      { ...bounded, numRuns: 250 },
    )
    // The logs are worth the comparison.
    expect(Math.min(rang.once, rang.again, rang.over, rang.forAll)).toBeGreaterThan(50)
  },
  LAW_MS,
)
