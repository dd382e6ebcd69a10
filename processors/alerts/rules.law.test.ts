import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bounded, LAW_MS } from '../kernel/testing/law.ts'
import type { Message, Micros } from '../../schemas/records.ts'
import type { SavedSeries } from './series.ts'
import { ruleLogs } from './testing/any-log.ts'
import { Model } from './testing/model.ts'
import { AlertsTestDriver, createRule, mark, metric } from './testing/records.ts'

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

/** All that is known of each series, by the key of its part. */
function seriesOf({ state }: AlertsTestDriver): Map<string, SavedSeries> {
  const all = [...state.series].flatMap(([asset, ofAsset]) =>
    [...ofAsset].map(([name, series]) => [`series|${asset}|${name}`, series.saved()] as const),
  )
  return new Map(all.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const windows = ['volume', 'cvd_change', 'volume_spike'].flatMap((metric) =>
  [undefined, '5m'].map((close) => ({ metric, window: '1m', operator: 'above', value: 1, ...(close && { close }) })),
)

/** Windows of trades, and mostly nothing but time. */
const quietLogs: fc.Arbitrary<Message[]> = fc
  .array(
    fc.record({
      wait: fc.constantFrom(1, 3, 10, 10, 10, 20, 60, 900),
      what: fc.constantFrom('time', 'told', 'told', 'told', 'trades'),
      buy: fc.nat(5),
      late: fc.constantFrom(0, 0, 2, 60),
    }),
    { minLength: 80, maxLength: 160, size: 'max' },
  )
  .map((steps) => {
    let now = 0
    const rest = steps.map(({ wait, what, buy, late }): Message => {
      now += wait
      if (what === 'time') return mark(now)
      return what === 'told' ? mark(now - late, 'cvd') : metric(now - late, 'cvd', { 'buy@okx': buy, 'sell@okx': 1 })
    })
    return [mark(0), ...windows.map((when, n) => createRule(when, { id: `w${n}` })), ...rest]
  })

/** Saves; gives how many series are not written, though time has moved them since they were. */
function saved(driver: AlertsTestDriver, written: Map<string, Micros>): number {
  const keys = new Set(driver.save())
  let moved = 0
  for (const [key, { time }] of seriesOf(driver)) {
    if (keys.has(key)) written.set(key, time)
    else if (written.get(key) !== time) moved += 1
  }
  return moved
}

it(
  'knows of each window the same, and says the same, wherever it was saved and restarted',
  () => {
    let moved = 0
    fc.assert(
      fc.property(
        fc.oneof(ruleLogs, quietLogs),
        fc.array(fc.nat(160), { maxLength: 160, size: 'max' }),
        fc.array(fc.nat(160), { minLength: 1, maxLength: 4 }),
        (log, saves, restarts) => {
          const [driver, always] = [new AlertsTestDriver(), new AlertsTestDriver()]
          const written = new Map<string, Micros>()
          for (const [at, message] of log.entries()) {
            driver.batch(message)
            always.batch(message)
            if (saves.includes(at)) saved(driver, written)
            if (!restarts.includes(at)) continue
            moved += saved(driver, written)
            driver.restart()
            expect(seriesOf(driver)).toEqual(seriesOf(always))
          }
          expect(seriesOf(driver)).toEqual(seriesOf(always))
          expect(driver.emitted).toEqual(always.emitted)
        },
      ),
      { ...bounded, numRuns: 100 },
    )
    // The logs are worth the comparison.
    expect(moved).toBeGreaterThan(20)
  },
  LAW_MS,
)

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
