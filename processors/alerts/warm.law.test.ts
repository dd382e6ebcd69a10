import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bounded, LAW_MS } from '../kernel/testing/law.ts'
import type { Message } from '../../schemas/records.ts'
import { isInput } from './kinds/kind.ts'
import { PastReader, pastText } from './past.ts'
import { AlertsTestDriver, command, createRule, extend, mark, metric, T0 } from './testing/records.ts'

const series = ['cvd_change||5m||', 'open_interest_change_pct||5m||', 'volume_spike||1m||', 'cvd_change||5m||5m']
const leaves = series.map((name) => {
  const [metricName, , window, , close] = name.split('|')
  return { metric: metricName, window, operator: 'above', value: 1, close: close === '' ? null : close }
})

const step: fc.Arbitrary<Step> = fc.record({
  wait: fc.constantFrom(1, 3, 10, 10, 20),
  buy: fc.integer({ min: 0, max: 8 }),
  okx: fc.boolean(),
  what: fc.constantFrom('mark', 'cvd', 'funding'),
  late: fc.constantFrom(0, 2, 5),
})

interface Step {
  readonly wait: number
  readonly buy: number
  readonly okx: boolean
  readonly what: string
  /** Figures of trades are told so much behind their time. */
  readonly late: number
}

/** By then a rule of an hour has expired. */
const START = 4_000

function logOf(steps: readonly Step[]): Message[] {
  let now = START
  const begin = [metric(now, 'cvd', { 'buy@okx': 1 }), metric(now, 'funding', { 'open_interest@binance': 1 })]
  const rest = steps.flatMap(({ wait, buy, okx, what, late }): Message[] => {
    now += wait
    if (what === 'mark') return [mark(now)]
    if (what === 'cvd') return [mark(now), metric(now - late, 'cvd', { 'buy@okx': buy, 'sell@okx': 2 })]
    return [
      mark(now),
      metric(now, 'funding', { 'open_interest@binance': buy + 1, ...(okx && { 'open_interest@okx': 9 }) }),
    ]
  })
  return [...begin, ...rest]
}

/** The rule, or the same for all symbols. */
function asked(leaf: object, id: string, isForAll: boolean, hours = 24): Message<'command'> {
  const { value } = createRule(leaf, { id: isForAll ? `${id}.a0` : id, hours })
  return { type: 'command', value: { ...value, ...(isForAll && { asset: '*0' }) } }
}

/** When a later rule rings. */
const told = (driver: AlertsTestDriver): unknown =>
  driver.triggers
    .filter(({ trigger_id: id }) => id.startsWith('late'))
    .map(({ trigger_id, time }) => [trigger_id, time])

it(
  'decides by a window that was filled as by one that was watched all the time',
  () => {
    let rang = 0
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 60, maxLength: 150, size: 'max' }),
        fc.integer({ min: 10, max: 40 }),
        fc.nat(12),
        fc.constantFrom(...leaves.keys()),
        fc.record({
          restarts: fc.boolean(),
          isForAll: fc.boolean(),
          isLateForAll: fc.boolean(),
          isExtended: fc.boolean(),
        }),
        (steps, begin, wait, which, { restarts, isForAll, isLateForAll, isExtended }) => {
          const [log, leaf, name] = [logOf(steps), leaves[which] ?? {}, series[which] ?? '']
          const early = createRule(leaf, { id: 'early' })
          const late = asked(leaf, 'late', isLateForAll)
          const id = isForAll ? 'a.a0' : 'a'
          const watched = new AlertsTestDriver().batch(mark(START), early)
          const filled = new AlertsTestDriver().batch(mark(1))
          if (isExtended) filled.batch(asked(leaf, 'a', isForAll, 1))
          filled.batch(mark(START))
          for (const [at, message] of log.entries()) {
            if (at === begin) filled.batch(isExtended ? extend(24, 'paid', id) : asked(leaf, 'a', isForAll))
            if (at === begin + wait) {
              const { time } = filled.events.findLast(({ alert_id }) => alert_id === id) ?? { time: T0 }
              const past = new PastReader([name], time)
              for (const before of log.slice(0, begin)) if (isInput(before)) past.feed(before)
              const warm = command({ action: 'warm', alert_id: id, past: pastText(past.told) })
              filled.batch(warm, { ...warm, value: { ...warm.value, request_id: `${warm.value.request_id} again` } })
              if (restarts) filled.restart()
            }
            // From the next figure, or candle, on they are the same.
            if (at === begin + wait) {
              watched.batch(late)
              filled.batch(late)
            }
            watched.batch(message)
            filled.batch(message)
          }
          expect(told(filled)).toEqual(told(watched))
          rang += filled.triggers.filter(({ trigger_id: id }) => id.startsWith('late')).length
        },
      ),
      { ...bounded, numRuns: 400 },
    )
    expect(rang).toBeGreaterThan(50)
  },
  LAW_MS,
)
