import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { localCodec } from '../../schemas/codec.ts'
import type { Cvd, Flow, FlowFive, FlowHour, Message, Records, Signal, Trade } from '../../schemas/records.ts'
import { CoreTestDriver } from '../kernel/testing/core-test-driver.ts'
import { Driver } from '../kernel/testing/driver.ts'
import { noFaults, PARTITIONS, plans, type Plan } from '../kernel/testing/fault-plans.ts'
import { processorsNamed } from '../topology.ts'
import { gap, logGap, longAgo, mark, SECOND, T0, trade } from './testing/records.ts'
import { bounded, LAW_MS } from '../kernel/testing/law.ts'
import { cvd } from './cvd.ts'

const HOUR = 3_600 * SECOND
const FIVE = 300 * SECOND
/** So late in an hour that the trades lie in two. */
const BEGIN = T0 + HOUR - 50 * SECOND
/** Seconds behind it by which every log has ended. */
const LAST = 1_500_000
const codec = localCodec()
const [row] = processorsNamed(['cvd'])

/** One record of the input log in its partition. */
interface Input {
  readonly partition: number
  readonly message: Message<'trade' | 'gap' | 'mark'>
}

/** Everything that readers see in the end: the last record of each key and the journal of signals by identity. */
interface Outcome {
  readonly flow: ReadonlyMap<string, Flow>
  readonly hours: ReadonlyMap<string, FlowHour>
  readonly fives: ReadonlyMap<string, FlowFive>
  readonly cvds: ReadonlyMap<string, Cvd>
  readonly signals: ReadonlyMap<string, Signal>
  /** What the states have refused, by partition. */
  readonly counts: readonly Readonly<Record<string, number>>[]
}

describe('the cvd processor', () => {
  it(
    'writes the same in the end, whatever the batches, redeliveries, crashes, freezes and owners',
    async () => {
      await fc.assert(
        fc.asyncProperty(logs(0.1), plans, async (log, plan) => {
          expect(await outcomeOf(log, plan)).toEqual(await outcomeOf(log, noFaults))
        }),
        { ...bounded, numRuns: 200 },
      )
    },
    LAW_MS,
  )

  it(
    'goes on from what it saved as if nothing had happened, wherever that is, though the log lost something',
    () => {
      const lost = fc.tuple(fc.nat(60), fc.nat(60)).map(([from, long]) => {
        return logGap(BEGIN + from * SECOND, BEGIN + (from + long) * SECOND)
      })
      const given = fc.tuple(fc.array(holes, { maxLength: 3 }), logs(0.1), fc.array(fc.tuple(fc.nat(150), lost)))
      fc.assert(
        fc.property(given, ([first, then, losses]) => {
          const log: Message[] = [...first, ...then].map(({ message }) => message)
          for (const [at, loss] of losses) log.splice(at, 0, loss)
          const [calm, restless] = [0, 1].map(() => new CoreTestDriver(cvd, 'market.trades'))
          for (const message of [...log, mark(BEGIN + LAST * SECOND)]) {
            calm?.batch(message)
            restless?.batch(message).restart()
          }
          expect(restless?.take()).toEqual(calm?.take())
        }),
        { ...bounded, numRuns: 100 },
      )
    },
    LAW_MS,
  )

  it(
    'counts each trade once, however often the log holds it',
    async () => {
      await fc.assert(
        fc.asyncProperty(logs(1 / 8), fc.array(fc.nat(200), { maxLength: 20 }), async (log, again) => {
          const doubled = again.reduce<readonly Input[]>(redeliver, log)
          expect(figures(await outcomeOf(doubled, noFaults))).toEqual(figures(await outcomeOf(log, noFaults)))
        }),
        { ...bounded, numRuns: 100 },
      )
    },
    LAW_MS,
  )

  it(
    'conserves volume: rows add up to the trades, to the last digit',
    async () => {
      await fc.assert(
        fc.asyncProperty(logs(1 / 8), plans, async (log, plan) => {
          const rows = [...(await outcomeOf(log, plan)).flow.values()]
          const trades = counted(log)
          for (const side of ['buy', 'sell'] as const) {
            expect(sum(rows.map((flow) => flow[side]))).toBe(sum(trades.filter(is(side)).map(({ size }) => size)))
            expect(sum(rows.map((flow) => flow[`${side}_quote`]))).toBe(
              sum(trades.filter(is(side)).map(({ quote }) => quote)),
            )
            expect(sum(rows.map((flow) => flow[`${side}_count`]))).toBe(trades.filter(is(side)).length)
          }
        }),
        { ...bounded, numRuns: 100 },
      )
    },
    LAW_MS,
  )

  it(
    'sums up hours and five minutes: once all buckets have closed, they say what the rows of their buckets say',
    async () => {
      await fc.assert(
        fc.asyncProperty(logs(1 / 8), plans, fc.integer({ min: 100, max: 15_000 }), async (log, plan, after) => {
          const trades = log.filter(({ message }) => message.type === 'trade')
          const ended = [...log, ...marksOf(after), ...trades, ...marksOf(LAST)]
          const { flow, hours, fives } = await outcomeOf(ended, plan)
          expect([...flow.values()].filter(({ final }) => !final)).toEqual([])
          expect(byTime(hours.values(), HOUR)).toEqual(byTime(flow.values(), HOUR))
          expect(byTime(fives.values(), FIVE)).toEqual(byTime(flow.values(), FIVE))
        }),
        { ...bounded, numRuns: 200 },
      )
    },
    LAW_MS,
  )
})

/** The same mark in all partitions. */
function marksOf(after: number): Input[] {
  return Array.from({ length: PARTITIONS }, (_, partition) => ({ partition, message: mark(BEGIN + after * SECOND) }))
}

/** What readers make of rows of one instrument and time. */
function summed(rows: readonly (Flow | FlowHour | FlowFive)[]): Record<string, unknown> {
  const opens = rows.toSorted((a, b) => a.open_time - b.open_time || a.first_id - b.first_id)
  const closes = rows.toSorted((a, b) => b.close_time - a.close_time || b.last_id - a.last_id)
  const columns = ['buy', 'sell', 'buy_quote', 'sell_quote', 'buy_count', 'sell_count'] as const
  return {
    ...Object.fromEntries(columns.map((name) => [name, sum(rows.map((row) => row[name]))])),
    open: opens[0]?.open,
    high: Math.max(...rows.map(({ high }) => high)),
    low: Math.min(...rows.map(({ low }) => low)),
    close: closes[0]?.close,
  }
}

function byTime(rows: Iterable<Flow | FlowHour | FlowFive>, width: number): Record<string, unknown> {
  const groups = Map.groupBy(rows, (row) => {
    const time = 'bucket' in row ? row.bucket : 'hour' in row ? row.hour : row.start
    return `${row.instrument} ${Math.floor(time / width)}`
  })
  return Object.fromEntries([...groups].map(([name, group]) => [name, summed(group)]))
}

/** Runs the log through the real task as the plan says, then to its end. */
async function outcomeOf(log: readonly Input[], { steps, instances, ...snapshots }: Plan): Promise<Outcome> {
  if (row === undefined) throw new Error('cvd is in the topology')
  const driver = new Driver({ row, codec, partitions: PARTITIONS, instances, ...snapshots })
  log.forEach(({ partition, message }, index) => driver.feed('market.trades', partition, 'key', message, index))
  for (const step of steps) await driver.step(step)
  await driver.drain()
  const tasks = await Promise.all([...Array(PARTITIONS).keys()].map((partition) => driver.task(partition)))
  return {
    flow: last(driver, 'flow'),
    hours: last(driver, 'flow_hour'),
    fives: last(driver, 'flow_five'),
    cvds: last(driver, 'cvd'),
    signals: journal(driver),
    counts: tasks.map((task) => task.counts()),
  }
}

/** As compaction leaves them, which must be what the highest version says too. */
function last<Type extends 'flow' | 'flow_hour' | 'flow_five' | 'cvd'>(
  driver: Driver,
  type: Type,
): Map<string, Records[Type]> {
  const last = new Map<string, Records[Type]>()
  const highest = new Map<string, Records[Type]>()
  for (const { key, message } of driver.outputs('derived.flow')) {
    if (message.type !== type) continue
    const value = message.value as Records[Type]
    last.set(key, value)
    if (value.v >= (highest.get(key)?.v ?? 0)) highest.set(key, value)
  }
  expect(last).toEqual(highest)
  return sorted(last)
}

function journal(driver: Driver): Map<string, Signal> {
  const signals = new Map<string, Signal>()
  for (const { message } of driver.outputs('derived.signals')) {
    if (message.type !== 'signal') continue
    const { asset, kind, period, time } = message.value
    const id = `${asset}|${kind}|${period}|${time}`
    if (signals.has(id)) expect(message.value).toEqual(signals.get(id))
    signals.set(id, message.value)
  }
  return sorted(signals)
}

function sorted<Value>(map: ReadonlyMap<string, Value>): Map<string, Value> {
  return new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** An outcome without what depends on offsets: versions, and the parts that are named by them. */
function figures({ flow, hours, fives, cvds, signals }: Outcome): unknown {
  const rows = [...flow.values(), ...hours.values(), ...fives.values()].map((row) => ({
    ...row,
    part: Math.max(row.part, -1),
    v: 0,
  }))
  const told = [...cvds.values()].map((value) => ({ ...value, v: 0 }))
  const changes = [...signals.values()].map((signal) => ({ ...signal, v: 0 }))
  return {
    rows: rows.map((value) => JSON.stringify(value)).sort(),
    told: told.map((value) => JSON.stringify(value)).sort(),
    changes: changes.map((value) => JSON.stringify(value)).sort(),
  }
}

/** The log with its `nth` trade once more somewhere behind: where its bucket is still known, or its ids are ordered. */
function redeliver(log: readonly Input[], nth: number): readonly Input[] {
  const input = log[nth % Math.max(1, log.length)]
  return input?.message.type === 'trade' ? [...log, input] : log
}

/** The trades that must be counted: each instrument's ids once; what cannot be checked for that is left out. */
function counted(log: readonly Input[]): Trade[] {
  const seen = new Set<string>()
  const times = new Map<number, number>()
  return log.flatMap(({ partition, message }) => {
    if (message.type === 'mark') {
      times.set(partition, Math.max(times.get(partition) ?? 0, message.value.time))
      return []
    }
    if (message.type === 'gap') return []
    const { instrument, first_id, time } = message.value
    const bucket = Math.floor(time / 1e7)
    const isUnordered = instrument.startsWith('bybit')
    if (isUnordered && time < keptFrom(times.get(partition) ?? 0)) return []
    const id = isUnordered ? `${instrument}|${bucket}|${first_id}` : `${instrument}|${first_id}`
    if (seen.has(id)) return []
    seen.add(id)
    return [message.value]
  })
}

/** Two hours behind a time, and the five minutes in which that lies. */
const keptFrom = (time: number): number => Math.floor((time - 7_200e6) / 300e6) * 300e6

const is = (side: 'buy' | 'sell') => (given: Trade) => given.taker === side

/** Sizes and prices are small multiples of 1/8, so that sums of doubles are exact. */
function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

const instruments = [
  { partition: 0, asset: 'btc', instrument: 'binance:perp:BTCUSDT' },
  { partition: 0, asset: 'btc', instrument: 'bybit:perp:BTCUSDT' },
  { partition: 0, asset: 'ada', instrument: 'coinbase:spot:ADA-USD' },
  { partition: 1, asset: 'eth', instrument: 'okx:perp:ETH-USDT-SWAP' },
]

/** Sums of eighths are exact; of tenths they depend on the order, which must be the same too. */
const numbers = (unit: number): fc.Arbitrary<number> => fc.integer({ min: 1, max: 80 }).map((n) => n * unit)

const trades = (unit: number): fc.Arbitrary<Input> =>
  fc
    .record({
      market: fc.constantFrom(...instruments),
      id: fc.integer({ min: 1, max: 60 }),
      after: fc.integer({ min: 0, max: 90 }),
      price: numbers(unit),
      size: numbers(unit),
      taker: fc.constantFrom('buy' as const, 'sell' as const),
      gap: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 4 }),
    })
    .map(({ market: { partition, ...market }, id, after, price, size, taker, gap }): Input => {
      const origin = gap === null ? ('stream' as const) : ('backfill' as const)
      const time = BEGIN + after * SECOND
      return { partition, message: trade({ ...market, first_id: id, time, price, size, taker, origin, gap_id: gap }) }
    })

/** Mostly seconds on, sometimes far beyond the state's horizon, or beyond every period. */
const marks = fc
  .record({
    partition: fc.nat(PARTITIONS - 1),
    after: fc.oneof(
      { weight: 20, arbitrary: fc.integer({ min: 0, max: 120 }) },
      { weight: 1, arbitrary: fc.integer({ min: 7_000, max: 14_000 }) },
      { weight: 1, arbitrary: fc.integer({ min: 600_000, max: 1_400_000 }) },
    ),
  })
  .map(({ partition, after }): Input => ({ partition, message: mark(BEGIN + after * SECOND) }))

/** What is missing for a while, and who is no longer subscribed to. */
const holes = fc
  .record({
    market: fc.constantFrom(...instruments),
    from: fc.nat(60),
    long: fc.nat(60),
    what: fc.constantFrom('opened' as const, 'unfillable' as const, 'filled' as const, 'ended' as const),
  })
  .map(({ market: { partition, ...market }, from, long, what }): Input => {
    const time = BEGIN + from * SECOND
    if (what === 'ended') return { partition, message: mark(time, [{ ...market, state: what, time }]) }
    const times = { from_time: time, to_time: time + long * SECOND }
    return { partition, message: gap({ ...market, ...times, gap_id: from, state: what }) }
  })

/** fast-check's own choice of sizes would hardly ever give a log that outlives a crash. */
const logs = (unit: number): fc.Arbitrary<Input[]> =>
  fc
    .tuple(
      fc.boolean(),
      fc.array(
        fc.oneof(
          { weight: 8, arbitrary: trades(unit) },
          { weight: 2, arbitrary: marks },
          { weight: 1, arbitrary: holes },
        ),
        { maxLength: 150, size: 'max' },
      ),
    )
    .map(([isCovered, log]) => (isCovered ? [...begun, ...log] : log))

/** Without it hardly any period is covered, so that there is hardly a signal. */
const begun: readonly Input[] = instruments.map(({ partition, ...market }) => ({ partition, message: longAgo(market) }))
