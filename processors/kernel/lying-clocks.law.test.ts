import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyFields } from '../../schemas/codec.ts'
import type { Message, Micros } from '../../schemas/records.ts'
import type { TopicName } from '../../schemas/topics.ts'
import { newAlert } from '../alerts/testing/records.ts'
import { PartitionReplay } from '../../scripts/backtest/core/replay.ts'
import { trade } from '../cvd/testing/records.ts'
import { rate, says, terms } from '../funding/testing/records.ts'
import { markets, SECOND, T0, ticker } from '../prices/testing/records.ts'
import { processorsNamed } from '../topology.ts'
import { only } from './testing/core-test-driver.ts'
import type { Output } from './processor.ts'
import { noFaults, outcomeOf, PARTITIONS, plans, type Input } from './testing/fault-plans.ts'
import { bounded, LAW_MS } from './testing/law.ts'

const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** A feed's mark. `told`: what the time is by its venues. */
function feedMark(writer: string, time: Micros, told: Micros | null): Message<'mark'> {
  return { type: 'mark', value: { writer, run: T0, time, venues: [], changes: [], venue_time: told, positions: [] } }
}

/** By topic, what a second brings beside marks. */
const facts: Readonly<Record<string, (time: Micros, n: number) => Message>> = {
  'market.trades': (time, n) => trade({ time, first_id: n, size: n % 7, taker: n % 3 === 0 ? 'sell' : 'buy' }),
  'market.tickers': (time, n) => ticker({ received: time, price: 100 + (n % 5), instrument: markets.binance }),
  'market.funding': (time, n) =>
    n % 2 === 0
      ? rate((n % 5) / 10_000, time - T0)
      : says({
          mark: 100 + (n % 9),
          index: 100,
          mark_time: time,
          open_interest: 1_000 + n,
          open_interest_time: time,
          received: time,
        }),
}

/** A clock that is wrong, at `now` by the venues. One that tells no venue time is heard once between two that are right. */
type Lie = (now: Micros) => Message<'mark'>

const lies: fc.Arbitrary<Lie> = fc
  .record({
    by: fc.constantFrom(5 * SECOND + 1, 30 * SECOND, 10 * MINUTE, 55 * MINUTE, 300 * HOUR),
    kind: fc.constantFrom('ahead', 'behind', 'mute'),
  })
  .map(({ by, kind }): Lie => {
    if (kind === 'ahead') return (now) => feedMark('liar', now + by, now)
    if (kind === 'behind') return (now) => feedMark('liar', now - by, now)
    return (now) => feedMark('liar', now + Math.max(by, MINUTE + 1), null)
  })

const seconds = fc.array(
  fc.record({
    partition: fc.nat(PARTITIONS - 1),
    /** Outages too, which the venues confirm. */
    wait: fc.oneof(
      { weight: 9, arbitrary: fc.constant(SECOND) },
      { weight: 1, arbitrary: fc.constantFrom(40 * SECOND, HOUR) },
    ),
    facts: fc.nat(2),
    lie: fc.option(lies, { freq: 3, nil: null }),
  }),
  { maxLength: 60, size: 'max' },
)

/** The same log twice: where one has a lie, the other has a mark that says nothing new. */
interface Logs {
  readonly honest: readonly Input[]
  readonly lying: readonly Input[]
}

function logsOf(topic: TopicName): fc.Arbitrary<Logs> {
  return seconds.map((steps) => {
    const honest: Input[] = []
    const lying: Input[] = []
    const times = Array.from({ length: PARTITIONS }, () => T0)
    const both = (partition: number, message: Message): void => {
      honest.push({ partition, message })
      lying.push({ partition, message })
    }
    if (topic === 'market.funding') for (const partition of times.keys()) both(partition, terms({}))
    for (const [n, { partition, wait, facts: count, lie }] of steps.entries()) {
      const now = (times[partition] ?? T0) + wait
      times[partition] = now
      both(partition, feedMark('feeds', now, now - SECOND))
      for (let fact = 0; fact < count; fact++) both(partition, facts[topic]?.(now + fact, 2 * n + fact + 1) ?? trade())
      if (lie === null) continue
      lying.push({ partition, message: lie(now) })
      honest.push({ partition, message: feedMark('liar', now - HOUR, now) })
    }
    return { honest, lying }
  })
}

describe('clocks that lie', () => {
  it.each(['cvd', 'prices', 'funding', 'liquidations'])(
    'change nothing that %s says, whatever the batches, redeliveries, crashes, freezes and owners',
    async (name) => {
      const [row] = processorsNamed([name])
      const [topic] = row?.inputs ?? []
      if (row === undefined || topic === undefined) throw new Error(`${name} is in the topology`)
      await fc.assert(
        fc.asyncProperty(logsOf(topic), plans, async ({ honest, lying }, plan) => {
          expect(await outcomeOf(row, lying, plan)).toEqual(await outcomeOf(row, honest, noFaults))
        }),
        { ...bounded, numRuns: 100 },
      )
    },
    LAW_MS,
  )

  it('neither end an alert of one hour before its time nor keep it silent', () => {
    fc.assert(
      fc.property(fc.array(fc.option(lies, { nil: null }), { minLength: 59, maxLength: 59 }), (liesOfSeconds) => {
        const market = new Market()
        market.second(0, 99, null)
        market.create('a')
        for (const [n, lie] of liesOfSeconds.entries()) market.second(n + 1, 99, lie)
        market.create('b')
        market.second(60, 101, null)
        expect(market.events).toEqual(['created a', 'created b', 'triggered a', 'triggered b'])
        market.second(3_599, 99, liesOfSeconds[0] ?? null)
        expect(market.events.filter((event) => /expired|ended/.test(event))).toEqual([])
        market.second(3_660, 99, null)
        expect(market.ends).toEqual([T0 + HOUR, T0 + HOUR + 59 * SECOND])
      }),
      { ...bounded, numRuns: 100 },
    )
  })
})

/** Tickers and a feed's marks through prices to alerts, as they meet in life. */
class Market {
  readonly #outputs: Output[] = []
  readonly #replay = new PartitionReplay({
    partition: 0,
    rows: processorsNamed(['prices', 'alerts']),
    alerts: 'replay',
    gaps: [],
    aside: new Map(),
    isEachWanted: true,
    sink: ({ output }) => this.#outputs.push(output),
  })
  #offset = 0
  #now = T0

  second(after: number, price: number, lie: Lie | null): void {
    this.#now = T0 + after * SECOND
    this.#take(feedMark('feeds', this.#now, this.#now))
    if (lie !== null) this.#take(lie(this.#now))
    this.#take(ticker({ price, received: this.#now }))
  }

  create(id: string): void {
    const alert = newAlert({ expires_in_hours: 1 })
    const value = {
      ...emptyFields('command'),
      request_id: id,
      action: 'create',
      asset: 'btc',
      alert_id: id,
      alert,
      created: this.#now,
    } as const
    this.#replay.command({ type: 'command', value }, this.#now / 1_000)
  }

  get events(): string[] {
    return only(this.#outputs, 'alert_event').map(({ event, alert_id: id }) => `${event} ${id}`)
  }

  /** When the alerts' lives end, by their last states. */
  get ends(): number[] {
    const alerts = new Map(only(this.#outputs, 'alert').map((alert) => [alert.alert_id, alert.ended_at]))
    return [...alerts.values()]
  }

  #take(message: Message): void {
    this.#replay.apply('market.tickers', { offset: this.#offset++, time: this.#now / 1_000 }, message)
  }
}
